/** Chooses how a page is found. The first attempt is cheap and often enough; the one behind it is exact. */
import type { Queryable } from '../../../platform/db/database.ts';
import { toTexts } from '../read.ts';
import { hasTrigrams } from '../rules.ts';
import type { Position, ReportQuery } from './query.ts';
import * as store from './store.ts';

/** How far the first attempt looks, in pages. */
const STRETCH_PAGES = 12;
/** How many matches there tell how far a longer look has to go, and how far it may: merging is dearer for a search. */
const PROMISING = 3;
const LONGEST = { search: 50_000, all: 5000 };

export async function listPositions(db: Queryable, query: ReportQuery): Promise<Position[]> {
  const { viewer, filter } = query;
  if (query.sortBy === 'lastViewedAt') return store.listByLastViewed(db, query);
  if (filter.externalWorkbookId !== null) return store.sortHits(db, query);
  if (store.reachesAll(viewer) && filter.search === null) {
    return store.isCommon(query) ? listAll(db, query) : store.scanInOrder(db, query);
  }

  const needed = query.limit + query.offset;
  const stretch = needed * STRETCH_PAGES;
  const found = await store.scanStretch(db, query, stretch);
  if (found.length === query.limit) return found;
  // Twice of what should be enough, so that it seldom is not.
  const longer = Math.ceil((stretch / found.length) * needed * 2);
  if (found.length >= PROMISING && longer <= (filter.search === null ? LONGEST.all : LONGEST.search)) {
    const more = await store.scanStretch(db, query, longer);
    if (more.length === query.limit) return more;
  }
  return exactly(db, query);
}

/** The reports are read along. */
const listAll = async (db: Queryable, query: ReportQuery) =>
  toTexts(await store.scanAll(db, query)).map(({ id, key, text }) => ({ id, key: key!, text }));

async function exactly(db: Queryable, query: ReportQuery): Promise<Position[]> {
  const { viewer, filter } = query;
  const { search, folderId, workbookId, embedTenant } = filter;
  if (folderId !== null || workbookId !== null || embedTenant !== null) return store.scanInOrder(db, query);
  if (search === null) return store.mergeBranches(db, query);
  const few = !store.reachesAll(viewer) && (await store.countReach(db, viewer)) <= store.FEW;
  if (few) return store.mergeBranches(db, query);
  return hasTrigrams(search) ? store.sortHits(db, query) : store.scanInOrder(db, query);
}
