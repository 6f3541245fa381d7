import { operations } from '@oriel/contract';
import { deleted } from '../../platform/audit/change.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { CHANNEL, type Recorder, SEEN_MS } from './recorder.ts';
import * as store from './store.ts';

const RUNNING = 'running queries by their start';
const SLOW = 'slow queries by id, newest first';
/** How many queries of other processes are listed. */
const LISTED_MAX = 1000;

export const queryActivityRoutes = ({ cursors }: Pick<Platform, 'cursors'>, recorder: Recorder) => [
  handle(operations.listRunningQueries, async ({ db }, { query }) => {
    const elsewhere = await store.listRunningElsewhere(db, recorder.prefix, SEEN_MS, LISTED_MAX);
    const after = query.after ? (cursors.decode(RUNNING, query.after) as [string, string]) : undefined;
    const isAfter = (row: store.RunningRow) =>
      !after || row.startedAt > after[0] || (row.startedAt === after[0] && row.id > after[1]);
    const size = pageSize(query.first);
    const rows = [...recorder.list(), ...elsewhere]
      .filter(
        (row) =>
          isAfter(row) &&
          (query.deploymentId == null || row.deploymentId === query.deploymentId) &&
          (query.embedTenantName == null || row.embedTenantName === query.embedTenantName) &&
          (query.userId == null || row.userId === query.userId),
      )
      .sort((a, b) => compare(a.startedAt, b.startedAt) || compare(a.id, b.id))
      .slice(0, size + 1);
    const page = toPage(rows, {
      size,
      after: query.after,
      cursorOf: (row) => cursors.encode(RUNNING, [row.startedAt, row.id]),
    });
    return { ...page, items: await withNames(db, page.items) };
  }),

  handle(operations.cancelQuery, async ({ change }, { params: { id } }) => {
    const here = recorder.find(id);
    const done = await change(async (tx) => {
      const row = found(
        here ?? (await store.askToCancel(tx, id, SEEN_MS, CHANNEL)),
        'running_query_not_found',
      );
      const { query: _, isRunning: __, ...before } = row;
      return { reply: undefined, changes: { ...deleted(before), deploymentId: row.deploymentId } };
    });
    recorder.cancel(id);
    return done;
  }),

  handle(operations.listSlowQueries, async ({ db }, { query }) => {
    const { first, after, ...asked } = query;
    const list = `${SLOW} ${JSON.stringify(asked)}`;
    const size = pageSize(first);
    await recorder.flush();
    const filter = {
      deploymentId: asked.deploymentId ?? null,
      embedTenantName: asked.embedTenantName ?? null,
      userId: asked.userId ?? null,
      minMs: asked.minMs ?? null,
      from: asked.from ?? null,
      to: asked.to ?? null,
    };
    const beforeId = after ? (cursors.decode(list, after)[0] as number) : null;
    const rows = await store.listSlow(db, filter, { beforeId, limit: size + 1 });
    return toPage(rows, { size, after, cursorOf: ({ id }) => cursors.encode(list, [id]) });
  }),
];

async function withNames(db: Queryable, rows: readonly store.RunningRow[]) {
  const ids = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
  const names = new Map((ids.length ? await store.findNames(db, ids) : []).map((user) => [user.id, user]));
  const now = Date.now();
  return rows.map(({ isRunning, ...row }) => {
    const user = row.userId === null ? undefined : names.get(row.userId);
    return {
      ...row,
      userName: user?.userName ?? null,
      externalId: row.embedTenantName === null ? null : (user?.externalId ?? null),
      durationMs: Math.max(0, now - Date.parse(row.startedAt)),
      state: isRunning ? ('running' as const) : ('waiting' as const),
    };
  });
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
