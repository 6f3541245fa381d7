/** What a compiled spec is made of, for what changes it before it is drawn. */

export type Part = Record<string, unknown>;

export interface Room {
  width: number;
  height: number;
  isRightToLeft: boolean;
  /** How wide a text is, in the font of labels. */
  measure(text: string): number;
}

export const partsOf = (parts: unknown): Part[] => (Array.isArray(parts) ? parts : []);

export const isBand = ({ type }: Part) => ['band', 'point', 'ordinal'].includes(String(type));

/** The values that a scale names, if they are a field of the rows. */
export function entriesOf({ domain }: Part, rows: readonly Part[]): string[] | undefined {
  if (Array.isArray(domain)) return domain.map(String);
  const { field } = (domain ?? {}) as { field?: unknown };
  if (typeof field !== 'string' || !rows.some((row) => field in row)) return undefined;
  return [...new Set(rows.map((row) => String(row[field])))];
}
