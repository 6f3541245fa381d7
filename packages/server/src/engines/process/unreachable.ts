import { EngineError } from '../engine.ts';

const HINTS: [RegExp, string][] = [
  [
    /does not support SSL|wrong version number|packet length too long/i,
    ' To connect without TLS, set DB_SSL to false.',
  ],
  [/certificate|altnames/i, ' To connect without a check of the certificate, set DB_SSL to no-verify.'],
];

/** Uses the error code if there is no message, as when a name has several addresses and none can be reached. */
export function unreachable(error: unknown): EngineError {
  const { message, code } = error as NodeJS.ErrnoException;
  const why = (message || code || 'unknown reason').split('\n')[0]!.slice(0, 300).replace(/\.$/, '');
  const hint = HINTS.find(([pattern]) => pattern.test(why))?.[1] ?? '';
  return new EngineError('source_unavailable', `The database cannot be reached: ${why}.${hint}`);
}
