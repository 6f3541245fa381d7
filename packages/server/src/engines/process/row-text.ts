/** Writes rows as the text of one JSON array, within the limits of the query. */
import type { Write } from '../../platform/processes/serve-parent.ts';
import { type Column, EngineError, type Query, type Summary } from '../engine.ts';
import type { Run } from './source.ts';

/** Rows are sent in pieces of about this size. */
const PIECE_CHARS = 64 * 1024;
const PIECE_BYTES_MAX = 1024 * 1024;

/**
 * How many bytes one row may have before it becomes a JSON text, which can be six times as long. Node ends the whole
 * process if its memory for JavaScript is used up.
 */
export const ROW_BYTES_MAX = 16 * 1024 * 1024;

export const rowTooLarge = () =>
  new EngineError('result_too_large', `A row has more than ${ROW_BYTES_MAX} bytes: ask for less of it.`);

export interface RowText {
  /** Adds a row of JSON texts. Returns false if the row is one too many; then nothing was added. */
  add(values: readonly string[]): boolean;
  readonly isPieceFull: boolean;
  readonly rowCount: number;
  /** Sends what was added, and waits until more can be sent. */
  send(): Promise<void>;
  end(): Promise<Summary>;
}

export async function startRows(columns: Column[], run: Run, write: Write): Promise<RowText> {
  const { maxRows, maxBytes } = run;
  const { open, separators, more, close } = rowParts(columns, run.query);
  let text = '[';
  let rowCount = 0;
  let isCapped = false;
  let bytes = 0;
  // Sent as bytes too, so that the parent gets them before the first row.
  await write(Buffer.from(JSON.stringify(columns)));

  const tooLarge = () =>
    new EngineError('result_too_large', `The answer has more than ${maxBytes} bytes: ask for fewer rows.`);

  async function send() {
    const piece = Buffer.from(text);
    text = '';
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge();
    for (let at = 0; at < piece.length; at += PIECE_BYTES_MAX) {
      await write(piece.subarray(at, at + PIECE_BYTES_MAX));
    }
  }

  return {
    add(values) {
      if (rowCount === maxRows) {
        isCapped = true;
        return false;
      }
      let row = rowCount === 0 ? open : `,${open}`;
      for (let i = 0; i < values.length; i++) row += separators[i]! + values[i]!;
      for (const { separator, value } of more)
        row += separator + (typeof value === 'number' ? values[value]! : value);
      text += row + close;
      rowCount++;
      // There are at least as many bytes as characters, and a text that is too large need not be encoded first.
      if (bytes + text.length > maxBytes) throw tooLarge();
      return true;
    },
    get rowCount() {
      return rowCount;
    },
    get isPieceFull() {
      return text.length >= PIECE_CHARS;
    },
    send,
    async end() {
      text += ']';
      await send();
      return { rowCount, isCapped, bytes };
    },
  };
}

interface RowParts {
  open: string;
  /** What stands before each value. */
  separators: string[];
  /** Values that follow: the number of a column, or a text. */
  more: { separator: string; value: number | string }[];
  close: string;
}

function rowParts(columns: Column[], { keys, rowForm, more = [] }: Query): RowParts {
  if (keys && keys.length !== columns.length) {
    throw new EngineError(
      'query_invalid',
      `The statement returns ${columns.length} columns, but ${keys.length} are expected.`,
    );
  }
  const names = keys ?? columns.map(({ name }) => name);
  const all = [...names, ...more.map(({ key }) => key)];
  const isArrays = rowForm === 'arrays';
  const twice = isArrays ? undefined : all.find((name, i) => all.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new EngineError('query_invalid', `Two columns have the name ${JSON.stringify(twice)}.`);
  }
  const before = all.map((name, i) => `${i === 0 ? '' : ','}${isArrays ? '' : `${JSON.stringify(name)}:`}`);
  return {
    open: isArrays ? '[' : '{',
    separators: before.slice(0, names.length),
    more: more.map((item, i) => ({
      separator: before[names.length + i]!,
      value: 'text' in item ? JSON.stringify(item.text) : names.indexOf(item.sameAs),
    })),
    close: isArrays ? ']' : '}',
  };
}
