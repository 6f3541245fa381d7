/**
 * Reads the log month by month, the newest first. A statement reads only a few months, because it locks each of them with
 * all of its indexes, and there may be hundreds.
 */
import { listMonths } from '../../platform/audit/months.store.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { PAGE_BYTES_MAX } from '../../platform/http/pages.ts';
import { type EntryFilter, type EntryRow, listEntries, type Position, type Range } from './list.store.ts';

/** Most pages are full after the newest months. */
const MONTHS_AT_FIRST = 2;
const MONTHS_MAX = 24;

/** `YYYY-MM-DD`, of a time in UTC. */
const dayOf = (time: string) => time.slice(0, 10);

/** Splits the time up to the day `newest` into ranges, back to the day `oldest`. Months are named by their first day. */
export function* rangesOf(
  months: readonly string[],
  { newest, oldest }: { newest: string; oldest: string },
): Generator<Range> {
  const begins = months.filter((month) => month <= newest).sort((a, b) => (a < b ? 1 : -1));
  let to = 'infinity';
  let size = MONTHS_AT_FIRST;
  for (let i = size; i <= begins.length; i += size) {
    const month = begins[i - 1]!;
    const from = `${month} 00:00:00+00`;
    yield { from, to };
    if (month <= oldest) return;
    to = from;
    size = Math.min(size * 2, MONTHS_MAX);
  }
  // Entries of months that have no partition yet can have any time.
  yield { from: '-infinity', to };
}

export interface EntryPage {
  rows: EntryRow[];
  hasMore: boolean;
}

/** A page ends early if its entries are large. */
export async function readPage(
  db: Queryable,
  filter: EntryFilter,
  after: Position | null,
  size: number,
): Promise<EntryPage> {
  const months = (await listMonths(db)).filter(({ isDropped }) => !isDropped).map(({ month }) => month);
  const newest = dayOf(after?.[0] ?? filter.to ?? '9999');
  const oldest = dayOf(filter.from ?? '0000');
  const rows: EntryRow[] = [];
  let bytes = 0;
  for (const range of rangesOf(months, { newest, oldest })) {
    const limit = size + 1 - rows.length;
    const part = await listEntries(db, { filter, range, after, limit, maxBytes: PAGE_BYTES_MAX - bytes });
    // A page that is not empty may not grow beyond the limit, not even by one entry.
    if (part.length && rows.length && bytes + part[0]!.bytes > PAGE_BYTES_MAX) return { rows, hasMore: true };
    rows.push(...part);
    if (rows.length > size) return { rows: rows.slice(0, size), hasMore: true };
    if (part.length && part.length < part[0]!.found) return { rows, hasMore: true };
    bytes += part.at(-1)?.bytes ?? 0;
  }
  return { rows, hasMore: false };
}

/** Yields all entries. Each page is a statement of its own, so no connection is held while the reader is slow. */
export async function* readAll(
  db: Queryable,
  filter: EntryFilter,
  signal: AbortSignal,
): AsyncGenerator<EntryRow> {
  let after: Position | null = null;
  while (!signal.aborted) {
    const page: EntryPage = await readPage(db, filter, after, EXPORT_PAGE_ROWS);
    yield* page.rows;
    const last = page.rows.at(-1);
    if (!last || !page.hasMore) return;
    after = [last.time, last.id];
  }
}

const EXPORT_PAGE_ROWS = 500;
