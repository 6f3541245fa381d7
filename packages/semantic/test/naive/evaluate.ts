/**
 * What a query means, in plain loops over all rows: slow, and simple enough to be checked by reading it. It shares no
 * code with the planner.
 */
import type { Viewer } from '../../src/index.ts';
import { type Cell, plain } from '../engines.ts';
import { addFields, type GroupedRows, isTextField, measuresBehind, membersNamed } from './calculated.ts';
import type { FilterNode, TestQuery } from './queries.ts';
import { holds, holdsInPolicy } from './tests.ts';
import { localText, startOfBucket } from './times.ts';
import type { Cube, JoinedRow, Measure, Policy, PolicyNode, Row, VisibleRows, World } from './world.ts';
import { way } from './world.ts';

export type Answer =
  | { readonly error: 'unknown_member' | 'invalid_query' }
  | { readonly rows: Cell[][]; readonly total: number };

const split = (name: string) => name.split('.') as [string, string];

/** `isOfView` if the query is asked of the view of everything, whose rows are those of its root. */
export function evaluate(world: World, query: TestQuery, viewer: Viewer, isOfView: boolean): Answer {
  const named = namedMembers(query);
  for (const member of named) if (isHidden(world, member, viewer)) return { error: 'unknown_member' };
  const shown = query.ungrouped ? shownMembers(world, query) : [];
  for (const member of shown) if (isHidden(world, member, viewer)) return { error: 'invalid_query' };
  const root = isOfView ? [...world.cubes.keys()][0] : undefined;
  const context = { world, query, viewer, named: [...named, ...shown], root };
  const rows = query.ungrouped ? ungrouped(context) : grouped(context);
  return { rows: paged(rows, query).map((row) => row.map(plain)), total: rows.length };
}

interface Context {
  readonly world: World;
  readonly query: TestQuery;
  readonly viewer: Viewer;
  readonly named: readonly string[];
  /** The first cube of the view, if there is one. */
  readonly root: string | undefined;
}

const leaves = (filter: FilterNode): string[] =>
  'member' in filter ? [filter.member] : ('and' in filter ? filter.and : filter.or).flatMap(leaves);

const namedMembers = (query: TestQuery) => [
  ...query.measures,
  ...query.dimensions,
  ...query.timeDimensions.map(({ dimension }) => dimension),
  ...query.segments,
  ...query.filters.flatMap(leaves),
  ...(query.calculated ?? []).flatMap(membersNamed),
];

/** The dimensions whose values the measures of single rows show. All of them are of the column `n`. */
const shownMembers = ({ cubes }: World, { measures }: TestQuery) =>
  measures.map(split).flatMap(([cube, measure]) => {
    const isCount = cubes.get(cube)!.measures.get(measure)!.type.startsWith('count');
    return isCount ? [] : [`${cube}.n`];
  });

const admitting = ({ policies }: Cube, viewer: Viewer) =>
  policies.filter(({ group }) => {
    if (group === '*') return true;
    const [prefix, name] = group.split(':');
    if (name === undefined) return viewer.groups.includes(group);
    return (prefix === 'tenant' ? viewer.tenantGroups : viewer.roles).includes(name);
  });

function isHidden({ cubes }: World, name: string, viewer: Viewer): boolean {
  const [cube, member] = split(name);
  const policies = admitting(cubes.get(cube)!, viewer);
  return policies.length > 0 && policies.every(({ excludes }) => excludes.includes(member));
}

/** The policies of a cube that count, because they open every member of it that the query names. */
const counting = (cube: Cube, { viewer, named }: Context) =>
  admitting(cube, viewer).filter(
    ({ excludes }) =>
      !named.some((name) => split(name)[0] === cube.name && excludes.includes(split(name)[1])),
  );

const policyLeaves = (node: PolicyNode): string[] =>
  'member' in node ? [node.member] : ('and' in node ? node.and : node.or).flatMap(policyLeaves);

/** Every cube that rows from this root need: for members, for what their policies name, and all that is between. */
function treeOf(root: string, needed: readonly string[], context: Context): string[] {
  const tree = [root];
  const add = (cube: string) => {
    for (const step of way(context.world.links, root, cube)!) {
      if (tree.includes(step)) continue;
      tree.push(step);
    }
  };
  needed.forEach(add);
  for (let i = 0; i < tree.length; i++) {
    const cube = context.world.cubes.get(tree[i]!)!;
    for (const { rows } of counting(cube, context)) {
      for (const member of rows ? policyLeaves(rows) : []) cube.dimensions.get(member)!.cubes.forEach(add);
    }
  }
  return tree;
}

/** All combinations of rows, and the rows that have no partner. */
function visibleRows(root: string, needed: readonly string[], context: Context): JoinedRow[] {
  const { cubes, links } = context.world;
  let all: JoinedRow[] = cubes.get(root)!.rows.map((row) => new Map([[root, row]]));
  for (const cube of treeOf(root, needed, context).slice(1)) {
    const before = way(context.world.links, root, cube)!.at(-2)!;
    const link = links.find(({ many, one }) => [many, one].includes(cube) && [many, one].includes(before))!;
    all = all.flatMap((joined): JoinedRow[] => {
      const partners = cubes.get(cube)!.rows.filter((row) => {
        const other = joined.get(before);
        const [many, one] = link.many === cube ? [row, other] : [other, row];
        return many && one && many[`fk_${link.one}`] === one.id;
      });
      return (partners.length ? partners : [null]).map((row) => new Map([...joined, [cube, row]]));
    });
  }
  return all.filter((joined) => isVisible(joined, context));
}

const joinedRows = (root: string, needed: readonly string[], context: Context) =>
  visibleRows(root, needed, context).filter((joined) => passes(joined, context));

const isVisible = (joined: JoinedRow, context: Context) =>
  [...joined.keys()].every((name) => {
    const cube = context.world.cubes.get(name)!;
    if (!cube.policies.length) return true;
    return counting(cube, context).some((policy) => admits(policy, cube, joined, context));
  });

function admits({ rows }: Policy, cube: Cube, joined: JoinedRow, context: Context): boolean {
  const check = (node: PolicyNode): boolean => {
    if ('and' in node) return node.and.every(check);
    if ('or' in node) return node.or.some(check);
    const dimension = cube.dimensions.get(node.member)!;
    return holdsInPolicy(dimension.type, dimension.value(joined, seenBy(context)), node, context.viewer);
  };
  return !rows || check(rows);
}

const seenBy =
  (context: Context): VisibleRows =>
  (cube, joinedWith) =>
    visibleRows(cube, joinedWith, context);

const dimensionValue = (name: string, joined: JoinedRow, context: Context) => {
  const [cube, member] = split(name);
  return context.world.cubes.get(cube)!.dimensions.get(member)!.value(joined, seenBy(context));
};

const isMeasure = (name: string, { cubes }: World) => cubes.get(split(name)[0])!.measures.has(split(name)[1]);
const onMeasure = (filter: FilterNode, context: Context) =>
  leaves(filter).some((name) => isMeasure(name, context.world));

function check(filter: FilterNode, context: Context, valueFor: (name: string) => Cell): boolean {
  if ('and' in filter) return filter.and.every((part) => check(part, context, valueFor));
  if ('or' in filter) return filter.or.some((part) => check(part, context, valueFor));
  const [cube, member] = split(filter.member);
  const type = context.world.cubes.get(cube)!.dimensions.get(member)?.type ?? 'number';
  return holds(type, valueFor(filter.member), filter.operator, filter.values ?? [], context.query.timezone);
}

function passes(joined: JoinedRow, context: Context): boolean {
  const { query, world: all } = context;
  return (
    query.filters
      .filter((filter) => !onMeasure(filter, context))
      .every((filter) => check(filter, context, (name) => dimensionValue(name, joined, context))) &&
    query.segments.every((name) => {
      const row = joined.get(split(name)[0]);
      return row && all.cubes.get(split(name)[0])!.segments.get(split(name)[1])!(row);
    }) &&
    query.timeDimensions.every(({ dimension, dateRange }) => {
      if (!dateRange) return true;
      return holds(
        'time',
        dimensionValue(dimension, joined, context),
        'inDateRange',
        dateRange,
        query.timezone,
      );
    })
  );
}

/** The cubes of everything but measures. */
function neededCubes({ query, world: { cubes } }: Context): string[] {
  const names = [
    ...query.dimensions,
    ...query.timeDimensions.map(({ dimension }) => dimension),
    ...query.segments,
    ...query.filters.flatMap(leaves),
  ];
  return names.flatMap((name): readonly string[] => {
    const [cube, member] = split(name);
    if (cubes.get(cube)!.measures.has(member)) return [];
    return cubes.get(cube)!.dimensions.get(member)?.cubes ?? [cube];
  });
}

function keysOf(joined: JoinedRow, context: Context): Cell[] {
  const { query } = context;
  const dimensions = query.dimensions.map((name) => {
    const value = dimensionValue(name, joined, context);
    return name.endsWith('.t') && value !== null ? localText(String(value), 'UTC') : value;
  });
  const times = query.timeDimensions.flatMap(({ dimension, granularity }) => {
    const value = dimensionValue(dimension, joined, context);
    if (granularity === undefined) return [];
    return [value === null ? null : startOfBucket(String(value), granularity, query.timezone)];
  });
  return [...dimensions, ...times];
}

/** The first cube whose rows no join of the others multiplies, or else the first one. */
function homeOf(cubes: readonly string[], { world: all }: Context): string {
  const multiplies = (from: string, to: string) => {
    const steps = way(all.links, from, to)!;
    return steps.some(
      (cube, i) => i > 0 && all.links.some(({ many, one }) => many === cube && one === steps[i - 1]),
    );
  };
  return cubes.find((home) => !cubes.some((other) => multiplies(home, other))) ?? cubes[0]!;
}

function grouped(context: Context): Cell[][] {
  const { query, world: all, root } = context;
  const measures = [
    ...new Set([
      ...query.measures,
      ...(query.calculated ?? []).flatMap(measuresBehind),
      ...query.filters.flatMap(leaves).filter((name) => isMeasure(name, all)),
    ]),
  ];
  const groups = new Map<string, { keys: Cell[]; rows: Map<string, Map<Cell, Row>> }>();
  const facts = [...new Set(measures.map((name) => split(name)[0]))];
  const direct = [
    ...query.dimensions,
    ...query.timeDimensions.map(({ dimension }) => dimension),
    ...query.segments,
  ];
  const named = [...direct, ...query.filters.flatMap(leaves)].map((name) => split(name)[0]);
  const isTotal = !query.dimensions.length && !query.timeDimensions.some(({ granularity }) => granularity);
  for (const fact of facts.length ? facts : [root ?? homeOf(named, context)]) {
    // Without keys, the cubes between two facts are what connects them. In a view, the root connects everything.
    const between =
      isTotal && !root ? facts.flatMap((other) => way(all.links, fact, other)!.slice(1, -1)) : [];
    const needed = [fact, ...neededCubes(context), ...between];
    for (const joined of joinedRows(root ?? fact, needed, context)) {
      const keys = keysOf(joined, context);
      const id = JSON.stringify(keys);
      if (!groups.has(id)) groups.set(id, { keys, rows: new Map() });
      const { rows } = groups.get(id)!;
      const row = joined.get(fact);
      if (!row) continue;
      if (!rows.has(fact)) rows.set(fact, new Map());
      rows.get(fact)!.set(row.id!, row);
    }
  }
  if (isTotal && groups.size === 0) groups.set('', { keys: [], rows: new Map() });
  const made = [...groups.values()].flatMap(({ keys, rows }): GroupedRows[] => {
    const valueFor = (name: string) => aggregate(name, [...(rows.get(split(name)[0])?.values() ?? [])], all);
    const filters = query.filters.filter((filter) => onMeasure(filter, context));
    if (!filters.every((filter) => check(filter, context, valueFor))) return [];
    return [{ cells: [...keys, ...query.measures.map(valueFor)], valueFor }];
  });
  if (query.calculated) {
    const { names, keys, times, order } = columnsOf(query);
    addFields(made, query.calculated, {
      names: names.slice(0, names.length - query.calculated.length),
      keys,
      times,
      order,
      sorted: (rows, by, columns) => sortRows(rows, ({ cells }) => cells, by, columns, keys),
    });
  }
  return made.map(({ cells }) => cells);
}

function aggregate(name: string, rows: readonly Row[], { cubes }: World): Cell {
  const [cube, member] = split(name);
  const measure = cubes.get(cube)!.measures.get(member)!;
  if (measure.type === 'ratio') {
    const [a, b] = [
      aggregate(`${cube}.sum_n`, rows, { cubes, links: [] }),
      aggregate(`${cube}.high`, rows, { cubes, links: [] }),
    ];
    return a === null || Number(b) === 0 ? null : Number(a) / Number(b);
  }
  const values = rows.map((row) => measure.value(row)).filter((value) => value !== null);
  if (measure.type === 'own') return values.length ? Number(fold('sum', values)) + rows.length : null;
  return fold(measure.type, values);
}

function fold(type: Measure['type'], values: readonly Cell[]): Cell {
  if (type === 'count') return values.length;
  if (type === 'count_distinct') return new Set(values).size;
  if (!values.length) return null;
  const numbers = values.map(Number);
  if (type === 'min') return Math.min(...numbers);
  if (type === 'max') return Math.max(...numbers);
  const sum = numbers.reduce((a, b) => a + b, 0);
  return type === 'avg' ? sum / numbers.length : sum;
}

function ungrouped(context: Context): Cell[][] {
  const { query, world: all, root } = context;
  const measures = query.measures.map((name) => split(name)[0]);
  const order = [
    ...query.dimensions,
    ...query.timeDimensions.filter(({ granularity }) => granularity).map(({ dimension }) => dimension),
    ...query.measures,
    ...query.dimensions,
    ...query.timeDimensions.map(({ dimension }) => dimension),
    ...query.segments,
    ...query.filters.flatMap(leaves).filter((name) => !isMeasure(name, all)),
  ].map((name) => split(name)[0]);
  const home = root ?? homeOf(order, context);
  return joinedRows(home, [...measures, ...neededCubes(context)], context).map((joined) => {
    const valueFor = (name: string): Cell => {
      const [cube, member] = split(name);
      const row = joined.get(cube);
      const measure = all.cubes.get(cube)!.measures.get(member)!;
      const value = row ? measure.value(row) : null;
      return measure.type.startsWith('count') ? (value === null ? 0 : 1) : value;
    };
    return [...keysOf(joined, context), ...query.measures.map(valueFor)];
  });
}

/** Null comes last in both directions; texts are ordered by code points. */
function compareCells(a: Cell, b: Cell, isText: boolean): number {
  if (isText) return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  if (typeof a === 'boolean' || /-\d\d-/.test(String(a)))
    return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  const [x, y] = [String(a), String(b)];
  if (/^-?\d+$/.test(x) && /^-?\d+$/.test(y))
    return BigInt(x) < BigInt(y) ? -1 : BigInt(x) > BigInt(y) ? 1 : 0;
  return Number(a) - Number(b);
}

/** The names of the columns, the first of which are the keys, and how the rows are ordered. */
function columnsOf(query: TestQuery) {
  const times = query.timeDimensions
    .filter(({ granularity }) => granularity)
    .map(({ dimension, granularity }) => `${dimension}.${granularity}`);
  const fields = (query.calculated ?? []).map(({ name }) => name);
  const names = [...query.dimensions, ...times, ...query.measures, ...fields];
  const values = [...query.measures, ...fields];
  const usual: [string, 'asc' | 'desc'] = times.length
    ? [times[0]!, 'asc']
    : values.length
      ? [values[0]!, 'desc']
      : [names[0]!, 'asc'];
  return { names, keys: query.dimensions.length + times.length, times, order: query.order ?? [usual] };
}

function sortRows<T>(
  rows: readonly T[],
  cellsOf: (row: T) => readonly Cell[],
  order: readonly [string, 'asc' | 'desc'][],
  columns: readonly string[],
  keys: number,
): T[] {
  const given = order.map(([name, direction]) => [columns.indexOf(name), direction] as const);
  const all = [
    ...given.filter(([i]) => i >= 0),
    ...columns.slice(0, keys).map((_, i) => [i, 'asc'] as const),
  ];
  return [...rows].sort((one, other) => {
    const [a, b] = [cellsOf(one), cellsOf(other)];
    for (const [i, direction] of all) {
      const [x, y] = [a[i]!, b[i]!];
      if (x === null || y === null) {
        if (x !== y) return x === null ? 1 : -1;
        continue;
      }
      const isText = /\.(s|kind|up_s)$/.test(columns[i]!) || isTextField(columns[i]!);
      const result = compareCells(x, y, isText);
      if (result !== 0) return direction === 'asc' ? result : -result;
    }
    return 0;
  });
}

function paged(rows: Cell[][], query: TestQuery): Cell[][] {
  if (query.ungrouped) return rows;
  const { names, keys, order } = columnsOf(query);
  const sorted = sortRows(rows, (row) => row, order, names, keys);
  return sorted.slice(query.offset ?? 0, (query.offset ?? 0) + (query.limit ?? sorted.length));
}
