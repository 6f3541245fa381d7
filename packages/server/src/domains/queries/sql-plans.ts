/** From the SQL of a caller to the statement that runs. */
import { planSql, type RefreshKey } from '@oriel/semantic';
import type { Query } from '../../engines/engine.ts';
import type { PlanContext } from './plans.ts';
import type { OpenSource } from './sources.ts';

export interface PlannedSql {
  source: OpenSource;
  statement: Query;
  /** The names of the columns. */
  columns: readonly string[];
  /** Of the cubes that the statement reads. */
  refreshKeys: readonly (RefreshKey | undefined)[];
}

/** Throws a `QueryError` if the statement is wrong or refused. */
export function planSqlQuery(tree: unknown, { model, viewer, source, now }: PlanContext): PlannedSql {
  const { statement, columns, dataSource, cubes } = planSql(model, tree, viewer, {
    dialect: (name) => source(name).dialect,
    now,
  });
  return {
    source: source(dataSource),
    statement: { ...statement, rowForm: 'arrays' },
    columns,
    refreshKeys: cubes.map((name) => model.cubes.get(name)!.refreshKey),
  };
}
