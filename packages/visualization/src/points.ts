/** Points, cells and distributions: scatter, bubble, heat map, histogram, box plot. */
import { colorOf, facetOf } from './cartesian.ts';
import { channelsOf, columnsOf, fieldOf, requireColumn, requireMeasures } from './columns.ts';
import { along, amount, datum, formatOf, legendOf, type Part } from './encodings.ts';
import { referencesOf } from './references.ts';
import { type Describe, type QueryColumns, type Visualization, VisualizationError } from './types.ts';

/** Two measures against each other, with a point for each row. */
export function scatter(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const columns = columnsOf(query, describe);
  const { y, color, size, facet, ...rest } = channelsOf(visualization, columns);
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const chosen = columns.find(({ member }) => member === visualization.fields?.x);
  const across = chosen?.kind === 'measure' || chosen?.kind === 'number' ? chosen : undefined;
  const others = y.filter((column) => column !== across);
  const x = across ?? (y.length > 1 ? y[0] : numbers[0]);
  const up = across ? others[0] : y.length > 1 ? y[1] : y[0];
  if (!x || !up)
    throw new VisualizationError(
      'fields.y',
      'needs two measures, or a measure and a dimension that is a number',
    );
  const isBubble = visualization.type === 'bubble';
  const large = size ?? (isBubble ? y.find((column) => column !== x && column !== up) : undefined);
  if (isBubble && !large) throw new VisualizationError('fields.size', 'needs a third measure for the size');
  const by = visualization.fields?.color ? color : undefined;
  // Each row is a point: whatever else the query groups by tells them apart.
  const detail = columns.filter((column) => ['dimension', 'time'].includes(column.kind) && column !== by);
  const named = (column: typeof x) => ({ axis: { title: fieldOf(column!.member) } });
  const points: Part = {
    mark: { type: 'circle', opacity: 0.75, ...(large ? {} : { size: 60 }) },
    encoding: {
      x: amount(fieldOf(x.member), visualization.axes?.x, { scale: { zero: false }, ...named(x) }),
      y: amount(fieldOf(up.member), visualization.axes?.y, { scale: { zero: false }, ...named(up) }),
      ...(by
        ? { color: colorOf({ visualization }, fieldOf(by.member), Object.keys(visualization.series ?? {})) }
        : {}),
      ...(large
        ? {
            size: {
              field: fieldOf(large.member),
              type: 'quantitative',
              scale: { range: [20, 900] },
              legend: null,
            },
          }
        : {}),
      ...(detail.length
        ? { detail: detail.map(({ member }) => ({ field: fieldOf(member), type: 'nominal' })) }
        : {}),
    },
  };
  const only = visualization.palette?.[0];
  if (!by && only) (points.mark as Part).color = only;
  const label = rest.detail ?? rest.x;
  const labels =
    visualization.labels === 'value' && label
      ? [
          {
            mark: { type: 'text', dy: -10, fontSize: 11 },
            encoding: {
              x: (points.encoding as Part).x,
              y: (points.encoding as Part).y,
              text: { field: fieldOf(label.member), type: 'nominal' },
            },
          },
        ]
      : [];
  const references = referencesOf(visualization, up, false);
  const layers = [points, ...labels, ...references];
  const body = layers.length === 1 ? points : { layer: layers };
  return facet ? facetOf(facet, visualization, body) : body;
}

/** A cell for each pair of values, as dark as its measure is large. */
export function heatmap(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const columns = columnsOf(query, describe);
  const { x, y, color } = channelsOf(visualization, columns);
  requireMeasures(y);
  const across = requireColumn(x, 'x');
  const down = requireColumn(color, 'color');
  const measure = y[0]!;
  const field = fieldOf(measure.member);
  const place = (column: typeof across, axis: 'x' | 'y') => {
    const { scale: _scale, ...part } = along(column, visualization.axes?.[axis], { isBand: true });
    return column.kind === 'time' ? { ...part, type: 'ordinal' } : part;
  };
  const cells: Part = {
    mark: { type: 'rect', cornerRadius: 2 },
    encoding: {
      x: place(across, 'x'),
      y: place(down, 'y'),
      color: {
        field,
        type: 'quantitative',
        legend: legendOf(visualization),
        ...(visualization.palette?.length ? { scale: { range: visualization.palette } } : {}),
      },
    },
  };
  if (visualization.labels !== 'value') return cells;
  const { x: at, y: of } = cells.encoding as Part;
  return {
    transform: [{ joinaggregate: [{ op: 'max', field, as: 'largest_cell' }] }],
    layer: [
      cells,
      {
        mark: { type: 'text', fontSize: 11 },
        encoding: {
          x: at,
          y: of,
          text: { field, type: 'quantitative', format: formatOf(measure.member, visualization, describe) },
          // Dark cells need light labels.
          color: {
            condition: { test: `${datum(field)} > datum.largest_cell * 0.6`, value: 'white' },
            value: 'black',
          },
        },
      },
    ],
  };
}

const BINS = 20;

/** How many rows have a value in each range: of a dimension that is a number, or of a measure. */
export function histogram(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const columns = columnsOf(query, describe);
  const { y } = channelsOf(visualization, columns);
  const chosen = columns.find(({ member }) => member === visualization.fields?.x);
  const number = chosen ?? columns.find(({ kind }) => kind === 'number');
  const of = number ?? y[0];
  if (!of) throw new VisualizationError('fields.x', 'needs a measure, or a dimension that is a number');
  const bin = { maxbins: visualization.bins ?? BINS };
  // Rows of a number are grouped by it, so the measure says how many there are of each.
  const weight = number ? y[0] : undefined;
  const only = visualization.palette?.[0];
  return {
    mark: { type: 'bar', cornerRadiusEnd: 2, ...(only ? { color: only } : {}) },
    encoding: {
      x: {
        field: fieldOf(of.member),
        type: 'quantitative',
        bin,
        axis: { title: visualization.axes?.x?.title ?? fieldOf(of.member) },
      },
      y: weight
        ? { ...amount(fieldOf(weight.member), visualization.axes?.y), aggregate: 'sum' }
        : { aggregate: 'count', type: 'quantitative', axis: { title: visualization.axes?.y?.title ?? null } },
    },
  };
}

/** How the values of a measure are spread over the rows of each group. */
export function boxplot(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const columns = columnsOf(query, describe);
  const { x, y, color } = channelsOf(visualization, columns);
  requireMeasures(y);
  const groups = columns.filter(({ kind }) => kind !== 'measure');
  const by = visualization.fields?.x || groups.length > 1 ? x : undefined;
  const tinted = visualization.fields?.color && color !== by ? color : undefined;
  const only = visualization.palette?.[0];
  return {
    mark: { type: 'boxplot', extent: 1.5, size: 24, ...(only ? { color: only } : {}) },
    encoding: {
      ...(by ? { x: boxPlace(by, visualization) } : {}),
      y: amount(fieldOf(y[0]!.member), visualization.axes?.y, { scale: { zero: false } }),
      ...(tinted
        ? {
            color: colorOf(
              { visualization },
              fieldOf(tinted.member),
              Object.keys(visualization.series ?? {}),
            ),
          }
        : {}),
    },
  };
}

function boxPlace(column: Parameters<typeof along>[0], visualization: Visualization): Part {
  const { scale: _scale, ...part } = along(column, visualization.axes?.x, { isBand: true });
  return column.kind === 'time' ? { ...part, type: 'ordinal' } : part;
}
