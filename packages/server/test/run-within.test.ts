import { expect, test } from 'vitest';
import { runWithin } from '../../../scripts/run-within.ts';
import { isAlive } from './is-alive.ts';

const START_SLEEPER =
  "const { pid } = require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });";

test('a program that hangs is ended at its time limit, with everything that it started', async () => {
  const script = `${START_SLEEPER} console.log(pid); setInterval(() => {}, 1000);`;
  const { output, isTimedOut } = await runWithin(2000, process.execPath, ['-e', script]);
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
