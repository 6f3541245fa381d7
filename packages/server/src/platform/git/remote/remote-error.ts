export type RemoteFailure =
  /** The server does not accept the credentials, or they may not do this. */
  | 'unauthorized'
  | 'not_found'
  | 'unreachable'
  /** The answer is not one of a git server that speaks protocol version 2. */
  | 'not_git'
  /** The repository, or a part of it, is larger than the limits allow. */
  | 'too_large'
  /** The repository holds something that this server does not store. */
  | 'unacceptable'
  /** The remote did not take a push, most often because another push came first. */
  | 'rejected'
  /** The remote reports an error of its own. */
  | 'failed';

/** Why a remote repository cannot be read or written. The message is for people, and holds no address and no secret. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly failure: RemoteFailure;

  constructor(failure: RemoteFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
