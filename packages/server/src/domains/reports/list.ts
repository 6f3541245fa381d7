/** Chooses how a page is found. The first attempt is cheap and often enough; the one behind it is exact. */
import type { Queryable } from '../../platform/db/database.ts';
import { READ } from '../access/index.ts';
import * as store from './list.store.ts';
import type { Position, ReportQuery } from './list-query.ts';
import { hasTrigrams } from './rules.ts';
import { findStoredReports, type StoredReport } from './store.ts';

/** How far the first attempt looks, in pages. What is behind it takes longer for a search. */
const STRETCH_PAGES = { search: 12, all: 6 };
/** How many matches there tell how far a longer look has to go, and how far it may. */
const PROMISING = 3;
const LONGEST = { search: 50_000, all: 5000 };

/**
 * Where the page and what comes next lie in the list, how many of them the page holds, and the reports of the page as
 * the text of a JSON list. A page that has a cursor ends where it is large enough. By its number it can not end early,
 * or the next one would leave out the rest: there, what does not fit comes without its larger fields.
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

/** How many positions come before the first report that was left out. One that is gone meanwhile is none of these. */
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
  // Twice of what should be enough, so that it seldom is not, and rounded, so that there are few such statements.
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
