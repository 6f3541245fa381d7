/** What a table shows: its columns, the order of its rows, its totals and bars. */

import { type CellColors, cellColorsOf } from './cell-colors.ts';
import { type Formats, shownOf } from './format.ts';
import { isPlainTime, valuesOf } from './query.ts';
import type { Rows } from './rows.ts';
import type { Say } from './texts/index.ts';
import type { Annotation, ColumnFormat, FieldDisplay, Query, Row, Snapshot } from './types.ts';

export interface Column {
  member: string;
  title: string;
  shown: FieldDisplay | undefined;
  format: ColumnFormat | null | undefined;
  isNumber: boolean;
  align: 'left' | 'right' | 'center';
  width: number | undefined;
  hasBar: boolean;
  /** Whether it stays in sight at the beginning of the table. */
  isPinned: boolean;
  colors: CellColors;
  isMeasure: boolean;
}

export interface Sort {
  member: string;
  desc: boolean;
}

export function columnsOf(
  rows: Row[],
  annotation: Annotation,
  query: Query,
  snapshot: Snapshot,
  formats: Formats,
): Column[] {
  const spec = snapshot.kind === 'table' ? snapshot.spec : undefined;
  const times = (query.timeDimensions ?? [])
    .filter(({ granularity }) => granularity)
    .map(({ dimension, granularity }) => `${dimension}.${granularity}`);
  const known = [...times, ...(query.dimensions ?? []), ...valuesOf(query)];
  const computed = Object.keys(rows[0] ?? {}).filter(
    (key) => /\.(previous|change|percent)$/.test(key) && !known.includes(key),
  );
  const given: {
    member: string;
    title?: string;
    width?: number;
    align?: string;
    format?: ColumnFormat;
    bar?: boolean;
    pinned?: boolean;
    colors?: unknown;
    rules?: unknown;
  }[] =
    Array.isArray(spec?.columns) && spec.columns.length
      ? spec.columns
      : [...known, ...computed].map((member) => ({ member }));
  return given
    .filter(({ member }) => typeof member === 'string')
    .map(({ member, title, width, align, format, bar, pinned, colors, rules }) => {
      // A column may name a time without its granularity, which the viewer may have changed.
      const key =
        rows[0] && (!(member in rows[0]) || isPlainTime(query, member))
          ? (times.find((time) => time.startsWith(`${member.split('.').slice(0, 2).join('.')}.`)) ?? member)
          : member;
      const shown = shownOf(annotation, key, formats);
      const isNumber = shown?.type === 'number';
      return {
        member: key,
        title: String(title ?? shown?.shortTitle ?? member),
        shown,
        format:
          (typeof format === 'object' && format) ||
          snapshot.preferences?.columnFormats?.[member] ||
          undefined,
        isNumber,
        align:
          align === 'left' || align === 'right' || align === 'center' ? align : isNumber ? 'right' : 'left',
        width: typeof width === 'number' ? width : undefined,
        hasBar: bar === true,
        isPinned: pinned === true,
        colors: cellColorsOf(colors, rules),
        isMeasure: key in annotation.measures,
      };
    });
}

/** The columns, whose values have the same number of decimals. */
export const formattedColumns = (
  snapshot: Snapshot,
  { rows, result, query }: Pick<Rows, 'rows' | 'result' | 'query'>,
  formats: Formats,
): Column[] =>
  columnsOf(rows, result.annotation, query, snapshot, formats).map((column) => ({
    ...column,
    format: formats.column(
      rows.map((row) => row[column.member]),
      column.shown,
      column.format,
    ),
  }));

export function sortedRows(rows: Row[], columns: Column[], sort: Sort | undefined, formats: Formats): Row[] {
  const column = sort && columns.find(({ member }) => member === sort.member);
  if (!sort || !column) return rows;
  const sign = sort.desc ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [a[column.member], b[column.member]];
    if (x === y) return 0;
    // Rows without a value come last, in both directions.
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    return sign * (column.isNumber ? Number(x) - Number(y) : formats.compareTexts(String(x), String(y)));
  });
}

/** The largest value of each column with bars. */
export const largestOf = (rows: Row[], columns: Column[]) =>
  new Map(
    columns
      .filter(({ hasBar }) => hasBar)
      .map(({ member }) => [
        member,
        rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[member]) || 0)), 0),
      ]),
  );

/** Whether the totals are those of all rows that there are. */
export function isWholeTable({
  rows,
  result,
  query,
  total,
}: Pick<Rows, 'rows' | 'result' | 'query' | 'total'>) {
  const limit = result.query.limit ?? query.limit;
  return total !== undefined || !(result.rowsCapped || (limit && rows.length >= limit));
}

export const sumsOf = (rows: Row[], columns: Column[]): Row =>
  Object.fromEntries(
    columns
      .filter((column) => column.isMeasure && isSummable(column))
      .map(({ member }) => [member, rows.reduce((sum, row) => sum + (Number(row[member]) || 0), 0)]),
  );

/** A sum of shares or of averages means nothing. */
export const isSummable = ({ shown, format, member }: Column) =>
  shown?.type === 'number' &&
  shown.format !== 'percent' &&
  format?.type !== 'percent' &&
  !/avg|average|rate|ratio|per_/i.test(member);

/** A table in words, for where nothing can be pressed. */
export interface TableView {
  columns: { title: string; align: 'left' | 'right' | 'center'; width: number | undefined }[];
  /** `bars`: how long the bar of each column is, as a part of the longest; 0 for none. */
  rows: { texts: string[]; bars: number[] }[];
  totals: string[] | undefined;
  /** There are more rows than the server sends. */
  isCapped: boolean;
}

export function tableOf(
  snapshot: Snapshot,
  shown: Rows,
  { formats, say }: { formats: Formats; say: Say },
): TableView {
  const { rows, result } = shown;
  const spec = snapshot.kind === 'table' ? snapshot.spec : undefined;
  const columns = formattedColumns(snapshot, shown, formats);
  const [sort] = (Array.isArray(spec?.sort) ? spec.sort : []) as Sort[];
  const largest = largestOf(rows, columns);
  const sums = shown.total ?? sumsOf(rows, columns);
  const totals = columns.map(({ member, shown: means, format }, i) => {
    if (sums[member] !== undefined) return formats.value(sums[member], means, format);
    const key = isWholeTable(shown) ? 'total' : 'totalOf';
    return i === 0 ? say(key, { count: formats.count(rows.length) }) : '';
  });
  return {
    columns: columns.map(({ title, align, width }) => ({ title, align, width })),
    rows: sortedRows(rows, columns, sort, formats).map((row) => ({
      texts: columns.map(({ member, shown: means, format }) => formats.value(row[member], means, format)),
      bars: columns.map(({ member }) => {
        const most = largest.get(member);
        return most ? Math.abs(Number(row[member]) || 0) / most : 0;
      }),
    })),
    totals: spec?.totals === true ? totals : undefined,
    isCapped: result.rowsCapped === true,
  };
}
