/** The one error that pages handle, whatever failed. */
import { OrielError, OrielTimeoutError } from '@oriel/client';

export type ProblemKind =
  | 'offline'
  | 'signedOut'
  | 'forbidden'
  | 'missing'
  | 'conflict'
  | 'outdated'
  | 'invalid'
  | 'busy'
  | 'failed';

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  /** The code of the server's reply, such as `folder_not_empty`; empty if no reply came. */
  readonly code: string;
  readonly requestId: string | undefined;
  readonly issues: readonly { path: string; message: string }[];

  constructor(kind: ProblemKind, message: string, from: Partial<OrielError> = {}) {
    super(message);
    this.kind = kind;
    this.code = from.code ?? '';
    this.requestId = from.requestId;
    this.issues = from.issues ?? [];
  }
}

const KINDS: Record<number, ProblemKind> = {
  400: 'invalid',
  401: 'signedOut',
  403: 'forbidden',
  404: 'missing',
  409: 'conflict',
  412: 'outdated',
  413: 'invalid',
  429: 'busy',
  503: 'busy',
  504: 'busy',
};

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof OrielError) return new Problem(KINDS[error.status] ?? 'failed', error.message, error);
  if (error instanceof OrielTimeoutError) return new Problem('busy', error.message);
  // `fetch` fails with a TypeError if no reply comes.
  if (error instanceof TypeError) return new Problem('offline', error.message);
  return new Problem('failed', error instanceof Error ? error.message : String(error));
}

/** Whether the error is only that the caller has aborted the request. */
export const isAbort = (error: unknown) => error instanceof DOMException && error.name === 'AbortError';
