/** What the names in a query mean, for this viewer. */
import type { Cube, Dimension, Measure, Model, Policy, Segment, View } from '../model.ts';
import { didYouMean } from '../problems.ts';
import { type QueryError, queryError } from './errors.ts';
import type { NamedMember } from './query.ts';
import { policiesFor, type Viewer } from './viewer.ts';

interface Place {
  /** As the query names it. */
  readonly key: string;
  readonly cube: Cube;
  /** The cubes that lead to the member, the last one being its own. In a query for cubes, that one alone. */
  readonly path: readonly string[];
}
export interface DimensionMember extends Place {
  readonly kind: 'dimension';
  readonly dimension: Dimension;
}
export interface MeasureMember extends Place {
  readonly kind: 'measure';
  readonly measure: Measure;
}
export interface SegmentMember extends Place {
  readonly kind: 'segment';
  readonly segment: Segment;
}
export type Member = DimensionMember | MeasureMember | SegmentMember;

/** Looks up members, and keeps what a query names, because policies depend on it. */
export interface Members {
  /** The view that is queried; undefined for a query for cubes. */
  readonly view: View | undefined;
  /** The members that the query names, by the name of their cube or view. Those of a view are of its cubes too. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  find(named: NamedMember): Member;
  dimension(named: NamedMember): DimensionMember;
  measure(named: NamedMember): MeasureMember;
  segment(named: NamedMember): SegmentMember;
  /**
   * Whether the viewer could query the member of the cube at the end of a path: through the view, if it includes the
   * member, or else by itself. If so, it counts as named.
   */
  mayUse(cube: Cube, member: string, path: readonly string[]): boolean;
}

export function createMembers(model: Model, viewer: Viewer): Members {
  const named = new Map<string, Set<string>>();
  const note = (owner: string, member: string) => {
    if (!named.has(owner)) named.set(owner, new Set());
    named.get(owner)!.add(member);
  };
  let view: View | undefined;
  let first: string | undefined;

  const find = (wanted: NamedMember): Member => {
    const [owner, name] = wanted.name.split('.') as [string, string];
    const found = findMember(model, owner, name, viewer);
    if (!found) throw unknown(model, wanted, viewer);
    first ??= owner;
    if (first !== owner && (view !== undefined || model.views.has(owner))) {
      throw queryError('invalid_query', 'A query is for one view, or for cubes.', wanted.path);
    }
    view = model.views.get(owner);
    note(owner, name);
    note(found.cube.name, definitionOf(found).name);
    return found;
  };
  const ofKind = <Kind extends Member['kind']>(wanted: NamedMember, kind: Kind) => {
    const found = find(wanted);
    if (found.kind !== kind) {
      throw queryError(
        'invalid_query',
        `\`${wanted.name}\` is a ${found.kind}, and not a ${kind}.`,
        wanted.path,
      );
    }
    return found as Extract<Member, { kind: Kind }>;
  };
  return {
    get view() {
      return view;
    },
    named,
    find,
    dimension: (wanted) => ofKind(wanted, 'dimension'),
    measure: (wanted) => ofKind(wanted, 'measure'),
    segment: (wanted) => ofKind(wanted, 'segment'),
    mayUse(cube, member, path) {
      const included = view && namesInView(view).get([...path, member].join('.'));
      const owner = included ? view!.name : cube.name;
      const open = (included ?? [member]).find((name) => findMember(model, owner, name, viewer));
      if (open === undefined) return false;
      note(owner, open);
      note(cube.name, member);
      return true;
    },
  };
}

/** A cache that needs no invalidation, because models are immutable. */
const viewNames = new WeakMap<View, ReadonlyMap<string, readonly string[]>>();

/** The names of the view for each member of a cube, by its path. */
function namesInView(view: View): ReadonlyMap<string, readonly string[]> {
  const known = viewNames.get(view);
  if (known) return known;
  const names = new Map<string, string[]>();
  for (const { name, path, member } of view.members.values()) {
    const id = [...path, member].join('.');
    names.set(id, [...(names.get(id) ?? []), name]);
  }
  viewNames.set(view, names);
  return names;
}

/** Finds a member; undefined if it does not exist or if the viewer cannot use it. */
export const findMember = (model: Model, owner: string, name: string, viewer: Viewer): Member | undefined =>
  model.views.has(owner)
    ? findInView(model, model.views.get(owner)!, name, viewer)
    : findInCube(model.cubes.get(owner), name, viewer);

export const memberNamesOf = (owner: Cube | View): string[] =>
  'members' in owner ? [...owner.members.keys()] : membersIn(owner).map(({ name }) => name);

export const membersIn = ({ dimensions, measures, segments }: Cube) => [
  ...dimensions.values(),
  ...measures.values(),
  ...segments.values(),
];

/** The error for a member that does not exist, in the same words as for one that is hidden. */
function unknown(model: Model, { name, path }: NamedMember, viewer: Viewer): QueryError {
  const meant = didYouMean(name.slice(0, COMPARED_CHARACTERS), usable(model, name, viewer));
  const message = `There is no member \`${name}\` that this query can use.`;
  return queryError('unknown_member', meant ? `${message} ${meant}` : message, path);
}

const COMPARED_CHARACTERS = 260;
const OWNERS_MAX = 200;

/** Yields names for a hint: only those that the viewer can use, so that it tells nothing about hidden ones. */
function* usable(model: Model, wanted: string, viewer: Viewer): Generator<string> {
  const [name, member] = wanted.split('.') as [string, string];
  const owner = model.views.get(name) ?? model.cubes.get(name);
  if (owner) {
    for (const other of memberNamesOf(owner))
      if (isHint(model, name, other, viewer)) yield `${name}.${other}`;
    return;
  }
  // Perhaps the cube or view is misspelt.
  const owners = [...model.cubes.keys(), ...model.views.keys()].slice(0, OWNERS_MAX);
  for (const other of owners) if (isHint(model, other, member, viewer)) yield `${other}.${member}`;
}

/** A viewer whom no policy admits can name the members, but is not told about them. */
export function isHint(model: Model, owner: string, name: string, viewer: Viewer): boolean {
  const found = findMember(model, owner, name, viewer);
  const view = model.views.get(owner);
  return !!found && isOpenTo(found.cube, viewer) && (!view || isOpenTo(view, viewer));
}

/** A cube or view that no policy opens to the viewer has no rows for them, and its members are not named. */
export const isOpenTo = ({ policies }: Cube | View, viewer: Viewer): boolean =>
  !policies.length || policiesFor(policies, viewer).length > 0;

/** Returns the definition of the member in the model. */
export const definitionOf = (member: Member) =>
  member.kind === 'dimension'
    ? member.dimension
    : member.kind === 'measure'
      ? member.measure
      : member.segment;

function findInCube(cube: Cube | undefined, name: string, viewer: Viewer): Member | undefined {
  if (!cube?.public || !existsFor(viewer, cube)) return undefined;
  const member = memberOf(cube, name, [cube.name], `${cube.name}.${name}`);
  if (!member || !definitionOf(member).public || !opens(cube.policies, name, viewer)) return undefined;
  return member;
}

function findInView(model: Model, view: View, name: string, viewer: Viewer): Member | undefined {
  const included = view.public ? view.members.get(name) : undefined;
  if (!included?.public) return undefined;
  const cube = model.cubes.get(included.cube)!;
  if (!existsFor(viewer, view, cube)) return undefined;
  if (!opens(view.policies, name, viewer) || !opens(cube.policies, included.member, viewer)) return undefined;
  return memberOf(cube, included.member, included.path, `${view.name}.${name}`);
}

/** A policy of the view or of the cube guards what the view includes of the cube. */
export const existsFor = (viewer: Viewer, ...owners: readonly (Cube | View)[]): boolean =>
  viewer.seesUnguarded || owners.some(({ policies }) => policies.length > 0);

/** Whether the policies open the member. A viewer whom none admits may name it, and gets no rows. */
function opens(policies: readonly Policy[], name: string, viewer: Viewer): boolean {
  const admitting = policiesFor(policies, viewer);
  return admitting.length === 0 || admitting.some(({ members }) => members.has(name));
}

export function memberOf(cube: Cube, name: string, path: readonly string[], key: string): Member | undefined {
  const dimension = cube.dimensions.get(name);
  if (dimension) return { kind: 'dimension', key, cube, path, dimension };
  const measure = cube.measures.get(name);
  if (measure) return { kind: 'measure', key, cube, path, measure };
  const segment = cube.segments.get(name);
  return segment && { kind: 'segment', key, cube, path, segment };
}
