/** Cursors and pages. A cursor holds the key of a row, and the list and sort that it belongs to. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../errors.ts';

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 1000;

export const pageSize = (asked: number | null | undefined) =>
  Math.min(asked ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX);

export interface Cursors {
  /** `list` names the list with its sort; a cursor of another one is refused. */
  encode(list: string, key: readonly unknown[]): string;
  decode(list: string, cursor: string): unknown[];
}

const MAC_BYTES = 8;

/** Cursors are signed, so that an altered one is refused instead of leading astray. */
export function createCursors(secret: Buffer): Cursors {
  const macOf = (list: string, payload: Buffer) =>
    createHmac('sha256', secret).update(list).update('\0').update(payload).digest().subarray(0, MAC_BYTES);
  return {
    encode(list, key) {
      const payload = Buffer.from(JSON.stringify(key));
      return Buffer.concat([macOf(list, payload), payload]).toString('base64url');
    },
    decode(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      const mac = bytes.subarray(0, MAC_BYTES);
      const genuine =
        bytes.toString('base64url') === cursor &&
        mac.length === MAC_BYTES &&
        timingSafeEqual(mac, macOf(list, payload));
      if (!genuine) throw new ApiError('invalid_cursor');
      return JSON.parse(payload.toString()) as unknown[];
    },
  };
}

/** Cuts a page out of rows that were fetched with one more than the page holds. */
export function toPage<Row>(
  rows: Row[],
  page: { size: number; after: string | undefined; cursorOf: (row: Row) => string },
) {
  const items = rows.slice(0, page.size);
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    pageInfo: {
      hasNextPage: rows.length > page.size,
      hasPreviousPage: page.after !== undefined,
      startCursor: first === undefined ? null : page.cursorOf(first),
      endCursor: last === undefined ? null : page.cursorOf(last),
    },
  };
}
