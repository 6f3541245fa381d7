/** What is wrong with a query, for the one who sent it. */
export type QueryErrorCode =
  | 'invalid_query'
  /** The same for members that do not exist and members that the viewer may not use. */
  | 'unknown_member'
  | 'ambiguous_join'
  | 'no_join_path'
  | 'unsupported_query';

export interface QueryIssue {
  /** `filters[0].values[1]`; empty for the query as a whole. */
  readonly path: string;
  readonly message: string;
}

export class QueryError extends Error {
  readonly code: QueryErrorCode;
  readonly issues: readonly QueryIssue[];

  constructor(code: QueryErrorCode, issues: readonly QueryIssue[]) {
    super(issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join(' '));
    this.name = 'QueryError';
    this.code = code;
    this.issues = issues;
  }
}

export const queryError = (code: QueryErrorCode, message: string, path = '') =>
  new QueryError(code, [{ path, message }]);
