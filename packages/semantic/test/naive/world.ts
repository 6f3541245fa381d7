/** Small random data models with data, as plain objects: what a model means, beside the YAML that says it. */
import type { Viewer } from '../../src/index.ts';
import type { Cell } from '../engines.ts';
import type { Random } from '../random.ts';

export type Row = Record<string, Cell>;
/** One row of each cube that is joined, or null where there is none. */
export type JoinedRow = ReadonlyMap<string, Row | null>;
export type Type = 'string' | 'number' | 'boolean' | 'time';

export interface Dimension {
  readonly type: Type;
  readonly yaml: string;
  /** The cubes that its value comes from. */
  readonly cubes: readonly string[];
  value(joined: JoinedRow, visible: VisibleRows): Cell;
}
/** The rows of a cube that the viewer may see, joined with others, whatever the query filters. */
export type VisibleRows = (cube: string, joinedWith: readonly string[]) => readonly JoinedRow[];
export interface Measure {
  readonly type: 'count' | 'count_distinct' | 'sum' | 'avg' | 'min' | 'max' | 'ratio' | 'own';
  readonly yaml: string;
  /** The value of a row; null is not aggregated. */
  value(row: Row): Cell;
}
export interface PolicyLeaf {
  readonly member: string;
  readonly operator: string;
  readonly values: readonly string[];
}
export type PolicyNode =
  | PolicyLeaf
  | { readonly and: readonly PolicyNode[] }
  | { readonly or: readonly PolicyNode[] };
export interface Policy {
  readonly group: string;
  readonly rows: PolicyNode | undefined;
  readonly excludes: readonly string[];
}
export interface Cube {
  readonly name: string;
  readonly dimensions: Map<string, Dimension>;
  readonly measures: ReadonlyMap<string, Measure>;
  readonly segments: ReadonlyMap<string, (row: Row) => boolean>;
  readonly policies: Policy[];
  readonly rows: Row[];
}
/** Each row of `many` has at most one of `one`: `many.fk_<one> = one.id`. */
export interface Link {
  readonly many: string;
  readonly one: string;
  readonly declaredBy: 'many' | 'one';
}
export interface World {
  readonly cubes: ReadonlyMap<string, Cube>;
  readonly links: readonly Link[];
}

const TEXTS = ['a', 'B', 'b', 'ab', '', "o'x", '50%', 'a_b', 'é', null, null];
const NUMBERS = ['0', '1', '2', '3', '-4', '7', null];
/** Around changes of clocks in Berlin and in New York, and around the ends of days, months and years. */
const TIMES = [
  '2024-03-30 23:30:00',
  '2024-03-31 00:30:00',
  '2024-03-31 01:30:00',
  '2024-10-27 00:30:00',
  '2024-10-27 01:30:00',
  '2024-11-03 05:30:00',
  '2024-11-03 06:30:00',
  '2024-02-29 12:00:00',
  '2024-12-31 23:59:59.999999',
  '2025-01-01 00:00:00',
  '2024-03-01 04:59:59.5',
  null,
];
/** Beyond what a JavaScript number or a double can tell apart. */
const LARGE = 9_007_199_254_740_992n;

export function makeWorld(random: Random): World {
  const names = ['orders', 'customers', 'tickets', 'regions'].slice(0, 2 + random.below(3));
  const links: Link[] = names.slice(1).map((name, i) => {
    const other = names[random.below(i + 1)]!;
    const [many, one] = random.chance(0.5) ? [name, other] : [other, name];
    return { many, one, declaredBy: random.pick(['many', 'one'] as const) };
  });
  const sizes = new Map(names.map((name) => [name, random.chance(0.1) ? 0 : 1 + random.below(9)]));
  const base = random.chance(0.3) ? LARGE : 0n;
  const cubes = new Map(names.map((name) => [name, makeCube(name, links, sizes, base, random)]));
  const world = { cubes, links };
  for (const cube of cubes.values()) addDerived(cube, world, random);
  for (const cube of cubes.values()) addSubQuery(cube, world, random);
  for (const cube of cubes.values()) if (random.chance(0.35)) addPolicies(cube, random);
  return world;
}

function makeCube(
  name: string,
  links: readonly Link[],
  sizes: ReadonlyMap<string, number>,
  base: bigint,
  random: Random,
): Cube {
  const rows = Array.from({ length: sizes.get(name)! }, (_, i) => {
    const row: Row = {
      id: String(base + BigInt(i + 1)),
      s: random.pick(TEXTS),
      n: random.pick(NUMBERS),
      b: random.pick([true, false, null]),
      t: random.pick(TIMES),
    };
    for (const { many, one } of links) {
      // One more than there are: a key that leads nowhere.
      const key = random.below(sizes.get(one)! + 2);
      if (many === name) row[`fk_${one}`] = key === 0 ? null : String(base + BigInt(key));
    }
    return row;
  });
  const column = (type: Type, key: string, more = ''): [string, Dimension] => [
    key,
    {
      type,
      yaml: `{ name: ${key}, sql: ${key}, type: ${type}${more} }`,
      cubes: [name],
      value: (joined) => joined.get(name)?.[key] ?? null,
    },
  ];
  const number = (row: Row) => row.n ?? null;
  const measure = (
    key: string,
    type: Measure['type'],
    sql: string,
    value: Measure['value'],
    more = '',
  ): [string, Measure] => [
    key,
    {
      type,
      yaml: `{ name: ${key}, type: ${type === 'ratio' || type === 'own' ? 'number' : type}${sql && `, sql: ${sql}`}${more} }`,
      value,
    },
  ];
  return {
    name,
    dimensions: new Map([
      column('number', 'id', ', primary_key: true, public: true'),
      column('string', 's'),
      column('number', 'n'),
      column('boolean', 'b'),
      column('time', 't'),
    ]),
    measures: new Map([
      measure('count', 'count', '', () => '1'),
      measure('count_n', 'count', 'n', number),
      measure(
        'high',
        'count',
        '',
        (row) => (Number(row.n ?? -9) > 1 ? '1' : null),
        ', filters: [{ sql: "{CUBE}.n > 1" }]',
      ),
      measure('sum_n', 'sum', 'n', number),
      measure('avg_n', 'avg', 'n', number),
      measure('min_n', 'min', 'n', number),
      measure('max_n', 'max', 'n', number),
      measure('kinds', 'count_distinct', 's', (row) => row.s ?? null),
      measure('ratio', 'ratio', '"{sum_n} / {high}"', () => null),
      measure('own', 'own', '"sum({CUBE}.n) + count(*)"', number),
    ]),
    segments: new Map([['yes', (row) => row.b === true]]),
    policies: [],
    rows,
  };
}

function addDerived(cube: Cube, { links }: World, random: Random) {
  const { name, dimensions } = cube;
  dimensions.set('n_next', {
    type: 'number',
    yaml: '{ name: n_next, sql: "{n} + 1", type: number }',
    cubes: [name],
    value: (joined) => {
      const n = joined.get(name)?.n ?? null;
      return n === null ? null : String(Number(n) + 1);
    },
  });
  dimensions.set('kind', {
    type: 'string',
    yaml: '{ name: kind, type: string, case: { when: [{ sql: "{CUBE}.n > 1", label: "it\'s high" }, { sql: "{b}", label: { sql: "{s}" } }], else: { label: low } } }',
    cubes: [name],
    value: (joined) => {
      const row = joined.get(name);
      if (Number(row?.n ?? -9) > 1) return "it's high";
      return row?.b === true ? (row.s ?? null) : 'low';
    },
  });
  const up = links.find(({ many }) => many === name);
  if (up && random.chance(0.5)) {
    dimensions.set('up_s', {
      type: 'string',
      yaml: `{ name: up_s, sql: "{${up.one}.s}", type: string }`,
      cubes: [name, up.one],
      value: (joined) => joined.get(up.one)?.s ?? null,
    });
  }
}

/** For each row of a cube, how many rows of another one belong to it. */
function addSubQuery({ name, dimensions }: Cube, { links }: World, random: Random) {
  const down = links.find(({ one }) => one === name);
  if (!down || !random.chance(0.5)) return;
  dimensions.set('belonging', {
    type: 'number',
    yaml: `{ name: belonging, sql: "{${down.many}.count}", type: number, sub_query: true }`,
    cubes: [name],
    value: (joined, visible) => {
      const id = joined.get(name)?.id;
      if (id === undefined) return null;
      return visible(down.many, [name]).filter((other) => other.get(name)?.id === id).length;
    },
  });
}

const ATTRIBUTES = ['text', 'texts', 'number', 'missing'] as const;

function addPolicies(cube: Cube, random: Random) {
  const count = 1 + random.below(2);
  for (let i = 0; i < count; i++) {
    cube.policies.push({
      group: random.pick(['*', '*', '*', 'g1', 'g2', 'tenant:g1', 'role:g2']),
      rows: random.chance(0.8) ? policyNode(cube, random, 0) : undefined,
      excludes: random.chance(0.3)
        ? random.some([...cube.dimensions.keys(), ...cube.measures.keys()], 2)
        : [],
    });
  }
}

function policyNode(cube: Cube, random: Random, depth: number): PolicyNode {
  const kind = depth > 1 ? 'leaf' : random.pick(['leaf', 'leaf', 'and', 'or']);
  if (kind !== 'leaf') {
    const parts = [policyNode(cube, random, depth + 1), policyNode(cube, random, depth + 1)];
    return kind === 'and' ? { and: parts } : { or: parts };
  }
  const member = random.pick(
    [...cube.dimensions.keys()].filter((key) => key !== 'id' && key !== 'belonging'),
  );
  return { member, ...policyTest(cube.dimensions.get(member)!.type, random) };
}

function policyTest(type: Type, random: Random): Omit<PolicyLeaf, 'member'> {
  if (random.chance(0.1)) return { operator: random.pick(['set', 'notSet']), values: [] };
  if (type === 'boolean') return { operator: random.pick(['equals', 'notEquals']), values: ['true'] };
  if (type === 'time')
    return { operator: random.pick(['beforeDate', 'afterOrOnDate']), values: ['2024-10-27'] };
  const attribute = () => `{ userAttributes.${random.pick(ATTRIBUTES)} }`;
  if (type === 'number') {
    const values = [random.chance(0.5) ? random.pick(['1', '2', '0.5']) : attribute()];
    return { operator: random.pick(['equals', 'notEquals', 'gt', 'lte']), values };
  }
  const values = random.chance(0.6) ? [attribute()] : ['a', ...(random.chance(0.3) ? [attribute()] : [])];
  return {
    operator: random.pick(['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'notEndsWith']),
    values,
  };
}

export function makeViewer(random: Random): Viewer {
  const attributes: Record<string, string | number | null | string[]> = {};
  if (random.chance(0.8)) attributes.text = random.pick(['a', 'b', '%', "'; drop table orders; --", null]);
  if (random.chance(0.8)) attributes.texts = random.pick([['a', 'B'], [], ['ab'], ['', '50%']]);
  if (random.chance(0.8)) attributes.number = random.pick([1, 2, '3', 'x', null]);
  return {
    groups: random.some(['g1', 'g2', 'tenant:g1', 'role:g2'], 3),
    tenantGroups: random.some(['g1', 'g2'], 1),
    roles: random.some(['g1', 'g2'], 1),
    userAttributes: attributes,
    securityContext: {},
    seesUnguarded: true,
  };
}

/** The cubes between two, found by trying every way. There is only one, because the joins of a world form a tree. */
export function way(
  links: readonly Link[],
  from: string,
  to: string,
  seen: readonly string[] = [],
): string[] | undefined {
  if (from === to) return [from];
  for (const { many, one } of links) {
    const next = many === from ? one : one === from ? many : undefined;
    if (next === undefined || seen.includes(next)) continue;
    const rest = way(links, next, to, [...seen, from]);
    if (rest) return [from, ...rest];
  }
  return undefined;
}

/** A view of everything answers as the cubes do: `everything.orders_count` is `orders.count`. */
export const VIEW = 'everything';

export function yamlOf({ cubes, links }: World): string {
  const [first] = cubes.keys();
  const included = [...cubes.keys()].map((name) => {
    return `      - { join_path: ${way(links, first!, name)!.join('.')}, prefix: true, includes: "*" }\n`;
  });
  const view = `views:\n  - name: ${VIEW}\n    cubes:\n${included.join('')}`;
  return `cubes:\n${[...cubes.values()].map((cube) => cubeYaml(cube, links)).join('')}${view}`;
}

function cubeYaml({ name, dimensions, measures, policies }: Cube, links: readonly Link[]): string {
  const joins = links.flatMap(({ many, one, declaredBy }) => {
    if (declaredBy === 'many' && many === name) {
      return `{ name: ${one}, relationship: many_to_one, sql: "{CUBE}.fk_${one} = {${one}.id}" }`;
    }
    if (declaredBy === 'one' && one === name) {
      return `{ name: ${many}, relationship: one_to_many, sql: "{CUBE.id} = {${many}}.fk_${one}" }`;
    }
    return [];
  });
  const list = (key: string, lines: readonly string[]) =>
    lines.length ? `    ${key}:\n${lines.map((line) => `      - ${line}\n`).join('')}` : '';
  return [
    `  - name: ${name}\n    sql_table: ${name}\n`,
    list('joins', joins),
    list(
      'dimensions',
      [...dimensions.values()].map(({ yaml }) => yaml),
    ),
    list(
      'measures',
      [...measures.values()].map(({ yaml }) => yaml),
    ),
    list('segments', ['{ name: yes, sql: "{CUBE}.b" }']),
    list('access_policy', policies.map(policyYaml)),
  ].join('');
}

const policyYaml = ({ group, rows, excludes }: Policy) =>
  JSON.stringify({
    group,
    ...(rows ? { row_level: { filters: [rows] } } : {}),
    ...(excludes.length ? { member_level: { includes: '*', excludes } } : {}),
  });

const TYPES: Record<string, string> = { id: 'bigint', s: 'text', n: 'integer', b: 'boolean', t: 'timestamp' };

/** Statements that make the tables and their rows, the same for every database. */
export function tablesOf({ cubes, links }: World): string[] {
  const literal = (cell: Cell) =>
    typeof cell === 'string' ? `'${cell.replaceAll("'", "''")}'` : String(cell);
  return [...cubes.values()].flatMap(({ name, rows }) => {
    const keys = links.filter(({ many }) => many === name).map(({ one }) => `fk_${one}`);
    const columns = [...Object.keys(TYPES), ...keys];
    const types = columns.map((column) => `${column} ${TYPES[column] ?? 'bigint'}`);
    const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')})`);
    const insert = values.length ? [`insert into ${name} values ${values.join(', ')}`] : [];
    return [`create table ${name} (${types.join(', ')})`, ...insert];
  });
}
