/** What is planned, on the loop or in a thread; see `planner.ts`. */
import type { DialectName, QueryErrorCode, QueryIssue, Viewer } from '@oriel/semantic';
import { check } from './check.ts';
import { access, explain } from './explain.ts';
import { type MakeContext, planQueries } from './plans.ts';
import { planSqlQuery } from './sql-plans.ts';

export const TASKS = { queries: planQueries, sql: planSqlQuery, explain, access, check };

export type TaskKind = keyof typeof TASKS;
export type Input<Kind extends TaskKind> = Parameters<(typeof TASKS)[Kind]>[0];
export type TaskResult<Kind extends TaskKind> = ReturnType<(typeof TASKS)[Kind]>;

export function carryOut<Kind extends TaskKind>(
  kind: Kind,
  input: Input<Kind>,
  context: MakeContext,
): TaskResult<Kind> {
  const make = TASKS[kind] as (input: Input<Kind>, context: MakeContext) => TaskResult<Kind>;
  return make(input, context);
}

/** What a thread is asked for. */
export interface PlanOrder {
  kind: TaskKind;
  input: Input<TaskKind>;
  model: {
    /** The id of the model, by which threads cache it. */
    number: number;
    packed: SharedArrayBuffer;
  };
  viewer: Viewer;
  /** The types of the data sources that are configured, by their names. */
  types: ReadonlyMap<string, DialectName>;
  now: Date;
}

/** What the thread answers. */
export type PlanReply = {
  /** The CPU time of the plan, without the time for the model. */
  tookMs: number;
} & (
  | {
      made: TaskResult<TaskKind>;
      /** The hashes of the statements of queries, and of those that count their rows. */
      hashes: readonly [string, string | undefined][];
    }
  | { problem: { code: QueryErrorCode; issues: readonly QueryIssue[] } }
  /** The name of a data source that is not configured. */
  | { missing: string }
);
