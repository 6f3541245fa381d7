/** Ends a stream soon after its caller has lost the right to it: a key was deleted, a session revoked, a role changed. */
import type { ServerResponse } from 'node:http';
import { ApiError } from '../errors.ts';

/** How often a caller is checked. In most cases a check is answered from memory, so it costs little. */
const RECHECK_MS = 5000;
/** The statuses that end the stream. A 429 or a 503 says nothing about the rights of the caller. */
const REFUSALS = [401, 403, 404];

/**
 * `check` throws or rejects if the caller would be refused now. If it fails for another reason, such as a database that
 * does not answer, the stream goes on and is checked again. A stream that is ended breaks off, so that it does not look
 * complete.
 */
export function recheck(response: ServerResponse, check: () => unknown, everyMs: number = RECHECK_MS) {
  let timer: NodeJS.Timeout;
  const look = async () => {
    try {
      await check();
    } catch (error) {
      if (error instanceof ApiError && REFUSALS.includes(error.statusCode)) return void response.destroy();
    }
    if (!response.closed) wait();
  };
  const wait = () => {
    timer = setTimeout(look, everyMs).unref();
  };
  if (response.closed) return;
  wait();
  response.once('close', () => clearTimeout(timer));
}
