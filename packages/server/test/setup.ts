/** Runs before each test file. Files share a process, so changes to the process are undone after each file. */
import fc from 'fast-check';
import { afterAll, afterEach, vi } from 'vitest';
import './end-with-run.ts';
import { COST } from '../src/domains/users/passwords.ts';
import './patient-waits.ts';
import { forgetServerErrors, printServerErrors } from './server-log.ts';

// Servers of tests hash thousands of passwords. `npm run test:system` pays the real cost, and tests it.
if (process.env.ORIEL_TEST_CHEAP_PASSWORDS === 'true') Object.assign(COST, { memoryCost: 8, timeCost: 1 });

// Every run draws the same random inputs, so that a change is judged by what it changed. Another seed tries others.
fc.configureGlobal({ seed: Number(process.env.ORIEL_TEST_SEED ?? 1) });

afterEach(({ task }) => {
  if (task.result?.state === 'fail') printServerErrors();
  forgetServerErrors();
});

afterAll(() => {
  // These lines were logged outside of tests, for example by a beforeAll that failed.
  printServerErrors();
  forgetServerErrors();
  vi.useRealTimers();
});
