/** The functions, operators and types that SQL may use. Everything else is refused. */

export interface FunctionKind {
  readonly use: 'value' | 'aggregate' | 'window';
  /** The least and the largest number of arguments. */
  readonly arguments: readonly [number, number];
  /** Its name in the statement that runs, if it is another one. */
  readonly written?: string;
  /** Whether its arguments are written as doubles. PostgreSQL would make decimals of many thousand digits. */
  readonly ofDoubles?: true;
}

const value = (least: number, most = least, written?: string): FunctionKind => ({
  use: 'value',
  arguments: [least, most],
  ...(written === undefined ? {} : { written }),
});
const ofDoubles = (count: number): FunctionKind => ({ ...value(count), ofDoubles: true });
const aggregate = (count: number): FunctionKind => ({ use: 'aggregate', arguments: [count, count] });
const window = (least: number, most = least): FunctionKind => ({ use: 'window', arguments: [least, most] });

/**
 * No function that makes much of little (`repeat`, `lpad`), that cannot be repeated (`random`), or that knows anything
 * but its arguments.
 */
export const FUNCTIONS: ReadonlyMap<string, FunctionKind> = new Map([
  ['abs', value(1)],
  ['ceil', value(1)],
  ['ceiling', value(1)],
  ['floor', value(1)],
  ['trunc', value(1)],
  ['sign', value(1)],
  ['sqrt', ofDoubles(1)],
  ['power', ofDoubles(2)],
  ['exp', ofDoubles(1)],
  ['ln', ofDoubles(1)],
  ['log', ofDoubles(1)],
  ['mod', value(2)],
  ['lower', value(1)],
  ['upper', value(1)],
  ['length', value(1)],
  ['char_length', value(1, 1, 'length')],
  ['btrim', value(1, 2, 'trim')],
  ['ltrim', value(1, 2)],
  ['rtrim', value(1, 2)],
  ['substring', value(2, 3, 'substr')],
  ['substr', value(2, 3)],
  ['left', value(2)],
  ['right', value(2)],
  ['replace', value(3)],
  ['reverse', value(1)],
  ['concat', value(1, 50)],
  ['concat_ws', value(2, 50)],
  ['position', value(2, 2, 'strpos')],
  ['strpos', value(2)],
  ['split_part', value(3)],
  ['starts_with', value(2)],
  ['md5', value(1)],
  ['make_date', value(3)],

  ['count', aggregate(1)],
  ['sum', aggregate(1)],
  ['avg', aggregate(1)],
  ['min', aggregate(1)],
  ['max', aggregate(1)],
  ['bool_and', aggregate(1)],
  ['bool_or', aggregate(1)],
  ['stddev', aggregate(1)],
  ['stddev_pop', aggregate(1)],
  ['stddev_samp', aggregate(1)],
  ['variance', aggregate(1)],
  ['var_pop', aggregate(1)],
  ['var_samp', aggregate(1)],
  ['corr', aggregate(2)],
  ['covar_pop', aggregate(2)],
  ['covar_samp', aggregate(2)],
  ['string_agg', aggregate(2)],

  ['row_number', window(0)],
  ['rank', window(0)],
  ['dense_rank', window(0)],
  ['percent_rank', window(0)],
  ['cume_dist', window(0)],
  ['ntile', window(1)],
  ['lag', window(1, 3)],
  ['lead', window(1, 3)],
  ['first_value', window(1)],
  ['last_value', window(1)],
  ['nth_value', window(2)],
]);

/** `percentile_cont(0.5) within group (order by amount)`. */
export const ORDERED_SETS: ReadonlySet<string> = new Set(['percentile_cont', 'percentile_disc']);

/** The parts of a time that `extract` and `date_part` take. */
export const TIME_PARTS: ReadonlySet<string> = new Set([
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'dow',
  'isodow',
  'doy',
  'isoyear',
  'epoch',
]);

/** What `date_trunc` takes. */
export const TIME_UNITS: ReadonlySet<string> = new Set([
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
]);

export const OPERATORS: ReadonlySet<string> = new Set([
  '=',
  '<>',
  '<',
  '>',
  '<=',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
  '||',
]);
export const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '<', '>', '<=', '>=']);

/** The names of the parser, and those of the statement that runs. */
export const TYPES: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['varchar', 'text'],
  ['int2', 'int2'],
  ['int4', 'int4'],
  ['int8', 'int8'],
  ['float4', 'float4'],
  ['float8', 'float8'],
  // Without digits, databases mean different things by it.
  ['numeric', 'decimal(38, 10)'],
  ['bool', 'boolean'],
  ['date', 'date'],
  ['time', 'time'],
  ['timestamp', 'timestamp'],
  ['timestamptz', 'timestamptz'],
  ['interval', 'interval'],
]);
