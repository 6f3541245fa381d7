import { compileModel, type Viewer } from '@oriel/semantic';
import { afterAll, expect, test } from 'vitest';
import { SHOP_MODEL } from '../../../test/shops.ts';
import { ApiError } from '../../platform/errors.ts';
import { createPlanner } from './planner.ts';
import { createQueries, type QueriesOptions } from './queries.ts';
import type { QueryCall } from './query-calls.ts';
import { createSqlParser } from './sql-parser.ts';

const model = compileModel(new Map(Object.entries(SHOP_MODEL))).model!;
const viewer: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: null,
  seesUnguarded: true,
};
const planner = createPlanner();
const parser = createSqlParser();
afterAll(async () => {
  await planner.stop();
  await parser.stop();
});

const source = { type: 'duckdb', id: '', version: () => '', engine: undefined as never } as const;
/** Only what a check asks. */
const queriesWith = (given: Pick<QueriesOptions, 'parser'>) =>
  createQueries({
    models: { find: async () => model },
    sources: { of: async () => () => source },
    viewers: { of: async () => viewer },
    planner,
    ...given,
  } as never);
const call = {
  actor: { kind: 'tokenHolder', deploymentId: 1, branchId: null },
  signal: new AbortController().signal,
  deploymentId: 1,
} as never as QueryCall;

const ASKED = [
  'select status from orders',
  { measures: ['orders.count'] },
  'select nothing from orders',
  'selec',
];

test('what is wrong with queries is told in their order, and a check that cannot be made is an error', async () => {
  const found = await queriesWith({ parser }).check(call, ASKED);
  expect(found.map((issues) => issues.length)).toEqual([0, 0, 1, 1]);
  const busy = new ApiError('busy');
  const refusing = {
    parse: async () => {
      throw busy;
    },
  };
  await expect(queriesWith({ parser: refusing }).check(call, ASKED)).rejects.toBe(busy);
});
