/** How a report is drawn, as settings: `meta.visualization` of the report. `packages/visualization` makes charts of them. */
import { type Static, Type } from 'typebox';
import { ColumnFormats, PeriodComparisonOffset, ReportChart } from './dashboards.ts';
import { Maybe, matching, RecordOf, Shape } from './schemas.ts';

export const VISUALIZATION_TYPES = [
  'table',
  'pivot',
  'kpi',
  'bar',
  'column',
  'line',
  'area',
  'combo',
  'pie',
  'donut',
  'scatter',
  'bubble',
  'heatmap',
  'histogram',
  'boxplot',
  'funnel',
  'waterfall',
  'gauge',
  'map',
  'pointMap',
  'text',
] as const;

const member = (description: string) =>
  Maybe(Type.String({ maxLength: 255, description, examples: ['sales.status'] }));
const members = (description: string) =>
  Maybe(
    Type.Array(Type.String({ maxLength: 255, examples: ['sales.revenue'] }), { maxItems: 50, description }),
  );
const title = (description: string) => Maybe(Type.String({ maxLength: 255, description }));
const Color = Type.String({
  ...matching('^#[0-9a-fA-F]{6}$', 'must be a colour such as #3451c6'),
  examples: ['#3451c6'],
});
const number = (description: string) => Maybe(Type.Number({ description }));

const Fields = Shape('VisualizationFields', {
  x: member('Along the axis: a time with its granularity, such as `sales.ordered_at.month`, or a dimension'),
  y: members('The measures, in the order of the series; all of the query by default'),
  color: member('The dimension whose values are series, slices or cells of their own'),
  size: member('The measure that the size of a bubble shows, also on a map'),
  detail: member('The dimension that has a point for each of its values, in scatter and box plots'),
  latitude: member('The number of degrees to the north, in a map of points'),
  longitude: member('The number of degrees to the east, in a map of points'),
  facet: member('The dimension that has a small chart for each of its values'),
  rows: members('Members whose values become rows of a pivot table'),
  columns: members('Members whose values become columns of a pivot table'),
});

const Series = Shape('VisualizationSeries', {
  title: title('In the legend and the tooltip, in place of that of the member'),
  color: Maybe({ ...Color, description: 'In place of the next colour of the palette' }),
  mark: Maybe(
    Type.Enum(['column', 'line', 'area'], { description: 'In a combined chart; the first is a column' }),
  ),
  axis: Maybe(Type.Enum(['left', 'right'], { description: 'In a combined chart; `left` by default' })),
});

const Axis = Shape('VisualizationAxis', {
  title: title('That of the member by default; an empty text shows none'),
  hidden: Maybe(Type.Boolean({ description: 'Whether labels and title are left out' })),
  scale: Maybe(Type.Enum(['linear', 'log', 'sqrt'], { description: '`linear` by default' })),
  zero: Maybe(
    Type.Boolean({ description: 'Whether the axis begins at zero; false by default for lines and points' }),
  ),
  min: number('Where the axis begins'),
  max: number('Where the axis ends'),
  grid: Maybe(Type.Boolean({ description: 'Whether there are lines across' })),
});

const Axes = Shape('VisualizationAxes', {
  x: Maybe(Axis),
  y: Maybe(Axis),
  right: Maybe(Axis),
});

const Reference = Shape('VisualizationReference', {
  value: number('Where the line is, or where the band begins'),
  to: number('Where the band ends; without it, it is a line'),
  measure: Maybe(
    Type.Enum(['average', 'median', 'min', 'max'], {
      description: 'Of the first measure, in place of `value`',
    }),
  ),
  label: title('Beside the line'),
  color: Maybe({ ...Color, description: 'Of the line or band' }),
});

const Sort = Shape('VisualizationSort', {
  by: Type.Enum(['query', 'name', 'value'], { description: '`query` keeps the order of the rows' }),
  desc: Maybe(Type.Boolean({ description: 'Largest first' })),
});

const Column = Shape('VisualizationColumn', {
  member: Type.String({ maxLength: 255, examples: ['sales.revenue'] }),
  title: title('In place of that of the member'),
  width: Maybe(Type.Integer({ minimum: 20, maximum: 2000, description: 'In pixels' })),
  align: Maybe(
    Type.Enum(['left', 'center', 'right'], { description: 'Numbers stand on the right by default' }),
  ),
  bar: Maybe(Type.Boolean({ description: 'Whether bars behind the numbers compare them' })),
  pinned: Maybe(Type.Boolean({ description: 'Whether it stays in sight at the beginning of the table' })),
  colors: Maybe(
    Type.Enum(['scale', 'signs'], {
      description: '`scale` colours the largest values most, `signs` what is below zero and above it',
    }),
  ),
  rules: Maybe(
    Type.Array(
      Shape('VisualizationRule', {
        operator: Type.Enum(['gt', 'gte', 'lt', 'lte', 'equals'], { description: 'As in filters' }),
        value: Type.Union([Type.Number(), Type.String({ maxLength: 255 })], {
          description: 'What the value of the cell is compared with',
        }),
        color: Type.Enum(['good', 'bad', 'accent'], { description: 'A colour of the theme' }),
      }),
      { maxItems: 10, description: 'Colours of cells; the first rule that is true counts, before `colors`' },
    ),
  ),
});

const Comparison = Shape('VisualizationComparison', {
  timeDimension: Type.String({ maxLength: 255, description: 'The time whose range is moved' }),
  offset: PeriodComparisonOffset,
});

const Sparkline = Shape('VisualizationSparkline', {
  timeDimension: Type.String({ maxLength: 255, description: 'The time along the small line' }),
  granularity: Maybe(Type.String({ maxLength: 255, description: '`day` by default' })),
});

export const Visualization = Shape(
  'Visualization',
  {
    type: Type.Enum([...VISUALIZATION_TYPES], { title: 'VisualizationType' }),
    fields: Maybe(Fields),
    stacking: Maybe(
      Type.Enum(['none', 'stacked', 'percent'], {
        description:
          'Of bars, columns and areas with several series: beside each other, on top of each other, or as shares of 100 %. `stacked` by default for areas and colours, `none` for several measures',
      }),
    ),
    series: Maybe(
      RecordOf(Series, {
        maxProperties: 200,
        description: 'By the measure or, with `fields.color`, by the value of the dimension',
      }),
    ),
    palette: Maybe(Type.Array(Color, { maxItems: 32, description: 'Those of the theme by default' })),
    axes: Maybe(Axes),
    legend: Maybe(
      Type.Enum(['top', 'bottom', 'left', 'right', 'none'], {
        description: '`top` by default, if there are several series',
      }),
    ),
    labels: Maybe(
      Type.Enum(['none', 'value', 'percent'], {
        description: 'What is written at each mark; `none` by default',
      }),
    ),
    sort: Maybe(Sort),
    references: Maybe(Type.Array(Reference, { maxItems: 20, description: 'Lines and bands across' })),
    emptyValues: Maybe(
      Type.Enum(['gap', 'zero', 'connect'], {
        description:
          'What lines show where there is no value: `gap` by default; `zero` also adds missing periods',
      }),
    ),
    curve: Maybe(Type.Enum(['straight', 'smooth', 'step'], { description: 'Of lines and areas' })),
    points: Maybe(Type.Boolean({ description: 'Whether lines have a dot at each value' })),
    bins: Maybe(
      Type.Integer({ minimum: 2, maximum: 200, description: 'Of a histogram, at most; 20 by default' }),
    ),
    columns: Maybe(
      Type.Array(Column, { maxItems: 200, description: 'Of a table; those of the query by default' }),
    ),
    totals: Maybe(Type.Boolean({ description: 'Of a table or pivot table: whether there are totals' })),
    comparison: Maybe({ ...Comparison, description: 'What a figure is compared with' }),
    sparkline: Maybe({ ...Sparkline, description: 'The small line below a figure' }),
    goodWhen: Maybe(Type.Enum(['up', 'down'], { description: 'Of a figure; `up` by default' })),
    min: number('Where a gauge begins; 0 by default'),
    max: number('Where a gauge ends'),
    target: number('The mark in a gauge'),
    text: Maybe(
      Type.String({
        maxLength: 20_000,
        description: 'Of a text; `{{ sales.revenue }}` is filled with the first row',
      }),
    ),
    tooltip: members('Members that the tooltip of a mark names; all of the query by default'),
    formats: Maybe({ ...ColumnFormats, description: 'How numbers are written, by member' }),
    facetColumns: Maybe(
      Type.Integer({ minimum: 1, maximum: 12, description: 'How many small charts stand beside each other' }),
    ),
    periodComparisons: ReportChart.properties.periodComparisons,
  },
  { description: 'Settings of a chart; each has a default' },
);
export type Visualization = Static<typeof Visualization>;
