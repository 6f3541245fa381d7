/** The rows that a viewer may see, as conditions on joined rows. Fails closed. */
import type { Policy, Condition as PolicyCondition, View } from '../model.ts';
import type { Clock, Now } from '../times/ranges.ts';
import { findZone } from '../times/zones.ts';
import { type Compared, compare } from './comparisons.ts';
import type { Rows } from './rows.ts';
import { allOf, anyOf, type Condition } from './sql.ts';
import { policiesFor, policyValues, type Viewer } from './viewer.ts';

export interface Access {
  readonly viewer: Viewer;
  /** The members that the query names, by the name of their cube or view. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  /** The view that is queried, whose policies apply beside those of the cubes. */
  readonly view: View | undefined;
  readonly now: Now;
}

/**
 * One condition for each cube with policies. A condition may need further cubes, whose policies apply too: call this
 * after everything else has joined what it needs.
 */
export function policyConditions(rows: Rows, access: Access): Condition[] {
  const { view, named } = access;
  const conditions: Condition[] = [];
  if (view?.policies.length) {
    const memberOf = (name: string): Compared => {
      const { cube, member, path } = view.members.get(name)!;
      const { type } = rows.context.model.cubes.get(cube)!.dimensions.get(member)!;
      return { type, sql: rows.dimension(rows.at(path), member) };
    };
    conditions.push(conditionOf(view.policies, named.get(view.name), memberOf, access));
  }
  for (let i = 0; i < rows.nodes.length; i++) {
    const node = rows.nodes[i]!;
    const { policies, name, dimensions } = node.cube;
    if (!policies.length) continue;
    const memberOf = (member: string): Compared => ({
      type: dimensions.get(member)!.type,
      sql: rows.dimension(node, member),
    });
    conditions.push(conditionOf(policies, named.get(name), memberOf, access));
  }
  return conditions;
}

/** A policy counts only if it opens every member of its cube or view that the query names. */
export const opensAll = ({ members }: Policy, named: ReadonlySet<string> | undefined): boolean =>
  [...(named ?? [])].every((member) => members.has(member));

function conditionOf(
  policies: readonly Policy[],
  named: ReadonlySet<string> = new Set(),
  memberOf: (name: string) => Compared,
  access: Access,
): Condition {
  const counting = policiesFor(policies, access.viewer).filter((policy) => opensAll(policy, named));
  return anyOf(counting.map(({ rows }) => (rows ? rowCondition(rows, memberOf, access) : true)));
}

function rowCondition(
  condition: PolicyCondition,
  memberOf: (name: string) => Compared,
  access: Access,
): Condition {
  if ('and' in condition) return allOf(condition.and.map((part) => rowCondition(part, memberOf, access)));
  if ('or' in condition) return anyOf(condition.or.map((part) => rowCondition(part, memberOf, access)));
  const { member, operator, values } = condition;
  // First of all, so that the cubes that are joined do not depend on what the viewer has.
  const compared = memberOf(member);
  const given = policyValues(values, operator, access.viewer);
  if (!given) return false;
  // The time zone of a query is the viewer's choice, so it must not move what a policy says about times.
  const clock: Clock = { zone: findZone('UTC')!, now: access.now };
  return compare(compared, operator, given, { clock, keepsNulls: false }) ?? false;
}
