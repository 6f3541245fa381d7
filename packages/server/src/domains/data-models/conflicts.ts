/** Conflicts of a merge as callers see them, within limits. */
import type { MergeConflict } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import type { Conflict } from '../../platform/git/merge-trees.ts';

const CONFLICTS_MAX = 100;
const HUNKS_MAX = 50;
const TEXT_MAX = 4000;
const WORDS = {
  content: 'both branches changed the same lines',
  added_by_both: 'both branches added this file, with different content',
  deleted_by_ours: 'the branch that is merged changed this file, and the other branch deleted it',
  deleted_by_theirs: 'the branch that is merged deleted this file, and the other branch changed it',
  file_and_directory: 'this is a file on one branch and a folder on the other',
} satisfies Record<Conflict['kind'], string>;

const shortened = (text: string) => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);

const shown = ({ path, kind, hunks }: Conflict): MergeConflict => ({
  path,
  kind,
  hunks: hunks.slice(0, HUNKS_MAX).map(({ line, base, ours, theirs }) => ({
    line,
    base: shortened(base),
    ours: shortened(ours),
    theirs: shortened(theirs),
  })),
});

/** Takes the names of the branch that is merged, and of the other one. */
export function mergeConflict(conflicts: readonly Conflict[], [from, into]: [string, string]): ApiError {
  const paths = conflicts.map(({ path }) => path);
  const listed = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '');
  const most = conflicts.slice(0, CONFLICTS_MAX);
  return new ApiError('merge_conflict', {
    message: `The branches ${from} and ${into} changed the same files in different ways: ${listed}. Change them on ${from}, commit with \`resolveMergeConflict\`, which merges ${into} into ${from}, and merge again.`,
    issues: most.map(({ path, kind }) => ({ path, message: WORDS[kind] })),
    conflicts: most.map(shown),
  });
}
