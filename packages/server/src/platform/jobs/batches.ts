/** Work on many rows in short transactions, as part of a job. */

/** Small enough that a batch holds its locks for a few tenths of a second at most. */
export const BATCH_ROWS = 500;
/** After this many batches, other jobs get their turn. */
const BATCHES_PER_TURN = 40;

/** Works on up to this many rows, in a transaction of its own, and returns how many there were. */
export type Batch = (rows: number) => Promise<number>;

/**
 * For jobs that remove rows that nobody can see any more. They are retried until they succeed, because nothing else
 * would find these rows.
 */
export const UNTIL_DONE = { lane: 'removals', maxAttempts: 1_000_000 } as const;

/**
 * Runs each batch until it finds no row. Rows may still be left if others work on them at the same time, because a
 * batch does not count rows that others removed while it waited. So the caller must check whether anything is left. If
 * the server stops, the next turn of the job does the rest.
 */
export async function runBatches(
  signal: AbortSignal,
  batches: Batch[],
  rows = BATCH_ROWS,
): Promise<'done' | 'unfinished'> {
  let turns = 0;
  for (const batch of batches) {
    for (let touched = rows; touched > 0; ) {
      if (signal.aborted || turns++ >= BATCHES_PER_TURN) return 'unfinished';
      touched = await batch(rows);
    }
  }
  return 'done';
}
