/** Calculated fields: random ones, and what they mean in plain loops. */
import type { Cell } from '../engines.ts';
import type { Random } from '../random.ts';

export interface TestField {
  readonly name: string;
  readonly kind: string;
  readonly of?: string;
  readonly function?: string;
  readonly along?: string;
  readonly within?: string[];
  readonly rows?: number;
  readonly direction?: string;
  readonly expression?: string;
}

/** The measures of a world that are the same as an aggregate of a dimension. */
const AGGREGATES: [dimension: string, name: string, measure: string][] = [
  ['n', 'sum', 'sum_n'],
  ['n', 'avg', 'avg_n'],
  ['n', 'min', 'min_n'],
  ['n', 'max', 'max_n'],
  ['s', 'countDistinct', 'kinds'],
];
/** Their values are whole, so that engines agree which of two is larger. */
const WHOLE = /\.(count|count_n|high|sum_n|min_n|max_n|kinds|own)$/;
const BY_ORDER = ['difference', 'percentDifference', 'runningTotal', 'movingAverage'];

const number = (cell: Cell | undefined) => (cell === null || cell === undefined ? undefined : Number(cell));
const cell = (value: number | undefined): Cell =>
  value === undefined || !Number.isFinite(value) ? null : String(value);
const quotient = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined || b === 0 ? undefined : a / b;

/** Expressions of two members, in this order, by the last letter of the field's name. */
const EXPRESSIONS: Record<
  string,
  [text: (a: string, b: string) => string, value: (a: Cell, b: Cell) => Cell]
> = {
  q: [(a, b) => `${a} / ${b}`, (a, b) => cell(quotient(number(a), number(b)))],
  c: [
    (a, b) => `coalesce(${a}, 0) - 2 * coalesce(${b}, 1)`,
    (a, b) => cell((number(a) ?? 0) - 2 * (number(b) ?? 1)),
  ],
  t: [
    (a, b) => `if(${a} >= 2 and not (${b} is null), 'it''s many', 'few')`,
    (a, b) => (b !== null && number(a) !== undefined && number(a)! >= 2 ? "it's many" : 'few'),
  ],
  a: [
    (a, b) => `abs(nullif(${a}, 1)) + 1.5 * ${b}`,
    (a, b) => {
      const [x, y] = [number(a), number(b)];
      return x === undefined || x === 1 || y === undefined ? null : cell(Math.abs(x) + 1.5 * y);
    },
  ],
};

export const isTextField = (name: string) => /^\w+$/.test(name) && name.endsWith('t') && name.startsWith('e');

export function makeFields(
  measures: readonly string[],
  cubes: readonly string[],
  keys: readonly string[],
  random: Random,
): TestField[] {
  const whole = measures.filter((name) => WHOLE.test(name));
  const fields: TestField[] = [];
  for (let i = 1 + random.below(3); i > 0; i--) {
    const name = `f${i}`;
    const before = fields.filter(({ kind }) => kind === 'runningTotal' || kind === 'difference');
    const of = before.length && random.chance(0.3) ? random.pick(before).name : random.pick(whole);
    const kind = random.pick([
      'aggregate',
      'expression',
      'shareOfTotal',
      'rank',
      'runningTotal',
      'difference',
      'percentDifference',
      'movingAverage',
    ]);
    const within = random.chance(0.3) ? { within: random.some(keys, 1) } : {};
    if (kind === 'aggregate') {
      const [dimension, aggregate] = random.pick(AGGREGATES);
      fields.push({ name, kind, of: `${random.pick(cubes)}.${dimension}`, function: aggregate });
    } else if (kind === 'expression') {
      const last = random.pick(Object.keys(EXPRESSIONS));
      const [text] = EXPRESSIONS[last]!;
      fields.push({ name: `e${i}${last}`, kind, expression: text(of, random.pick(whole)) });
    } else if (kind === 'rank') {
      fields.push({ name, kind, of, ...within, direction: random.pick(['asc', 'desc']) });
    } else if (kind === 'shareOfTotal') fields.push({ name, kind, of, ...within });
    else {
      const along = keys.length && random.chance(0.4) ? { along: random.pick(keys) } : {};
      const rows = kind === 'movingAverage' ? { rows: 2 + random.below(3) } : {};
      fields.push({ name, kind, of, ...along, ...within, ...rows });
    }
  }
  return fields;
}

const namesIn = (expression: string) => expression.match(/[a-z]\w*\.\w+|\b[f]\d\b/g) ?? [];

/** The members that a field names. */
export const membersNamed = ({ of, expression }: TestField): string[] =>
  (expression === undefined ? [of!] : namesIn(expression)).filter((name) => name.includes('.'));

/** The measures that it is computed from. */
export const measuresBehind = (field: TestField): string[] =>
  field.kind === 'aggregate' ? [sameMeasure(field)] : membersNamed(field);

function sameMeasure({ of, function: aggregate }: TestField): string {
  const [cube, dimension] = of!.split('.');
  const [, , measure] = AGGREGATES.find(([one, name]) => one === dimension && name === aggregate)!;
  return `${cube}.${measure}`;
}

export interface GroupedRows {
  readonly cells: Cell[];
  valueFor(measure: string): Cell;
}

interface Columns {
  /** The names of the cells, the first of which are the keys. */
  readonly names: readonly string[];
  readonly keys: number;
  readonly times: readonly string[];
  /** Sorts the rows by these columns; unknown names count for nothing. */
  sorted(
    rows: readonly GroupedRows[],
    order: readonly [string, 'asc' | 'desc'][],
    names: readonly string[],
  ): GroupedRows[];
  readonly order: readonly [string, 'asc' | 'desc'][];
}

/** Adds the cells of the fields to the rows, in the order of the fields. */
export function addFields(rows: readonly GroupedRows[], fields: readonly TestField[], columns: Columns) {
  const values = new Map<string, Map<GroupedRows, Cell>>();
  const ordered = new Set<string>();
  for (const { name, kind, of, expression } of fields) {
    const names = expression === undefined ? [of!] : namesIn(expression);
    if (BY_ORDER.includes(kind) || names.some((one) => ordered.has(one))) ordered.add(name);
  }
  const cellOf = (row: GroupedRows, name: string) =>
    values.get(name)?.get(row) ?? (name.includes('.') ? row.valueFor(name) : null);
  const done: string[] = [];
  for (const isOrdered of [false, true]) {
    for (const field of fields.filter(({ name }) => ordered.has(name) === isOrdered)) {
      values.set(
        field.name,
        new Map(
          computed(
            rows,
            field,
            columns,
            cellOf,
            done.filter((one) => !ordered.has(one)),
          ),
        ),
      );
      done.push(field.name);
    }
  }
  for (const row of rows) row.cells.push(...fields.map(({ name }) => values.get(name)!.get(row)!));
}

type CellOf = (row: GroupedRows, name: string) => Cell;

function computed(
  rows: readonly GroupedRows[],
  field: TestField,
  columns: Columns,
  cellOf: CellOf,
  done: readonly string[],
): [GroupedRows, Cell][] {
  if (field.kind === 'aggregate') return rows.map((row) => [row, row.valueFor(sameMeasure(field))]);
  if (field.kind === 'expression') {
    const [a, b] = namesIn(field.expression!) as [string, string];
    const [, value] = EXPRESSIONS[field.name.at(-1)!]!;
    return rows.map((row) => [row, value(cellOf(row, a), cellOf(row, b))]);
  }
  const keys = columns.names.slice(0, columns.keys);
  const isByOrder = BY_ORDER.includes(field.kind);
  const along = field.along ?? (isByOrder ? columns.times[0] : undefined);
  const within = field.within ?? (along === undefined ? [] : keys.filter((key) => key !== along));
  const order = along === undefined ? columns.order : [[along, 'asc'] as [string, 'asc']];
  const withDone = rows.map(
    (row): GroupedRows => ({
      cells: [...row.cells, ...done.map((name) => cellOf(row, name))],
      valueFor: () => null,
    }),
  );
  const originals = new Map(withDone.map((row, i) => [row, rows[i]!]));
  const parts = new Map<string, GroupedRows[]>();
  for (const row of columns.sorted(withDone, order, [...columns.names, ...done])) {
    const id = JSON.stringify(within.map((name) => row.cells[columns.names.indexOf(name)]));
    parts.set(id, [...(parts.get(id) ?? []), originals.get(row)!]);
  }
  return [...parts.values()].flatMap((part) =>
    part.map((row, i): [GroupedRows, Cell] => {
      const given = part.map((one) => number(cellOf(one, field.of!)));
      return [row, cell(overPart(field, given, i))];
    }),
  );
}

function overPart(field: TestField, given: readonly (number | undefined)[], i: number): number | undefined {
  const own = given[i];
  const before = given[i - 1];
  const sum = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length ? known.reduce((a, b) => a + b, 0) : undefined;
  };
  const difference = own === undefined || before === undefined ? undefined : own - before;
  switch (field.kind) {
    case 'shareOfTotal':
      return quotient(own, sum(given));
    case 'difference':
      return difference;
    case 'percentDifference':
      return quotient(difference, before);
    case 'runningTotal':
      return sum(given.slice(0, i + 1));
    case 'movingAverage': {
      const last = given.slice(Math.max(0, i + 1 - (field.rows ?? 3)), i + 1);
      return quotient(sum(last), last.filter((value) => value !== undefined).length);
    }
    default: {
      if (own === undefined) return undefined;
      const isBefore = (value: number | undefined) =>
        value !== undefined && (field.direction === 'asc' ? value < own : value > own);
      return 1 + given.filter(isBefore).length;
    }
  }
}
