import { Type } from 'typebox';
import { BranchName, DataModelError } from '../data-model.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, Shape } from '../schemas.ts';

const Effect = Type.Enum(['fails', 'changes'], {
  description:
    '`fails` if it names members that the merged model does not have; `changes` if a member that it names is computed in another way',
});

const effect = {
  effect: Effect,
  members: Type.Array(Type.String({ examples: ['orders.revenue'] }), {
    description: 'The members that it is about, at most twenty',
  }),
};

const ModelChange = Shape('DataModelChange', {
  name: Type.String({
    description: 'A cube, a view, or a member of one',
    examples: ['orders.revenue'],
  }),
  what: Type.Enum(['cube', 'view', 'dimension', 'measure', 'segment'], { description: 'What it is' }),
  change: Type.Enum(['added', 'removed', 'changed'], { description: 'What happens to it' }),
  keys: Type.Array(Type.String(), {
    description: 'Of what changed: the keys of the language whose values differ, such as `filters`',
  }),
});

const AffectedReport = Shape('AffectedReport', {
  id: { ...Id, description: 'The id of the report' },
  name: Type.String({ description: 'The name of the report' }),
  workbookId: Maybe({ ...Id, description: 'The workbook that it is in' }),
  ...effect,
});

const AffectedDashboard = Shape('AffectedDashboard', {
  workbookId: { ...Id, description: 'The workbook of the dashboard' },
  name: Type.String({ description: 'The name of the workbook' }),
  state: Type.Enum(['draft', 'published'], {
    description: 'Whether it is the draft, or what viewers see. A dashboard can be listed with both',
  }),
  ...effect,
});

const AffectedSchedule = Shape('AffectedSchedule', {
  id: { ...Id, description: 'The id of the notification' },
  name: Maybe(Type.String({ description: 'The name of the notification' })),
  workbookId: { ...Id, description: 'The workbook of the dashboard that it sends' },
  isEnabled: Type.Boolean({ description: 'Whether it is sent at its times' }),
  ...effect,
});

export const previewMerge = operation({
  id: 'previewMerge',
  tag: 'Data Model',
  auth: 'management',
  method: 'GET',
  path: '/build/api/v1/deployments/{deploymentId}/merge-preview',
  summary: 'See what a merge of a branch would break',
  description:
    'Merges the branch into its parent without changing either, compiles the result, and lists which reports, dashboards and schedules would fail, or would show other numbers. Uncommitted changes count for those who are in dev mode on the branch. Of content that the caller may not read, only the number is told.',
  permission: 'SchemaRead',
  params: { deploymentId: Id },
  query: {
    branchName: Maybe({
      ...BranchName,
      description: 'By default the branch that the caller entered last in dev mode',
    }),
  },
  timeoutMs: 90_000,
  rate: { max: 60, perSeconds: 60 },
  reply: Shape('MergePreview', {
    branchName: Type.String({ description: 'The branch that is merged' }),
    parentBranch: Type.String({ description: 'The branch that it is merged into' }),
    conflicts: Type.Array(Type.String(), {
      description:
        'The files that both branches changed in different ways. With conflicts, nothing else is known',
    }),
    errors: Type.Array(DataModelError, { description: 'Why the merged model does not build' }),
    changes: Type.Array(ModelChange, { description: 'What the merge changes, at most 500' }),
    reports: Type.Array(AffectedReport, { description: 'At most 200' }),
    dashboards: Type.Array(AffectedDashboard, { description: 'At most 200' }),
    schedules: Type.Array(AffectedSchedule, { description: 'At most 200' }),
    hiddenCount: Type.Integer({
      minimum: 0,
      description: 'How many reports, dashboards and schedules are affected that the caller may not read',
    }),
    isComplete: Type.Boolean({
      description:
        'False if there is more content than is looked through, or more is affected than is listed',
    }),
  }),
  errors: [
    'branch_not_found',
    'no_parent_branch',
    'not_in_dev_mode',
    'merge_too_large',
    'data_model_too_large',
  ],
  audit: 'none',
});
