import { STATUS_CODES } from 'node:http';
import { type ErrorCode, type ErrorDefinition, errorCatalogue, type MergeConflict } from '@oriel/contract';

export interface Issue {
  path: string;
  message: string;
}

/** An error that is sent to the caller. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly issues: Issue[] | undefined;
  readonly conflicts: MergeConflict[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      issues?: Issue[];
      conflicts?: MergeConflict[];
      retryAfterSeconds?: number;
      cause?: unknown;
    } = {},
  ) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause });
    this.code = code;
    this.statusCode = errorCatalogue[code].status;
    this.issues = options.issues;
    this.conflicts = options.conflicts;
    const { retryAfterSeconds }: ErrorDefinition = errorCatalogue[code];
    this.retryAfterSeconds = options.retryAfterSeconds ?? retryAfterSeconds;
  }

  body(requestId: string) {
    return {
      statusCode: this.statusCode,
      error: STATUS_CODES[this.statusCode] ?? 'Error',
      code: this.code,
      message: this.message,
      requestId,
      ...(this.issues ? { issues: this.issues } : {}),
      ...(this.conflicts ? { conflicts: this.conflicts } : {}),
    };
  }
}

/** Returns the row. If there is none, throws the error with this code. */
export function found<Row>(row: Row | null | undefined, code: ErrorCode): Row {
  if (row == null) throw new ApiError(code);
  return row;
}

export const isApiError = (error: unknown, code: ErrorCode) =>
  error instanceof ApiError && error.code === code;

/** A 400 for a problem in the request that only the handler can find. */
export const invalid = (path: string, message: string, code: ErrorCode = 'invalid_request') =>
  new ApiError(code, { message: `${path}: ${message}`, issues: [{ path, message }] });
