/**
 * Changes of a branch run one after another. They wait first in this process, before they take a connection, and then in
 * the database for other processes. So many writers of one branch leave the connections to the writers of others.
 */
import { createAdmission, notNow } from '../../platform/admission/admission.ts';

/** Runs the work when it is its turn on all of these branches. The signal ends the waiting. */
export type BranchLock = <T>(
  branchIds: readonly number[],
  signal: AbortSignal,
  work: () => Promise<T>,
) => Promise<T>;

const LIMITS = { places: 1, waitingMax: 20 };
const WAIT_MS = 10_000;

export function createBranchLock(waitMs = WAIT_MS): BranchLock {
  const admission = createAdmission({
    ...LIMITS,
    waitMs,
    refusal: (excess) => notNow(excess, 'Too many others are changing this branch right now: try again.'),
  });
  // Always in the same order, so that two requests for the same branches do not wait for each other.
  return (branchIds, signal, work) =>
    [...new Set(branchIds)]
      .sort((a, b) => a - b)
      .reduceRight((next, id) => () => admission.take({ key: String(id), signal }, next), work)();
}
