/** When an alert is due. */
import { expect, test } from 'vitest';
import { isMet, measureCondition } from './conditions.ts';
import type { Condition } from './store.ts';

const condition = (operator: Condition['operator'], value: number | null = null): Condition => ({
  widgetId: 'kpi',
  measure: 'orders.count',
  operator,
  value,
});

test.each<[Condition['operator'], limit: number | null, now: number | null, before: number | null, boolean]>([
  ['above', 10, 10, null, false],
  ['above', 10, 10.1, null, true],
  ['above', -1, null, null, false],
  ['below', 10, 10, null, false],
  ['below', 10, 9.9, null, true],
  ['below', 10, null, null, false],
  ['changed_by_percent', 50, 100, null, false],
  ['changed_by_percent', 50, 149, 100, false],
  ['changed_by_percent', 50, 150, 100, true],
  ['changed_by_percent', 50, 50, 100, true],
  ['changed_by_percent', 50, -40, -100, true],
  ['changed_by_percent', 50, null, 100, false],
  // From nothing to something is more than any percentage.
  ['changed_by_percent', 50, 1, 0, true],
  ['changed_by_percent', 50, 0, 0, false],
  ['no_data', null, null, 5, true],
  ['no_data', null, 0, 5, false],
])('%s %s with %s after %s: %s', (operator, limit, now, before, met) => {
  expect(isMet(condition(operator, limit), now, before)).toBe(met);
});

test('a count of nothing is no data, and a sum of 0 is a value', async () => {
  const json = (value: unknown) => Promise.resolve(Buffer.from(JSON.stringify(value)));
  const of = (aggType: string, value: unknown, operator: Condition['operator'] = 'no_data') =>
    measureCondition(
      {
        load: () => json({ data: [{ 'orders.count': value }] }),
        meta: () => json({ cubes: [{ measures: [{ name: 'orders.count', aggType }] }] }),
      } as never,
      {} as never,
      {},
      condition(operator, 1),
    );
  expect(await of('count', '0')).toBe(null);
  expect(await of('countDistinct', 0)).toBe(null);
  expect(await of('count', '0', 'below')).toBe(0);
  expect(await of('sum', 0)).toBe(0);
  expect(await of('sum', null)).toBe(null);
  expect(await of('count', '3')).toBe(3);
});
