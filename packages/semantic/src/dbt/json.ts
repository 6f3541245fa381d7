/** Reads values of dbt's files leniently: what is missing or of another type counts as not given. */

export type Fields = Readonly<Record<string, unknown>>;

const NOTHING: Fields = {};

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fields = (value: unknown): Fields => (isFields(value) ? value : NOTHING);

/** The entries of an object, without those that are no objects themselves. */
export const entries = (value: unknown): [string, Fields][] =>
  Object.entries(fields(value)).filter((entry): entry is [string, Fields] => isFields(entry[1]));

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.toWellFormed() : undefined;

export const texts = (value: unknown): string[] => {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.toWellFormed()];
  return list(value).flatMap((item) => text(item) ?? []);
};

export const whole = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
