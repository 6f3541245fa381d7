/** What is told of queries without asking a data source, such as what is wrong with them, and for whom they are the same. */
import { compileModel, type Viewer } from '@oriel/semantic';
import { afterAll, expect, test } from 'vitest';
import { shopWith } from '../../../test/shops.ts';
import { ApiError } from '../../platform/errors.ts';
import { createPlanCache } from './plan-cache.ts';
import { createPlanner } from './planner.ts';
import { createQueries } from './queries.ts';
import type { QueryCall } from './query-calls.ts';
import { createSqlParser } from './sql-parser.ts';

const POLICY = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.region }"] }] }
`;
const model = compileModel(new Map(Object.entries(shopWith(POLICY)))).model!;
const planner = createPlanner();
const parser = createSqlParser();
afterAll(async () => {
  await planner.stop();
  await parser.stop();
});

const source = { type: 'duckdb', id: '', version: () => '', engine: undefined as never } as const;
const viewerWith = (userAttributes: Viewer['userAttributes']): Viewer => ({
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes,
  securityContext: null,
  seesUnguarded: true,
});
/** Everything behind the door: who the viewer is comes from the test. */
const queriesWith = (given: object = {}) =>
  createQueries({
    models: { find: async () => model },
    sources: { of: async () => () => source },
    viewers: { of: async ({ viewer }: { viewer: Viewer }) => viewer },
    plans: createPlanCache(planner),
    planner,
    parser,
    ...given,
  } as never);
const callOf = (userAttributes: object, userId: number, actor: object = { kind: 'person' }) =>
  ({
    actor: { ...actor, userId, viewer: viewerWith(userAttributes as Viewer['userAttributes']) },
    signal: new AbortController().signal,
    deploymentId: 1,
  }) as never as QueryCall;

test('what is wrong with queries is told in their order, and a check that cannot be made is an error', async () => {
  const asked = [
    'select status from orders',
    { measures: ['orders.count'] },
    'select nothing from orders',
    'selec',
  ];
  const call = callOf({}, 1, { kind: 'tokenHolder', deploymentId: 1, branchId: null });
  const found = await queriesWith().check(call, asked);
  expect(found.map((issues) => issues.length)).toEqual([0, 0, 1, 1]);
  const busy = new ApiError('busy');
  const refusing = { parse: async () => Promise.reject(busy) };
  await expect(queriesWith({ parser: refusing }).check(call, asked)).rejects.toBe(busy);
});

const BY_REGION = { measures: ['customers.count'], dimensions: ['customers.region'] };
test.each<[string, (object | string)[], isSameForAll: boolean]>([
  ['a query', [BY_REGION], false],
  ['a query with its total', [{ ...BY_REGION, total: true }], false],
  ['SQL', ['select region from customers'], false],
  ['one of several', [{ measures: ['orders.count'] }, 'select status from orders', BY_REGION], false],
  ['none of several', [{ measures: ['orders.count'] }, 'select status from orders'], true],
])(
  'people have the same fingerprint if their policies make the same of each query: of %s',
  async (_, asked, isSameForAll) => {
    const queries = queriesWith();
    const of = (userAttributes: object, userId: number) =>
      queries.fingerprint(callOf(userAttributes, userId), asked, new Map(), new Date());
    const emea = await of({ region: 'EMEA' }, 1);
    expect(await of({ region: 'EMEA', team: 'a' }, 2)).toBe(emea);
    expect((await of({ region: 'AMER' }, 3)) === emea).toBe(isSameForAll);
  },
);

test('of a source that people ask with their own access, nobody has the fingerprint of another, nor of who reads for others', async () => {
  const queries = queriesWith({ sources: { of: async () => () => ({ ...source, personal: {} }) } });
  const known = new Map();
  const of = (userId: number, actor?: object) =>
    queries.fingerprint(callOf({ region: 'EMEA' }, userId, actor), [BY_REGION], known, new Date());
  const own = await of(1);
  expect(await of(1)).toBe(own);
  for (const [userId, actor] of [
    [2, { kind: 'person' }],
    [1, { kind: 'person', isReadForOthers: true }],
    [1, { kind: 'embeddedPerson', embed: { embedTenant: 'acme' } }],
  ] as const)
    expect(await of(userId, actor)).not.toBe(own);
});

test('what names mean is known when there is a model with cubes', async () => {
  const membersOf = (find: () => Promise<unknown>) =>
    queriesWith({ models: { find } }).members(callOf({}, 1, { kind: 'tokenHolder' }));
  const members = await membersOf(async () => model);
  expect([members!.kindOf('orders.count'), members!.kindOf('orders.nothing')]).toEqual([
    'measure',
    undefined,
  ]);
  const empty = compileModel(new Map([['model/empty.yml', 'cubes: []']])).model!;
  expect(await membersOf(async () => empty)).toBeUndefined();
  expect(await membersOf(() => Promise.reject(new ApiError('model_not_built')))).toBeUndefined();
  const busy = new ApiError('busy');
  await expect(membersOf(() => Promise.reject(busy))).rejects.toBe(busy);
});

test('SQL of embed viewers is refused before it is parsed if the account does not take it, published SQL is not', async () => {
  const queries = queriesWith({ tenantSettings: { current: async () => ({ embedSql: false }) } });
  const embedded = callOf({}, 1, {
    kind: 'externalViewer',
    embed: { embedTenant: 'acme' },
    deploymentActions: new Map(),
  });
  const [disabled, wrong] = [{ code: 'embed_sql_disabled' }, { code: 'invalid_query' }];
  const load = (call: QueryCall, isPublished = false) =>
    queries.loadSql(call, 'selec', { isRenewed: false, isPublished });
  await expect(load(embedded)).rejects.toMatchObject(disabled);
  await expect(queries.runSql(embedded, 'selec')).rejects.toMatchObject(disabled);
  await expect(load(embedded, true)).rejects.toMatchObject(wrong);
  await expect(load(callOf({}, 1))).rejects.toMatchObject(wrong);
  await expect(queries.runSql(callOf({}, 1), 'selec')).rejects.toMatchObject(wrong);
});

test('only people who may read the model are told of members that policies hide from them', async () => {
  const text = `cubes:
  - name: a
    sql_table: a
    dimensions: [{ name: open, sql: x, type: string }, { name: hidden, sql: y, type: string }]
    access_policy: [{ group: "*", member_level: { includes: [open] } }]
`;
  const guarded = compileModel(new Map([['model/a.yml', text]])).model!;
  const queries = queriesWith({ models: { find: async () => guarded } });
  const told = async (kind: string, action: string) => {
    const given = new Map([[1, new Set([action])]]);
    const actor = { kind, actions: new Set(), deploymentActions: given, embed: { embedTenant: 'acme' } };
    const call = callOf({}, 1, actor);
    const members = await queries.members(call);
    const [issues] = await queries.check(call, [{ dimensions: ['a.hidden'] }]);
    return [members!.kindOf('a.hidden'), issues!.length];
  };
  expect(await told('person', 'SchemaRead')).toEqual(['dimension', 0]);
  expect(await told('person', 'ReportRead')).toEqual([undefined, 1]);
  expect(await told('embeddedPerson', 'SchemaRead')).toEqual([undefined, 1]);
});

test('viewers who ask what is wrong with a query are told what its answer would tell them', async () => {
  const queries = queriesWith({ tenantSettings: {} });
  const embedded = callOf({}, 1, {
    kind: 'externalViewer',
    embed: { embedTenant: 'acme' },
    actions: new Set(),
    deploymentActions: new Map(),
  });
  const wrong = { measures: ['orders.nothing'] };
  const refused = await queries.plan(embedded, wrong).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  await expect(queries.explainOwn(embedded, wrong)).rejects.toEqual(refused);
});
