import { Type } from 'typebox';
import {
  BranchName,
  branchInBody,
  CommitHash,
  CommitMessage,
  DataModelWriteResponse,
} from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { syncErrors } from '../git-hosts.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Data Model': 'The files of a data model, its branches and their history.',
} satisfies TagDefinitions;

export const errors = {
  branch_not_found: { status: 404, message: 'There is no such branch.' },
  invalid_branch_name: { status: 400, message: 'Git does not allow this name for a branch.' },
  branch_name_taken: { status: 409, message: 'Another branch has this name.' },
  too_many_branches: { status: 409, message: 'The deployment has as many branches as are allowed.' },
  deploy_branch_required: {
    status: 409,
    message: 'This is the deploy branch, which every deployment needs: it cannot be deleted.',
  },
  deploy_branch_is_production: {
    status: 409,
    message:
      'This is the deploy branch: it serves the production environment, and has no staging environment.',
  },
  deploy_branch_read_only: { status: 409, message: 'The deploy branch is read-only.' },
  deploy_branch_merge_not_allowed: {
    status: 409,
    message: 'The settings of the deployment do not allow merges into the deploy branch.',
  },
  not_in_dev_mode: {
    status: 409,
    message: 'Files can be changed only on a branch on which you are in dev mode: enter it first.',
  },
  nothing_to_commit: { status: 409, message: 'The branch has no uncommitted changes.' },
  uncommitted_changes: { status: 409, message: 'The branch has uncommitted changes: commit them first.' },
  merge_conflict: { status: 409, message: 'The branches changed the same files in different ways.' },
  merge_too_large: {
    status: 409,
    message:
      'The files that both branches changed are too large, or too hard to compare, for one merge. Nothing was changed: make some of them the same on both branches first.',
  },
  no_parent_branch: { status: 409, message: 'The deploy branch has no parent to merge into.' },
  branch_changed: {
    status: 409,
    message: 'Somebody else changed the branch in the meantime: look at it, and try again.',
  },
  no_remote: { status: 409, message: 'The data model is not connected to a remote repository.' },
} as const satisfies ErrorDefinitions;

const Branch = Shape('BranchResponse', {
  id: Id,
  name: Type.String(),
  parentBranch: Maybe(Type.String({ description: 'Null for the deploy branch' })),
  lastHash: Maybe({ ...CommitHash, description: 'The newest commit' }),
  isStagingEnvironmentEnabled: Maybe(Type.Boolean()),
  isDefault: Type.Boolean({ description: 'Whether this is the deploy branch' }),
  isActive: Type.Boolean({ description: 'Whether the caller is in dev mode on this branch' }),
  hasUncommittedChanges: Type.Boolean(),
});

const DevBranch = Shape('DevBranchResponse', {
  active: Type.Boolean({ description: 'Whether the caller is in dev mode on the branch' }),
  branchName: Maybe(Type.String()),
  parentBranch: Maybe(Type.String()),
});

const path = '/build/api/v1/deployments/{deploymentId}';
const common = { tag: 'Data Model', auth: 'management', params: { deploymentId: Id } } as const;

export const listBranches = operation({
  ...common,
  id: 'listBranches',
  method: 'GET',
  path: `${path}/branches`,
  summary: 'List the branches of a data model',
  description: 'Oldest first, so the first one is the branch that the deployment began with.',
  permission: 'SchemaRead',
  query: cursorQuery,
  reply: Shape('BranchesListResponse', {
    items: Type.Array(Branch),
    data: Type.Array(Branch, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: PageInfo,
  }),
  audit: 'none',
});

export const createBranch = operation({
  ...common,
  id: 'createBranch',
  method: 'POST',
  path: `${path}/branches`,
  summary: 'Create a branch',
  description:
    'The branch begins at the newest commit of its parent. Uncommitted changes of the parent are not part of it.',
  permission: 'SchemaUpdateDevBranches',
  body: Shape(
    'CreateBranchRequest',
    {
      name: BranchName,
      from: Maybe({ ...BranchName, description: 'The parent; by default the deploy branch' }),
      activate: Maybe(Type.Boolean({ description: 'Whether the caller enters dev mode on the branch' })),
      enterDevMode: Maybe(Type.Boolean({ description: 'The same as `activate`' })),
    },
    { examples: [{ name: 'feature/regions', activate: true }] },
  ),
  reply: DevBranch,
  errors: ['invalid_branch_name', 'branch_not_found', 'branch_name_taken', 'too_many_branches'],
  audit: 'branch',
});

export const deleteBranch = operation({
  ...common,
  id: 'deleteBranch',
  method: 'DELETE',
  path: `${path}/branches`,
  summary: 'Delete a branch',
  description:
    'Commits that are on no other branch are lost. Everybody who is in dev mode on the branch leaves it. A branch with a staging environment needs `SchemaUpdate`.',
  permission: 'SchemaUpdateDevBranches',
  query: {
    branchName: BranchName,
    force: Maybe(Type.Boolean({ description: 'Delete it with its uncommitted changes, which are lost' })),
    removeOnUpstream: Maybe(
      Type.Boolean({ description: 'Whether the branch is also deleted in the connected repository' }),
    ),
  },
  reply: Nothing,
  errors: ['branch_not_found', 'deploy_branch_required', ...syncErrors],
  audit: 'branch',
});

export const setBranchStagingEnvironment = operation({
  ...common,
  id: 'setBranchStagingEnvironment',
  method: 'PUT',
  path: `${path}/branches/staging-environment`,
  summary: 'Give a branch a staging environment, or remove it',
  description:
    'With it, programs can query the branch before it is merged. Without it, the tokens of the environment stop working.',
  permission: 'SchemaUpdate',
  body: Shape(
    'SetBranchStagingEnvironmentRequest',
    { ...branchInBody, enabled: Type.Boolean() },
    { examples: [{ branchName: 'feature/regions', enabled: true }] },
  ),
  reply: Shape('SetBranchStagingEnvironmentResponse', { data: Branch }),
  errors: ['branch_not_found', 'not_in_dev_mode', 'deploy_branch_is_production'],
  audit: 'branch',
});

export const startDevMode = operation({
  ...common,
  id: 'startDevMode',
  method: 'POST',
  path: `${path}/dev-mode`,
  summary: 'Enter dev mode on a branch',
  description:
    'Without a branch, or with the deploy branch, the caller enters a branch of their own, which is created at the first time. The reply names the branch. A branch with a staging environment needs `SchemaUpdate`.',
  permission: 'SchemaUpdateDevBranches',
  body: Shape('StartDevModeRequest', { branchName: Maybe(BranchName) }),
  optionalBody: true,
  reply: DevBranch,
  errors: ['branch_not_found', 'branch_name_taken', 'too_many_branches', 'branch_changed'],
  audit: 'branch',
});

export const stopDevMode = operation({
  ...common,
  id: 'stopDevMode',
  method: 'DELETE',
  path: `${path}/dev-mode`,
  summary: 'Leave dev mode on all branches',
  description: 'Uncommitted changes stay on their branch.',
  permission: 'SchemaUpdateDevBranches',
  reply: DataModelWriteResponse,
  audit: 'branch',
});

export const commitChanges = operation({
  ...common,
  id: 'commitChanges',
  method: 'POST',
  path: `${path}/commit`,
  summary: 'Commit the changes of a branch',
  description:
    'With `resolveMergeConflict`, the branch that the last merge was in conflict with, or else the parent, is merged into the branch in the same commit. Where both changed the same lines, the lines of the branch are kept.',
  permission: 'SchemaUpdateDevBranches',
  body: Shape(
    'CommitChangesRequest',
    {
      branchName: branchInBody.branchName,
      message: Maybe(CommitMessage),
      resolveMergeConflict: Maybe(Type.Boolean()),
      exitDevMode: Maybe(Type.Boolean({ description: 'Whether the caller leaves dev mode on the branch' })),
    },
    { examples: [{ message: 'Add regions to customers' }] },
  ),
  optionalBody: true,
  reply: DataModelWriteResponse,
  errors: [
    'branch_not_found',
    'not_in_dev_mode',
    'nothing_to_commit',
    'merge_too_large',
    'branch_changed',
    'data_model_too_large',
  ],
  timeoutMs: 60_000,
  audit: 'branch',
});

export const discardChanges = operation({
  ...common,
  id: 'discardChanges',
  method: 'POST',
  path: `${path}/discard`,
  summary: 'Discard the uncommitted changes of a branch',
  description:
    'The files are those of the newest commit again, for everybody who is in dev mode on the branch. Without uncommitted changes, nothing happens.',
  permission: 'SchemaUpdateDevBranches',
  body: Shape('DiscardChangesRequest', branchInBody, { examples: [{ branchName: 'feature/regions' }] }),
  optionalBody: true,
  reply: DataModelWriteResponse,
  errors: ['branch_not_found', 'not_in_dev_mode'],
  audit: 'branch',
});

export const pull = operation({
  ...common,
  id: 'pull',
  method: 'POST',
  path: `${path}/pull`,
  summary: 'Fetch the newest commits of a branch from the remote repository',
  description:
    'Also pushes what the git host does not have yet. Where both sides have new commits, they are merged as git would; a conflict is a 409 that names the files, and nothing changes. A branch that only the git host has is created.',
  permission: 'SchemaUpdateDevBranches',
  body: Shape('PullRequest', {
    branchName: Maybe({ ...BranchName, description: 'By default the deploy branch' }),
    acceptRewritten: Maybe({
      ...CommitHash,
      description:
        'If somebody replaced the history of the branch on the git host: its newest commit there, as the error names it. The branch here then gets that history, and loses the commits that are not part of it. Needs `DeploymentsManage`',
    }),
  }),
  optionalBody: true,
  reply: Shape('PullResponse', { buildTriggered: Type.Boolean() }),
  errors: ['branch_not_found', 'invalid_branch_name', 'too_many_branches', 'no_remote', ...syncErrors],
  rate: { max: 30, perSeconds: 60 },
  audit: 'branch',
});

const MergeResponse = Shape('MergeResponse', {
  merged: Type.Boolean({ description: 'False if the branch had nothing new' }),
  branchDeleted: Type.Boolean(),
});

const mergeErrors = [
  'branch_not_found',
  'not_in_dev_mode',
  'uncommitted_changes',
  'merge_conflict',
  'merge_too_large',
  'no_parent_branch',
  'branch_changed',
  'deploy_branch_read_only',
  'deploy_branch_merge_not_allowed',
  'data_model_too_large',
] as const;

const squashCommits = Maybe(Type.Boolean({ description: 'Make one ordinary commit of all commits' }));

const MERGE_DESCRIPTION =
  'Both branches stay as they were if there is a conflict: the error names the files and lines. With a message, or if both branches have commits of their own, a merge commit is made. Otherwise the other branch moves to the same commit.';

export const mergeIntoParentBranch = operation({
  ...common,
  id: 'mergeIntoParentBranch',
  method: 'POST',
  path: `${path}/merge`,
  summary: 'Merge a branch into its parent',
  description: `${MERGE_DESCRIPTION} If the parent is the deploy branch, or has a staging environment, the caller also needs \`SchemaUpdate\`.`,
  permission: 'SchemaUpdateDevBranches',
  body: Shape(
    'MergeIntoParentBranchRequest',
    {
      ...branchInBody,
      message: Maybe(CommitMessage),
      squashCommits,
      deleteBranch: Maybe(Type.Boolean()),
      switchToParentBranch: Maybe(
        Type.Boolean({
          description:
            'Whether the caller leaves dev mode on the branch, and enters it on the parent if that is not the deploy branch',
        }),
      ),
    },
    { examples: [{ branchName: 'feature/regions', message: 'Add regions' }] },
  ),
  optionalBody: true,
  reply: MergeResponse,
  errors: mergeErrors,
  timeoutMs: 60_000,
  audit: 'branch',
});

export const mergeToDefaultBranch = operation({
  ...common,
  id: 'mergeToDefaultBranch',
  method: 'POST',
  path: `${path}/merge-to-default`,
  summary: 'Merge a branch into the deploy branch',
  description: MERGE_DESCRIPTION,
  permission: 'SchemaUpdate',
  body: Shape(
    'MergeToDefaultBranchRequest',
    {
      ...branchInBody,
      message: Maybe(CommitMessage),
      squashCommits,
      removeBranchAfterMerge: Maybe(Type.Boolean()),
    },
    { examples: [{ branchName: 'feature/regions', message: 'Add regions' }] },
  ),
  optionalBody: true,
  reply: MergeResponse,
  errors: mergeErrors,
  timeoutMs: 60_000,
  audit: 'branch',
});
