/**
 * Measures by dimensions. Each cube with measures is aggregated by itself (a fact), so that no join multiplies what is
 * summed up; then the facts are put side by side, by their keys.
 */
import type { DimensionType, RollingWindow } from '../model.ts';
import { createAliases } from './aliases.ts';
import { spend } from './budget.ts';
import { queryError } from './errors.ts';
import { behindPolicies, type RowCondition } from './fences.ts';
import {
  aggregate,
  expandMeasure,
  type InheritedFilter,
  isCount,
  ownAggregate,
  valueOfRow,
} from './measures.ts';
import type { DimensionMember, MeasureMember } from './members.ts';
import { pathBetween } from './paths.ts';
import type { Access } from './policies.ts';
import { createRows, type Rows, type RowsContext } from './rows.ts';
import {
  allOf,
  type Column,
  call,
  columnOf,
  type JoinClause,
  type Select,
  type Source,
  type Sql,
  shownInUtc,
  sql,
} from './sql.ts';
import { type WindowRange, windowJoin } from './windows.ts';

export interface PlanContext extends RowsContext, Access {}

export interface Key {
  /** The name of its column. */
  readonly name: string;
  readonly member: DimensionMember;
  readonly granularity: string | undefined;
}

export interface RowFilter {
  /** If it is the date range of this time dimension, which a rolling window looks beyond. */
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

interface Fact {
  readonly alias: string;
  readonly path: readonly string[];
  readonly window: RollingWindow | undefined;
  readonly bases: Map<string, Base>;
}

interface Base {
  readonly column: string;
  readonly member: MeasureMember;
  readonly inherited: readonly InheritedFilter[];
}

export interface Groups {
  /** Adds a measure to the facts. */
  add(member: MeasureMember): void;
  /** The value of a measure that was added, once all were added. */
  measure(member: MeasureMember): Sql;
  finish(): { readonly from: Source; readonly joins: readonly JoinClause[]; readonly keys: readonly Sql[] };
}

export function createGroups(grouping: Grouping): Groups {
  const { context, keys } = grouping;
  const facts = new Map<string, Fact>();

  const factOf = (path: readonly string[], window: RollingWindow | undefined): Fact => {
    const id = JSON.stringify([path, window]);
    const known = facts.get(id);
    if (known) return known;
    const fact = { alias: `fact_${facts.size + 1}`, path, window, bases: new Map() };
    facts.set(id, fact);
    return fact;
  };
  const baseOf = (member: MeasureMember, inherited: readonly InheritedFilter[]): Sql => {
    const { measure, path } = member;
    const fact = factOf(path, measure.rollingWindow);
    const id = JSON.stringify([measure.name, inherited]);
    let base = fact.bases.get(id);
    if (!base) {
      base = { column: `m${fact.bases.size + 1}`, member, inherited };
      fact.bases.set(id, base);
    }
    const column = columnOf(fact.alias, base.column);
    return facts.size > 1 && isCount(measure.type) ? sql`coalesce(${column}, 0)` : column;
  };
  return {
    add: (member) => void expandMeasure(context, member, baseOf),
    measure: (member) => expandMeasure(context, member, baseOf),
    finish() {
      if (facts.size === 0) factOf(grouping.home, undefined);
      const [first, ...others] = [...facts.values()];
      const sourceOf = (fact: Fact): Source => ({
        alias: fact.alias,
        of: { select: selectOf(fact, grouping, waysBetween(fact, [...facts.values()], grouping)) },
      });
      const keysSoFar = keys.map((key) => columnOf(first!.alias, key.name));
      const joins = others.map((fact): JoinClause => {
        const on = keys.map((key, i) => {
          const own = columnOf(fact.alias, key.name);
          const condition = sameKey(key, keysSoFar[i]!, own);
          keysSoFar[i] = sql`coalesce(${keysSoFar[i]!}, ${own})`;
          return condition;
        });
        const source = sourceOf(fact);
        return keys.length ? { type: 'full', source, on: allOf(on) } : { type: 'cross', source };
      });
      return { from: sourceOf(first!), joins, keys: keysSoFar };
    },
  };
}

const NOTHING: Record<DimensionType, string> = {
  string: "''",
  number: '0',
  boolean: 'false',
  time: "timestamp '2000-01-01'",
};

/** Null is a key like others. PostgreSQL can make a full join only of plain equalities. */
function sameKey({ member: { dimension } }: Key, a: Sql, b: Sql): Sql {
  const comparable = (key: Sql) =>
    sql`coalesce(${dimension.type === 'string' ? call('asText', key) : key}, ${NOTHING[dimension.type]})`;
  return sql`${comparable(a)} = ${comparable(b)} and (${a} is null) = (${b} is null)`;
}

/**
 * Without keys, facts stand side by side only because joins connect them. The cubes on the way to the other facts are
 * passed through, so their policies apply to this one too: the ways up to the last cube that has any.
 */
function waysBetween(
  { path }: Fact,
  facts: readonly Fact[],
  { context: { model }, keys }: Grouping,
): string[][] {
  if (keys.length) return [];
  return facts.flatMap((other) => {
    const between = pathBetween(model, path, other.path).slice(1, -1);
    const last = between.findLastIndex((cube) => model.cubes.get(cube)!.policies.length > 0);
    return last < 0 ? [] : [between.slice(0, last + 1)];
  });
}

/** How much work a fact is, beside its columns and filters. */
const FACT_PIECES = 10;

function selectOf(
  fact: Fact,
  { context, keys, filters, windows }: Grouping,
  ways: readonly (readonly string[])[],
): Select {
  const pieces = filters.reduce(
    (sum, filter) => sum + filter.pieces,
    FACT_PIECES + keys.length + fact.bases.size,
  );
  spend(context.budget, pieces);
  const rows = createRows(context, fact.path);
  if (fact.window) requireWindows(fact, keys, windows);
  const period = fact.window && rows.aliases.next('periods');
  const keyColumns = keys.map((key): Column => {
    const isPeriod = period !== undefined && key.member.key === windows!.time.key;
    return { name: key.name, sql: isPeriod ? columnOf(period, 'period') : keySql(rows, key) };
  });
  const values = [...fact.bases.values()].map((base) => ({ base, value: valueInFact(rows, base) }));
  const where = filters
    .filter(({ rangeOf }) => !(period !== undefined && rangeOf === windows!.time.key))
    .map((filter) => filter.make(rows));
  const time = period !== undefined && timeSql(rows, windows!.time);
  for (const way of ways) rows.along(way);
  const periods = time && windowJoin(period!, time, fact.window!, windows!, context.budget);
  const inWindow = periods ? [{ condition: periods.where, canFail: !rows.isPlain(time) }] : [];
  const source = {
    from: rows.from,
    ...behindPolicies(rows, context, [...inWindow, ...where], periods ? [periods.join] : []),
  };

  if (values.length === 0 || !rows.nodes.some(({ multiplied }) => multiplied)) {
    const measures = values.map(({ base, value }): Column => {
      const { measure } = base.member;
      const made =
        measure.type === 'number'
          ? ownAggregate(rows, context.model, base.member)
          : aggregate(measure.type, value);
      return { name: base.column, sql: made };
    });
    return { ...source, columns: [...keyColumns, ...measures], groupBy: keys.length };
  }
  return deduplicated(rows, source, keyColumns, values);
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

/** Rows that joins have multiplied become one for each group and primary key again, before they are aggregated. */
function deduplicated(
  rows: Rows,
  source: Pick<Select, 'from' | 'joins' | 'where' | 'fence'>,
  keyColumns: readonly Column[],
  values: readonly { readonly base: Base; readonly value: Sql | undefined }[],
): Select {
  const aliases = createAliases();
  for (const { name } of keyColumns) aliases.next(name);
  const primaryKey = rows.root.cube.primaryKey.map(
    (name): Column => ({ name: aliases.next(name), sql: rows.dimension(rows.root, name) }),
  );
  const valueColumns: Column[] = [];
  const measures = values.map(({ base, value }): Column => {
    const { measure, key } = base.member;
    if (measure.type === 'number') {
      const message = `\`${key}\` aggregates columns itself, so it can not be combined with members of which there are several for each of its rows. Write it as a number of other measures.`;
      throw queryError('unsupported_query', message);
    }
    if (!value) return { name: base.column, sql: aggregate(measure.type, undefined) };
    const name = aliases.next(base.column);
    valueColumns.push({ name, sql: value });
    return { name: base.column, sql: aggregate(measure.type, columnOf('rows', name)) };
  });
  const inner: Select = {
    ...source,
    distinct: true,
    columns: [...keyColumns, ...primaryKey, ...valueColumns],
  };
  return {
    from: { alias: 'rows', of: { select: inner } },
    columns: [...keyColumns.map(({ name }): Column => ({ name, sql: columnOf('rows', name) })), ...measures],
    groupBy: keyColumns.length,
  };
}

function valueInFact(rows: Rows, { member, inherited }: Base): Sql | undefined {
  if (member.measure.type === 'number') return undefined;
  const { made, used } = rows.watching(() => valueOfRow(rows, rows.root, member.measure, inherited));
  // The cubes are not named, because the caller may not know them.
  if ([...used].some((node) => node.multiplied)) {
    const message = `\`${member.key}\` is computed from a joined cube that has several rows for each of its own. Use a \`sub_query\` dimension.`;
    throw queryError('unsupported_query', message);
  }
  return made;
}

const timeSql = (rows: Rows, time: DimensionMember) =>
  rows.dimension(rows.at(time.path), time.dimension.name);

/** A time without a granularity is shown in UTC. */
export function keySql(rows: Rows, { member, granularity }: Pick<Key, 'member' | 'granularity'>): Sql {
  const { dimension, path } = member;
  const made = rows.dimension(rows.at(path), dimension.name, granularity);
  return dimension.type === 'time' && granularity === undefined ? shownInUtc(made) : made;
}
