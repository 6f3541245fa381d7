import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';

const common = {
  tag: 'Operating',
  auth: 'management',
  permission: 'All',
  scopedKeys: 'refused',
  audit: 'none',
} as const;

const source = {
  deploymentId: { ...Id, description: 'The deployment' },
  dataSource: Type.String({ description: 'The name of its data source' }),
  type: Type.String({ description: 'The kind of data source, such as `postgres`' }),
};

const EngineProcess = Shape('EngineProcess', {
  process: Type.String({
    description: 'The process of the server that it belongs to, as in the list of pods',
  }),
  ...source,
  state: Type.Enum(['starting', 'busy', 'idle', 'down'], {
    description: '`idle` ends after a few minutes. `down` has failed, and is started again',
  }),
  memoryBytes: Nullable(
    Type.Integer({ minimum: 0, description: 'What it holds in memory; null if the system does not tell' }),
  ),
  queries: Type.Integer({ minimum: 0, description: 'How many queries it works on' }),
  startedAt: { ...DateTime, description: 'When it was first needed' },
});

export const listEngineProcesses = operation({
  ...common,
  id: 'listEngineProcesses',
  method: 'GET',
  path: '/api/v1/engine-processes',
  summary: 'List the processes that run queries',
  description:
    'Each data source in use has a process of its own on each server. Those of other servers are as they were within the last ten seconds.',
  query: cursorQuery,
  reply: CursorPage('EngineProcessesResponse', EngineProcess),
});

const DataSourceHealth = Shape('DataSourceHealth', {
  ...source,
  state: Type.Enum(['ok', 'failing'], { description: 'What happened last' }),
  lastOkAt: Nullable({ ...DateTime, description: 'When it answered last; null if it has not' }),
  lastErrorAt: Nullable({ ...DateTime, description: 'When it could not be used last; null if it could' }),
  lastError: Nullable(Type.String({ description: 'Why' })),
});

export const listDataSourceHealth = operation({
  ...common,
  id: 'listDataSourceHealth',
  method: 'GET',
  path: '/api/v1/data-source-health',
  summary: 'List how data sources have answered',
  description:
    'What all servers have seen of the data sources that they used since they started, within seven days. Nothing is asked of a source for it. A statement that is wrong, or takes too long, is no failure of its source.',
  query: cursorQuery,
  reply: CursorPage('DataSourceHealthResponse', DataSourceHealth),
});

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const getServerMetrics = operation({
  ...common,
  id: 'getServerMetrics',
  method: 'GET',
  path: '/api/v1/server-metrics',
  summary: 'Get a few figures of the last hours',
  description:
    'The sums of all servers, counted by the minute and kept for a day. For more, `/metrics` is read by a monitoring system.',
  query: {
    hours: Maybe(Type.Integer({ minimum: 1, maximum: 24, description: 'How far back; 1 by default' })),
  },
  reply: Shape('ServerMetricsResponse', {
    stepSeconds: Type.Integer({ minimum: 60, description: 'How long each point lasts' }),
    points: Type.Array(
      Shape('ServerMetricsPoint', {
        at: { ...DateTime, description: 'When it begins' },
        requests: count('Requests that were answered'),
        errors: count('Answers with a status of 500 or above'),
        p95Ms: Nullable(
          Type.Number({
            minimum: 0,
            description: 'About 95 of 100 requests took no longer; null if there were none',
          }),
        ),
        sessions: count('Embed sessions that were minted'),
        queries: count('Queries that were answered'),
        cachedQueries: count('Those of them that were answered from results that were known'),
        connections: count('The most connections to the database of Oriel at the end of a minute'),
      }),
      { description: 'Oldest first. A time in which no server ran is left out' },
    ),
  }),
});
