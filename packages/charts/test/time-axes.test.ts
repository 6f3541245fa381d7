/** The labels of an axis of times, of charts as Vega-Lite compiles them: each is that of a bucket. */
import { createDrawing, createFormats, type Snapshot, sayWith, tokensOf } from '@oriel/charts/pure';
import { en } from '@oriel/charts/texts/en';
import { createView } from '@oriel/charts/vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { expect, test } from 'vitest';

const TIME = 'orders.at';
const SUM = 'orders.revenue';

interface AxisOptions {
  granularity: string;
  begins: string[];
  mark?: string;
  more?: object;
  params?: object[];
  width?: number;
}

async function labelsOf({ granularity, begins, mark = 'line', more = {}, params, width = 600 }: AxisOptions) {
  const member = `${TIME}.${granularity}`;
  const query = { measures: [SUM], timeDimensions: [{ dimension: TIME, granularity }] };
  const rows = begins.map((begin, i) => ({
    [member]: `${begin.length > 10 ? begin : `${begin}T00:00`}:00.000`,
    [SUM]: i,
  }));
  const source = {
    data: { name: 'rows' },
    mark,
    ...(params && { params }),
    width: 480,
    height: 240,
    encoding: {
      x: { field: `orders__at__${granularity}`, type: 'temporal', scale: { type: 'utc' }, ...more },
      y: { field: 'orders__revenue', type: 'quantitative', axis: null },
    },
  };
  const { $schema: _, ...spec } = compile(source as unknown as TopLevelSpec).spec;
  const snapshot = { reportId: 1, kind: 'vega', spec, meta: { query } } as unknown as Snapshot;
  const shown = { title: 'At', shortTitle: 'At', type: 'time', granularity: { name: granularity } };
  const annotation = { measures: {}, dimensions: {}, timeDimensions: { [member]: shown } };
  const { draw } = createDrawing(snapshot, {
    rows,
    result: { query, data: rows, annotation },
    query,
  } as never);
  const drawn = draw(
    {
      tokens: tokensOf('light', []),
      formats: createFormats('en', sayWith(en)),
      locale: 'en',
      isRightToLeft: false,
    },
    { width, height: 200, measure: (text) => text.length * 6.4 },
  );
  const fail = (problem: Error) => {
    throw problem;
  };
  const view = createView(drawn.spec, drawn.config, drawn.locale, drawn.labels, fail, 'none');
  const svg = await view.toSVG();
  view.finalize();
  const [, axis = ''] = /class="mark-text role-axis-label"[^>]*>(.*?)<\/g>/s.exec(svg) ?? [];
  return [...axis.matchAll(/<text[^>]*>(.*?)<\/text>/gs)]
    .filter(([text]) => !text.includes('opacity="0"'))
    .map(([, text]) => text!.replaceAll(/<\/tspan><tspan[^>]*>/g, ', ').replaceAll(/<[^>]*>/g, ''))
    .map((text) => text.replaceAll(/\s/g, ' '));
}

test.each<[AxisOptions, string[]]>([
  [{ granularity: 'month', begins: ['2026-03-01', '2026-04-01'] }, ['Mar, 2026', 'Apr']],
  [
    { granularity: 'month', begins: ['2025-12-01', '2026-01-01', '2026-02-01'] },
    ['Dec, 2025', '2026', 'Feb'],
  ],
  [{ granularity: 'month', begins: ['2026-03-01'] }, ['Mar, 2026']],
  [{ granularity: 'quarter', begins: ['2026-04-01', '2026-07-01'] }, ['Apr, 2026', 'Jul']],
  [{ granularity: 'year', begins: ['2025-01-01', '2026-01-01'] }, ['2025', '2026']],
  [
    { granularity: 'week', begins: ['2026-03-02', '2026-03-09', '2026-03-16'] },
    ['Mar 2, 2026', 'Mar 9', 'Mar 16'],
  ],
  [{ granularity: 'day', begins: ['2026-03-02', '2026-03-03'] }, ['Mar 2, 2026', 'Mar 3']],
  [
    { granularity: 'hour', begins: ['2026-03-02T22:00', '2026-03-02T23:00', '2026-03-03T00:00'] },
    ['10:00 PM, Mar 2, 2026', '11:00 PM', 'Mar 3'],
  ],
  [
    {
      granularity: 'month',
      begins: ['2026-03-01', '2026-04-01'],
      mark: 'bar',
      more: { timeUnit: 'utcyearmonth' },
    },
    ['Mar, 2026', 'Apr'],
  ],
])('%j has a label for each', async (given, labels) => {
  expect(await labelsOf(given)).toEqual(labels);
});

const days = (count: number, step: number) =>
  Array.from({ length: count }, (_, i) =>
    new Date(Date.UTC(2026, 0, 5 + i * step)).toISOString().slice(0, 10),
  );

test('weeks that have no room for a label each have one for every few, and a year of them those of months', async () => {
  const weeks = await labelsOf({ granularity: 'week', begins: days(10, 7), width: 300 });
  expect(weeks).toEqual(['Jan 5, 2026', 'Feb 2', 'Mar 2']);
  const year = await labelsOf({ granularity: 'week', begins: days(50, 7), width: 400 });
  expect(year).toContain('Jun');
});

test('with more days than there is room for, ticks are at some of them', async () => {
  const labels = await labelsOf({ granularity: 'day', begins: days(90, 1) });
  expect(labels.length).toBeGreaterThan(2);
  expect(labels.length).toBeLessThan(20);
});

test('a few days in a long time have the ticks of that time', async () => {
  const begins = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-12-01'];
  expect(await labelsOf({ granularity: 'day', begins })).toContain('Jul');
});

test('an axis that people zoom has the ticks of what they see', async () => {
  const given = { granularity: 'month', begins: ['2026-03-01', '2026-04-01'], width: 900 };
  const params = [{ name: 'zoom', select: { type: 'interval', encodings: ['x'] }, bind: 'scales' }];
  expect((await labelsOf({ ...given, params })).length).toBeGreaterThan(3);
});

test('an author keeps the ticks that they ask for', async () => {
  const given = { granularity: 'month', begins: ['2026-03-01', '2026-04-01'], width: 900 };
  const more = { axis: { tickCount: { interval: 'week', step: 1 } } };
  expect((await labelsOf({ ...given, more })).length).toBeGreaterThan(3);
  const values = [{ utc: true, year: 2026, month: 3, date: 9 }];
  expect(await labelsOf({ ...given, more: { axis: { values } } })).toEqual(['Mar 9, 2026']);
});
