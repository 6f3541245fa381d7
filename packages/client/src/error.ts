import type { ErrorCode, MergeConflict } from '@oriel/contract';

interface ErrorBody {
  code: string;
  message: string;
  requestId?: string;
  issues?: { path: string; message: string }[];
  conflicts?: MergeConflict[];
}

/** An error reply of the server. */
export class OrielError extends Error {
  override readonly name = 'OrielError';
  /** The operation that was called, such as `getReport`. */
  readonly operation: string;
  readonly status: number;
  /**
   * One of the codes of the contract; `not_modified` if the version in `ifNoneMatch` is still current; `unknown_error`
   * if the answer came from something other than the server.
   */
  readonly code: ErrorCode | 'not_modified' | 'unknown_error';
  readonly requestId: string | undefined;
  readonly issues: { path: string; message: string }[];
  /** The changes of both branches, if a merge failed. */
  readonly conflicts: MergeConflict[];

  constructor(operation: string, status: number, body: ErrorBody) {
    super(body.message);
    this.operation = operation;
    this.status = status;
    this.code = body.code as ErrorCode;
    this.requestId = body.requestId;
    this.issues = body.issues ?? [];
    this.conflicts = body.conflicts ?? [];
  }
}

/** The call took longer than its `timeoutMs`. The server may or may not have made the change. */
export class OrielTimeoutError extends Error {
  override readonly name = 'OrielTimeoutError';
  readonly operation: string;
  readonly timeoutMs: number;

  constructor(operation: string, timeoutMs: number) {
    super(`${operation}: no answer within ${timeoutMs} ms`);
    this.operation = operation;
    this.timeoutMs = timeoutMs;
  }
}

/** Makes the error from an answer that is not a success. */
export async function errorFrom(operation: string, response: Response): Promise<OrielError> {
  const { status, headers } = response;
  if (status === 304) {
    return new OrielError(operation, status, {
      code: 'not_modified',
      message: 'The resource has not changed.',
    });
  }
  const body = parsed(await response.text());
  const requestId = headers.get('x-request-id') ?? undefined;
  const code = headers.get('x-error-code');
  if (typeof body !== 'object' || body === null) return foreignAnswer(operation, status);
  if (!code)
    return isErrorBody(body) ? new OrielError(operation, status, body) : foreignAnswer(operation, status);
  // Some operations use another form of errors; see `errorShape` in the contract.
  const { error_description, errorDescription, detail, error } = body as Record<string, unknown>;
  const message = [error_description, errorDescription, detail, error].find(isText) ?? `HTTP ${status}`;
  return new OrielError(operation, status, { code, message, requestId });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Proxies answer with JSON of their own. */
const isErrorBody = (body: object): body is ErrorBody => {
  const { code, message, issues = [], conflicts = [] } = body as Record<string, unknown>;
  return isText(code) && isText(message) && Array.isArray(issues) && Array.isArray(conflicts);
};

/** An answer that is not from the server, such as a proxy's page or JSON, or an empty body. */
export const foreignAnswer = (operation: string, status: number) =>
  new OrielError(operation, status, { code: 'unknown_error', message: `HTTP ${status}` });

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
