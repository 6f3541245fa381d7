/** Why a viewer sees what they see: which policies applied to a query, and which members are hidden. */
import type { Condition, Cube, Model, Policy, View } from '../model.ts';
import { membersNamedBy } from '../plan/calculated/fields.ts';
import { existsFor, findMember } from '../plan/members.ts';
import type { Plan } from '../plan/plan.ts';
import { opensAll } from '../plan/policies.ts';
import type { Filter } from '../plan/query.ts';
import { readQuery } from '../plan/read-query.ts';
import { admittingGroups, policyValues, type Viewer } from '../plan/viewer.ts';

/** A cube that the statement reads, or the view that is queried. */
export interface Explanation {
  readonly name: string;
  readonly kind: 'cube' | 'view';
  /** Without policies, all rows. If no policy counts, none. */
  readonly rows: 'all' | 'filtered' | 'none';
  readonly policies: ExplainedPolicy[];
}

export interface ExplainedPolicy {
  readonly groups: string[];
  /** The groups that the viewer belongs to. */
  readonly matchedGroups: string[];
  readonly counts: boolean;
  readonly why: string;
  /** The filter with the values of the viewer; absent if the policy opens all rows. */
  readonly filter?: ExplainedFilter;
}

export type ExplainedFilter =
  | { readonly and: readonly ExplainedFilter[] }
  | { readonly or: readonly ExplainedFilter[] }
  | {
      readonly member: string;
      readonly operator: string;
      readonly values: readonly (string | number | boolean)[];
      /** What the viewer has no value for. The comparison is false then. */
      readonly missing?: readonly string[];
    };

export interface HiddenMember {
  readonly member: string;
  readonly why: string;
}

export function explainPlan(model: Model, { cubes, view, named }: Plan, viewer: Viewer): Explanation[] {
  const owners: [Cube | View, 'cube' | 'view'][] = cubes.map((name) => [model.cubes.get(name)!, 'cube']);
  if (view !== undefined) owners.unshift([model.views.get(view)!, 'view']);
  return owners.map(([owner, kind]) => {
    const policies = owner.policies.map((policy) => explainPolicy(policy, named.get(owner.name), viewer));
    const counting = policies.filter(({ counts }) => counts);
    const isOpen = !policies.length || counting.some(({ filter }) => filter === undefined);
    return {
      name: owner.name,
      kind,
      rows: isOpen ? 'all' : counting.length ? 'filtered' : 'none',
      policies,
    };
  });
}

/** What a viewer sees of a cube or view, whatever they ask. */
export interface AccessExplanation {
  readonly name: string;
  readonly kind: 'cube' | 'view';
  /** What its own policies leave and, of a view, those of its root. The policies of other cubes that a query joins filter, too. */
  readonly rows: 'all' | 'filtered' | 'none';
  /** The cube whose rows every query of the view begins with, if it has policies. */
  readonly root?: string;
  readonly policies: ExplainedPolicy[];
  readonly shownMembers: string[];
  readonly hiddenMembers: HiddenMember[];
}

/** Yields one at a time, because those of a large model together take too much memory. */
export function* explainAccess(model: Model, viewer: Viewer): Generator<AccessExplanation> {
  for (const owner of [...model.views.values(), ...model.cubes.values()]) {
    const policies = owner.policies.map((policy) => ({
      ...explainPolicy(policy, undefined, viewer),
      why: admittingGroups(policy, viewer).length
        ? 'It admits the viewer.'
        : 'The viewer belongs to none of its groups.',
    }));
    const hiddenMembers = hiddenIn(model, owner, viewer);
    const hidden = new Set(hiddenMembers.map(({ member }) => member));
    const names = namesIn(owner).map(([name]) => `${owner.name}.${name}`);
    const shownMembers = names.filter((name) => !hidden.has(name));
    const root = 'members' in owner ? model.cubes.get(owner.root)! : owner;
    const left = [rowsLeft(owner.policies, viewer), rowsLeft(root.policies, viewer)];
    yield {
      name: owner.name,
      kind: 'members' in owner ? 'view' : 'cube',
      rows: !shownMembers.length
        ? 'none'
        : ((['none', 'filtered'] as const).find((rows) => left.includes(rows)) ?? 'all'),
      ...(root !== owner && root.policies.length ? { root: root.name } : {}),
      policies,
      shownMembers,
      hiddenMembers,
    };
  }
}

/** Without policies, all rows. If none admits the viewer, no row. */
function rowsLeft(policies: readonly Policy[], viewer: Viewer): AccessExplanation['rows'] {
  const admitting = policies.filter((policy) => admittingGroups(policy, viewer).length);
  if (!policies.length || admitting.some(({ rows }) => rows === undefined)) return 'all';
  return admitting.length ? 'filtered' : 'none';
}

function explainPolicy(
  policy: Policy,
  named: ReadonlySet<string> | undefined,
  viewer: Viewer,
): ExplainedPolicy {
  const matchedGroups = [...admittingGroups(policy, viewer)];
  const closed = [...(named ?? [])].filter((member) => !policy.members.has(member));
  const counts = matchedGroups.length > 0 && opensAll(policy, named);
  const why = counts
    ? 'It admits the viewer, and opens every member that the query names.'
    : matchedGroups.length
      ? `It does not open ${closed.join(', ')}, which the query names.`
      : 'The viewer belongs to none of its groups.';
  return {
    groups: policy.groups === '*' ? ['*'] : [...policy.groups],
    matchedGroups,
    counts,
    why,
    ...(policy.rows ? { filter: explainFilter(policy.rows, viewer) } : {}),
  };
}

function explainFilter(condition: Condition, viewer: Viewer): ExplainedFilter {
  if ('and' in condition) return { and: condition.and.map((part) => explainFilter(part, viewer)) };
  if ('or' in condition) return { or: condition.or.map((part) => explainFilter(part, viewer)) };
  const { member, operator, values } = condition;
  const missing = values.flatMap((value) =>
    'viewer' in value && !policyValues([value], operator, viewer)
      ? [[value.viewer, ...value.path].join('.')]
      : [],
  );
  const given = policyValues(values, operator, viewer) ?? [];
  return { member, operator, values: given, ...(missing.length ? { missing } : {}) };
}

/** The members of the cubes and views that the query names which the viewer cannot use. */
export function hiddenMembers(model: Model, json: unknown, viewer: Viewer): HiddenMember[] {
  const query = readQuery(json);
  const names = [
    ...query.measures,
    ...query.dimensions,
    ...query.timeDimensions,
    ...query.segments,
    ...query.filters.flatMap(comparisons),
    ...query.calculated.flatMap(membersNamedBy),
  ].map(({ name }) => name);
  return [...new Set(names.map((name) => name.split('.')[0]!))].flatMap((owner) => {
    const found = model.views.get(owner) ?? model.cubes.get(owner);
    return found ? hiddenIn(model, found, viewer) : [];
  });
}

const hiddenIn = (model: Model, owner: Cube | View, viewer: Viewer): HiddenMember[] =>
  namesIn(owner)
    .filter(([name]) => !findMember(model, owner.name, name, viewer))
    .map(([name, { public: isPublic }]) => ({
      member: `${owner.name}.${name}`,
      why: !owner.public
        ? `\`${owner.name}\` is not public.`
        : !isPublic
          ? 'It is not public.'
          : existsFor(viewer, owner, ...cubeOf(model, owner, name))
            ? 'Policies admit the viewer, but none of them opens it.'
            : CLOSED,
    }));

const namesIn = (owner: Cube | View): [string, { public: boolean }][] =>
  'members' in owner ? [...owner.members] : membersOf(owner);

const CLOSED =
  'closed: no policy. Embed viewers see only what an `access_policy` of the cube, or of the view, guards.';

/** Of a member of a view. */
const cubeOf = (model: Model, owner: Cube | View, name: string): Cube[] =>
  'members' in owner ? [model.cubes.get(owner.members.get(name)!.cube)!] : [];

const membersOf = ({ dimensions, measures, segments }: Cube) => [...dimensions, ...measures, ...segments];

const comparisons = (filter: Filter): readonly { name: string }[] =>
  'and' in filter
    ? filter.and.flatMap(comparisons)
    : 'or' in filter
      ? filter.or.flatMap(comparisons)
      : [filter];
