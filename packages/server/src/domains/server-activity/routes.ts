import { operations } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { LATENCY_BOUNDS_MS } from '../../platform/http/metrics.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import type { Reporter } from './reporter.ts';
import { mergeHealth, p95Of } from './rules.ts';
import * as store from './store.ts';

/** Longer than the pause between two reports of a server. */
const SEEN_MS = 30_000;
const SERVERS_MAX = 100;
/** Points of a chart. */
const POINTS_MAX = 96;

export const serverActivityRoutes = ({ cursors }: Pick<Platform, 'cursors'>, reporter: Reporter) => {
  /** In the order of their keys, from behind the cursor on. */
  function paged<Row>(
    list: string,
    rows: readonly Row[],
    keyOf: (row: Row) => string,
    { first, after }: { first?: number | null; after?: string | null },
  ) {
    const position = after ? (cursors.decode(list, after)[0] as string) : '';
    const size = pageSize(first);
    const sorted = rows
      .filter((row) => keyOf(row) > position)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .slice(0, size + 1);
    return toPage(sorted, {
      size,
      after: after ?? undefined,
      cursorOf: (row) => cursors.encode(list, [keyOf(row)]),
    });
  }

  const reports = async (db: Queryable) => {
    const own = await reporter.report();
    return [own, ...(await store.listReports(db, own.process, SEEN_MS, SERVERS_MAX))];
  };

  return [
    handle(operations.listEngineProcesses, async ({ db }, { query }) => {
      const all = await reports(db);
      const rows = await existing(
        db,
        all.flatMap(({ process, engines }) => engines.map((one) => ({ process, ...one }))),
      );
      const page = paged('engine processes', rows, (row) => `${keyOf(row)} ${row.process} ${row.id}`, query);
      return { ...page, items: page.items.map(({ id: _, ...row }) => row) };
    }),

    handle(operations.listDataSourceHealth, async ({ db }, { query }) => {
      const merged = mergeHealth((await reports(db)).flatMap(({ sources }) => sources));
      const page = paged('health of data sources', await existing(db, merged), keyOf, query);
      return {
        ...page,
        items: page.items.map((row) => ({
          ...row,
          state: (row.lastErrorAt ?? '') > (row.lastOkAt ?? '') ? ('failing' as const) : ('ok' as const),
        })),
      };
    }),

    handle(operations.getServerMetrics, async ({ db }, { query }) => {
      const hours = query.hours ?? 1;
      const stepMinutes = Math.ceil((hours * 60) / POINTS_MAX);
      const rows = await store.listPoints(db, hours, stepMinutes);
      return {
        stepSeconds: stepMinutes * 60,
        points: rows.map(({ latency, ...row }) => ({ ...row, p95Ms: p95Of(LATENCY_BOUNDS_MS, latency) })),
      };
    }),
  ];
};

const keyOf = ({ deploymentId, dataSource }: { deploymentId: number; dataSource: string }) =>
  `${String(deploymentId).padStart(12, '0')} ${dataSource}`;

/** Removes rows of deployments that were deleted. */
async function existing<Row extends { deploymentId: number }>(db: Queryable, rows: readonly Row[]) {
  const ids = [...new Set(rows.map(({ deploymentId }) => deploymentId))];
  if (!ids.length) return [];
  const known = new Set((await store.listKnownDeployments(db, ids)).map(({ id }) => id));
  return rows.filter(({ deploymentId }) => known.has(deploymentId));
}
