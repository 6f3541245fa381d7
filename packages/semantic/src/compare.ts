/** What a change of a model means: which cubes, views and members it adds, removes and changes, and what follows from it. */
import type { Cube, Dimension, Expression, Measure, Model, Segment, View, ViewMember } from './model.ts';

export interface ChangedPart {
  /** The cube or the view. */
  readonly cube: string;
  /** The name of the member; undefined if the cube or view itself changed. */
  readonly member: string | undefined;
  readonly what: 'cube' | 'view' | 'dimension' | 'measure' | 'segment';
  readonly change: 'added' | 'removed' | 'changed';
  /** The keys of the language whose values changed. */
  readonly keys: readonly string[];
}

/** For each key of the language, reads its value from a part. `other` is the same part in the other model. */
type Keys<T> = { readonly [key: string]: (of: T, other: T) => unknown };

const DESCRIBED = {
  title: (of: { title: unknown }) => of.title,
  description: (of: { description: unknown }) => of.description,
  meta: (of: { meta: unknown }) => of.meta,
  public: (of: { public: unknown }) => of.public,
};
/** The keys that change what people read, and no number. */
const WORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'meta',
  'format',
  'drill_members',
  'hierarchies',
]);

/**
 * The policies without members that the other model lacks: if a policy opens all members, a new or a removed member is
 * no change of that policy.
 */
const policiesBeside = ({ policies }: Cube | View, other: Cube | View) =>
  policies.map(({ groups, rows, members }) => ({
    groups,
    rows,
    members: new Set([...members].filter((name) => hasMember(other, name))),
  }));

const hasMember = (owner: Cube | View, name: string) =>
  'members' in owner
    ? owner.members.has(name)
    : owner.dimensions.has(name) || owner.measures.has(name) || owner.segments.has(name);

const CUBE: Keys<Cube> = {
  ...DESCRIBED,
  sql_table: ({ from }) => ('table' in from ? from.table : null),
  sql: ({ from }) => ('query' in from ? from.query : null),
  data_source: ({ dataSource }) => dataSource,
  joins: ({ joins }) => joins,
  hierarchies: ({ hierarchies }) => hierarchies,
  access_policy: policiesBeside,
  refresh_key: ({ refreshKey }) => refreshKey,
};
const VIEW: Keys<View> = {
  ...DESCRIBED,
  cubes: ({ root }) => root,
  hierarchies: ({ hierarchies }) => hierarchies,
  access_policy: policiesBeside,
};
const DIMENSION: Keys<Dimension> = {
  ...DESCRIBED,
  type: ({ type }) => type,
  sql: ({ value }) => ('when' in value ? null : value),
  case: ({ value }) => ('when' in value ? value : null),
  primary_key: ({ primaryKey }) => primaryKey,
  sub_query: ({ subQuery }) => subQuery,
  format: ({ format }) => format,
  granularities: ({ granularities }) => granularities,
};
const MEASURE: Keys<Measure> = {
  ...DESCRIBED,
  type: ({ type }) => type,
  sql: ({ sql }) => sql,
  filters: ({ filters }) => filters,
  rolling_window: ({ rollingWindow }) => rollingWindow,
  format: ({ format }) => format,
  drill_members: ({ drillMembers }) => drillMembers,
};
const SEGMENT: Keys<Segment> = { ...DESCRIBED, sql: ({ sql }) => sql };
const VIEW_MEMBER: Keys<ViewMember> = {
  ...DESCRIBED,
  format: ({ format }) => format,
  includes: ({ cube, member, kind }) => [cube, member, kind],
  join_path: ({ path }) => path,
};

/** Cubes first, each with its members, in the order of the newer model. */
export function compareModels(before: Model, after: Model): ChangedPart[] {
  const parts: ChangedPart[] = [];
  compareAll(before.cubes, after.cubes, CUBE, (cube, change, keys) => {
    if (change !== 'changed' || keys.length)
      parts.push({ cube, member: undefined, what: 'cube', change, keys });
    const [old, now] = [before.cubes.get(cube), after.cubes.get(cube)];
    if (!old || !now) return;
    const add =
      (what: ChangedPart['what']) => (member: string, kind: ChangedPart['change'], changed: string[]) => {
        if (kind !== 'changed' || changed.length)
          parts.push({ cube, member, what, change: kind, keys: changed });
      };
    compareAll(old.dimensions, now.dimensions, DIMENSION, add('dimension'));
    compareAll(old.measures, now.measures, MEASURE, add('measure'));
    compareAll(old.segments, now.segments, SEGMENT, add('segment'));
  });
  compareAll(before.views, after.views, VIEW, (view, change, keys) => {
    if (change !== 'changed' || keys.length)
      parts.push({ cube: view, member: undefined, what: 'view', change, keys });
    const [old, now] = [before.views.get(view), after.views.get(view)];
    if (!old || !now) return;
    compareAll(old.members, now.members, VIEW_MEMBER, (member, kind, changed) => {
      const what = (now.members.get(member) ?? old.members.get(member))!.kind;
      if (kind !== 'changed' || changed.length)
        parts.push({ cube: view, member, what, change: kind, keys: changed });
    });
  });
  return parts;
}

export interface ChangedValue {
  readonly key: string;
  /** The old value as the language writes it, shortened; empty if there was none. */
  readonly from: string;
  readonly to: string;
}

/** Returns the old and the new value of each changed key of a part. */
export function changedValues(
  before: Model,
  after: Model,
  { cube, member, what, change, keys }: ChangedPart,
): ChangedValue[] {
  if (change !== 'changed') return [];
  const values = <T>(old: T | undefined, now: T | undefined, table: Keys<T>) =>
    old === undefined || now === undefined
      ? []
      : keys.map((key) => ({
          key,
          from: written(table[key]?.(old, now)),
          to: written(table[key]?.(now, old)),
        }));
  const [oldView, view] = [before.views.get(cube), after.views.get(cube)];
  if (view)
    return member === undefined
      ? values(oldView, view, VIEW)
      : values(oldView?.members.get(member), view.members.get(member), VIEW_MEMBER);
  const [old, now] = [before.cubes.get(cube), after.cubes.get(cube)];
  if (member === undefined) return values(old, now, CUBE);
  if (what === 'dimension')
    return values(old?.dimensions.get(member), now?.dimensions.get(member), DIMENSION);
  if (what === 'measure') return values(old?.measures.get(member), now?.measures.get(member), MEASURE);
  return values(old?.segments.get(member), now?.segments.get(member), SEGMENT);
}

const WRITTEN_MAX = 300;

const written = (value: unknown): string => {
  const text = describeValue(value);
  return text.length > WRITTEN_MAX ? `${text.slice(0, WRITTEN_MAX)}…` : text;
};

const isExpression = (value: readonly unknown[]) =>
  value.length > 0 &&
  value.every((part) => typeof part === 'string' || (Object(part).kind && Object(part).cube)) &&
  value.some((part) => typeof part !== 'string' || /\W/.test(part));

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Map) return [...value].map(([key, one]) => `${key}: ${describeValue(one)}`).join('; ');
  if (Array.isArray(value) && isExpression(value))
    return value
      .map((part) =>
        typeof part === 'string' ? part : `{${[part.cube, part.member].filter(Boolean).join('.')}}`,
      )
      .join('');
  if (Array.isArray(value) || value instanceof Set) return [...value].map(describeValue).join(', ');
  return Object.entries(value)
    .filter(([key, one]) => key !== 'place' && one !== undefined)
    .map(([key, one]) => `${key}: ${describeValue(one)}`)
    .join(', ');
}

function compareAll<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  keys: Keys<T>,
  found: (name: string, change: ChangedPart['change'], keys: string[]) => void,
) {
  for (const [name, now] of after) {
    const old = before.get(name);
    if (old === undefined) found(name, 'added', []);
    else
      found(
        name,
        'changed',
        Object.keys(keys).filter((key) => !isSame(keys[key]!(old, now), keys[key]!(now, old))),
      );
  }
  for (const name of before.keys()) if (!after.has(name)) found(name, 'removed', []);
}

/** Models are plain values, maps and sets. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map || a instanceof Set) {
    if (!(b instanceof Map || b instanceof Set) || a.size !== b.size) return false;
    return isSame([...a], [...b]);
  }
  if (b instanceof Map || b instanceof Set || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

/**
 * The members of the newer model that may answer otherwise than before, each with the change that it follows from: what
 * changed itself, what refers to it, and what views show of it. A cube that changed takes all of its members along.
 */
export function affectedMembers(changes: readonly ChangedPart[], after: Model): Map<string, ChangedPart> {
  const affected = new Map<string, ChangedPart>();
  const users = usersOf(after);
  const spread = (name: string, cause: ChangedPart) => {
    const waiting = [name];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (affected.has(next)) continue;
      affected.set(next, cause);
      waiting.push(...(users.get(next) ?? []));
    }
  };
  for (const cause of changes) {
    if (cause.change !== 'changed' || cause.keys.every((key) => WORDS.has(key))) continue;
    if (cause.member !== undefined) spread(`${cause.cube}.${cause.member}`, cause);
    else for (const member of memberNames(after, cause.cube)) spread(`${cause.cube}.${member}`, cause);
  }
  return affected;
}

/** The names of the dimensions, measures and segments of a cube or view. */
export function memberNames({ cubes, views }: Model, name: string): string[] {
  const cube = cubes.get(name);
  if (cube) return [...cube.dimensions.keys(), ...cube.measures.keys(), ...cube.segments.keys()];
  return [...(views.get(name)?.members.keys() ?? [])];
}

/** For each member, those that refer to it, and those of views that show it. */
function usersOf({ cubes, views }: Model): Map<string, string[]> {
  const users = new Map<string, string[]>();
  const add = (used: string, user: string) => {
    const known = users.get(used);
    if (known) known.push(user);
    else users.set(used, [user]);
  };
  const addAll = (user: string, ...expressions: (Expression | undefined)[]) => {
    for (const part of expressions.flatMap((expression) => expression ?? []))
      if (typeof part !== 'string' && part.kind !== 'table') add(`${part.cube}.${part.member}`, user);
  };
  for (const [name, cube] of cubes) {
    for (const [member, { value }] of cube.dimensions) {
      const user = `${name}.${member}`;
      if (!('when' in value)) addAll(user, value);
      else
        for (const { condition, label } of value.when)
          addAll(user, condition, 'sql' in label ? label.sql : undefined);
    }
    for (const [member, { sql, filters }] of cube.measures) addAll(`${name}.${member}`, sql, ...filters);
    for (const [member, { sql }] of cube.segments) addAll(`${name}.${member}`, sql);
  }
  for (const [name, { members }] of views)
    for (const [alias, { cube, member }] of members) add(`${cube}.${member}`, `${name}.${alias}`);
  return users;
}
