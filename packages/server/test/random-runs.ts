import fc from 'fast-check';
import { expect } from 'vitest';

/** The factor for the number of runs, which is larger in `npm run test:worlds`. */
const SHARE = Number(process.env.ORIEL_TEST_RUNS ?? 0.25);

/**
 * Tries a property with this many random inputs, or a share of them. A failure names the smallest input that fails and the seed, which
 * repeats it. The number of runs is printed and checked, so that a test that tried nothing does not pass.
 */
export async function tryRandomly<Input>(property: fc.IAsyncProperty<Input>, atMost: number) {
  const runs = Math.ceil(atMost * SHARE);
  const result = await fc.check(property, { numRuns: runs });
  if (result.failed) throw new Error(fc.defaultReportMessage(result), { cause: result.errorInstance });
  console.info(`${result.numRuns} random runs from seed ${result.seed}`);
  expect(result.numRuns).toBe(runs);
}
