/** What a change of the model does to reports, dashboards and schedules. */
import type { Database } from '../../platform/db/database.ts';
import { createYielder } from '../../platform/yielder.ts';
import type { Viewer } from '../access/index.ts';
import {
  type Effect,
  effectOn,
  type ModelSides,
  membersIn,
  membersInText,
  namedInConfig,
  worse,
} from './rules.ts';
import * as store from './store.ts';

/** A report has a query of at most 256 KB, and a dashboard has at most 5 MB of them. */
const REPORTS_PAGE = 50;
const DASHBOARDS_PAGE = 2;
const REPORTS_MAX = 20_000;
const DASHBOARDS_MAX = 5_000;
const LISTED_MAX = 200;
const NAMES_MAX = 3;

export interface Impact {
  reports: (Effect & { id: number; name: string; workbookId: number | null })[];
  dashboards: (Effect & { workbookId: number; name: string; state: 'draft' | 'published' })[];
  schedules: (Effect & { id: number; name: string | null; workbookId: number; isEnabled: boolean })[];
  hiddenCount: number;
  isComplete: boolean;
}

export async function findImpact(
  db: Database,
  deploymentId: number,
  viewer: Viewer,
  sides: ModelSides,
  signal: AbortSignal,
): Promise<Impact> {
  const impact: Impact = { reports: [], dashboards: [], schedules: [], hiddenCount: 0, isComplete: true };
  const keep = <Item>(list: Item[], isReadable: boolean, item: Item) => {
    if (!isReadable) impact.hiddenCount++;
    else if (list.length < LISTED_MAX) list.push(item);
    else impact.isComplete = false;
  };
  const onReports = new Map<number, Effect>();
  const reports = scan(REPORTS_PAGE, REPORTS_MAX, impact, signal, (after, limit) =>
    store.listReportQueries(db, deploymentId, viewer, after, limit),
  );
  for await (const { id, name, workbookId, jsonQuery, isReadable } of reports) {
    const effect = effectOn(membersInText(jsonQuery), sides);
    if (!effect) continue;
    onReports.set(id, effect);
    keep(impact.reports, isReadable, { id, name, workbookId, ...effect });
  }
  const drafts = scan(DASHBOARDS_PAGE, DASHBOARDS_MAX, impact, signal, (after, limit) =>
    store.listDrafts(db, deploymentId, viewer, after, limit),
  );
  for await (const { id: workbookId, name, config, isReadable } of drafts) {
    const { members, reportIds } = namedInConfig(config);
    const effect = reportIds.map((id) => onReports.get(id)).reduce(worse, effectOn(members, sides));
    if (effect) keep(impact.dashboards, isReadable, { workbookId, name, state: 'draft', ...effect });
  }
  const onPublished = new Map<number, Effect & Pick<store.PublishedRow, 'workbookId' | 'isReadable'>>();
  const published = scan(DASHBOARDS_PAGE, DASHBOARDS_MAX, impact, signal, (after, limit) =>
    store.listPublished(db, deploymentId, viewer, after, limit),
  );
  for await (const { id, workbookId, name, config, queries, isReadable } of published) {
    const effect = effectOn([...namedInConfig(config).members, ...membersIn(queries)], sides);
    if (!effect) continue;
    onPublished.set(id, { ...effect, workbookId, isReadable });
    keep(impact.dashboards, isReadable, { workbookId, name, state: 'published', ...effect });
  }
  const schedules = await store.listSchedules(db, [...onPublished.keys()], LISTED_MAX + 1);
  for (const { id, name, dashboardId, isEnabled } of schedules) {
    const { isReadable, workbookId, effect, members } = onPublished.get(dashboardId)!;
    keep(impact.schedules, isReadable, { id, name, workbookId, isEnabled, effect, members });
  }
  return impact;
}

/** The rows of all pages, up to a number of them. Large texts are read between other work of the process. */
async function* scan<Row extends { id: number }>(
  page: number,
  most: number,
  impact: Pick<Impact, 'isComplete'>,
  signal: AbortSignal,
  list: (after: number, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row> {
  const step = createYielder();
  let after = 0;
  for (let seen = 0; seen < most; seen += page) {
    signal.throwIfAborted();
    const rows = await list(after, page);
    for (const row of rows) {
      yield row;
      await step();
    }
    if (rows.length < page) return;
    after = rows.at(-1)!.id;
  }
  impact.isComplete = false;
}

/**
 * The reports that name what the model does not have, for readers of a repository, who may not know the customers:
 * reports of embed tenants are counted and not named.
 */
export async function findBrokenReports(
  db: Database,
  deploymentId: number,
  members: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<{ count: number; names: string[] }> {
  const found = { count: 0, names: [] as string[] };
  const sides = { members, affected: new Set<string>() };
  const reports = scan(REPORTS_PAGE, REPORTS_MAX, { isComplete: true }, signal, (after, limit) =>
    store.listReportQueries(db, deploymentId, null, after, limit),
  );
  for await (const { jsonQuery, name, isOfTenant } of reports) {
    if (!effectOn(membersInText(jsonQuery), sides)) continue;
    found.count++;
    if (!isOfTenant && found.names.length < NAMES_MAX) found.names.push(name.slice(0, 40));
  }
  return found;
}
