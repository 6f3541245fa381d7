/** The viewer of a query, and which policies admit them. */
import type { Json, Operator, Policy, PolicyValue } from '../model.ts';
import { OF_TEXT } from '../operators.ts';

export interface Viewer {
  /** The groups in force. */
  readonly groups: readonly string[];
  readonly tenantGroups: readonly string[];
  readonly roles: readonly string[];
  readonly userAttributes: { readonly [name: string]: Json };
  readonly securityContext: Json;
  /** Whether what has no policy is open to them. Cubes and views without one do not exist for other viewers. */
  readonly seesUnguarded: boolean;
}

/**
 * A prefix decides where the name is looked up, and only there: a group with the name `role:Admin` is not that role.
 */
export function belongsTo(viewer: Viewer, group: string): boolean {
  if (group.startsWith('tenant:')) return viewer.tenantGroups.includes(group.slice('tenant:'.length));
  if (group.startsWith('role:')) return viewer.roles.includes(group.slice('role:'.length));
  return viewer.groups.includes(group);
}

/** The policies that admit the viewer, whatever they open. */
export const policiesFor = (policies: readonly Policy[], viewer: Viewer) =>
  policies.filter((policy) => admittingGroups(policy, viewer).length > 0);

/** The groups of the policy that the viewer belongs to; `*` if it admits everybody. */
export const admittingGroups = ({ groups }: Policy, viewer: Viewer): readonly string[] =>
  groups === '*' ? ['*'] : groups.filter((group) => belongsTo(viewer, group));

export type Scalar = string | number | boolean;

/**
 * The values of a comparison in a policy. Undefined if a value of the viewer is missing, null, empty or no plain value:
 * then the comparison is false, whatever its operator. An empty text is missing too where parts of texts are compared,
 * because every text begins with it.
 */
export function policyValues(
  values: readonly PolicyValue[],
  operator: Operator,
  viewer: Viewer,
): readonly Scalar[] | undefined {
  const found: Scalar[] = [];
  for (const value of values) {
    if ('literal' in value) {
      found.push(value.literal);
      continue;
    }
    const given = lookUp(viewer[value.viewer], value.path);
    const items = Array.isArray(given) ? given.filter((item) => item !== null) : [given];
    if (items.length === 0 || !items.every(isScalar)) return undefined;
    if (OF_TEXT.test(operator) && items.includes('')) return undefined;
    found.push(...items);
  }
  return found;
}

function lookUp(from: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of path) {
    // Only what was given: not what every object has, such as `constructor`, and not the length of a list.
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as { readonly [key: string]: Json })[key];
  }
  return value;
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  // A number that lost digits could be the id of another user.
  (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
