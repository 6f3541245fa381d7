/** Keeps what servers log as errors, and prints it beside the test that failed meanwhile. */
import { multistream, pino } from 'pino';
import { afterAll, afterEach } from 'vitest';

const lines: string[] = [];

export function createServerLog() {
  const level = process.env.ORIEL_TEST_LOG_LEVEL;
  const kept = { level: 'error', stream: { write: (line: string) => void lines.push(line) } } as const;
  if (!level || level === 'silent') return pino({ level: 'error' }, multistream([kept]));
  return pino({ level }, multistream([kept, { level: level as 'info', stream: process.stdout }]));
}

/** What servers of this test file have logged as errors since its test began. */
export const serverErrors = (): readonly string[] => lines;

function print() {
  if (lines.length) console.error(`The server logged:\n${lines.join('')}`);
}

afterEach(({ task }) => {
  if (task.result?.state === 'fail') print();
  lines.length = 0;
});

// What is left was logged outside of tests, such as by a beforeAll that failed.
afterAll(print);
