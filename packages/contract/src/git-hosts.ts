/** What operations on git hosts and on branches share. */

export const gitHostLimits = {
  installations: 100,
  /**
   * The largest webhook. It is small because the sender is known only after all of it was read; the changes that a
   * larger one tells are found by the next poll.
   */
  webhookBytes: 256 * 1024,
} as const;

/** Why a git host does not answer a question. */
export const remoteErrors = [
  'git_host_refused',
  'git_host_unreachable',
  'git_host_failed',
  'git_repository_not_found',
] as const;

/** Why a branch and its counterpart on the git host cannot be made one. */
export const syncErrors = [
  ...remoteErrors,
  'git_repository_unrelated',
  'git_repository_unacceptable',
  'git_repository_too_large',
  'git_history_rewritten',
  'git_branch_removed',
  'git_push_rejected',
  'branch_name_taken',
  'uncommitted_changes',
  'merge_conflict',
  'merge_too_large',
  'branch_changed',
  'data_model_too_large',
  'data_model_storage_full',
] as const;
