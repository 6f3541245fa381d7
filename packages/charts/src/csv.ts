/** The rows of a widget as a file. */

import type { Column } from './table.ts';
import type { Row } from './types.ts';

/** A spreadsheet would run a text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** The value as a text that is safe in a spreadsheet, from a file or from the clipboard. */
export function plainCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const isFormula = typeof value === 'string' && FORMULA.test(value) && !Number.isFinite(Number(value));
  return isFormula ? `'${value}` : String(value);
}

function field(value: unknown): string {
  const text = plainCell(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvOf = (rows: Row[], columns: Column[]) =>
  [
    columns.map(({ title }) => field(title)),
    ...rows.map((row) => columns.map(({ member }) => field(row[member]))),
  ]
    .map((fields) => `${fields.join(',')}\r\n`)
    .join('');

/** The mark tells spreadsheets that the file is UTF-8. */
export const download = (name: string, text: string) =>
  downloadBlob(name, new Blob(['\ufeff', text], { type: 'text/csv' }));

export function downloadBlob(name: string, blob: Blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replaceAll(/[\\/:*?"<>|\p{Cc}]/gu, ' ').trim() || 'data.csv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
