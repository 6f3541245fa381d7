/** Keeps the error lines of servers, so that they can be printed together with a test that failed. */
import { multistream, pino } from 'pino';

const lines: string[] = [];

export function createServerLog() {
  const level = process.env.ORIEL_TEST_LOG_LEVEL;
  const kept = { level: 'error', stream: { write: (line: string) => void lines.push(line) } } as const;
  if (!level || level === 'silent') return pino({ level: 'error' }, multistream([kept]));
  return pino({ level }, multistream([kept, { level: level as 'info', stream: process.stdout }]));
}

/** The error lines that the servers of this process have logged since the test began. */
export const serverErrors = (): readonly string[] => lines;

export function printServerErrors() {
  if (lines.length) console.error(`The server logged:\n${lines.join('')}`);
}

export function forgetServerErrors() {
  lines.length = 0;
}
