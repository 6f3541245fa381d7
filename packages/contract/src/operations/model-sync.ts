import { Type } from 'typebox';
import { BranchName, CommitHash, FilePath } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Multipart } from '../kinds.ts';
import { limits } from '../limits.ts';
import { operation } from '../operation.ts';
import { DateTime, Id, Maybe, matching, Nullable, Shape, Url } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Model Sync': 'Cubes, measures and views that are made from a dbt project, on a branch for review.',
} satisfies TagDefinitions;

export const errors = {
  model_sync_not_found: { status: 404, message: 'There is no such sync.' },
  model_sync_running: {
    status: 409,
    message: 'A sync to this branch is running already: wait for it, or cancel it.',
  },
  model_sync_finished: { status: 409, message: 'This sync has ended already.' },
  model_sync_not_completed: { status: 409, message: 'This sync has no result.' },
  model_sync_on_deploy_branch: {
    status: 409,
    message: 'A sync is for review: it cannot change the deploy branch. Choose another branch, and merge it.',
  },
  no_dbt_manifest: {
    status: 409,
    message:
      'There is no dbt project to sync with: upload its manifest.json first, with PUT /api/v1/deployments/{deploymentId}/model-sync/manifest.',
  },
  invalid_dbt_files: { status: 400, message: 'The files are not those that dbt makes.' },
} as const satisfies ErrorDefinitions;

const SELECTORS_MAX = 100;

const common = { tag: 'Model Sync', auth: 'management' } as const;
const path = '/api/v1/deployments/{deploymentId}/model-sync';
const params = { deploymentId: Id };
const syncParams = {
  ...params,
  syncJobId: Type.String({
    maxLength: 100,
    description: 'The id that `startModelSync` returned',
    examples: ['0b3e7a52-6f2a-4a57-9d0b-5b8a8a3c1d11'],
  }),
};

const DbtManifest = Shape('ModelSyncManifest', {
  projectName: Nullable(Type.String({ examples: ['shop'] })),
  dbtVersion: Nullable(Type.String({ examples: ['1.11.2'] })),
  schemaVersion: Type.Integer({ description: 'The version of the manifest', examples: [12] }),
  models: Type.Integer({ minimum: 0 }),
  sources: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  hasCatalog: Type.Boolean({ description: 'Whether catalog.json was uploaded with it' }),
  digest: Type.String({ description: 'The SHA-256 of manifest.json, in hex' }),
  uploadedAt: DateTime,
});

const settings = {
  kind: Type.Enum(['manifest', 'repository'], {
    description:
      'Where the project comes from. `manifest`: CI uploads the files that dbt makes. `repository`: each sync reads them from a git repository, or lets dbt make them of what is there',
  }),
  namePrefix: Type.String({
    maxLength: 40,
    ...matching('^([a-z][a-z0-9_]*)?$', 'must have a-z, 0-9 and _ only, and begin with a letter'),
    description: 'Before the names of cubes and views; empty by default',
    examples: ['dbt_'],
  }),
  select: Type.Array(Type.String({ minLength: 1, maxLength: 200, examples: ['tag:mart'] }), {
    maxItems: SELECTORS_MAX,
    description:
      'What becomes cubes: `tag:mart`, `path:marts/finance`, `package:shop`, or the name of a model; `*` stands for any characters. What any of them selects is taken, and everything if there are none',
  }),
  outputFolder: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Where the files are put; `model/cubes/dbt` by default',
    examples: ['model/cubes/dbt'],
  }),
  includeSources: Type.Boolean({ description: 'Make cubes of sources too; false by default' }),
  includeSeeds: Type.Boolean({ description: 'Make cubes of seeds too; false by default' }),
  includeSnapshots: Type.Boolean({ description: 'Make cubes of snapshots too; false by default' }),
  targetSchema: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Read all tables from this schema. By default they are where dbt made them: `relation_name` in the manifest',
      examples: ['analytics'],
    }),
  ),
};

const {
  kind,
  namePrefix,
  select,
  outputFolder,
  includeSources,
  includeSeeds,
  includeSnapshots,
  targetSchema,
} = settings;

const PRINTABLE = matching('^[\\u0020-\\u007e]+$', 'must have printable ASCII characters only');

const repositorySettings = {
  installationId: Nullable({
    ...Id,
    description: 'The connection to a git host that reaches the repository',
  }),
  name: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The repository with its owner, on the host of the connection',
      examples: ['acme/dbt'],
    }),
  ),
  url: Nullable({
    ...Url,
    description:
      'The address of the repository for git, without user and password, if there is no connection for it',
    examples: ['https://git.example.com/acme/dbt.git'],
  }),
  username: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 255,
      ...PRINTABLE,
      description: 'The user that goes with the token of the address; `git` by default',
    }),
  ),
  branch: Nullable({
    ...BranchName,
    description: 'The branch to read; by default the one that the repository is shown with',
  }),
};

const ProjectPath = {
  ...FilePath,
  description: 'The folder of the repository that has `dbt_project.yml`; `/` by default',
  examples: ['/warehouse'],
};

const ModelSyncSource = Shape('ModelSyncSource', {
  ...settings,
  repository: Nullable(
    Shape('ModelSyncRepository', {
      ...repositorySettings,
      projectPath: ProjectPath,
      hasCredential: Type.Boolean({ description: 'Whether a token for the address is stored' }),
    }),
  ),
  manifest: Nullable(DbtManifest),
});

const ModelSyncRepositoryInput = Shape('ModelSyncRepositoryInput', {
  installationId: Type.Optional(repositorySettings.installationId),
  name: Type.Optional(repositorySettings.name),
  url: Type.Optional(repositorySettings.url),
  username: Type.Optional(repositorySettings.username),
  branch: Type.Optional(repositorySettings.branch),
  projectPath: Maybe(ProjectPath),
  token: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      ...PRINTABLE,
      description:
        'A token that may read the address. It is stored encrypted, and no reply shows it. Left out, the stored one stays, if the address stays too',
    }),
  ),
});

export const getModelSyncSource = operation({
  ...common,
  id: 'getModelSyncSource',
  method: 'GET',
  path: `${path}/source`,
  summary: 'Get where the dbt project of a deployment comes from',
  description: 'The settings of syncs, and the manifest that was uploaded last.',
  permission: 'SchemaRead',
  params,
  reply: ModelSyncSource,
  audit: 'none',
});

export const updateModelSyncSource = operation({
  ...common,
  id: 'updateModelSyncSource',
  method: 'PUT',
  path: `${path}/source`,
  summary: 'Set where the dbt project of a deployment comes from',
  description:
    'Replaces all settings of syncs. Those that are left out have their defaults again. To name a repository of a connection to a git host needs `DeploymentsManage` and an API key that is not scoped, because the connection may reach repositories of others.',
  permission: 'SchemaUpdateDevBranches',
  params,
  body: Shape('ModelSyncSourceInput', {
    kind,
    namePrefix: Maybe(namePrefix),
    select: Maybe(select),
    outputFolder: Maybe(outputFolder),
    includeSources: Maybe(includeSources),
    includeSeeds: Maybe(includeSeeds),
    includeSnapshots: Maybe(includeSnapshots),
    targetSchema: Type.Optional(targetSchema),
    repository: Maybe(ModelSyncRepositoryInput),
  }),
  reply: ModelSyncSource,
  errors: ['git_installation_not_found', 'outside_key_scope'],
  audit: 'modelSyncSource',
});

export const uploadModelSyncManifest = operation({
  ...common,
  id: 'uploadModelSyncManifest',
  method: 'PUT',
  path: `${path}/manifest`,
  summary: 'Upload the manifest of a dbt project',
  description:
    'Takes `manifest.json`, and `catalog.json` of `dbt docs generate` for the types of columns. Both replace those of the last upload: without a catalog, there is none. Nothing else changes before the next sync.',
  permission: 'SchemaUpdateDevBranches',
  params,
  body: Multipart(Shape('ModelSyncManifestBody', {}), {
    manifest: { maxBytes: limits.dbtFile },
    catalog: { maxBytes: limits.dbtFile, optional: true },
  }),
  // The upload may wait behind others, and each of them has 30 seconds of CPU time.
  timeoutMs: 180_000,
  reply: DbtManifest,
  errors: ['invalid_dbt_files'],
  audit: 'modelSyncManifest',
});

export const startModelSync = operation({
  ...common,
  id: 'startModelSync',
  method: 'POST',
  path,
  trailingSlash: true,
  summary: 'Start a sync with the dbt project',
  description:
    'A job makes cubes of the project and merges them into a branch, as a commit: what people changed there stays. The branch is created if it is not there. Nothing that is served changes before the branch is merged.',
  permission: 'SchemaUpdateDevBranches',
  params,
  body: Shape('StartModelSyncInput', {
    branchName: Maybe({ ...BranchName, description: '`dbt-sync` by default', examples: ['dbt-sync'] }),
    ref: Maybe(
      Type.String({
        maxLength: 255,
        description: 'For projects in a repository: the branch, tag or commit to read',
      }),
    ),
  }),
  optionalBody: true,
  reply: Shape('ModelSyncResponse', {
    branchName: Type.String(),
    syncJobId: Type.String(),
    workflowId: Type.String({ description: 'The id of the job that does the work' }),
  }),
  errors: [
    'no_dbt_manifest',
    'model_sync_running',
    'model_sync_on_deploy_branch',
    'invalid_branch_name',
    'branch_name_taken',
    'too_many_branches',
    'uncommitted_changes',
  ],
  audit: 'modelSync',
});

export const getModelSyncStatus = operation({
  ...common,
  id: 'getModelSyncStatus',
  method: 'GET',
  path: `${path}/{syncJobId}`,
  summary: 'Get how far a sync is',
  description: 'Ask again every second or so, until the status is not `RUNNING` any more.',
  permission: 'SchemaRead',
  params: syncParams,
  reply: Shape('ModelSyncStatusResponse', {
    syncJobId: Type.String(),
    status: Type.Enum(['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']),
    progress: Shape('ModelSyncProgress', {
      stage: Type.Enum(['queued', 'reading', 'parsing', 'converting', 'merging', 'committing', 'done']),
      percentComplete: Type.Integer({ minimum: 0, maximum: 100 }),
      message: Maybe(Type.String()),
    }),
    error: Maybe(Type.String({ description: 'Why it failed' })),
    updatedAt: DateTime,
  }),
  errors: ['model_sync_not_found'],
  audit: 'none',
});

export const getModelSyncResult = operation({
  ...common,
  id: 'getModelSyncResult',
  method: 'GET',
  path: `${path}/{syncJobId}/result`,
  summary: 'Get what a sync did',
  description: 'Only a sync that is `COMPLETED` has a result.',
  permission: 'SchemaRead',
  params: syncParams,
  reply: Shape('ModelSyncResultResponse', {
    syncJobId: Type.String(),
    branchName: Type.String(),
    completedAt: DateTime,
    durationMs: Type.Integer({ minimum: 0 }),
    modelCount: Type.Integer({ minimum: 0, description: 'How many tables became cubes' }),
    generatedFiles: Type.Array(Shape('ModelSyncGeneratedFile', { path: Type.String() })),
    manifestStats: Shape('ModelSyncManifestStats', {
      macros: Type.Integer({ minimum: 0 }),
      models: Type.Integer({ minimum: 0 }),
      sources: Type.Integer({ minimum: 0 }),
    }),
    commit: Nullable({
      ...CommitHash,
      description: 'The commit on the branch; null if nothing was new',
    }),
    sourceCommit: Nullable({
      ...CommitHash,
      description: 'The commit of the repository that was read; null for an uploaded manifest',
    }),
    changedFiles: Type.Array(Type.String(), {
      description: 'Files of the branch that the sync added or changed',
    }),
    removedFiles: Type.Array(Type.String(), {
      description: 'Files of models that are gone, and that nobody had edited',
    }),
    conflicts: Type.Array(
      Shape('ModelSyncConflict', {
        path: Type.String(),
        kind: Type.Enum(['marked', 'kept', 'kept_deleted'], {
          description:
            '`marked`: people and dbt changed the same lines, and the file has both, between markers. `kept`: the model is gone, and the file was edited, so it stays. `kept_deleted`: somebody deleted the file, so it was not made again',
        }),
        message: Type.String(),
      }),
    ),
    notes: Type.Array(
      Shape('ModelSyncNote', {
        resource: Type.String({ examples: ['metric.shop.revenue_growth'] }),
        kind: Type.Enum(['left_out', 'changed'], {
          description:
            '`left_out`: the model has nothing for it. `changed`: it means something else than in dbt',
        }),
        message: Type.String(),
      }),
      { description: 'What could not be said in a data model, with the reason; at most 1,000' },
    ),
    notesCount: Type.Integer({ minimum: 0, description: 'How many notes there are, also beyond the list' }),
  }),
  errors: ['model_sync_not_found', 'model_sync_not_completed'],
  audit: 'none',
});

export const cancelModelSync = operation({
  ...common,
  id: 'cancelModelSync',
  method: 'DELETE',
  path: `${path}/{syncJobId}`,
  summary: 'Cancel a sync',
  description: 'The branch stays as it is, also if the sync was almost done.',
  permission: 'SchemaUpdateDevBranches',
  params: syncParams,
  reply: Shape('ModelSyncCancelResponse', { message: Type.String() }),
  errors: ['model_sync_not_found', 'model_sync_finished'],
  audit: 'modelSync',
});
