/** From the SQL of a caller to the statement that runs. Runs on the loop and in threads; see `planner.ts`. */
import { planSql, type RefreshKey } from '@oriel/semantic';
import type { Query } from '../../engines/engine.ts';
import type { MakeContext } from './plans.ts';

export interface MadeSql {
  dataSource: string;
  statement: Query;
  /** The names of the columns. */
  columns: readonly string[];
  /** The refresh keys of the cubes that the statement reads. */
  refreshKeys: readonly (RefreshKey | undefined)[];
}

/** `tree` is JSON of what the parser made. Throws a `QueryError` if the statement is wrong or refused. */
export function planSqlQuery(tree: string, { model, viewer, typeOf, now, budget }: MakeContext): MadeSql {
  const { statement, columns, dataSource, cubes } = planSql(model, JSON.parse(tree), viewer, {
    dialect: typeOf,
    now,
    budget,
  });
  return {
    dataSource,
    statement: { ...statement, rowForm: 'arrays' },
    columns,
    refreshKeys: cubes.map((name) => model.cubes.get(name)!.refreshKey),
  };
}
