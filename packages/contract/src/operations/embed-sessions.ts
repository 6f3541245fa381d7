/** The list of minted embed sessions, and the operations that end them. */
import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import {
  CursorPage,
  cursorQuery,
  DateTime,
  EmbedTenantName,
  Id,
  Maybe,
  Nullable,
  Shape,
} from '../schemas.ts';

export const errors = {
  embed_session_not_found: { status: 404, message: 'There is no such embed session.' },
} as const satisfies ErrorDefinitions;

const State = Type.Enum(['minted', 'exchanged', 'expired', 'revoked'], { title: 'EmbedSessionState' });

const Entry = Shape('EmbedSessionEntry', {
  id: { ...Id, description: 'Not the secret `sessionId`' },
  state: State,
  deploymentId: Id,
  embedTenantName: Type.String(),
  externalId: Nullable(Type.String()),
  internalId: Nullable(Type.String()),
  creatorMode: Type.Boolean(),
  apiKeyId: Id,
  createdAt: DateTime,
  expiresAt: {
    ...DateTime,
    description: 'When the session expires; once it has been exchanged, when its token expires',
  },
  exchangedAt: Nullable(DateTime),
  revokedAt: Nullable(DateTime),
  lastSeenAt: Nullable(DateTime),
});

const common = { tag: 'Embed', auth: 'management', permission: 'All' } as const;
const one = { id: Id };
const externalId = Maybe(Type.String({ minLength: 1, maxLength: 255 }));

export const listEmbedSessions = operation({
  ...common,
  id: 'listEmbedSessions',
  method: 'GET',
  path: '/api/v1/embed/sessions',
  summary: 'List embed sessions',
  description: 'Newest first. A session leaves the list a week after it and its token have ended.',
  query: {
    embedTenantName: Maybe(EmbedTenantName),
    externalId,
    deploymentId: Maybe(Id),
    apiKeyId: Maybe(Id),
    state: Maybe(State),
    ...cursorQuery,
  },
  reply: CursorPage('EmbedSessionsResponse', Entry),
  scopedKeys: 'handler',
  audit: 'none',
});

export const getEmbedSessionEntry = operation({
  ...common,
  id: 'getEmbedSessionEntry',
  method: 'GET',
  path: '/api/v1/embed/sessions/{id}',
  summary: 'Get an embed session',
  description: 'What the list shows of it: for whom it was minted, with which key, and how far it has come.',
  params: one,
  reply: Entry,
  errors: ['embed_session_not_found'],
  scopedKeys: 'handler',
  audit: 'none',
});

export const revokeEmbedSession = operation({
  ...common,
  id: 'revokeEmbedSession',
  method: 'DELETE',
  path: '/api/v1/embed/sessions/{id}',
  summary: 'Revoke an embed session',
  description:
    'The session can no longer be exchanged, and its token stops working on every server within a second.',
  params: one,
  reply: Nothing,
  errors: ['embed_session_not_found'],
  scopedKeys: 'refused',
  audit: 'embedSession',
});

export const revokeEmbedSessions = operation({
  ...common,
  id: 'revokeEmbedSessions',
  method: 'POST',
  path: '/api/v1/embed/sessions/revoke',
  summary: 'Revoke all embed sessions of a tenant, a viewer, a key or a deployment',
  description:
    'Takes exactly one of `embedTenantName`, `externalId` with its `embedTenantName`, `apiKeyId`, `deploymentId`. Every token of a revoked session stops working on every server within a second. Sessions that are minted later are not affected.',
  body: Shape('RevokeEmbedSessionsInput', {
    embedTenantName: Maybe(EmbedTenantName),
    externalId,
    apiKeyId: Maybe(Id),
    deploymentId: Maybe(Id),
  }),
  reply: Shape('RevokeEmbedSessionsResponse', {
    revoked: Type.Integer({ minimum: 0, description: 'The number of sessions that ended' }),
  }),
  scopedKeys: 'refused',
  audit: 'embedSession',
});
