/**
 * A fact: measures of one cube, aggregated by the keys of the query. Its rows begin at the cube itself; in a query of a
 * view they begin at the root of the view, and the cube is joined to them. Each row of the cube counts once for each
 * group, however often joins repeat it.
 */
import type { RollingWindow } from '../model.ts';
import { createAliases } from './aliases.ts';
import { spend } from './budget.ts';
import { queryError } from './errors.ts';
import { aggregate, type InheritedFilter, isOwnAggregate, ownAggregate, valueOfRow } from './measures.ts';
import type { DimensionMember, MeasureMember } from './members.ts';
import { type Access, nodesOfViewPolicies } from './policies.ts';
import { behindPolicies, type RowCondition } from './policy-barriers.ts';
import { createRows, type Node, pathFromRoot, type Rows, type RowsContext, repeats } from './rows.ts';
import { allOf, type Column, columnOf, inBrackets, type Select, type Sql, shownInUtc, sql } from './sql.ts';
import { type WindowRange, windowJoin } from './windows.ts';

export interface PlanContext extends RowsContext, Access {}

export interface Key {
  /** The name of its column. */
  readonly name: string;
  readonly member: DimensionMember;
  readonly granularity: string | undefined;
}

export interface RowFilter {
  /** The time dimension whose date range this filter is, if it is one: a rolling window looks beyond it. */
  readonly rangeOf?: string;
  /** How much work it is. */
  readonly pieces: number;
  make(rows: Rows): RowCondition;
}

export interface Grouping {
  readonly context: PlanContext;
  readonly keys: readonly Key[];
  readonly filters: readonly RowFilter[];
  /** Where rows come from if there are no measures. */
  readonly home: readonly string[];
  /** The one time dimension with a date range, which rolling windows follow. */
  readonly windows: Windows | undefined;
}

export interface Windows extends WindowRange {
  readonly time: DimensionMember;
  readonly granularity: string | undefined;
}

export interface Fact {
  readonly alias: string;
  /** The path to the cube of the measures. */
  readonly path: readonly string[];
  readonly window: RollingWindow | undefined;
  readonly bases: Map<string, Base>;
}

export interface Base {
  readonly column: string;
  readonly member: MeasureMember;
  readonly inherited: readonly InheritedFilter[];
}

/** How much work a fact is, beside its columns and filters. */
const FACT_PIECES = 10;

/** `ways` are further cubes to join, whose policies apply. */
export function selectOfFact(
  fact: Fact,
  { context, keys, filters, windows }: Grouping,
  ways: readonly (readonly string[])[],
): Select {
  const pieces = filters.reduce(
    (sum, filter) => sum + filter.pieces,
    FACT_PIECES + keys.length + fact.bases.size,
  );
  spend(context.budget, pieces);
  const rows = createRows(context, context.view ? [context.view.root] : fact.path);
  const node = rows.at(fact.path);
  if (fact.window) requireWindows(fact, keys, windows);
  const period = fact.window && rows.aliases.next('periods');
  const keyColumns = keys.map((key): Column => {
    const isPeriod = period !== undefined && key.member.key === windows!.time.key;
    return { name: key.name, sql: isPeriod ? columnOf(period, 'period') : keySql(rows, key) };
  });
  const plain = [...fact.bases.values()].filter(({ member }) => !isOwnAggregate(member.measure));
  const own = [...fact.bases.values()].filter(({ member }) => isOwnAggregate(member.measure));
  const values = new Map(plain.map((base) => [base, valueInFact(rows, node, base)]));
  const where = filters
    .filter(({ rangeOf }) => !(period !== undefined && rangeOf === windows!.time.key))
    .map((filter) => filter.make(rows));
  const time = period !== undefined && timeSql(rows, windows!.time);
  for (const way of ways) rows.along(way);
  const joinedBefore = rows.nodes.length;
  const aggregates = new Map(own.map((base) => [base, ownAggregate(rows, node, base.member)]));
  const joinedBy = new Set(rows.nodes.slice(joinedBefore));
  // SQL that aggregates columns itself may count rows, so leave out those that have no row of the cube.
  if (own.length && node.parent) where.push({ condition: isThere(rows, node), canFail: false });
  const periods = time && windowJoin(period!, time, fact.window!, windows!, context.budget);
  const inWindow = periods ? [{ condition: periods.where, canFail: !rows.isPlain(time) }] : [];
  const source = {
    from: rows.from,
    ...behindPolicies(rows, context, [...inWindow, ...where], periods ? [periods.join] : []),
  };
  // Cubes that the SQL of a measure joins to aggregate them itself may have several rows.
  const isRepeated = rows.nodes.some((other) => !joinedBy.has(other) && repeats(rows, node, other));
  if (isRepeated && fact.bases.size)
    return deduplicated(context, { rows, node, path: fact.path, source, keyColumns, values, own });
  const measures = [...fact.bases.values()].map((base): Column => {
    const made = aggregates.get(base) ?? aggregate(base.member.measure.type, values.get(base));
    return { name: base.column, sql: made };
  });
  return { ...source, columns: [...keyColumns, ...measures], groupBy: keys.length };
}

function requireWindows({ bases }: Fact, keys: readonly Key[], windows: Windows | undefined) {
  const wrong = (what: string) => {
    const [base] = bases.values();
    const message = `\`${base!.member.key}\` has a rolling window, which needs ${what}.`;
    return queryError('invalid_query', message, 'timeDimensions');
  };
  if (!windows) throw wrong('one time dimension with a date range');
  for (const { member, granularity } of keys) {
    if (member.key === windows.time.key && granularity !== windows.granularity) {
      throw wrong('this time dimension in one granularity only');
    }
  }
}

interface RepeatedFact {
  readonly rows: Rows;
  readonly node: Node;
  readonly path: readonly string[];
  readonly source: Pick<Select, 'from' | 'joins' | 'where' | 'barrier'>;
  readonly keyColumns: readonly Column[];
  readonly values: ReadonlyMap<Base, Sql | undefined>;
  /** The measures that aggregate columns themselves. */
  readonly own: readonly Base[];
}

/** Rows that joins have repeated become one for each group and primary key again, before they are aggregated. */
function deduplicated(
  context: PlanContext,
  { rows, node, path, source, keyColumns, values, own }: RepeatedFact,
): Select {
  const aliases = createAliases();
  for (const { name } of keyColumns) aliases.next(name);
  const primaryKey = primaryKeyOf(rows, node).map(
    (key): Column => ({ name: aliases.next(key.name), sql: key.sql }),
  );
  const again = own.length ? rowsAgain(context, path, own) : undefined;
  const alias = again ? again.rows.aliases.next('rows') : 'rows';
  const valueColumns: Column[] = [];
  const measures = [...values].map(([base, value]): Column => {
    const { type } = base.member.measure;
    if (!value) return { name: base.column, sql: aggregate(type, undefined) };
    const name = aliases.next(base.column);
    valueColumns.push({ name, sql: value });
    return { name: base.column, sql: aggregate(type, columnOf(alias, name)) };
  });
  const inner: Select = {
    ...source,
    distinct: true,
    columns: [...keyColumns, ...primaryKey, ...valueColumns],
  };
  const keys = keyColumns.map(({ name }): Column => ({ name, sql: columnOf(alias, name) }));
  const from = { alias, of: { select: inner } };
  if (!again) return { from, columns: [...keys, ...measures], groupBy: keyColumns.length };
  const on = allOf(
    primaryKeyOf(again.rows, again.rows.root).map(
      (key, i) => sql`${inBrackets(key.sql)} = ${columnOf(alias, primaryKey[i]!.name)}`,
    ),
  );
  const { from: cube } = again.rows;
  const { joins, ...conditions } = again.source;
  return {
    from,
    joins: [{ type: 'left', source: cube, on }, ...joins],
    ...conditions,
    columns: [...keys, ...measures, ...again.columns],
    groupBy: keyColumns.length,
  };
}

/** The rows of the cube once more, for measures whose SQL names its columns. */
function rowsAgain(context: PlanContext, path: readonly string[], own: readonly Base[]) {
  const make = (view: PlanContext['view']) => {
    const access = { ...context, view };
    const rows = createRows(context, path);
    const columns = own.map(
      ({ column, member }): Column => ({ name: column, sql: ownAggregate(rows, rows.root, member) }),
    );
    const aggregated = [...rows.nodes];
    const decidedBy = nodesOfViewPolicies(rows, access);
    return { rows, columns, aggregated, decidedBy, source: behindPolicies(rows, access, []) };
  };
  const again = make(context.view);
  // The first select has decided which rows of the cube count. But a row may have several rows of a cube that is
  // aggregated too, and the policies of the view must decide about these.
  const isDecided = !again.decidedBy.some((node) =>
    pathFromRoot(node).some((other) => other.multiplied && again.aggregated.includes(other)),
  );
  if (isDecided) return make(undefined);
  if (
    again.rows.nodes.some(
      (node) => !again.aggregated.includes(node) && repeats(again.rows, node.parent!, node),
    )
  ) {
    const message = `\`${own[0]!.member.key}\` aggregates a joined cube, and a policy of the view needs another one that would repeat its rows. Use a \`sub_query\` dimension.`;
    throw queryError('unsupported_query', message);
  }
  return again;
}

/** A model may do without one where no join repeats the rows of the cube, so only the query tells whether it is needed. */
export function primaryKeyOf(rows: Rows, node: Node): Column[] {
  const { primaryKey, name: cube } = node.cube;
  if (!primaryKey.length) {
    const message = `The rows of \`${cube}\` must be told apart here, and it has no primary key.`;
    throw queryError('unsupported_query', message);
  }
  return primaryKey.map((name) => ({ name, sql: rows.dimension(node, name) }));
}

/** Whether the joins have found a row of the cube. */
export const isThere = (rows: Rows, node: Node): Sql =>
  sql`${inBrackets(primaryKeyOf(rows, node)[0]!.sql)} is not null`;

/** The value that a measure aggregates. Undefined if all rows are counted. */
export function valueInFact(rows: Rows, node: Node, { member, inherited }: Base): Sql | undefined {
  const { made, used } = rows.watching(() => valueOfRow(rows, node, member.measure, inherited));
  // The cubes are not named, because the caller may not know them.
  if ([...used].some((other) => repeats(rows, node, other))) {
    const message = `\`${member.key}\` is computed from a joined cube that has several rows for each of its own. Use a \`sub_query\` dimension.`;
    throw queryError('unsupported_query', message);
  }
  if (!node.parent) return made;
  if (!made) return primaryKeyOf(rows, node)[0]!.sql;
  return rows.isPlain(made) ? made : sql`case when ${isThere(rows, node)} then ${made} end`;
}

const timeSql = (rows: Rows, time: DimensionMember) =>
  rows.dimension(rows.at(time.path), time.dimension.name);

/** A time without a granularity is shown in UTC. */
export function keySql(rows: Rows, { member, granularity }: Pick<Key, 'member' | 'granularity'>): Sql {
  const { dimension, path } = member;
  const made = rows.dimension(rows.at(path), dimension.name, granularity);
  return dimension.type === 'time' && granularity === undefined ? shownInUtc(made) : made;
}
