/** Plans that are used again: for whom, and until when. */
import { compileModel, type Model, type Viewer } from '@oriel/semantic';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { SHOP_MODEL } from '../../../test/shops.ts';
import { createPlanCache, type PlanCache } from './plan-cache.ts';
import { createPlanner } from './planner.ts';
import type { PlanContext, PlannedQueries } from './plans.ts';
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
const sourceOf =
  (type: 'duckdb' | 'postgres'): FindSource =>
  () => ({ type, id: '', version: () => '', engine: undefined as never });
const source = sourceOf('duckdb');
const NOW = Date.parse('2024-04-02T10:15:30Z');
const COUNT = { measures: ['orders.count'] };

const planner = createPlanner();
afterAll(planner.stop);
const by = { sharer: 'somebody', signal: new AbortController().signal };

let plans: PlanCache;
beforeEach(() => {
  plans = createPlanCache(planner);
});
/** They are cheap, so they are there at once. */
const plan = (query: object, more: Partial<PlanContext> = {}) =>
  plans.plan(query, { model, viewer, source, now: new Date(NOW), ...more }, by) as PlannedQueries;

test('a plan is used again for a viewer with the same rights', () => {
  expect(plan({ ...COUNT }, { viewer: { ...viewer } })).toBe(plan(COUNT));
});

test.each<[string, Partial<PlanContext>]>([
  ['groups', { viewer: { ...viewer, groups: ['b'] } }],
  ['groups that are those of the tenant', { viewer: { ...viewer, groups: [], tenantGroups: ['a'] } }],
  ['groups that look like two', { viewer: { ...viewer, groups: ['a","b'] } }],
  ['roles', { viewer: { ...viewer, roles: ['Admin'] } }],
  ['attributes', { viewer: { ...viewer, userAttributes: { region: 'AMER' } } }],
  ['attributes of another type', { viewer: { ...viewer, userAttributes: { region: ['EMEA'] } } }],
  ['security context', { viewer: { ...viewer, securityContext: { tenant: 1 } } }],
  ['model', { model: { ...model } as Model }],
  ['data sources', { source: sourceOf('postgres') }],
])('another viewer, model or data source gets a plan of its own: other %s', (_, more) => {
  const first = plan(COUNT);
  expect(plan(COUNT, more)).not.toBe(first);
  expect(plan(COUNT)).toBe(first);
});

test('another query gets a plan of its own', () => {
  const queries = [COUNT, { ...COUNT, limit: 1 }, [COUNT], [COUNT, COUNT]];
  expect(new Set(queries.map((query) => plan(query))).size).toBe(queries.length);
});

test('a plan that depends on the time is made again in the next minute, others are not', () => {
  const fixed = { ...COUNT, timeDimensions: [{ dimension: 'orders.ordered_at', dateRange: '2024-01-31' }] };
  const today = { ...COUNT, timeDimensions: [{ dimension: 'orders.ordered_at', dateRange: 'today' }] };
  const at = (ms: number) => ({ now: new Date(NOW + ms) });
  const inOneDay = 24 * 3_600_000;
  expect(plan(fixed, at(inOneDay))).toBe(plan(fixed));
  const first = plan(today);
  expect(plan(today, at(29_999))).toBe(first);
  expect(plan(today, at(30_000))).not.toBe(first);
  const rangeOf = ({ queries }: ReturnType<typeof plan>) => queries[0]!.query.timeDimensions[0]!.dateRange;
  expect(rangeOf(plan(today, at(inOneDay)))).toEqual(['2024-04-03T00:00:00.000', '2024-04-03T23:59:59.999']);
  // One of several queries is enough.
  const several = plan([fixed, today]);
  expect(plan([fixed, today], at(30_000))).not.toBe(several);
});

test('a wrong query is an error each time', () => {
  for (let i = 0; i < 2; i++)
    expect(() => plan({ measures: ['orders.nothing'] })).toThrow('no member `orders.nothing`');
});

test('plans take no more than their memory, and the one that nobody used for longest makes way', () => {
  plans = createPlanCache(planner, 40_000);
  const first = plan(COUNT);
  for (let limit = 1; limit <= 20; limit++) {
    plan({ ...COUNT, limit });
    expect(plan(COUNT)).toBe(first);
  }
  const early = { ...COUNT, limit: 1 };
  expect(plan(early)).toBe(plan(early));
  const latest = plan({ ...COUNT, limit: 100 });
  for (let limit = 21; limit <= 40; limit++) plan({ ...COUNT, limit });
  expect(plan(COUNT)).not.toBe(first);
  expect(plan({ ...COUNT, limit: 100 })).not.toBe(latest);
});
