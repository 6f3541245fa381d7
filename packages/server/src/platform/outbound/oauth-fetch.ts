/** Requests of `openid-client`, through the guard. */
import type { CustomFetch } from 'openid-client';
import { type Outbound, OutboundError } from './outbound.ts';

/** The limits of a request. Tests shorten the timeout. */
export const REQUEST = { timeoutMs: 5000 };
const MAX_BYTES = 256 * 1024;

export const oauthFetch =
  (outbound: Outbound): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const answer = await outbound.fetch(url, {
      method,
      headers,
      body: body as URLSearchParams | string | null | undefined,
      signal: signal ?? null,
      timeoutMs: REQUEST.timeoutMs,
      maxBytes: MAX_BYTES,
    });
    return from(url, answer);
  };

/** Sets the address of the answer, which the log needs if the library refuses the answer. */
export function from(url: string, answer: Response): Response {
  const { origin, pathname } = new URL(url);
  return Object.defineProperty(answer, 'url', { value: origin + pathname });
}

const CAUSES_MAX = 4;

/** The error and its causes. */
export function causesOf(error: unknown): Error[] {
  const all: Error[] = [];
  for (let cause = error; cause instanceof Error && all.length < CAUSES_MAX; cause = cause.cause) {
    all.push(cause);
  }
  return all;
}

/** Returns the provider's code of the error, or else that of the library. */
export const wordOf = (cause: Error) => {
  const { code, error } = cause as { code?: unknown; error?: unknown };
  return error ?? code ?? cause.name;
};

/**
 * Errors of the library may hold answers with tokens, so only what is safe is taken from them. Messages of
 * `OutboundError` hold no secrets.
 */
export const reasonOf = (error: unknown): string =>
  causesOf(error)
    .map((cause) => String(cause instanceof OutboundError ? cause.message : wordOf(cause)).slice(0, 200))
    .join(': ');
