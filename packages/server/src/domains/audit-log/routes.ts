import { operations, type QueryOf } from '@oriel/contract';
import { createAdmission, notNow } from '../../platform/admission/admission.ts';
import { reaches } from '../../platform/auth/access.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { pageSize } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import type { EntryFilter, EntryRow, Position } from './list.store.ts';
import { readAll, readPage } from './pages.ts';

type ExportQuery = QueryOf<typeof operations.exportAuditLog>;

interface Options extends Pick<Platform, 'cursors'> {
  tenantSettings: TenantSettings;
}

/** The number of exports at the same time. Each holds a page in memory for as long as its reader takes. */
const EXPORTS_AT_ONCE = 4;

export const auditLogRoutes = ({ cursors, tenantSettings }: Options) => {
  const exports = createAdmission({ places: EXPORTS_AT_ONCE, waitingMax: 0 });

  const filterOf = async (actor: Caller, asked: ExportQuery): Promise<EntryFilter> => {
    const { auditLogRetentionDays } = await tenantSettings.current();
    return toFilter(actor, asked, auditLogRetentionDays);
  };

  async function* counted(entries: AsyncIterable<EntryRow>) {
    try {
      yield* entries;
    } finally {
      exports.leave();
    }
  }

  return [
    handle(operations.listAuditLog, async ({ actor, db }, { query }) => {
      const { first, after, ...asked } = query;
      const filter = await filterOf(actor, asked);
      const list = listName(actor, asked);
      const position = after === undefined ? null : (cursors.decode(list, after) as unknown as Position);
      const { rows, hasMore } = await readPage(db, filter, position, pageSize(first));
      const cursorOf = (row: EntryRow | undefined) => row && cursors.encode(list, [row.time, row.id]);
      return {
        items: rows,
        pageInfo: {
          hasNextPage: hasMore,
          hasPreviousPage: after !== undefined,
          startCursor: cursorOf(rows[0]) ?? null,
          endCursor: cursorOf(rows.at(-1)) ?? null,
        },
      };
    }),

    handle(operations.exportAuditLog, async ({ actor, db, signal }, { query }) => {
      const filter = await filterOf(actor, query);
      if (exports.enter()) {
        const message = `This server makes ${EXPORTS_AT_ONCE} exports at once: wait until one has ended.`;
        throw notNow('all', message, 10);
      }
      return counted(readAll(db, filter, signal));
    }),
  ];
};

const DAY_MS = 24 * 3_600_000;

/** Entries that are older than the account keeps them stay hidden until their month is dropped. */
function toFilter(actor: Caller, asked: ExportQuery, retentionDays: number | null): EntryFilter {
  const [from, to] = [toUtc(asked.from), toUtc(asked.to)];
  if (from !== null && to !== null && from > to) throw invalid('from', 'must not be after `to`');
  const kept = retentionDays === null ? null : new Date(Date.now() - retentionDays * DAY_MS).toISOString();
  return {
    actorId: asked.actorId ?? null,
    apiKeyId: asked.apiKeyId ?? null,
    operation: asked.operation ?? null,
    resourceType: asked.resourceType ?? null,
    resourceId: asked.resourceId ?? null,
    embedTenantName: asked.embedTenantName ?? null,
    requestId: asked.requestId ?? null,
    deploymentIds: deploymentsOf(actor, asked.deploymentId ?? null),
    from: kept !== null && (from === null || from < kept) ? kept : from,
    to,
  };
}

/** Times of the same length and zone, so that they can be compared as text. */
const toUtc = (time: string | null | undefined) => (time == null ? null : new Date(time).toISOString());

function deploymentsOf(actor: Caller, asked: number | null): readonly number[] | null {
  if (asked === null) return actor.deploymentIds;
  if (!reaches(actor, asked)) throw new ApiError('outside_key_scope');
  return [asked];
}

/** A cursor is valid only with the filters, and for the deployments, that it was made with. */
const listName = ({ deploymentIds }: Caller, asked: ExportQuery) => {
  const given = Object.entries(asked).filter(([, value]) => value != null);
  return JSON.stringify(['audit log', deploymentIds, given.sort()]);
};
