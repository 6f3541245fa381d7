/** Schedules that delete what has expired. */
import type { Queryable } from '../db/database.ts';
import { runBatches } from './batches.ts';
import type { Schedule } from './schedules.ts';

/** Deletes up to this many rows, and returns how many it deleted. */
type Delete = (db: Queryable, rows: number) => Promise<number>;

/** Runs twice an hour, at this minute and half an hour later. Each function is called until it finds no row. */
export function expirySchedule(name: string, minute: number, deletes: Delete[]): Schedule {
  return {
    name,
    cron: `${minute},${minute + 30} * * * *`,
    kind: {
      name,
      lane: 'removals',
      run: (_payload, { db, signal }) =>
        runBatches(
          signal,
          deletes.map((remove) => (rows) => remove(db, rows)),
        ),
    },
  };
}
