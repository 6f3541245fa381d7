/** Says in the words of the API why a git host or a repository cannot be used. */
import { ApiError } from '../../platform/errors.ts';
import { RemoteError, type RemoteFailure } from '../../platform/git/remote/remote-error.ts';

const CODES = {
  unauthorized: 'git_host_refused',
  not_found: 'git_repository_not_found',
  unreachable: 'git_host_unreachable',
  not_git: 'git_host_failed',
  failed: 'git_host_failed',
  too_large: 'git_repository_too_large',
  unacceptable: 'git_repository_unacceptable',
  rejected: 'git_push_rejected',
} as const satisfies Record<RemoteFailure, string>;

/** Runs work with a git host, and throws an `ApiError` where that throws a `RemoteError`. */
export async function withHost<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    throw new ApiError(CODES[error.failure], { message: error.message });
  }
}
