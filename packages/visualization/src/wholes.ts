/** Parts of a whole, and steps: pies, funnels, waterfalls, gauges. */
import { colorOf, titleOf } from './cartesian.ts';
import { channelsOf, columnsOf, fieldOf, requireColumn, requireMeasures } from './columns.ts';
import { along, amount, datum, formatOf, type Part, quoted } from './encodings.ts';
import type { Describe, QueryColumns, Visualization } from './types.ts';

const KEY = 'series_measure';
const VALUE = 'series_value';
const STEP = 'step_name';

interface Slices {
  transform: Part[];
  /** The field that names each slice, and the one that says how large it is. */
  name: string;
  value: string;
  format: string;
}

/** One slice for each value of a dimension or, without one, for each measure. */
function slicesOf(visualization: Visualization, query: QueryColumns, describe?: Describe): Slices {
  const { x, y, color } = channelsOf(visualization, columnsOf(query, describe));
  requireMeasures(y);
  const by = visualization.fields?.color ? (color ?? x) : x;
  const format = formatOf(y[0]!.member, visualization, describe);
  if (by) return { transform: [], name: fieldOf(by.member), value: fieldOf(y[0]!.member), format };
  requireMeasures(y, 2);
  const titles = Object.fromEntries(
    y.map(({ member }) => [fieldOf(member), titleOf({ visualization, describe }, member)]),
  );
  const transform = [
    { fold: y.map(({ member }) => fieldOf(member)), as: [KEY, VALUE] },
    { calculate: `(${quoted(titles)})[${datum(KEY)}]`, as: STEP },
  ];
  return { transform, name: STEP, value: VALUE, format };
}

const RADIUS = 'min(width, height) / 2';

export function pie(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const { transform, name, value, format } = slicesOf(visualization, query, describe);
  const isDonut = visualization.type === 'donut';
  const color = colorOf({ visualization }, name, Object.keys(visualization.series ?? {}));
  const theta = { field: value, type: 'quantitative', stack: true };
  const share = 'share_of_all';
  const { labels } = visualization;
  const slices: Part = {
    mark: {
      type: 'arc',
      outerRadius: { expr: RADIUS },
      ...(isDonut ? { innerRadius: { expr: `${RADIUS} * 0.62` } } : {}),
      cornerRadius: 2,
    },
    encoding: { theta, color, order: { field: value, type: 'quantitative', sort: 'descending' } },
  };
  if (labels !== 'value' && labels !== 'percent')
    return { ...(transform.length ? { transform } : {}), ...slices };
  return {
    transform: [
      ...transform,
      { joinaggregate: [{ op: 'sum', field: value, as: 'sum_of_all' }] },
      { calculate: `${datum(value)} / datum.sum_of_all`, as: share },
    ],
    layer: [
      slices,
      {
        // Labels of thin slices would lie over each other.
        transform: [{ filter: `datum.${share} > 0.04` }],
        mark: {
          type: 'text',
          radius: { expr: `${RADIUS} * ${isDonut ? 0.81 : 0.68}` },
          fontSize: 11,
          fontWeight: 600,
          color: 'white',
        },
        encoding: {
          theta,
          detail: { field: name, type: 'nominal' },
          order: { field: value, type: 'quantitative', sort: 'descending' },
          text:
            labels === 'percent'
              ? { field: share, type: 'quantitative', format: '.0%' }
              : { field: value, type: 'quantitative', format },
        },
      },
    ],
  };
}

/** Bars around a middle line, each with its share of the first one. */
export function funnel(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const { transform, name, value, format } = slicesOf(visualization, query, describe);
  const first = 'first_step';
  const share = 'share_of_first';
  const text = 'step_label';
  const label =
    visualization.labels === 'none'
      ? undefined
      : visualization.labels === 'value'
        ? `format(${datum(value)}, ${quoted(format)})`
        : `format(${datum(value)}, ${quoted(format)}) + '  ·  ' + format(datum.${share}, '.0%')`;
  const y = { field: name, type: 'nominal', sort: null, axis: { title: null, domain: false } };
  const only = visualization.palette?.[0];
  return {
    transform: [
      ...transform,
      { window: [{ op: 'first_value', field: value, as: first }], frame: [null, null] },
      { calculate: `datum.${first} ? ${datum(value)} / datum.${first} : 0`, as: share },
      ...(label ? [{ calculate: label, as: text }] : []),
    ],
    layer: [
      {
        mark: { type: 'bar', cornerRadius: 3, ...(only ? { color: only } : {}) },
        encoding: {
          y,
          // The labels stand in the space at the end.
          x: {
            field: value,
            type: 'quantitative',
            stack: 'center',
            axis: null,
            ...(label ? { scale: { padding: 90 } } : {}),
          },
        },
      },
      ...(label
        ? [
            {
              mark: { type: 'text', fontSize: 12, fontWeight: 600, align: 'right', x: { expr: 'width' } },
              encoding: { y, text: { field: text, type: 'nominal' } },
            },
          ]
        : []),
    ],
  };
}

const UP = '#0b7a55';
const DOWN = '#c2362b';

/** Each bar begins where the one before it ends. */
export function waterfall(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const columns = columnsOf(query, describe);
  const { x, y } = channelsOf(visualization, columns);
  requireMeasures(y);
  const by = requireColumn(x, 'x');
  const value = fieldOf(y[0]!.member);
  const name = fieldOf(by.member);
  const [begin, end] = ['step_begin', 'step_end'];
  const format = formatOf(y[0]!.member, visualization, describe);
  const position =
    by.kind === 'time'
      ? (({ scale: _scale, ...rest }) => ({ ...rest, type: 'ordinal' }))(
          along(by, visualization.axes?.x, { isBand: true }) as Part,
        )
      : { field: name, type: 'nominal', sort: null, axis: { title: null, labelAngle: 0 } };
  return {
    transform: [
      { window: [{ op: 'sum', field: value, as: end }], frame: [null, 0] },
      { calculate: `datum.${end} - ${datum(value)}`, as: begin },
      { calculate: `max(datum.${begin}, datum.${end})`, as: 'step_top' },
    ],
    layer: [
      {
        mark: { type: 'bar', cornerRadius: 2 },
        encoding: {
          x: position,
          y: amount(begin, visualization.axes?.y),
          y2: { field: end },
          color: {
            condition: { test: `${datum(value)} < 0`, value: visualization.palette?.[1] ?? DOWN },
            value: visualization.palette?.[0] ?? UP,
          },
        },
      },
      ...(visualization.labels === 'value'
        ? [
            {
              mark: { type: 'text', baseline: 'bottom', dy: -4, fontSize: 11 },
              encoding: {
                x: position,
                y: { field: 'step_top', type: 'quantitative' },
                text: { field: value, type: 'quantitative', format },
              },
            },
          ]
        : []),
    ],
  };
}

const FROM = -0.75;
const TO = 0.75;

/** A figure on an arc between two ends, with a mark at its target. */
export function gauge(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const { y } = channelsOf(visualization, columnsOf(query, describe));
  requireMeasures(y);
  const measure = y[0]!;
  const value = fieldOf(measure.member);
  const isShare = describe?.(measure.member)?.format === 'percent';
  const format = formatOf(measure.member, visualization, describe);
  const min = visualization.min ?? 0;
  const { target, max } = visualization;
  // Without an end, that of the scale is the next round number.
  const end = max ?? (isShare ? 1 : undefined);
  const round = `pow(10, ceil(log(max(1, abs(${datum(value)}), ${target ?? 0})) / LN10))`;
  const angle = (at: string) =>
    `(${FROM} + ${TO - FROM} * clamp((${at} - ${min}) / max(1e-9, datum.gauge_end - ${min}), 0, 1)) * PI`;
  const ring = { type: 'arc', outerRadius: { expr: RADIUS }, innerRadius: { expr: `${RADIUS} * 0.78` } };
  const only = visualization.series?.[measure.member]?.color ?? visualization.palette?.[0];
  const fixed = (number: number) => ({ expr: `${number} * PI` });
  return {
    transform: [
      { window: [{ op: 'row_number', as: 'gauge_row' }] },
      { filter: 'datum.gauge_row == 1' },
      { calculate: end == null ? round : String(end), as: 'gauge_end' },
      { calculate: `${FROM} * PI`, as: 'gauge_begin' },
      { calculate: angle(datum(value)), as: 'gauge_angle' },
      ...(target == null ? [] : [{ calculate: angle(String(target)), as: 'gauge_target' }]),
    ],
    layer: [
      { mark: { ...ring, opacity: 0.15, theta: fixed(FROM), theta2: fixed(TO), cornerRadius: 4 } },
      {
        mark: { ...ring, cornerRadius: 4, ...(only ? { color: only } : {}) },
        encoding: {
          theta: { field: 'gauge_begin', type: 'quantitative', scale: null },
          theta2: { field: 'gauge_angle' },
        },
      },
      ...(target == null
        ? []
        : [
            {
              transform: [{ calculate: 'datum.gauge_target + 0.02', as: 'gauge_target_end' }],
              mark: {
                type: 'arc',
                outerRadius: { expr: RADIUS },
                innerRadius: { expr: `${RADIUS} * 0.7` },
                color: 'black',
              },
              encoding: {
                theta: { field: 'gauge_target', type: 'quantitative', scale: null },
                theta2: { field: 'gauge_target_end' },
              },
            },
          ]),
      {
        mark: { type: 'text', fontSize: 28, fontWeight: 650, dy: 4 },
        encoding: { text: { field: value, type: 'quantitative', format } },
      },
    ],
  };
}
