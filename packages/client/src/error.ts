import type { ErrorCode } from '@oriel/contract';

interface ErrorBody {
  code: string;
  message: string;
  requestId?: string;
  issues?: { path: string; message: string }[];
}

/** What the server answered instead of a success. */
export class OrielError extends Error {
  override readonly name = 'OrielError';
  readonly status: number;
  /** One of the codes of the contract, or `unknown_error` where something else than the server answered. */
  readonly code: ErrorCode | 'unknown_error';
  readonly requestId: string | undefined;
  readonly issues: { path: string; message: string }[];

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code as ErrorCode;
    this.requestId = body.requestId;
    this.issues = body.issues ?? [];
  }
}
