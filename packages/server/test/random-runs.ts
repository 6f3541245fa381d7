import fc from 'fast-check';
import { expect } from 'vitest';

/**
 * Tries a property with this many random inputs. A failure names the smallest input that fails and the seed, which
 * repeats it. The number of runs is printed and checked, so that a test that tried nothing does not pass.
 */
export async function tryRandomly<Input>(property: fc.IAsyncProperty<Input>, runs: number) {
  const result = await fc.check(property, { numRuns: runs });
  if (result.failed) throw new Error(fc.defaultReportMessage(result));
  console.info(`${result.numRuns} random runs`);
  expect(result.numRuns).toBe(runs);
}
