import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Shape } from '../schemas.ts';

const DeploymentLogLine = Shape('DeploymentLogLine', {
  date: DateTime,
  message: Type.String(),
  pod: Type.String({ description: 'The process that wrote it' }),
});

export const logs = operation({
  id: 'logs',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}/logs',
  summary: 'List the log lines of a deployment',
  description: 'Newest first. The newest 10,000 lines of each deployment are kept.',
  auth: 'management',
  permission: 'DeploymentUpdate',
  params: { deploymentId: Id },
  query: {
    source: Maybe(
      Type.Enum(['production', 'dev'], { description: 'Of the deploy branch, or of other branches' }),
    ),
    container: Maybe(
      Type.Enum(['INIT', 'MAIN', 'query-server', 'vector', 'api-proxy'], {
        description:
          'The part that wrote the line: `INIT` builds data models, `query-server` answers queries',
      }),
    ),
    pod: Maybe(Type.String({ maxLength: 255, description: 'The `name` of a pod' })),
    ...cursorQuery,
  },
  reply: CursorPage('DeploymentLogsResponse', DeploymentLogLine),
  audit: 'none',
});

const DeploymentPod = Shape('DeploymentPod', {
  name: Type.String(),
  type: Maybe(Type.Enum(['web', 'worker'])),
  status: Maybe(
    Type.Enum(['Running', 'Unknown'], { description: '`Unknown` if it has not reported lately' }),
  ),
  ready: Maybe(Type.Boolean()),
  containers: Maybe(Type.Array(Type.String())),
  restartCount: Maybe(
    Type.Integer({ minimum: 0, description: 'How often it was started again after it had failed' }),
  ),
  startedAt: Maybe(DateTime),
  heartbeatAt: Maybe(Type.String({ ...DateTime, description: 'When it reported last' })),
});

export const pods = operation({
  id: 'pods',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}/pods',
  summary: 'List the server processes that serve a deployment',
  description:
    'By name. Each process is one pod. All processes serve all deployments. A process that was stopped is not listed; one that failed is listed for five minutes, as not ready.',
  auth: 'management',
  permission: 'DeploymentUpdate',
  params: { deploymentId: Id },
  query: cursorQuery,
  reply: CursorPage('DeploymentPodsResponse', DeploymentPod),
  audit: 'none',
});
