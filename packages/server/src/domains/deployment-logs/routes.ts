import { operations } from '@oriel/contract';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { SEEN } from '../../platform/presence/presence.ts';
import { listProcesses } from '../../platform/presence/store.ts';
import * as store from './store.ts';

const LINES = 'log lines, newest first';
const PODS = 'pods by name';

export const logRoutes = ({ essential }: Pick<Platform, 'essential'>) => [
  handle(operations.logs, async ({ db, cursors }, { params: { deploymentId }, query }) => {
    const { source = null, container = null, pod = null, after } = query;
    const size = pageSize(query.first);
    const beforeId = after === undefined ? null : (cursors.decode(LINES, after)[0] as number);
    const filter = { deploymentId, source, container, pod };
    const rows = await store.listLines(db, filter, { beforeId, limit: size + 1 });
    const { items, pageInfo } = toPage(rows, {
      size,
      after,
      cursorOf: ({ id }) => cursors.encode(LINES, [id]),
    });
    return { items: items.map(({ date, message, pod }) => ({ date, message, pod })), pageInfo };
  }),

  handle(operations.pods, async ({ cursors }, { query: { first, after } }) => {
    const size = pageSize(first);
    const lastName = after === undefined ? '' : (cursors.decode(PODS, after)[0] as string);
    const rows = await listProcesses(essential, SEEN, { after: lastName, limit: size + 1 });
    const { items, pageInfo } = toPage(rows, {
      size,
      after,
      cursorOf: ({ name }) => cursors.encode(PODS, [name]),
    });
    return {
      items: items.map(({ name, type, containers, isReady, restarts, startedAt, seenAt }) => ({
        name,
        type,
        status: isReady ? ('Running' as const) : ('Unknown' as const),
        ready: isReady,
        containers,
        restartCount: restarts,
        startedAt,
        heartbeatAt: seenAt,
      })),
      pageInfo,
    };
  }),
];
