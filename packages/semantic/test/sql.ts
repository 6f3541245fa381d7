/** Short ways to plan SQL. */
import { loadModule, parseSync } from 'libpg-query';
import {
  type Budget,
  type DialectName,
  type Model,
  planSql,
  QueryError,
  type SqlPlan,
  type Viewer,
} from '../src/index.ts';
import { NOW, somebody } from './plans.ts';

await loadModule();

export const sqlPlanOf = (
  model: Model,
  text: string,
  viewer: Viewer = somebody,
  dialect: DialectName = 'duckdb',
  budget?: Budget,
): SqlPlan => planSql(model, parseSync(text), viewer, { dialect: () => dialect, now: NOW, budget });

/** What is wrong with a statement. */
export function sqlErrorOf(model: Model, text: string, viewer: Viewer = somebody): QueryError {
  try {
    sqlPlanOf(model, text, viewer);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`There is nothing wrong with ${text}`);
}
