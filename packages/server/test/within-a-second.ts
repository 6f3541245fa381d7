import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

const LOOKS = 100;
const BETWEEN_LOOKS_MS = 10;

/**
 * Tries until the answer is the expected one, at most 100 times with pauses of 10 ms: a second on an idle machine. On a
 * busy machine the attempts take longer, but so does everything that they wait for.
 */
export async function expectWithinASecond<T>(look: () => Promise<T>, expected: T) {
  let answer = await look();
  for (let looks = 1; answer !== expected && looks < LOOKS; looks++) {
    await sleep(BETWEEN_LOOKS_MS);
    answer = await look();
  }
  expect(answer).toBe(expected);
}
