/**
 * Turns SQL that reads cubes and views as tables into SQL that a data source runs. Each table becomes the rows that the
 * viewer may see, and the statement is written again around them from its tree: only what is known and allowed gets
 * into it.
 */
import type { Model } from '../model.ts';
import { type Budget, createPlanBudget } from '../plan/budget.ts';
import { DIALECTS, type DialectName } from '../plan/plan.ts';
import { type Dialect, renderWith, type Statement } from '../plan/render.ts';
import type { Viewer } from '../plan/viewer.ts';
import { createGrowth } from './growth.ts';
import { prefixFor } from './names.ts';
import { createSelects, selectIn } from './selects.ts';
import { openTable, type Table } from './tables.ts';
import { invalid, listOf, only, unsupported } from './tree.ts';

export interface SqlOptions {
  /** The dialect of a data source. */
  readonly dialect: (dataSource: string) => DialectName;
  readonly now: Date;
  readonly budget?: Budget;
}

export interface SqlPlan {
  readonly statement: Statement;
  /** The names of the columns, each of them once. */
  readonly columns: readonly string[];
  readonly dataSource: string;
  /** The cubes that the statement reads, also those that are only passed through. */
  readonly cubes: readonly string[];
}

/** Names whose lengths differ by more are not taken for each other. */
const LIKE_LENGTHS = 3;

/** `tree` is what PostgreSQL's parser makes of the text. Throws a `QueryError` if the statement is wrong or refused. */
export function planSql(model: Model, tree: unknown, viewer: Viewer, options: SqlOptions): SqlPlan {
  const dialect = (dataSource: string) => dialectNamed(options.dialect(dataSource));
  const budget = options.budget ?? createPlanBudget();
  const governed = { budget, model, viewer, nowMs: options.now.getTime(), dialect };
  const prefix = prefixFor(model);
  const opened: Table[] = [];
  let names = 0;
  const tableNamed = (name: string) => openTable(governed, name, { source: '', alias: '' });
  const selects = createSelects({
    nowMs: governed.nowMs,
    growth: createGrowth(),
    newName: () => `${prefix}_${++names}`,
    isTable: (name) => tableNamed(name) !== undefined,
    tablesLike: (name) =>
      [...model.views.keys(), ...model.cubes.keys()].filter(
        (other) => Math.abs(other.length - name.length) <= LIKE_LENGTHS && tableNamed(other)?.columns.length,
      ),
    open(name, alias) {
      const table = openTable(governed, name, { source: `${prefix}_${++names}`, alias });
      if (table) opened.push(table);
      return table;
    },
  });
  const { body, expressions, columns } = selects.select(theSelect(tree), {
    parent: undefined,
    expressions: new Map(),
    depth: 0,
  });
  const dataSource = sourceOf(opened);
  const cubes = new Set<string>();
  const tables = opened.flatMap((table) => {
    const { selects: made, cubes: read } = table.rows();
    for (const cube of read) cubes.add(cube);
    return made;
  });
  return {
    statement: renderWith({ tables, expressions }, body, dialect(dataSource), budget),
    columns: uniqueNames(columns.map(({ name }) => name)),
    dataSource,
    cubes: [...cubes],
  };
}

function dialectNamed(name: DialectName): Dialect {
  if (name === 'duckdb' || name === 'postgres') return DIALECTS[name];
  throw unsupported('SQL cannot be run in this kind of data source yet.');
}

function theSelect(tree: unknown) {
  const { stmts } = only(tree, 'The SQL', ['version', 'stmts']);
  const [statement, another] = listOf(stmts);
  if (statement === undefined) throw invalid('The SQL is empty.');
  if (another !== undefined) throw unsupported('Only one statement can be run.');
  return selectIn(only(statement, 'A statement', ['stmt', 'stmt_len', 'stmt_location']).stmt);
}

function sourceOf(tables: readonly Table[]): string {
  const [first, ...others] = tables;
  if (!first) throw invalid('The SQL reads no cube and no view.');
  if (others.some(({ dataSource }) => dataSource !== first.dataSource)) {
    throw unsupported('The cubes and views of one statement are in the same data source.');
  }
  return first.dataSource;
}

/** Makes the names differ from one another, because they become the keys of a row. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let i = 2; taken.has(unique); i++) unique = `${name}_${i}`;
    taken.add(unique);
    return unique;
  });
}
