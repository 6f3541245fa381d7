import { PROBLEMS_MAX, type Problem } from '@oriel/semantic';
import { type BranchRow, isBuilt } from '../data-models/index.ts';
import type { BuildRow, ListedBuild } from './store.ts';

/** What a branch is used for. */
function modeOf({ isDeploy, isStaging }: BranchRow): 'production' | 'staging' | 'development' {
  if (isDeploy) return 'production';
  return isStaging ? 'staging' : 'development';
}

export const messageOf = ({ message, hint }: Pick<Problem, 'message' | 'hint'>) =>
  hint ? `${message} ${hint}` : message;

export const lineOf = (problem: Problem) =>
  `${problem.file}:${problem.line}:${problem.column}: ${messageOf(problem)}`;

export const toModelError = (problem: Pick<Problem, 'file' | 'message' | 'hint' | 'line' | 'column'>) => ({
  fileName: problem.file,
  message: messageOf(problem),
  line: problem.line,
  column: problem.column,
});

/** Longer texts would only repeat themselves; `validate` has the rest. */
const TEXT_LINES_MAX = 20;

export function errorTextOf({ reason, errors }: Pick<BuildRow, 'reason' | 'errors'>): string | null {
  const lines = (errors ?? []).slice(0, TEXT_LINES_MAX).map(lineOf);
  const more = (errors ?? []).length - lines.length;
  if (more > 0) lines.push(`and ${more}${errors!.length >= PROBLEMS_MAX ? ' or more' : ''} other errors`);
  return [...(reason ? [reason] : []), ...lines].join('\n') || null;
}

const STATUS = {
  waiting: 'building',
  building: 'building',
  built: 'built',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/** Changes that are not committed are shown only to those who are in dev mode on the branch. */
function shownErrors(branch: BranchRow, build: BuildRow): string | null {
  if (!build.isUncommitted || branch.isActive || !build.errors?.length) return errorTextOf(build);
  return 'The uncommitted changes of the branch do not build. Those who are in dev mode on it see why.';
}

export const toBuild = (branch: BranchRow, build: ListedBuild) => ({
  id: build.id,
  status: build.status,
  lastHash: build.commit,
  errorText: shownErrors(branch, build),
  cubesCount: build.cubesCount,
  createdAt: build.createdAt,
  startedAt: build.startedAt,
  finishedAt: build.finishedAt,
});

export function statusOf(branch: BranchRow, newest: BuildRow | undefined, good: BuildRow | undefined) {
  const isActive = isBuilt(branch);
  return {
    branchName: branch.name,
    deploymentId: branch.deploymentId,
    mode: modeOf(branch),
    buildJobId: newest?.id ?? null,
    status: isActive ? (newest ? STATUS[newest.status] : ('none' as const)) : ('stopped' as const),
    deploymentStatus: good && isActive ? 'built' : 'none',
    errorText: isActive
      ? newest && shownErrors(branch, newest)
      : 'Branch is not active: nobody is in dev mode on it, and it is not a staging branch.',
    lastHash: newest?.commit ?? null,
    filesHash: newest?.tree ?? null,
    updatedAt: newest?.updatedAt ?? null,
  };
}

export const badBranch = (deploymentId: number, branchName: string) => ({
  branchName,
  deploymentId,
  mode: 'development' as const,
  status: 'none' as const,
  deploymentStatus: 'none',
  errorText: `Bad branch: there is no branch ${branchName}.`,
});
