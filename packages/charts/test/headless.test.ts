/** A server draws charts with the parts of pages: without a browser, and with the same colours, formats and bounds. */
import { createDrawing, createFormats, type Snapshot, sayWith, tokensOf } from '@oriel/charts/pure';
import { texts } from '@oriel/charts/texts/de';
import { createView } from '@oriel/charts/vega';
import { expect, test } from 'vitest';

const snapshot = (spec: object): Snapshot => ({ reportId: 1, kind: 'vega', spec, meta: { query: QUERY } });
const QUERY = { measures: ['orders.revenue'], dimensions: ['orders.region'] };
const ROWS = [
  { 'orders.region': 'North', 'orders.revenue': '1200000' },
  { 'orders.region': 'South', 'orders.revenue': '800000' },
];
const RESULT = {
  query: QUERY,
  data: ROWS,
  annotation: {
    measures: {
      'orders.revenue': { title: 'Revenue', shortTitle: 'Revenue', type: 'number', format: 'currency' },
    },
    dimensions: { 'orders.region': { title: 'Region', shortTitle: 'Region', type: 'string' } },
    timeDimensions: {},
  },
};
const BARS = {
  data: [{ name: 'rows', url: 'https://elsewhere.example/rows' }],
  scales: [
    { name: 'x', type: 'band', domain: { data: 'rows', field: 'orders__region' }, range: 'width' },
    {
      name: 'y',
      domain: { data: 'rows', field: 'orders__revenue' },
      range: 'height',
      nice: true,
      zero: true,
    },
  ],
  axes: [
    { scale: 'x', orient: 'bottom' },
    { scale: 'y', orient: 'left' },
  ],
  marks: [
    {
      type: 'rect',
      style: ['bar'],
      from: { data: 'rows' },
      encode: {
        update: {
          x: { scale: 'x', field: 'orders__region' },
          width: { scale: 'x', band: 1 },
          y: { scale: 'y', field: 'orders__revenue' },
          y2: { scale: 'y', value: 0 },
        },
      },
    },
  ],
};

async function svgOf(spec: object): Promise<string> {
  const tokens = tokensOf('dark', []);
  const formats = createFormats('de', sayWith(texts));
  const { draw } = createDrawing(snapshot(spec), { rows: ROWS, result: RESULT, query: QUERY });
  const drawn = draw(
    { tokens, formats, locale: 'de', isRightToLeft: false },
    { width: 400, height: 200, measure: (text) => text.length * 6.4 },
  );
  let refused: Error | undefined;
  const view = createView(
    drawn.spec,
    drawn.config,
    drawn.locale,
    drawn.labels,
    (problem) => {
      refused = problem;
    },
    'none',
  );
  const svg = await view.toSVG();
  view.finalize();
  if (refused) throw refused;
  return svg;
}

test('a chart is drawn without a browser, in the words and colours of a page', async () => {
  const svg = await svgOf(BARS);
  expect(svg).toContain('North');
  // Money in the words of the locale, and the first colour of the dark theme.
  expect(svg).toMatch(/1,2\sMio\.\s\$/);
  expect(svg).toContain(tokensOf('dark', []).series[0]);
});

test('what asks for too much is refused there too', async () => {
  const signals = [{ name: 'a', update: 'sequence(1e9)' }];
  await expect(svgOf({ ...BARS, signals })).rejects.toThrow('too many');
});
