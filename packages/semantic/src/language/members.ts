/** Dimensions, measures, segments and hierarchies, as a file writes them. */
import { column, expression, NO_EXPRESSION, type RawExpression } from '../expressions.ts';
import type { DimensionFormat, DimensionType, MeasureFormat, MeasureType } from '../model.ts';
import {
  list,
  mention,
  meta,
  name,
  needed,
  object,
  oneOf,
  optional,
  orElse,
  type Reader,
  text,
  truth,
  withSchema,
} from '../read.ts';
import { interval, moment, windowEdge } from './intervals.ts';

const NOWHERE = { source: { file: '', text: '' }, offset: 0 };
export const NO_NAME = { text: '', spot: NOWHERE };
const NO_SQL = NO_EXPRESSION(NOWHERE);

const TITLE_MAX = 500;
const DESCRIPTION_MAX = 10_000;

/** The keys of everything that people read about. */
export const described = {
  name: needed(name, NO_NAME),
  title: optional(text(TITLE_MAX)),
  description: optional(text(DESCRIPTION_MAX)),
  public: optional(truth),
  meta: optional(meta),
};

export const OLDER_KEYS = { shown: 'public' } as const;

const granularity = object({
  what: 'a granularity',
  fields: {
    name: needed(name, NO_NAME),
    title: optional(text(TITLE_MAX)),
    interval: needed(interval({ canBeNegative: false }), []),
    offset: optional(interval({ canBeNegative: true })),
    origin: optional(moment),
  },
});
export type RawGranularity = ReturnType<typeof granularity>;

export type RawLabel = { text: string } | { sql: RawExpression };

const labelObject = object({ what: 'a label', fields: { sql: needed(column, NO_SQL) } });
/** A text, or `{ sql }`. */
const label: Reader<RawLabel> = withSchema(
  (value, problems) =>
    value.kind === 'map'
      ? { sql: labelObject(value, problems).sql }
      : { text: text(TITLE_MAX)(value, problems) },
  { anyOf: [text(TITLE_MAX).schema!, labelObject.schema!] },
);
const NO_LABEL: RawLabel = { text: '' };

const when = object({
  what: 'a `when` of a case',
  fields: { sql: needed(expression, NO_SQL), label: needed(label, NO_LABEL) },
});
const otherwise = object({ what: 'the `else` of a case', fields: { label: needed(label, NO_LABEL) } });
const caseOf = object({
  what: 'a case',
  fields: { when: needed(list('`when`', when, { min: 1 }), []), else: optional(otherwise) },
});

export const DIMENSION_TYPES: readonly DimensionType[] = ['string', 'number', 'boolean', 'time'];
const DIMENSION_FORMATS: readonly DimensionFormat[] = [
  'imageUrl',
  'link',
  'id',
  'currency',
  'percent',
  'number',
];
const TYPES_MEANT = {
  text: 'string',
  varchar: 'string',
  integer: 'number',
  int: 'number',
  float: 'number',
  date: 'time',
  timestamp: 'time',
  bool: 'boolean',
} as const;

export const dimension = object({
  what: 'a dimension',
  fields: {
    ...described,
    type: needed(oneOf(DIMENSION_TYPES, { meant: TYPES_MEANT }), 'string'),
    sql: optional(column),
    case: optional(caseOf),
    primary_key: orElse(truth, false),
    sub_query: orElse(truth, false),
    format: optional(oneOf(DIMENSION_FORMATS)),
    granularities: orElse(list('`granularities`', granularity), []),
  },
  older: OLDER_KEYS,
  unused: { suggest_filter_values: 'Filters suggest the values of every dimension that the viewer may see.' },
  refused: {
    propagate_filters_to_sub_query: 'The filters of a query do not reach into a `sub_query`.',
    latitude:
      'There is no dimension of type `geo`. Make a dimension for the latitude and one for the longitude.',
    longitude:
      'There is no dimension of type `geo`. Make a dimension for the latitude and one for the longitude.',
  },
});
export type RawDimension = ReturnType<typeof dimension>;

const MEASURE_TYPES: readonly MeasureType[] = [
  'count',
  'count_distinct',
  'count_distinct_approx',
  'sum',
  'avg',
  'min',
  'max',
  'number',
];
const MEASURES_MEANT = { average: 'avg', total: 'sum' } as const;
const MEASURES_INSTEAD = {
  running_total: 'A running total is a `sum` with `rolling_window: { trailing: unbounded }`.',
};
const MEASURE_FORMATS: readonly MeasureFormat[] = ['currency', 'percent', 'number'];

const filter = object({ what: 'a filter of a measure', fields: { sql: needed(expression, NO_SQL) } });

const WINDOW_OFFSETS: readonly ('start' | 'end')[] = ['start', 'end'];

const rollingWindow = object({
  what: 'a rolling window',
  fields: {
    trailing: optional(windowEdge),
    leading: optional(windowEdge),
    offset: orElse(oneOf(WINDOW_OFFSETS), 'end'),
  },
  refused: {
    type: 'A rolling window is given by `trailing` and `leading`.',
    granularity: 'A rolling window is given by `trailing` and `leading`.',
  },
});

const NO_MULTI_STAGE = 'Measures of several stages are not supported. Use a `sub_query` dimension.';

export const measure = object({
  what: 'a measure',
  fields: {
    ...described,
    type: needed(oneOf(MEASURE_TYPES, { meant: MEASURES_MEANT, instead: MEASURES_INSTEAD }), 'count'),
    sql: optional(column),
    filters: orElse(list('`filters`', filter), []),
    rolling_window: optional(rollingWindow),
    format: optional(oneOf(MEASURE_FORMATS)),
    drill_members: orElse(list('`drill_members`', mention), []),
  },
  older: { ...OLDER_KEYS, drill_member_references: 'drill_members' },
  refused: {
    multi_stage: NO_MULTI_STAGE,
    group_by: NO_MULTI_STAGE,
    reduce_by: NO_MULTI_STAGE,
    add_group_by: NO_MULTI_STAGE,
    time_shift: NO_MULTI_STAGE,
    case: 'A measure has no `case`. Use a `case` of a dimension, or `filters`.',
  },
});
export type RawMeasure = ReturnType<typeof measure>;

export const segment = object({
  what: 'a segment',
  fields: { ...described, sql: needed(column, NO_SQL) },
  older: OLDER_KEYS,
});
export type RawSegment = ReturnType<typeof segment>;

export const hierarchy = object({
  what: 'a hierarchy',
  fields: { ...described, levels: needed(list('`levels`', mention, { min: 1 }), []) },
  older: OLDER_KEYS,
});
export type RawHierarchy = ReturnType<typeof hierarchy>;
