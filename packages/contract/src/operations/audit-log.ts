import { Type } from 'typebox';
import { Ndjson } from '../kinds.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Audit Log': 'Who did what in the account.',
} satisfies TagDefinitions;

const Fields = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
});

const AuditLogEntry = Shape('AuditLogEntry', {
  id: Id,
  createdAt: DateTime,
  operation: Type.String({ description: 'The id of the operation', examples: ['updateUser'] }),
  resourceType: Type.String({
    description:
      'What was changed. `signIn`, `failedSignIn`, `forgottenPassword` and `refusal` are events that changed nothing',
    examples: ['user'],
  }),
  resourceId: Type.String({ examples: ['12'] }),
  deploymentId: Nullable(Id),
  userId: Nullable(Id),
  apiKeyId: Nullable(Id),
  ip: Nullable(Type.String()),
  requestId: Nullable(Type.String()),
  before: Type.Unsafe<Record<string, unknown> | null>({
    ...Fields,
    description: 'The fields that changed, or all fields of what was deleted. Secrets are masked',
  }),
  after: Type.Unsafe<Record<string, unknown> | null>({
    ...Fields,
    description: 'The fields that changed, or all fields of what was created. Secrets are masked',
  }),
});

const filters = {
  actorId: Maybe(Type.Integer({ ...Id, description: 'The user who did it' })),
  apiKeyId: Maybe(Id),
  operation: Maybe(Type.String({ maxLength: 100, examples: ['updateUser'] })),
  resourceType: Maybe(Type.String({ maxLength: 100, examples: ['user'] })),
  resourceId: Maybe(Type.String({ maxLength: 300, examples: ['12'] })),
  deploymentId: Maybe(Id),
  embedTenantName: Maybe(
    Type.String({
      maxLength: 256,
      description: 'Entries about the embed tenant, and of what its users did',
      examples: ['acme-corp'],
    }),
  ),
  requestId: Maybe(Type.String({ maxLength: 64, description: '`X-Request-Id` of the reply' })),
  from: Maybe(Type.String({ ...DateTime, description: 'Entries of this time and later' })),
  to: Maybe(Type.String({ ...DateTime, description: 'Entries before this time' })),
};

const common = {
  tag: 'Audit Log',
  auth: 'management',
  permission: 'AuditLogManage',
  scopedKeys: 'handler',
  errors: ['outside_key_scope'],
  audit: 'none',
} as const;
const path = '/api/v1/audit-log';

export const listAuditLog = operation({
  ...common,
  id: 'listAuditLog',
  method: 'GET',
  path,
  summary: 'List the entries of the audit log',
  description:
    'Newest first. An entry must match all filters that are given. A key that is scoped to deployments sees only their entries.',
  query: { ...filters, ...cursorQuery },
  reply: CursorPage('AuditLogResponse', AuditLogEntry),
});

export const exportAuditLog = operation({
  ...common,
  id: 'exportAuditLog',
  method: 'GET',
  path: `${path}/export`,
  summary: 'Export entries of the audit log',
  description:
    'The same entries and the same order as the list, all of them, one JSON object in a line. Entries that are written during the export are not part of it. A server makes four exports at once.',
  query: filters,
  rate: { max: 60, perSeconds: 60 },
  reply: Ndjson(AuditLogEntry),
});
