/**
 * The rows of a table. They are in one part, or, for measures of several cubes, in one part for each cube: so each of
 * them is computed from the rows that a JSON query would read for it. The parts stand below one another, with the same
 * columns.
 */
import type { Expression, Model } from '../model.ts';
import type { Budget } from '../plan/budget.ts';
import { queryError } from '../plan/errors.ts';
import { type Base, keySql, type PlanContext, primaryKeyOf, valueInFact } from '../plan/facts.ts';
import { createMembers, type Member } from '../plan/members.ts';
import { behindPolicies } from '../plan/policy-barriers.ts';
import type { Dialect } from '../plan/render.ts';
import { createRows, type Rows, repeats } from '../plan/rows.ts';
import { type Column, joined, type Select, type Sql, sql } from '../plan/sql.ts';
import { subQueryOf } from '../plan/sub-queries.ts';
import type { Viewer } from '../plan/viewer.ts';
import { createNow } from '../times/ranges.ts';
import { UTC } from '../times/zones.ts';

export interface PolicyContext {
  readonly model: Model;
  readonly viewer: Viewer;
  readonly nowMs: number;
  readonly budget: Budget;
  /** Throws a `QueryError` if SQL cannot run in this data source. */
  dialect(dataSource: string): Dialect;
}

/** The rows that the measures of one cube are computed from. */
export interface Part {
  /** The path to the cube of the measures. */
  readonly path: readonly string[];
  readonly bases: Base[];
  /** Columns that the SQL of measures aggregates itself. */
  readonly own: OwnColumn[];
}

export interface OwnColumn {
  readonly column: string;
  /** The key of the measure. */
  readonly measure: string;
  readonly expression: Expression;
}

/** What a statement names of a table. */
export interface UsedColumns {
  /** The names of the columns in the rows, by the names of the members. */
  readonly columns: ReadonlyMap<string, string>;
  /** All members, which policies must open. */
  readonly members: readonly string[];
}

export interface PartRows {
  readonly select: Select;
  readonly cubes: readonly string[];
  /** If rows of the cube are repeated: the columns that identify them. */
  readonly keys: readonly string[];
}

/** If it is not the only part, each row that is counted has a value, so that the rows of others do not count. */
export function rowsOfPart(
  governed: PolicyContext,
  table: string,
  part: Part,
  { columns, members: names }: UsedColumns,
  { isOnly }: { isOnly: boolean },
): PartRows {
  const { model, viewer, nowMs } = governed;
  const members = createMembers(model, viewer);
  const found = new Map(names.map((name) => [name, members.find({ name: `${table}.${name}`, path: '' })]));
  const context: PlanContext = {
    model,
    viewer,
    now: createNow(nowMs),
    budget: governed.budget,
    dialect: governed.dialect(model.cubes.get(part.path.at(-1)!)!.dataSource),
    zone: UTC,
    cubes: new Set(),
    named: members.named,
    view: members.view,
    subQuery: (rows, node, dimension) =>
      subQueryOf(context, rows, node, node.cube.dimensions.get(dimension)!),
  };
  const rows = createRows(context, members.view ? [members.view.root] : part.path);
  const node = rows.at(part.path);
  const made = [...columns].map(([name, column]): Column => {
    return { name: column, sql: columnSql(rows, found.get(name)!) };
  });
  for (const base of part.bases) {
    const value = valueInFact(rows, node, base) ?? (isOnly ? undefined : sql`1`);
    if (value) made.push({ name: base.column, sql: value });
  }
  const before = rows.nodes.length;
  for (const { column, expression } of part.own) {
    made.push({ name: column, sql: rows.expression(node, expression) });
  }
  const joinedByOwn = new Set(rows.nodes.slice(before));
  const source = behindPolicies(rows, context, []);
  const isRepeated = (isCounted: boolean) =>
    rows.nodes.some((other) => !(isCounted && joinedByOwn.has(other)) && repeats(rows, node, other));
  const [own] = part.own;
  if (own && (!isOnly || node.parent || isRepeated(true))) throw repeated(own.measure);
  const keys =
    part.bases.length && isRepeated(false)
      ? primaryKeyOf(rows, node).map((key, i): Column => ({ name: `k${i + 1}`, sql: key.sql }))
      : [];
  const select: Select = {
    // A count of rows needs no column, but a select has one.
    columns: made.length + keys.length ? [...made, ...keys] : [{ name: 'c0', sql: sql`1` }],
    from: rows.from,
    ...source,
    isClosed: isGuarded(context),
  };
  return { select, cubes: [...context.cubes], keys: keys.map(({ name }) => name) };
}

function columnSql(rows: Rows, member: Member): Sql {
  if (member.kind === 'segment') return rows.segment(rows.at(member.path), member.segment.name);
  if (member.kind === 'measure') throw new Error('Measures are no columns.');
  return keySql(rows, { member, granularity: undefined });
}

const repeated = (key: string) =>
  queryError(
    'unsupported_query',
    `\`${key}\` aggregates columns itself, and the statement repeats the rows that it is computed from, or has measures of other cubes. Ask for it in another SELECT, or by a JSON query.`,
  );

/**
 * Whether conditions of the statement must stay outside: one that fails for a row which the viewer may not see would
 * tell that there is such a row, and what is in it.
 */
function isGuarded({ model, cubes, view }: PlanContext): boolean {
  if (view?.policies.length) return true;
  return [...cubes].some((name) => {
    const { policies, from } = model.cubes.get(name)!;
    return policies.length > 0 || 'query' in from;
  });
}

/** Says which part a row is of: a number from 1. */
export const PART = 'p';

/** A select of the rows of all parts. A full join that finds no partners needs no types for what is null in a part. */
export function partsBelow(
  sources: readonly string[],
  parts: readonly PartRows[],
  columns: readonly string[],
): Sql {
  const place = (i: number) => `t${i + 1}`;
  const shared = columns.map((name) => {
    const all = sources.map((_, i) => sql`${place(i)}.${name}`);
    return sql`coalesce(${joined(all, ', ')}) as ${name}`;
  });
  const own = parts.flatMap(({ select, keys }, i) =>
    select.columns
      .filter(({ name }) => !columns.includes(name) && !keys.includes(name))
      .map(({ name }) => sql`${place(i)}.${name}`),
  );
  const keys = parts.flatMap(({ keys: names }, i) =>
    names.map((name) => sql`${place(i)}.${name} as ${keyOfPart(name, i)}`),
  );
  const numbers = sources.map((_, i) => `${place(i)}.${PART}`);
  const from = sources.map((source, i) => {
    const rows = sql`(select *, ${String(i + 1)} as ${PART} from ${source}) as ${place(i)}`;
    if (i === 0) return rows;
    return sql` full join ${rows} on coalesce(${numbers.slice(0, i).join(', ')}) = ${place(i)}.${PART}`;
  });
  return sql`select ${joined([...shared, ...own, ...keys], ', ')}${shared.length + own.length + keys.length ? ', ' : ''}coalesce(${numbers.join(', ')}) as ${PART} from ${joined(from, '')}`;
}

export const keyOfPart = (name: string, part: number) => `${name}_${part + 1}`;
