/** Rows of an answer as a pivot table: values of some members become rows, those of others columns. */
import type { Row } from './types.ts';

export interface PivotSpec {
  rows: string[];
  columns: string[];
  measures: string[];
}

export interface Pivot {
  /** The values of the members of rows, in the order of the answer. */
  rows: unknown[][];
  columns: unknown[][];
  /** The row of the answer behind a cell; undefined if there is none. */
  at(row: number, column: number): Row | undefined;
  /** Whether there are more columns than are shown. */
  isCut: boolean;
}

const COLUMNS_MAX = 200;

const keyOf = (row: Row, members: readonly string[]) =>
  JSON.stringify(members.map((member) => row[member] ?? null));

export function pivotOf(rows: readonly Row[], spec: PivotSpec): Pivot {
  const found = { rows: new Map<string, unknown[]>(), columns: new Map<string, unknown[]>() };
  const cells = new Map<string, Row>();
  for (const row of rows) {
    const [down, across] = [keyOf(row, spec.rows), keyOf(row, spec.columns)];
    found.rows.set(
      down,
      spec.rows.map((member) => row[member] ?? null),
    );
    found.columns.set(
      across,
      spec.columns.map((member) => row[member] ?? null),
    );
    cells.set(`${down} ${across}`, row);
  }
  const downs = [...found.rows.keys()];
  // Times and numbers go on from left to right, whatever order the rows have.
  const sorted = [...found.columns].sort(([, a], [, b]) => compare(a, b));
  const acrosses = sorted.slice(0, COLUMNS_MAX).map(([key]) => key);
  return {
    rows: [...found.rows.values()],
    columns: sorted.slice(0, COLUMNS_MAX).map(([, values]) => values),
    at: (row, column) => cells.get(`${downs[row]} ${acrosses[column]}`),
    isCut: sorted.length > COLUMNS_MAX,
  };
}

/** The order: by a member of the rows, or by a measure in one of the columns or in their total. */
export interface PivotSort {
  member: string;
  column?: number | 'total';
  desc: boolean;
}

/** The places of the rows, in the order that is asked for. Rows without a value come last, in both directions. */
export function sortedPlaces(pivot: Pivot, spec: PivotSpec, sort: PivotSort | undefined): number[] {
  const places = pivot.rows.map((_, place) => place);
  if (!sort) return places;
  const { member, column, desc } = sort;
  const level = spec.rows.indexOf(member);
  const total = (row: number) =>
    pivot.columns.reduce((sum, _, i) => sum + (Number(pivot.at(row, i)?.[member]) || 0), 0);
  const valueAt = (row: number): unknown => {
    if (column === undefined) return pivot.rows[row]![level];
    if (column === 'total') return total(row);
    const value = pivot.at(row, column)?.[member];
    return value == null ? null : Number(value);
  };
  const values = places.map(valueAt);
  return places.toSorted((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (x == null || y == null) return x === y ? 0 : x == null ? 1 : -1;
    return (desc ? -1 : 1) * compare([x], [y]);
  });
}

function compare(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i];
    if (value === other) continue;
    if (value == null) return 1;
    if (other == null) return -1;
    if (typeof value === 'number' && typeof other === 'number') return value - other;
    return String(value) < String(other) ? -1 : 1;
  }
  return 0;
}
