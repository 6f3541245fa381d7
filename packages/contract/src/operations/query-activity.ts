import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, matching, Nullable, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Operating: 'What runs now, what was slow, jobs, use and notices: for those who run the server.',
} satisfies TagDefinitions;

export const errors = {
  running_query_not_found: {
    status: 404,
    message: 'No such query runs. It may have ended.',
  },
  query_cancelled: { status: 409, message: 'An admin has ended this query.' },
} as const satisfies ErrorDefinitions;

const who = {
  deploymentId: { ...Id, description: 'The deployment that is queried' },
  userId: Nullable({
    ...Id,
    description: 'Who asks; null for a token of an environment',
  }),
  userName: Nullable(
    Type.String({ description: 'The name of that user, or their username; null if there is none any more' }),
  ),
  embedTenantName: Nullable(
    Type.String({ description: 'The embed tenant of the viewer who asks; null for people of the account' }),
  ),
  externalId: Nullable(
    Type.String({ description: 'Of a viewer of an embed tenant: their id in your product' }),
  ),
  apiKeyId: Nullable({ ...Id, description: 'The API key that was used; null if there was none' }),
  process: Type.String({ description: 'The process of the server that answers it, as in the list of pods' }),
  kind: Type.Enum(['query', 'sql'], {
    description: 'A query of members, or SQL that reads cubes and views as tables',
  }),
  query: Type.String({
    description: 'The query as text: JSON, or SQL. The first 4,000 characters',
  }),
  startedAt: { ...DateTime, description: 'When the server began to answer' },
  durationMs: Type.Integer({ minimum: 0, description: 'How long it has taken' }),
};

const RunningQuery = Shape('RunningQuery', {
  id: Type.String({ description: 'Names the query while it runs' }),
  ...who,
  state: Type.Enum(['waiting', 'running'], {
    description:
      '`running` once the data source works on it. `waiting` is planned, waits for its turn, or waits for the same result as another query',
  }),
});

const SlowQuery = Shape('SlowQuery', {
  id: { ...Id, description: 'The number of the entry' },
  ...who,
  outcome: Type.Enum(['answered', 'failed', 'cancelled'], {
    description: 'How it ended. `cancelled` also if its caller left',
  }),
  errorCode: Nullable(Type.String({ description: 'The code of the error; null if it was answered' })),
  rows: Nullable(Type.Integer({ minimum: 0, description: 'How many rows it returned; null if it failed' })),
  isCached: Type.Boolean({ description: 'Whether all results were known, so that no statement ran for it' }),
});

const filters = {
  deploymentId: Maybe({ ...Id, description: 'Only queries of this deployment' }),
  embedTenantName: Maybe(
    Type.String({ maxLength: 256, description: 'Only queries of viewers of this embed tenant' }),
  ),
  userId: Maybe({ ...Id, description: 'Only queries of this user, or of this viewer of an embed tenant' }),
};

const common = {
  tag: 'Operating',
  auth: 'management',
  permission: 'All',
  scopedKeys: 'refused',
} as const;

export const listRunningQueries = operation({
  ...common,
  id: 'listRunningQueries',
  method: 'GET',
  path: '/api/v1/running-queries',
  summary: 'List the queries that run',
  description:
    'The longest first, of all servers of the database. A query of another process than the one that answers is listed from its second second on.',
  query: { ...filters, ...cursorQuery },
  reply: CursorPage('RunningQueriesResponse', RunningQuery),
  audit: 'none',
});

export const cancelQuery = operation({
  ...common,
  id: 'cancelQuery',
  method: 'DELETE',
  path: '/api/v1/running-queries/{id}',
  summary: 'End a query that runs',
  description:
    'Its caller gets a 409 `query_cancelled`. A statement that others wait for, too, goes on for them. If another server runs the query, that server is told, and ends it within a second.',
  params: {
    id: Type.String({
      minLength: 1,
      maxLength: 64,
      ...matching('^[a-z0-9-]+$', 'must have a-z, 0-9 and - only'),
      description: '`id` in the list of queries that run',
      examples: ['k3v9q1x0-12'],
    }),
  },
  reply: Nothing,
  errors: ['running_query_not_found'],
  audit: 'runningQuery',
});

export const listSlowQueries = operation({
  ...common,
  id: 'listSlowQueries',
  method: 'GET',
  path: '/api/v1/slow-queries',
  summary: 'List queries that took long',
  description:
    'Newest first: queries that took a second or longer, of the last seven days, and at most the newest 10,000.',
  query: {
    ...filters,
    minMs: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: 86_400_000,
        description: 'Only queries that took at least so many milliseconds',
      }),
    ),
    from: Maybe({ ...DateTime, description: 'Queries that began at this time or later' }),
    to: Maybe({ ...DateTime, description: 'Queries that began before this time' }),
    ...cursorQuery,
  },
  reply: CursorPage('SlowQueriesResponse', SlowQuery),
  audit: 'none',
});
