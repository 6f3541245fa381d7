import { Type } from 'typebox';
import { BranchName, CommitHash } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Bytes } from '../kinds.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Shape } from '../schemas.ts';

export const errors = {
  commit_not_found: { status: 404, message: 'There is no such commit.' },
} as const satisfies ErrorDefinitions;

const commit = {
  hash: CommitHash,
  parents: Type.Array(CommitHash, { description: 'None for the first commit, two for a merge' }),
  message: Type.String(),
  author: Shape('CommitAuthor', { name: Type.String(), email: Type.String() }),
  createdAt: DateTime,
};

const DiffHunk = Shape('DiffHunk', {
  oldStart: Type.Integer({ description: 'The first line before the change, from 1' }),
  oldLines: Type.Integer(),
  newStart: Type.Integer({ description: 'The first line after the change, from 1' }),
  newLines: Type.Integer(),
  lines: Type.Array(
    Type.String({
      description: 'Begins with a space if it did not change, with `-` if it went, with `+` if it came',
    }),
  ),
});

const FileDiff = Shape('FileDiff', {
  path: Type.String(),
  status: Type.Enum(['added', 'modified', 'deleted']),
  hunks: Type.Array(DiffHunk),
  isShortened: Type.Boolean({ description: 'True if the change was too large to show all of its lines' }),
});

const path = '/build/api/v1/deployments/{deploymentId}';
const common = { tag: 'Data Model', auth: 'management', permission: 'SchemaRead', audit: 'none' } as const;

export const listCommits = operation({
  ...common,
  id: 'listCommits',
  method: 'GET',
  path: `${path}/branches/{name}/commits`,
  summary: 'List the commits of a branch',
  description: 'Newest first. In the address, a slash in the name of the branch is written as `%2F`.',
  params: { deploymentId: Id, name: BranchName },
  query: cursorQuery,
  reply: CursorPage('CommitsListResponse', Shape('Commit', commit)),
  errors: ['branch_not_found'],
});

export const getCommit = operation({
  ...common,
  id: 'getCommit',
  method: 'GET',
  path: `${path}/commits/{hash}`,
  summary: 'Get a commit, with what it changed',
  description:
    'The changes are those since its first parent. At most 300 files and 1 MB of lines are shown, and files are compared until they are 32 MB together.',
  params: {
    deploymentId: Id,
    hash: { ...CommitHash, description: 'The whole hash, with 40 digits' },
  },
  reply: Shape('CommitWithChanges', {
    ...commit,
    filesChanged: Type.Integer({ minimum: 0 }),
    files: Type.Array(FileDiff),
  }),
  errors: ['commit_not_found'],
  timeoutMs: 30_000,
});

export const exportBundle = operation({
  ...common,
  id: 'exportBundle',
  method: 'GET',
  path: `${path}/data-model/export.bundle`,
  summary: 'Export all branches as a git bundle',
  description: '`git clone` takes the file like a repository. Uncommitted changes are not part of it.',
  params: { deploymentId: Id },
  reply: Bytes('application/x-git-bundle'),
  replyHeaders: { 'content-disposition': Type.String() },
  timeoutMs: 30_000,
});
