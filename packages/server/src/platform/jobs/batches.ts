/** Work on many rows in short transactions, as part of a job. */

/** Each batch holds its locks for a few tenths of a second at the most. */
export const BATCH_ROWS = 500;
/** After so many batches other jobs get their turn. */
const BATCHES_PER_TURN = 40;

/** Works on up to this many rows, in a transaction of its own, and returns how many there were. */
export type Batch = (rows: number) => Promise<number>;

/** For jobs that remove what nobody can see any more: they are tried until they succeed. Nobody else would find it. */
export const UNTIL_DONE = { lane: 'removals', maxAttempts: 1_000_000 } as const;

/**
 * Runs each batch until it finds no row. That says little while others work on the same rows: a batch waits for them,
 * and does not count what they took away. So the caller looks whether anything is left. If the server stops, the next
 * turn of the job does the rest.
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
