import { expect, test } from 'vitest';
import { chartOf, recommend, shapeOf, type VisualizationType } from './index.ts';
import type { MemberInfo, QueryColumns } from './types.ts';

const MONTHS = [{ dimension: 'sales.ordered_at', granularity: 'month' }];
const INFO: Record<string, MemberInfo> = {
  'sales.rate': { shortTitle: 'Rate', type: 'number', format: 'percent' },
  'shops.lat': { shortTitle: 'Lat', type: 'number' },
  'shops.lng': { shortTitle: 'Lng', type: 'number' },
  'sales.age': { shortTitle: 'Age', type: 'number' },
};
const describe = (member: string): MemberInfo => INFO[member] ?? { shortTitle: member, type: 'string' };
const rows = (count: number, member = 'sales.status') =>
  Array.from({ length: count }, (_, i) => ({ [member]: i }));

test.each<[QueryColumns, number, VisualizationType, string]>([
  [{ measures: ['sales.revenue'] }, 1, 'kpi', 'onlyMeasure'],
  [{ measures: ['sales.revenue'], timeDimensions: MONTHS }, 12, 'line', 'overTime'],
  [
    { measures: ['sales.revenue'], timeDimensions: MONTHS, dimensions: ['sales.status'] },
    60,
    'line',
    'overTimeBySeries',
  ],
  [{ measures: ['sales.revenue', 'sales.rate'], timeDimensions: MONTHS }, 12, 'combo', 'differentUnits'],
  [{ measures: ['sales.revenue'], dimensions: ['sales.country_code'] }, 40, 'map', 'byPlace'],
  [
    { measures: ['sales.revenue'], dimensions: ['sales.shop', 'shops.lat', 'shops.lng'] },
    40,
    'pointMap',
    'byPoint',
  ],
  [{ measures: ['sales.revenue'], dimensions: ['sales.status'] }, 5, 'column', 'fewNames'],
  [{ measures: ['sales.revenue'], dimensions: ['sales.status'] }, 40, 'bar', 'rankedNames'],
  [
    { measures: ['sales.revenue', 'sales.orders'], dimensions: ['sales.status'] },
    40,
    'scatter',
    'twoMeasures',
  ],
  [
    {
      measures: ['sales.revenue'],
      calculated: [{ name: 'share', kind: 'shareOfTotal' }],
      dimensions: ['sales.status'],
    },
    6,
    'combo',
    'differentUnits',
  ],
  [{ measures: ['sales.revenue'], dimensions: ['sales.status', 'sales.channel'] }, 20, 'column', 'twoGroups'],
  [{ dimensions: ['sales.status'] }, 5, 'table', 'details'],
  [{ measures: ['sales.revenue'], dimensions: ['sales.a', 'sales.b', 'sales.c'] }, 5, 'table', 'details'],
])('%j with %i rows: %s, because of %s', (query, count, type, reason) => {
  const [first] = recommend(shapeOf(query, describe, rows(count)));
  expect(first).toEqual({ type, reason });
});

test('ten long names stand beside bars, because columns have no room for them', () => {
  const query = { measures: ['sales.revenue'], dimensions: ['sales.shop'] };
  const named = (name: string) => rows(10).map((row, i) => ({ ...row, 'sales.shop': `${name} ${i}` }));
  expect(recommend(shapeOf(query, describe, named('North')))[0]?.type).toBe('column');
  expect(recommend(shapeOf(query, describe, named('Northern Partners')))[0]?.type).toBe('bar');
});

test('the values of an earlier period are written like those of now', () => {
  const periodComparisons = [
    {
      measure: 'sales.revenue',
      timeDimension: 'sales.ordered_at',
      offset: { amount: 1, unit: 'year' as const },
    },
  ];
  const asked = { measures: ['sales.revenue'], timeDimensions: MONTHS };
  const formats = { 'sales.revenue': { type: 'number' as const } };
  const chart = chartOf({ type: 'line', formats, periodComparisons }, asked, describe);
  expect(chart.preferences?.columnFormats).toMatchObject({ 'sales.revenue.previous': { type: 'number' } });
});

test('whatever is recommended can be drawn', () => {
  const dimensions = ['sales.status', 'sales.country', 'sales.age'];
  const measures = ['sales.revenue', 'sales.rate', 'sales.orders'];
  let drawn = 0;
  for (let d = 0; d <= 3; d++)
    for (let m = 0; m <= 3; m++)
      for (const timeDimensions of [[], MONTHS]) {
        const query = { dimensions: dimensions.slice(0, d), measures: measures.slice(0, m), timeDimensions };
        if (d + m + timeDimensions.length === 0) continue;
        for (const { type } of recommend(shapeOf(query, describe, rows(5)))) {
          expect(chartOf({ type }, query, describe).kind).toBeTruthy();
          drawn++;
        }
      }
  expect(drawn).toBeGreaterThan(60);
});

test('settings outlive a change of the query', () => {
  const visualization = {
    type: 'column' as const,
    fields: { x: 'sales.status', color: 'sales.channel' },
    series: { Web: { color: '#112233' } },
  };
  const before = chartOf(visualization, {
    measures: ['sales.revenue'],
    dimensions: ['sales.channel', 'sales.status'],
  });
  const without = chartOf(visualization, { measures: ['sales.revenue'], dimensions: ['sales.status'] });
  expect(before.spec).toMatchObject({
    encoding: { x: { field: 'sales__status' }, color: { field: 'sales__channel' } },
  });
  expect(JSON.stringify(without)).not.toContain('channel');
  const [line] = [{ type: 'line' as const, fields: { x: 'sales.ordered_at.month' } }].map((settings) =>
    chartOf(settings, {
      measures: ['sales.revenue'],
      timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'week' }],
    }),
  );
  expect(line!.spec).toMatchObject({ encoding: { x: { field: 'sales__ordered_at__week' } } });
});
