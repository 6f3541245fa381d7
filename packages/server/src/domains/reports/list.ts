/** Chooses how to find a page. The first attempt is cheap and often finds enough rows. If not, an exact query follows. */
import type { Queryable } from '../../platform/db/database.ts';
import { READ } from '../access/index.ts';
import * as store from './list.store.ts';
import type { Position, ReportQuery } from './list-query.ts';
import { hasTrigrams } from './rules.ts';
import { findStoredReports, type StoredReport } from './store.ts';

/** How many pages the first attempt reads. A search reads more, because the exact query takes longer for a search. */
const STRETCH_PAGES = { search: 12, all: 6 };
/** A second attempt needs this many matches of the first one, from which it estimates how many rows to read. */
const PROMISING = 3;
/** The most rows that the second attempt may read. */
const LONGEST = { search: 50_000, all: 5000 };

/**
 * Returns the positions of the page and of the next row in the list, how many of them are on the page, and the reports
 * of the page as the text of a JSON list. A page with a cursor ends early if it is large enough. A page with a number
 * cannot end early, because the next page would not hold the rest. There, reports that do not fit come without their
 * larger fields.
 */
export async function readPage(
  db: Queryable,
  request: ReportQuery & { size: number; hasCursor?: boolean },
): Promise<{ positions: Position[]; size: number; items: string }> {
  if (store.isCommon(request) && store.reachesAll(request.viewer)) {
    const { reports, items } = await store.scanAll(db, request);
    const positions = reports.map(([id, key]) => ({ id, key: key! }));
    return { positions, size: cutOf(positions, reports, request.size), items };
  }
  const positions = await listPositions(db, request);
  const ids = positions.slice(0, request.size).map(({ id }) => id);
  if (ids.length === 0) return { positions, size: request.size, items: '[]' };
  const beyond = request.hasCursor === false ? 'short' : 'nothing';
  const { reports, items } = await findStoredReports(db, request.viewer, ids, READ, beyond);
  return { positions, size: cutOf(positions, reports, request.size), items };
}

/** How many positions come before the first report that did not fit. Reports that were just deleted are not counted. */
function cutOf(positions: Position[], reports: StoredReport[], size: number): number {
  const cut = reports.find(([, , , , , isItem]) => !isItem);
  return cut ? positions.findIndex(({ id }) => id === cut[0]) : size;
}

async function listPositions(db: Queryable, query: ReportQuery): Promise<Position[]> {
  const { viewer, filter } = query;
  if (query.sortBy === 'lastViewedAt') return store.listByLastViewed(db, query);
  if (filter.externalWorkbookId !== null) return store.sortHits(db, query);
  if (store.reachesAll(viewer) && filter.search === null) return store.scanInOrder(db, query);

  const needed = query.limit + query.offset;
  const kind = filter.search === null ? 'all' : 'search';
  const stretch = needed * STRETCH_PAGES[kind];
  const found = await store.scanStretch(db, query, stretch);
  if (found.length === query.limit) return found;
  // Twice as many rows as should be enough, because the estimate is rough. Rounded, so that there are few statements.
  const longer = 2 ** Math.ceil(Math.log2((stretch / found.length) * needed * 2));
  if (found.length >= PROMISING && longer <= LONGEST[kind]) {
    const more = await store.scanStretch(db, query, longer);
    if (more.length === query.limit) return more;
  }
  return exactly(db, query);
}

async function exactly(db: Queryable, query: ReportQuery): Promise<Position[]> {
  const { viewer, filter } = query;
  const { search, folderId, workbookId, embedTenant } = filter;
  if (folderId !== null || workbookId !== null || embedTenant !== null) return store.scanInOrder(db, query);
  if (search === null) return store.mergeBranches(db, query);
  const few = !store.reachesAll(viewer) && (await store.countReach(db, viewer)) <= store.FEW;
  if (few) return store.mergeBranches(db, query);
  return hasTrigrams(search) ? store.sortHits(db, query) : store.scanInOrder(db, query);
}
