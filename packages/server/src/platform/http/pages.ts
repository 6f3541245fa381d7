/** Cursors and pages. A cursor holds the key of a row, and the list and sort that it belongs to. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../errors.ts';
import type { Keys } from '../secrets/keyring.ts';

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 1000;
/**
 * A page ends with the item that reaches this size, so that large content of other users cannot make a list too large
 * to send.
 */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024;

export const pageSize = (asked: number | null | undefined) =>
  Math.min(asked ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX);

export interface Cursors {
  /** `list` names the list with its sort. A cursor of another list or sort is refused. */
  encode(list: string, key: readonly unknown[]): string;
  decode(list: string, cursor: string): unknown[];
}

/** Returns cursors for one deployment and embed tenant. Cursors of others are refused. */
export function scopeCursors(cursors: Cursors, deploymentId: number, embedTenant: string | null): Cursors {
  const scoped = (list: string) => JSON.stringify([deploymentId, embedTenant, list]);
  return {
    encode: (list, key) => cursors.encode(scoped(list), key),
    decode: (list, cursor) => cursors.decode(scoped(list), cursor),
  };
}

const MAC_BYTES = 8;

/** Cursors are signed, so that a changed cursor is refused and does not lead to a wrong page. */
export function createCursors(keys: Keys): Cursors {
  const macOf = (key: Buffer, list: string, payload: Buffer) =>
    createHmac('sha256', key).update(list).update('\0').update(payload).digest().subarray(0, MAC_BYTES);
  return {
    encode(list, key) {
      const payload = Buffer.from(JSON.stringify(key));
      return Buffer.concat([macOf(keys[0], list, payload), payload]).toString('base64url');
    },
    decode(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      const mac = bytes.subarray(0, MAC_BYTES);
      const genuine =
        bytes.toString('base64url') === cursor &&
        mac.length === MAC_BYTES &&
        keys.some((key) => timingSafeEqual(mac, macOf(key, list, payload)));
      if (!genuine) throw new ApiError('invalid_cursor');
      return JSON.parse(payload.toString()) as unknown[];
    },
  };
}

export const jsonBytes = (row: unknown) => Buffer.byteLength(JSON.stringify(row));

/** Returns how many of the rows fit in a page of this size: fewer if they are large, but at least one. */
export function fitting<Row>(rows: Row[], size: number, bytesOf: (row: Row) => number = jsonBytes): number {
  let bytes = 0;
  for (const [i, row] of rows.slice(0, size).entries()) {
    bytes += bytesOf(row);
    if (bytes >= PAGE_BYTES_MAX) return i + 1;
  }
  return size;
}

/** Cuts a page out of rows that were fetched with one more than the page holds. */
export function toPage<Row>(
  rows: Row[],
  page: {
    size: number;
    after: string | undefined;
    cursorOf: (row: Row) => string;
    bytesOf?: (row: Row) => number;
  },
) {
  const items = rows.slice(0, fitting(rows, page.size, page.bytesOf));
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    pageInfo: {
      hasNextPage: rows.length > items.length,
      hasPreviousPage: page.after !== undefined,
      startCursor: first === undefined ? null : page.cursorOf(first),
      endCursor: last === undefined ? null : page.cursorOf(last),
    },
  };
}

/** What to read for a page: the rows after this id, ordered by id, and one row more than the page holds. */
export interface PageById {
  afterId: number;
  limit: number;
}

interface CursorQuery {
  first?: number | null;
  after?: string | null;
}

const afterIdOf = (cursors: Cursors, list: string, after: string | null | undefined) =>
  after == null ? 0 : (cursors.decode(list, after)[0] as number);

/** Returns a page of a list that is ordered by id. The page starts after the row of the cursor. */
export async function pageById<Row extends { id: number }>(
  cursors: Cursors,
  list: string,
  query: CursorQuery,
  read: (page: PageById) => Row[] | Promise<Row[]>,
) {
  const size = pageSize(query.first);
  const rows = await read({ afterId: afterIdOf(cursors, list, query.after), limit: size + 1 });
  return toPage(rows, {
    size,
    after: query.after ?? undefined,
    cursorOf: ({ id }) => cursors.encode(list, [id]),
  });
}

/**
 * Like `pageById`, for the lists that older clients page by offset. A page by offset has no cursors, and a request can
 * not ask for both.
 */
export async function pageByIdOrOffset<Row extends { id: number }>(
  cursors: Cursors,
  list: string,
  query: CursorQuery & { limit?: number | null; offset?: number | null },
  read: (page: PageById & { offset: number }) => Promise<Row[]>,
) {
  const byOffset = query.offset != null || query.limit != null;
  if (byOffset && (query.first != null || query.after != null)) throw new ApiError('mixed_pagination');
  const offset = query.offset ?? 0;
  if (!byOffset) {
    const page = await pageById(cursors, list, query, (by) => read({ ...by, offset }));
    return { ...page, limit: pageSize(query.first), offset };
  }
  const limit = pageSize(query.limit);
  const rows = await read({ afterId: 0, offset, limit });
  return { items: rows.slice(0, fitting(rows, limit)), pageInfo: null, limit, offset };
}
