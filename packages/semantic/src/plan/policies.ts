/** The rows that a viewer may see, as conditions on joined rows. Fails closed. */
import type { Model, Policy, Condition as PolicyCondition, View } from '../model.ts';
import type { Clock, QueryTime } from '../times/ranges.ts';
import { UTC } from '../times/zones.ts';
import { type ComparedMember, compare } from './comparisons.ts';
import type { Node, Rows } from './rows.ts';
import { allOf, anyOf, type Condition, tableOfColumn } from './sql.ts';
import { policiesFor, policyValues, type Viewer } from './viewer.ts';

export interface Access {
  readonly viewer: Viewer;
  /** The members that the query names, by the name of their cube or view. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  /** The view that is queried, whose policies apply beside those of the cubes. */
  readonly view: View | undefined;
  readonly now: QueryTime;
}

/** What the policies of a view or of a cube say about rows. */
export interface RowPolicy {
  /** Undefined for those of the view. */
  readonly node: Node | undefined;
  readonly condition: Condition;
  /** Whether it refuses rows without a row of the cube. */
  readonly refusesMissingRow: boolean;
}

/**
 * One condition for each cube with policies. A condition may need further cubes, whose policies apply too: call this
 * after everything else has joined what it needs.
 */
export const policyConditions = (rows: Rows, access: Access): RowPolicy[] =>
  // The time zone of a query is the viewer's choice, so it must not move what a policy says about times.
  rows.deciding(() => conditionsOf(rows, access));

function conditionsOf(rows: Rows, access: Access): RowPolicy[] {
  const { view, named } = access;
  const conditions: RowPolicy[] = [];
  if (view?.policies.length) {
    conditions.push({
      node: undefined,
      condition: viewCondition(rows, view, access),
      refusesMissingRow: false,
    });
  }
  for (let i = 0; i < rows.nodes.length; i++) {
    const node = rows.nodes[i]!;
    const { policies, name, dimensions } = node.cube;
    if (!policies.length) continue;
    const columns = new Set<string>();
    const memberOf = (member: string): ComparedMember => {
      const made = rows.dimension(node, member);
      if (tableOfColumn(made) === node.alias) columns.add(member);
      return { type: dimensions.get(member)!.type, sql: made };
    };
    const counting = countingPolicies(policies, named.get(name), access);
    const condition = conditionOf(counting, memberOf, access);
    const refusesMissingRow = counting.every(({ rows: of }) => of !== undefined && refusesNull(of, columns));
    conditions.push({ node, condition, refusesMissingRow });
  }
  return conditions;
}

function viewCondition(rows: Rows, view: View, access: Access): Condition {
  const memberOf = (name: string): ComparedMember => {
    const { cube, member, path } = view.members.get(name)!;
    const { type } = rows.context.model.cubes.get(cube)!.dimensions.get(member)!;
    return { type, sql: rows.dimension(rows.at(path), member) };
  };
  const counting = countingPolicies(view.policies, access.named.get(view.name), access);
  return conditionOf(counting, memberOf, access);
}

/** The rows that the policies of the view look at, joined if they are not there yet. */
export const nodesOfViewPolicies = (rows: Rows, access: Access): Node[] => {
  const { view } = access;
  if (!view) return [];
  return [...rows.watching(() => rows.deciding(() => viewCondition(rows, view, access))).used];
};

/** A policy counts only if it opens every member of its cube or view that the query names. */
export const opensAll = ({ members }: Policy, named: ReadonlySet<string> | undefined): boolean =>
  [...(named ?? [])].every((member) => members.has(member));

const countingPolicies = (
  policies: readonly Policy[],
  named: ReadonlySet<string> | undefined,
  { viewer }: Access,
) => policiesFor(policies, viewer).filter((policy) => opensAll(policy, named));

/** Whether policies can hide rows of what a plan reads from the viewer. It tells nothing of what they say. */
export const limitsRows = (
  model: Model,
  viewer: Viewer,
  { cubes, view, named }: { cubes: readonly string[]; view: string | undefined; named: Access['named'] },
): boolean => {
  const read = [
    ...cubes.map((name) => model.cubes.get(name)),
    view === undefined ? undefined : model.views.get(view),
  ];
  return read.some(
    (one) =>
      one !== undefined &&
      one.policies.length > 0 &&
      !policiesFor(one.policies, viewer).some(
        (policy) => policy.rows === undefined && opensAll(policy, named.get(one.name)),
      ),
  );
};

/** No comparison of a column without a value is true, except for the one that asks for it. */
function refusesNull(condition: PolicyCondition, columns: ReadonlySet<string>): boolean {
  if ('and' in condition) return condition.and.some((part) => refusesNull(part, columns));
  if ('or' in condition) return condition.or.every((part) => refusesNull(part, columns));
  return condition.operator !== 'notSet' && columns.has(condition.member);
}

const conditionOf = (
  counting: readonly Policy[],
  memberOf: (name: string) => ComparedMember,
  access: Access,
): Condition => anyOf(counting.map(({ rows }) => (rows ? rowCondition(rows, memberOf, access) : true)));

function rowCondition(
  condition: PolicyCondition,
  memberOf: (name: string) => ComparedMember,
  access: Access,
): Condition {
  if ('and' in condition) return allOf(condition.and.map((part) => rowCondition(part, memberOf, access)));
  if ('or' in condition) return anyOf(condition.or.map((part) => rowCondition(part, memberOf, access)));
  const { member, operator, values } = condition;
  // Resolve the member before the values: the joined cubes must not depend on the values of the viewer.
  const compared = memberOf(member);
  const given = policyValues(values, operator, access.viewer);
  if (!given) return false;
  const clock: Clock = { zone: UTC, now: access.now };
  return compare(compared, operator, given, { clock, keepsNulls: false }) ?? false;
}
