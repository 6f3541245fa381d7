import { Type } from 'typebox';
import { CloudProvider, CreationMethod, CreationStep, DeployMode, ReleaseChannel } from '../deployments.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, matching, Name, Shape } from '../schemas.ts';

export const errors = {
  version_not_found: { status: 400, message: 'This installation does not have this version.' },
} as const satisfies ErrorDefinitions;

const Template = Type.Enum(['single', 'simpleCluster', 'multiCluster']);
const text = Maybe(Type.String({ maxLength: 2048 }));

/** Where a hosted installation keeps files of the deployment. It names accounts and places, and holds no secret. */
const cspsConfig = {
  enabled: Type.Boolean(),
  storageProvider: Type.String({ maxLength: 255 }),
  awsRoleArn: text,
  s3Bucket: text,
  s3Region: text,
  s3Sse: text,
  gcsBucket: text,
  gcpServiceAccountEmail: text,
  gcpWorkloadIdentityProvider: text,
  azureClientId: text,
  azureContainer: text,
  azureStorageAccount: text,
  azureTenantId: text,
};

const HostName = Type.String({
  maxLength: 253,
  ...matching(
    '^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$',
    'must be the name of a host, such as data.example.com',
  ),
  examples: ['data.example.com'],
});

const ProjectRoot = Type.String({
  maxLength: 255,
  ...matching(
    '^(?!(.*/)?\\.\\.?(/|$))[^\\u0000-\\u001f\\u007f\\\\]*$',
    'must be a path without `.`, `..`, backslashes and control characters',
  ),
  description: 'The folder of the data model in the repository',
  examples: ['/'],
});

const TemplateVariables = Type.Object({}, { additionalProperties: true, description: 'Up to 64 KB of JSON' });
const BranchName = Type.String({ minLength: 1, maxLength: 200, examples: ['main'] });
const LaunchpadTabs = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 });
const Version = Type.String({ minLength: 1, maxLength: 100 });

const DeploymentSettings = Shape('DeploymentSettings', {
  id: Id,
  name: Type.String(),
  deploymentUrl: Maybe(Type.String()),
  region: Maybe(Type.String()),
  cloudProvider: CloudProvider,
  targetPlatform: Maybe(Type.String()),
  isManaged: Maybe(Type.Boolean()),
  creationMethod: Maybe(CreationMethod),
  creationStep: Maybe(CreationStep),
  deployMode: Maybe(DeployMode),
  deployBranchName: Type.String({ description: 'The branch of the data model that answers queries' }),
  deployBranchReadOnly: Type.Boolean({ description: 'Whether the deploy branch refuses all changes' }),
  deployBranchMergeAllowed: Type.Boolean({
    description: 'Whether branches can be merged into the deploy branch',
  }),
  deployProjectRoot: Type.String(),
  repoType: Maybe(
    Type.Enum(['git', 'deployRepo'], {
      description: '`deployRepo`: the repository of the deployment itself',
    }),
  ),
  template: Template,
  templateVariables: Maybe(TemplateVariables),
  releaseChannel: ReleaseChannel,
  releaseChannelVersion: Maybe(Type.String()),
  releaseChannelVersionHold: Maybe(Type.Boolean()),
  autoDomain: Maybe(Type.String()),
  customDomain: Maybe(Type.String()),
  defaultLaunchpadViewGroup: Maybe(Type.String()),
  launchpadTabs: Maybe(Type.Array(Type.String())),
  cspsConfig: Maybe(Shape('CspsConfig', cspsConfig)),
  isCold: Maybe(Type.Boolean({ description: 'Always false: every deployment of an installation is served' })),
  isSqlApiEnabled: Type.Boolean(),
  isSupportPreAggregations: Type.Boolean(),
});

const UpdateDeploymentInput = Shape('UpdateDeploymentInput', {
  name: Maybe(Name),
  region: Maybe(Type.String({ maxLength: 255, description: 'The `name` of a region' })),
  cloudProvider: Maybe(CloudProvider),
  creationMethod: Maybe(CreationMethod),
  deployMode: Maybe(DeployMode),
  deployBranchName: Maybe({ ...BranchName, description: 'A branch that exists' }),
  deployBranchReadOnly: Maybe(Type.Boolean()),
  deployBranchMergeAllowed: Maybe(Type.Boolean()),
  deployProjectRoot: Maybe(ProjectRoot),
  template: Maybe(Template),
  templateVariables: Maybe(TemplateVariables),
  releaseChannel: Maybe(ReleaseChannel),
  releaseChannelVersion: Maybe({ ...Version, description: 'One of `listDeploymentVersions`' }),
  releaseChannelVersionHold: Maybe(Type.Boolean()),
  customDomain: Maybe(HostName),
  defaultLaunchpadViewGroup: Maybe(Type.String({ maxLength: 255 })),
  launchpadTabs: Maybe(LaunchpadTabs),
  cspsConfig: Maybe(Shape('CspsConfigInput', cspsConfig)),
});

const common = {
  tag: 'Deployments',
  auth: 'management',
  params: { deploymentId: Id },
  reply: DeploymentSettings,
} as const;

export const getDeploymentSettings = operation({
  ...common,
  id: 'getDeploymentSettings',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}/settings',
  summary: 'Get the settings of a deployment',
  description: 'Everything that `updateDeployment` can change, and what the server knows besides.',
  permission: 'DeploymentRead',
  audit: 'none',
});

export const updateDeployment = operation({
  ...common,
  id: 'updateDeployment',
  method: 'PUT',
  path: '/api/v1/deployments/{deploymentId}',
  summary: 'Change the settings of a deployment',
  description:
    'Absent fields stay as they are. `null` clears `creationMethod`, `deployMode`, `templateVariables`, `releaseChannelVersion`, `customDomain`, `defaultLaunchpadViewGroup`, `launchpadTabs` and `cspsConfig`, and counts as absent elsewhere.',
  permission: 'DeploymentUpdate',
  body: UpdateDeploymentInput,
  errors: ['region_not_found', 'invalid_reference', 'version_not_found', 'uncommitted_changes'],
  audit: 'deployment',
});
