/** Work on many rows in short transactions, as part of a job. */

/** Each batch holds its locks for a few tenths of a second at the most. */
export const BATCH_ROWS = 500;
/** After so many batches other jobs get their turn. */
const BATCHES_PER_TURN = 40;

/** Takes on up to this many rows, in a transaction of its own, and answers how many there were. */
export type Batch = (rows: number) => Promise<number>;

/** Tried until it succeeds: what is left is in nobody's sight, and would never be found otherwise. */
export const UNTIL_DONE = { maxAttempts: 1_000_000 };

/**
 * Each kind of row until a batch finds none. That says little while others work on the same rows: a batch waits for
 * them, and does not count what they took away. So whoever calls this looks whether anything is left. What a server that
 * stops leaves is for the next turn of the job.
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
