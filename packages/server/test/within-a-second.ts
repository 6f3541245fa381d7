import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

const LOOKS = 100;
const BETWEEN_LOOKS_MS = 10;

/**
 * Looks until the answer is the expected one, for a second as this process lives it: 100 looks with 10 ms between them.
 * On a busy machine they take longer by the clock, and so does everything that they wait for.
 */
export async function expectWithinASecond<T>(look: () => Promise<T>, expected: T) {
  let answer = await look();
  for (let looks = 1; answer !== expected && looks < LOOKS; looks++) {
    await sleep(BETWEEN_LOOKS_MS);
    answer = await look();
  }
  expect(answer).toBe(expected);
}
