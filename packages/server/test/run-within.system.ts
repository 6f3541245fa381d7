import { expect, test } from 'vitest';
import { runWithin } from '../../../scripts/run-within.ts';
import { isAlive } from './is-alive.ts';

test('a program that hangs is ended at its time limit, with everything that it started', async () => {
  // A shell starts within the time limit on a busy machine too, where Node may need seconds.
  const script = 'setsid sleep 600 & echo $!; wait';
  const { output, isTimedOut } = await runWithin(2000, '/bin/sh', ['-c', script]);
  expect(isTimedOut).toBe(true);
  const pid = Number(output);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a program that ends in time returns what it printed', async () => {
  const script = "console.log('one'); console.error('two');";
  const { output, isTimedOut } = await runWithin(60_000, process.execPath, ['-e', script]);
  expect(isTimedOut).toBe(false);
  expect(output.split('\n').sort()).toEqual(['', 'one', 'two']);
});
