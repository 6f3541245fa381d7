/** How the columns of a result table are arranged, as pure functions over the settings that are stored with a report. */
import type { TableColumn } from '@oriel/charts';
import type { Visualization } from '@oriel/visualization';
import type { Question } from './question.ts';

export type ColumnSettings = NonNullable<Visualization['columns']>[number];

/** Those that are pinned first, then in the order of the settings; what the settings do not know stands at the end. */
export function arrangeColumns(
  columns: readonly TableColumn[],
  settings: readonly ColumnSettings[],
): ColumnSettings[] {
  const members = new Set(columns.map(({ member }) => member));
  const known = settings.filter(({ member }) => members.has(member));
  const names = new Set(known.map(({ member }) => member));
  const others = columns.filter(({ member }) => !names.has(member));
  const all: ColumnSettings[] = [...known, ...others.map(({ member }) => ({ member }))];
  return [...all.filter(({ pinned }) => pinned), ...all.filter(({ pinned }) => !pinned)];
}

/** Moves a column before another one, or by a step. A column stays among the pinned ones, or among the others. */
export function movedColumn(
  columns: readonly ColumnSettings[],
  member: string,
  to: { before: string } | { step: number },
): ColumnSettings[] {
  const from = columns.findIndex((column) => column.member === member);
  const target = 'step' in to ? from + to.step : columns.findIndex((column) => column.member === to.before);
  const isSame = Boolean(columns[from]?.pinned) === Boolean(columns[target]?.pinned);
  if (from < 0 || target < 0 || target >= columns.length || !isSame) return [...columns];
  const rest = columns.filter((_, i) => i !== from);
  return [...rest.slice(0, target), columns[from]!, ...rest.slice(target)];
}

export const withColumn = (
  columns: readonly ColumnSettings[],
  member: string,
  change: Partial<ColumnSettings>,
): ColumnSettings[] =>
  columns.map((column) => {
    if (column.member !== member) return column;
    const entries = Object.entries({ ...column, ...change }).filter(
      ([, value]) => value !== undefined && value !== false,
    );
    return Object.fromEntries(entries) as ColumnSettings;
  });

/** Settings are kept with a type: that of the chart that is shown. */
export const setColumns = (
  question: Question,
  type: Visualization['type'],
  columns: ColumnSettings[],
): Question => ({ ...question, visualization: { type, ...question.visualization, columns } });
