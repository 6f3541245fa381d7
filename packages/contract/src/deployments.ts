/** Schemas that several operations on deployments share. */
import { Type } from 'typebox';
import { Id, Maybe, Shape } from './schemas.ts';

export const CreationStep = Type.Enum(
  ['project', 'upload', 'schema', 'git-host', 'ssh', 'databases', 'ready', 'demo'],
  { title: 'CreationStep' },
);
export const CloudProvider = Type.Enum(['managed', 'aws', 'gcp']);
export const CreationMethod = Type.Enum(['upload', 'managed', 'git-host', 'ssh']);
export const DeployMode = Type.Enum(['git', 'cli'], {
  description: 'With `cli`, uploads to the deploy branch are allowed, and are how one deploys',
});
export const ReleaseChannel = Type.Enum(['latest', 'release']);

export const Deployment = Shape('Deployment', {
  id: Id,
  name: Type.String(),
  creationStep: CreationStep,
  deploymentUrl: Type.String({ description: 'The address at which the deployment answers queries' }),
  isDemo: Maybe(Type.Boolean({ description: 'Whether it is the demo; only if it is' })),
  actions: Maybe(
    Type.Array(Type.String(), {
      description:
        'What the caller may do in this deployment, whatever belongs to them; only for a single deployment',
    }),
  ),
});

export const DeploymentsPagination = Shape('DeploymentsPagination', {
  limit: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  total: Type.Integer({ minimum: 0 }),
});

/** The query parameters of lists that older clients page by offset, beside `cursorQuery`. */
export const offsetQuery = {
  offset: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      deprecated: true,
      description: 'The number of items to skip, in the older way',
    }),
  ),
  limit: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      deprecated: true,
      description: 'Page size of the older way; a larger value than 1000 counts as 1000',
    }),
  ),
};
