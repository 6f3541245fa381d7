/** Plans that are not cheap: they are made in threads, once, and within the time of their caller. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { compileModel, createPlanBudget, type Viewer } from '@oriel/semantic';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SHOP_MODEL } from '../../../test/shops.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ThreadEvent } from '../../platform/threads.ts';
import { createPlanCache, type PlanCache } from './plan-cache.ts';
import { createPlanner, type Planner } from './planner.ts';
import { type PlanContext, planQueries } from './plans.ts';
import type { FindSource } from './sources.ts';

const model = compileModel(new Map(Object.entries(SHOP_MODEL))).model!;
const viewer: Viewer = {
  groups: ['a'],
  tenantGroups: [],
  roles: [],
  userAttributes: { region: 'EMEA' },
  securityContext: null,
  seesUnguarded: true,
};
const source: FindSource = () => ({
  type: 'duckdb',
  id: '',
  version: () => '',
  engine: undefined as never,
});
const NOW = new Date('2024-04-02T10:15:30Z');
const CHEAP = { measures: ['orders.count'], dimensions: ['orders.status'] };
/** Many filters, so it is not cheap. */
const large = (count: number) => ({
  ...CHEAP,
  filters: Array.from({ length: count }, (_, i) => ({
    member: 'orders.status',
    operator: 'contains',
    values: [`v${i}`],
  })),
});
const context: PlanContext = { model, viewer, source, now: NOW };

let planner: Planner;
let plans: PlanCache;
let started = 0;
const onThread = (message: unknown) => {
  const { script, event } = message as ThreadEvent;
  if (event === 'started' && script.endsWith('/plan-thread.js')) started++;
};

function open(...limits: Parameters<typeof createPlanner>) {
  planner = createPlanner(...limits);
  plans = createPlanCache(planner);
}
beforeEach(() => {
  started = 0;
  subscribe('oriel:threads', onThread);
  open();
});
afterEach(async () => {
  unsubscribe('oriel:threads', onThread);
  await planner.stop();
});

const by = (sharer: string, signal = new AbortController().signal) => ({ sharer, signal });
const plan = async (query: object, sharer = 'a', more: Partial<PlanContext> = {}) =>
  plans.plan(query, { ...context, ...more }, by(sharer));

test('a cheap plan is there at once, and a large one comes from a thread, as the loop would make it', async () => {
  expect(plans.plan(CHEAP, context, by('a'))).not.toBeInstanceOf(Promise);
  expect(started).toBe(0);
  const made = await plan(large(300));
  expect(started).toBe(1);
  expect(made.queries[0]!.statement.parameters).toHaveLength(300);
  expect(await plan(large(300))).toBe(made);
  const typeOf = () => 'duckdb' as const;
  const byLoop = planQueries(large(300), { model, viewer, now: NOW, typeOf, budget: createPlanBudget() });
  expect(made.queries.map(({ source: _source, ...query }) => query)).toEqual(byLoop.queries);
});

test('queries that are short, but much work, go to a thread too', async () => {
  const compareDateRange = Array.from({ length: 10 }, (_, i) => [`${2000 + i}-01-01`, `${2001 + i}-01-01`]);
  const query = { ...CHEAP, timeDimensions: [{ dimension: 'orders.ordered_at', compareDateRange }] };
  const queries = Array.from({ length: 4 }, () => query);
  expect(JSON.stringify(queries).length).toBeLessThan(4000);
  expect((await plan(queries)).queries).toHaveLength(40);
  expect(started).toBe(1);
});

test('a plan for which several wait at once is made once, also if who asked first leaves', async () => {
  const leaving = new AbortController();
  // The caller has one place, so the second plan waits for the first.
  const before = plan(large(201));
  const first = plans.plan(large(300), context, by('a', leaving.signal));
  const others = [plan(large(300)), plan(large(300))];
  leaving.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  const [one, another] = await Promise.all(others);
  expect(one).toBe(another);
  await before;
  expect(started).toBe(2);
});

test('who waits for the plan of somebody else gets none of another day', async () => {
  const timeDimensions = [{ dimension: 'orders.ordered_at', dateRange: 'today' }];
  const today = { ...large(300), timeDimensions };
  const days = [NOW, new Date(NOW.getTime() + 24 * 3_600_000)];
  const made = await Promise.all(days.map((now) => plan(today, 'a', { now })));
  expect(made.map(({ queries }) => queries[0]!.query.timeDimensions[0]!.dateRange![0])).toEqual([
    '2024-04-02T00:00:00.000',
    '2024-04-03T00:00:00.000',
  ]);
});

test('a wrong query for which several wait is planned once', async () => {
  let planned = 0;
  const counted: Planner['plan'] = (...args) => {
    planned++;
    return planner.plan(...args);
  };
  plans = createPlanCache({ plan: counted });
  const wrong = { ...large(300), dimensions: ['orders.nothing'] };
  const asked = await Promise.allSettled([plan(wrong), plan(wrong), plan(wrong)]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(planned).toBe(1);
});

test('what is wrong is said in the same words', async () => {
  const wrong = { ...large(300), dimensions: ['orders.nothing'] };
  await expect(plan(wrong)).rejects.toMatchObject({
    name: 'QueryError',
    code: 'unknown_member',
    message: expect.stringContaining('no member `orders.nothing`'),
  });
  const unknown: FindSource = () => {
    throw new ApiError('source_not_configured');
  };
  await expect(plan(large(300), 'a', { source: unknown })).rejects.toMatchObject({
    code: 'source_not_configured',
  });
});

test('whoever has used too much time is refused for a while, and others are not', async () => {
  await planner.stop();
  open({ burstMs: 1, share: 0.001 });
  const known = await plan(large(400));
  await expect(plan(large(401))).rejects.toMatchObject({
    code: 'too_many_at_once',
    retryAfterSeconds: expect.any(Number),
  });
  await expect(plan(CHEAP)).rejects.toMatchObject({ code: 'too_many_at_once' });
  expect(await plan(large(400))).toBe(known);
  expect((await plan(CHEAP, 'b')).queries).toHaveLength(1);
});

test('whoever has used too much time with one plan is refused the next one, which waits already', async () => {
  await planner.stop();
  open({ burstMs: 1, share: 1e-9 });
  const [first, second] = await Promise.allSettled([plan(large(300)), plan(large(301))]);
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'too_many_at_once' } });
  expect(started).toBe(1);
});

test('a plan that reaches the limit of its thread is refused, and has used all of its time', async () => {
  await planner.stop();
  // No other pool has threads with this much memory, so this one is new, and takes longer.
  open({ burstMs: 1, share: 1e-9 }, { timeMs: 2, memoryMb: 1023 });
  await expect(plan(large(300))).rejects.toMatchObject({
    code: 'unsupported_query',
    message: expect.stringContaining('too much time or memory'),
  });
  await expect(plan(large(301))).rejects.toMatchObject({ code: 'too_many_at_once' });
  expect(started).toBe(1);
});

test('whoever has used much time gets cheap plans from threads', async () => {
  await planner.stop();
  open({ burstMs: 5000, share: 1e-9 });
  const isCheapFor = async (sharer: string, limit: number) => {
    const before = started;
    await plan({ ...CHEAP, limit }, sharer);
    return started === before;
  };
  let count = 0;
  while (await isCheapFor('a', ++count)) await plan(large(300 + (count % 200)), 'a', { now: new Date() });
  expect(count).toBeGreaterThan(1);
  expect(await isCheapFor('b', 0)).toBe(true);
});
