/** What the fields of data models mean: files, branches, commits, builds. */
import type { FieldWords } from './index.ts';

const commit = {
  message: 'What the author wrote about the change',
  author: 'Who made the commit',
  createdAt: 'When the commit was made',
};
const branchName =
  'The branch by its name; without it and without `branchId`, the one that the caller entered last in dev mode';
const branch = { branchName };

export const dataModel: FieldWords = {
  BranchResponse: {
    id: 'The number of the branch, which stays when others come and go',
    name: 'The name, as git allows it',
    isStagingEnvironmentEnabled: 'Whether programs can query the branch before it is merged',
    hasUncommittedChanges: 'Whether files were changed since the newest commit',
  },
  SetBranchStagingEnvironmentRequest: {
    ...branch,
    enabled: 'True gives the environment, false removes it with its tokens',
  },
  SetBranchStagingEnvironmentResponse: { data: 'The branch as it is now' },
  DevBranchResponse: {
    branchName: 'The branch that files are changed on',
    parentBranch: 'The branch that it was made from, and is merged into',
  },
  CreateBranchRequest: { name: 'Unique in the deployment' },
  StartDevModeRequest: { branchName: 'The branch to enter; by default one of your own' },
  BuildStatusResponse: {
    branchName: 'The branch that was asked for, or was meant without a name',
    deploymentId: 'The deployment that the branch belongs to',
    updatedAt: 'When the status changed last',
  },
  Commit: commit,
  CommitWithChanges: {
    ...commit,
    filesChanged: 'How many files the commit changed, also those that are not shown',
    files: 'The changed files, in the order of their paths',
  },
  CommitAuthor: {
    name: 'The name of the user, or the username',
    email: 'The email of the user at that time',
  },
  CommitChangesRequest: {
    ...branch,
    resolveMergeConflict:
      'Whether the commit also merges, and keeps the lines of this branch where both changed them',
  },
  FileDiff: {
    path: 'The path of the file, from the root of the data model',
    status: 'What happened to the file',
    hunks: 'The places that changed, each with a few lines around it',
  },
  DiffHunk: {
    oldLines: 'How many lines it had before',
    newLines: 'How many lines it has now',
    lines: 'The lines, each with a sign in front of it',
  },
  DataModelError: {
    fileName: 'The path of the file; empty if it is about the whole model',
    message: 'What is wrong, and often how to mend it',
    line: 'Where it is, from 1; null for the whole file',
    column: 'Where it is in the line, from 1; null for the whole line',
  },
  DataModelWriteResponse: { success: 'Always true: whatever goes wrong is an error' },
  ValidateDataModelResponse: {
    valid: 'Whether a build would succeed',
    errors: 'What would stop a build, in the order of files and lines',
    cubesCount: 'How many cubes and views the model has',
    branchName: 'The branch that was checked',
  },
  DiscardChangesRequest: branch,
  GenerateDataModelInput: branch,
  GenerateDataModelResponse: {
    branchName: 'The branch that has the drafts now',
    written: 'The files that were made or replaced',
  },
  MergeIntoParentBranchRequest: { ...branch, deleteBranch: 'Whether the branch goes after the merge' },
  MergeToDefaultBranchRequest: {
    ...branch,
    removeBranchAfterMerge: 'Whether the branch goes after the merge',
  },
  MergeResponse: { branchDeleted: 'Whether the branch is gone' },
  PullResponse: { buildTriggered: 'Whether new commits came, so that the branch is built' },
  RemoveDataModelFilesInput: { ...branch, files: 'All of them, or none if one does not exist' },
  RenameDataModelFilesInput: { ...branch, files: 'Each with its old and its new path' },
  UpdateDataModelFilesInput: { ...branch, files: 'The files to write, each with its whole content' },
  DataModelFileContent: { path: 'Where the file goes' },
  DataModelFilePath: { path: 'The file' },
  DataModelFileRename: { path: 'The file as it is called now', newPath: 'The path that it gets' },
  SourceTreeNode: { type: 'Whether it has `content` or `children`' },
  StartUploadResponse: {
    deploymentName: 'The name of the deployment, for tools that show it',
    transaction: 'Give it back with every file and at the end',
  },
  UploadFileResponse: { success: 'Always true: whatever goes wrong is an error' },
  UploadTransaction: { id: 'Stands for the upload' },
  StartUploadBody: {
    branchName: 'The branch that the upload goes to; it decides like the parameter of the same name',
  },
  ModelSyncCancelResponse: { message: 'What was cancelled, in words' },
  ModelSyncConflict: { path: 'The file', message: 'What happened, and what to do' },
  ModelSyncGeneratedFile: { path: 'The file' },
  ModelSyncManifest: {
    projectName: 'The name of the dbt project',
    dbtVersion: 'The version of dbt that made the manifest',
    models: 'How many models the project has',
    sources: 'How many sources the project has',
    bytes: 'The size of manifest.json',
    uploadedAt: 'When it was uploaded',
  },
  ModelSyncManifestStats: {
    macros: 'How many macros the project has, with those of dbt itself',
    models: 'How many models the project has',
    sources: 'How many sources the project has',
  },
  ModelSyncNote: { resource: 'The id of it in dbt', message: 'What is different, and why' },
  ModelSyncProgress: {
    stage: 'What the sync does right now',
    percentComplete: 'About how much of the work is done',
    message: 'The stage in words',
  },
  ModelSyncResponse: { branchName: 'The branch that the sync goes to', syncJobId: 'The id of the sync' },
  ModelSyncResultResponse: {
    syncJobId: 'The id of the sync',
    branchName: 'The branch that the sync went to',
    completedAt: 'When the sync was done',
    durationMs: 'How long it took, from the start',
    generatedFiles: 'All files that were made of the project, also those that were the same before',
    manifestStats: 'What the project has',
    conflicts: 'Files in which people and dbt disagree',
  },
  ModelSyncSource: {
    manifest: 'The manifest that was uploaded last; null if there is none',
    repository: 'Where a project of the kind `repository` is; null for others',
  },
  ModelSyncSourceInput: { repository: 'Where a project of the kind `repository` is' },
  ModelSyncStatusResponse: {
    syncJobId: 'The id of the sync',
    status: 'Whether it runs, and how it ended',
    progress: 'How far it is',
  },
  FinishUploadBody: { branchName: 'The branch of the start; it need not be repeated' },
  FinishUploadResponse: { lastHash: 'The commit that was made; null if nothing changed' },
};
