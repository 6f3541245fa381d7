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

/** The limit for texts that `string_agg` makes in SQL of callers. The engines look for this error. */
export const BOUNDED_TEXT = {
  bytes: 100_000,
  error: 'string_agg makes a text of more than 100,000 bytes',
} as const;
