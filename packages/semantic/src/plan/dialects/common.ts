import type { CallName } from '../sql.ts';

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

type Truncation = Extract<CallName, `truncate ${string}`>;

const truncate = (unit: string) => (x: string) => `date_trunc('${unit}', ${x})`;

export const truncations: Record<Truncation, (...args: readonly string[]) => string> = {
  'truncate second': truncate('second'),
  'truncate minute': truncate('minute'),
  'truncate hour': truncate('hour'),
  'truncate day': truncate('day'),
  'truncate week': truncate('week'),
  'truncate month': truncate('month'),
  'truncate quarter': truncate('quarter'),
  'truncate year': truncate('year'),
};

/** A table of these rows, with the names of its columns. */
export const valuesTable = (
  rows: readonly (readonly string[])[],
  columns: readonly string[],
  alias: string,
) => `(values ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) as ${alias}(${columns.join(', ')})`;

/** Removes what the pattern matches outside of its first group, which is for texts in quotes. */
export const commentsRemover = (pattern: RegExp, marks: readonly string[]) => (text: string) =>
  marks.some((mark) => text.includes(mark))
    ? text.replace(pattern, (_, quoted?: string) => quoted ?? ' ')
    : text;

export const withoutComments = commentsRemover(
  /('(?:[^']|'')*'|"(?:[^"]|"")*")|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
  ['--', '/*'],
);
