/** From settings to what pages draw: `meta.visualization` becomes what a hand-written `meta.chart` would be. */
import { cartesian, facetOf } from './cartesian.ts';
import {
  channelsOf,
  columnsOf,
  comparisonsOf,
  describeAll,
  placesOf,
  requireColumn,
  requireMeasures,
} from './columns.ts';
import { EARLIER_WORDS, earlierMember, type Part } from './encodings.ts';
import { boxplot, heatmap, histogram, scatter } from './points.ts';
import {
  type Chart,
  type Describe,
  type QueryColumns,
  type Visualization,
  VisualizationError,
  type VisualizationType,
} from './types.ts';
import { funnel, gauge, pie, waterfall } from './wholes.ts';

type Draw = (visualization: Visualization, query: QueryColumns, describe?: Describe) => Part;

/** The types that are Vega-Lite. */
const VEGA: Partial<Record<VisualizationType, Draw>> = {
  bar: cartesian,
  column: cartesian,
  line: cartesian,
  area: cartesian,
  combo: cartesian,
  pie,
  donut: pie,
  scatter,
  bubble: scatter,
  heatmap,
  histogram,
  boxplot,
  funnel,
  waterfall,
  gauge,
};

/** Throws a `VisualizationError` if the query does not give what the type needs. Members that are gone are not shown. */
export function chartOf(visualization: Visualization, query: QueryColumns, known?: Describe): Chart {
  const describe = describeAll(query, known);
  const draw = VEGA[visualization.type];
  const more = moreOf(visualization, query);
  if (draw) {
    const spec = draw(visualization, query, describe);
    // Types with axes have made the small charts already.
    const { facet } = channelsOf(visualization, columnsOf(query, describe));
    const isWhole = facet && !('facet' in spec);
    const params = more.periodComparisons && [{ name: EARLIER_WORDS, value: ['', ', previous'] }];
    const whole = isWhole ? facetOf(facet, visualization, spec) : spec;
    return { kind: 'vega', spec: params ? { ...whole, params } : whole, ...more };
  }
  return { ...plainOf(visualization, query, describe), ...more };
}

const TIME_TYPES: VisualizationType[] = ['line', 'area', 'column', 'bar', 'combo', 'table', 'pivot'];

/** What the page does with the rows before it draws them. */
function moreOf(visualization: Visualization, query: QueryColumns) {
  const { type, emptyValues, formats, tooltip } = visualization;
  const time = query.timeDimensions?.find(({ granularity }) => granularity);
  const isFilled = emptyValues === 'zero' && time && TIME_TYPES.includes(type);
  const known = comparisonsOf(visualization, query);
  return {
    ...(isFilled ? { fillMissingRows: { member: time.dimension } } : {}),
    ...(known.length ? { periodComparisons: known } : {}),
    ...(formats || tooltip?.length
      ? {
          preferences: {
            ...(formats ? { columnFormats: { ...formats, ...formatsOfEarlier(formats, known) } } : {}),
            ...(tooltip?.length ? { tooltip } : {}),
          },
        }
      : {}),
  };
}

/** An earlier value, and the difference of two values that are no rates, are written like the measure itself. */
function formatsOfEarlier(
  formats: NonNullable<Visualization['formats']>,
  comparisons: readonly { measure: string }[],
): NonNullable<Visualization['formats']> {
  return Object.fromEntries(
    comparisons.flatMap(({ measure }) => {
      const own = formats[measure];
      if (!own) return [];
      const change = own.type === 'percent' ? [] : [[`${measure}.change`, own]];
      return [[earlierMember(measure), own], ...change];
    }),
  );
}

function plainOf(visualization: Visualization, query: QueryColumns, describe?: Describe): Chart {
  const columns = columnsOf(query, describe);
  const channels = channelsOf(visualization, columns);
  switch (visualization.type) {
    case 'kpi':
      return {
        kind: 'kpi',
        spec: kpi(
          visualization,
          channels.y.map(({ member }) => member),
        ),
      };
    case 'map': {
      requireMeasures(channels.y);
      const place = requireColumn(channels.x, 'x');
      return {
        kind: 'map',
        spec: { member: place.member, measure: channels.y[0]!.member, geometry: 'world' },
      };
    }
    case 'pointMap':
      return { kind: 'map', spec: pointMap(visualization, columns) };
    case 'pivot':
      return { kind: 'table', spec: pivot(visualization, columns) };
    case 'text':
      return { kind: 'html', spec: { template: templateOf(visualization.text ?? '') } };
    default:
      return { kind: 'table', spec: table(visualization, columns) };
  }
}

/** A point for each row. Whatever else the query groups by names it, and the first other measure is its size. */
function pointMap({ fields }: Visualization, columns: ReturnType<typeof columnsOf>): Part {
  const numbers = columns.filter(({ kind }) => kind === 'number' || kind === 'measure');
  const known = placesOf(columns, fields);
  const latitude = known.latitude ?? numbers.find((column) => column !== known.longitude);
  const longitude = known.longitude ?? numbers.find((column) => column !== latitude);
  if (!latitude || !longitude)
    throw new VisualizationError(
      'fields.latitude',
      'needs two numbers: degrees to the north and to the east',
    );
  const others = columns.filter((column) => column !== latitude && column !== longitude);
  const find = (member: string | null | undefined) => others.find((column) => column.member === member);
  const measure = find(fields?.size) ?? others.find(({ kind }) => kind === 'measure');
  const name = find(fields?.detail) ?? others.find(({ kind }) => kind === 'dimension');
  return {
    latitude: latitude.member,
    longitude: longitude.member,
    ...(measure ? { measure: measure.member } : {}),
    ...(name ? { member: name.member } : {}),
    geometry: 'world',
  };
}

function kpi({ comparison, sparkline, goodWhen, formats }: Visualization, y: string[]): Part {
  const [measure] = y;
  if (!measure) throw new VisualizationError('fields.y', 'needs a measure: the query has none');
  const format = formats?.[measure];
  return {
    measure,
    ...(comparison ? { comparison: { periodComparison: { measure, ...comparison } } } : {}),
    ...(sparkline ? { sparkline } : {}),
    ...(goodWhen ? { goodWhen } : {}),
    ...(format ? { format } : {}),
  };
}

function table({ columns, totals, sort, formats }: Visualization, given: ReturnType<typeof columnsOf>): Part {
  const names = new Set(given.map(({ member }) => member));
  const shown = (columns ?? [])
    .filter(({ member }) => names.has(member))
    .map((column) => ({
      ...withoutNulls(column),
      ...(formats?.[column.member] ? { format: formats[column.member] } : {}),
    }));
  const chosen = new Set(shown.map(({ member }) => member));
  // A member that was added to the query later stands at the end.
  const later = shown.length
    ? given.filter(({ member }) => !chosen.has(member)).map(({ member }) => ({ member }))
    : [];
  const first = given.find(({ kind }) => kind === 'measure');
  return {
    ...(shown.length ? { columns: [...shown, ...later] } : {}),
    ...(totals ? { totals: true } : {}),
    ...(sort?.by === 'value' && first ? { sort: [{ member: first.member, desc: sort.desc === true }] } : {}),
  };
}

const withoutNulls = <T extends object>(part: T): T =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value != null)) as T;

/** A pivot table. Every group that is no column is a row, also one that the settings do not name. */
function pivot({ fields, totals }: Visualization, given: ReturnType<typeof columnsOf>): Part {
  const groups = given.filter(({ kind }) => kind !== 'measure').map(({ member }) => member);
  const has = (member: string) => groups.includes(member);
  const columns = fields?.columns?.filter(has) ?? groups.slice(1, 2);
  const rows = [...(fields?.rows?.filter(has) ?? []), ...groups].filter(
    (member, i, all) => !columns.includes(member) && all.indexOf(member) === i,
  );
  const measures = given.filter(({ kind }) => kind === 'measure').map(({ member }) => member);
  requireMeasures(given.filter(({ kind }) => kind === 'measure'));
  return { pivot: { rows, columns, measures }, ...(totals === false ? {} : { totals: true }) };
}

/** Lines of a text as paragraphs. What people write is text and not HTML. */
function templateOf(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const paragraphs = escaped
    .split(/\n\s*\n/)
    .map((lines) => `<p>${lines.trim().replaceAll('\n', '<br>')}</p>`);
  return paragraphs.join('');
}
