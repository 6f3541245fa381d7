/** Runs before each test file. Files share a process, so what one of them changed there is undone after it. */
import { afterAll, afterEach, vi } from 'vitest';
import { forgetServerErrors, printServerErrors } from './server-log.ts';

afterEach(({ task }) => {
  if (task.result?.state === 'fail') printServerErrors();
  forgetServerErrors();
});

afterAll(() => {
  // What is left was logged outside of tests, such as by a beforeAll that failed.
  printServerErrors();
  forgetServerErrors();
  vi.useRealTimers();
});
