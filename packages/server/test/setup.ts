/** Runs before each test file. Files share a process, so changes to the process are undone after each file. */
import { afterAll, afterEach, vi } from 'vitest';
import './end-with-run.ts';
import { forgetServerErrors, printServerErrors } from './server-log.ts';

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
