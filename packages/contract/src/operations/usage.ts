import { Type } from 'typebox';
import { Csv } from '../kinds.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, Maybe, matching, Nullable, Shape } from '../schemas.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Day = Type.String({
  format: 'date',
  minLength: 10,
  maxLength: 10,
  ...matching('^(19|20)\\d\\d-\\d\\d-\\d\\d$', 'must be a day, such as 2026-01-31'),
  examples: ['2026-01-31'],
});

const UsageOfDay = Shape('UsageOfDay', {
  day: { ...Day, description: 'A day in UTC' },
  embedTenantName: Nullable(
    Type.String({
      description: 'The embed tenant; null for people of the account and tokens of environments',
    }),
  ),
  sessions: count('Embed sessions that were minted'),
  viewers: count('Different viewers who got a session or asked a query'),
  queries: count('Queries that were answered. Each of several in one request counts'),
  cachedQueries: count('Those of them that were answered from results that were known'),
  rows: count('Rows in the answers'),
});

const filters = {
  from: Maybe({ ...Day, description: 'The first day; 30 days before the last one by default' }),
  to: Maybe({ ...Day, description: 'The last day; today in UTC by default' }),
  embedTenantName: Maybe(Type.String({ maxLength: 256, description: 'Only this embed tenant' })),
};

const common = {
  tag: 'Operating',
  auth: 'management',
  permission: 'All',
  scopedKeys: 'refused',
  audit: 'none',
} as const;

export const getUsage = operation({
  ...common,
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'Get how much was used, by day and embed tenant',
  description:
    'Newest day first. Each event is counted once; the counters of other servers arrive within two seconds. What an embed tenant used stays when it is deleted, under its name.',
  query: {
    ...filters,
    sum: Maybe(
      Type.Enum(['day'], {
        description:
          '`day` adds all embed tenants up, so that each day is one item, with no `embedTenantName`',
      }),
    ),
    ...cursorQuery,
  },
  reply: CursorPage('UsageResponse', UsageOfDay),
});

export const exportUsage = operation({
  ...common,
  id: 'exportUsage',
  method: 'GET',
  path: '/api/v1/usage/export',
  summary: 'Export how much was used, as CSV',
  description:
    'The same days and embed tenants as `getUsage`, all of them, with the names of its fields as the first line.',
  query: filters,
  reply: Csv,
  rate: { max: 60, perSeconds: 60 },
});
