/** Refuses an address for a while after too many failed attempts from it. Each server counts for itself. */
import { ApiError } from '../errors.ts';

const ADDRESSES_MAX = 100_000;

export interface FailureLimit {
  /** Throws a 429 where there were too many. */
  check(address: string): void;
  note(address: string): void;
}

export function createFailureLimit({ max, perMs }: { max: number; perMs: number }): FailureLimit {
  const failures = new Map<string, { count: number; until: number }>();
  return {
    check(address) {
      const found = failures.get(address);
      if (!found || found.count < max) return;
      const waitMs = found.until - Date.now();
      if (waitMs > 0) throw new ApiError('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });
      failures.delete(address);
    },
    note(address) {
      const now = Date.now();
      const found = failures.get(address);
      if (found && found.until > now) return void found.count++;
      if (failures.size >= ADDRESSES_MAX) failures.clear();
      failures.set(address, { count: 1, until: now + perMs });
    },
  };
}
