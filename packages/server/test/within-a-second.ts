import { expect } from 'vitest';

/**
 * A busy machine cannot keep the promise of one second. After a minute a server would read everything again in any case
 * (`notified-cache.ts`), so the limit is shorter than that.
 */
const PATIENCE = { timeout: 40_000, interval: 10 };

/** Tries until the answer is the expected one. On an idle machine that takes less than a second. */
export const expectWithinASecond = <T>(look: () => Promise<T>, expected: T) =>
  expect.poll(look, PATIENCE).toBe(expected);
