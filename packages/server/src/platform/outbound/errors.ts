/** Why an outgoing request failed. */
export type OutboundFailure =
  | 'address_refused'
  | 'unreachable'
  | 'timed_out'
  | 'too_large'
  | 'not_readable'
  | 'too_many_redirects'
  | 'too_many_at_once';

/** The message never contains the path, the query, headers or the body, because they may hold secrets. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, url: URL, why: string) {
    super(`${url.protocol}//${url.host}: ${why}`);
    this.failure = failure;
  }
}
