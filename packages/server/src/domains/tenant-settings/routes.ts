import { operations, type ReplyOf } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { handle } from '../../platform/http/routes.ts';
import { changedSettings } from './rules.ts';
import * as store from './store.ts';

type Reply = ReplyOf<typeof operations.getTenantSettings>;
export type Plan = Reply['plan'];

/** The id in the audit log. There is one account, so its settings are one resource. */
const ID = 'account';

export const tenantSettingsRoutes = ({ plan }: { plan: Plan }) => {
  const toReply = async (db: Queryable, settings: store.TenantSettingsRow): Promise<Reply> => ({
    ...settings,
    plan,
    auditLogEnabledCurrent: settings.auditLogEnabled,
    auditLogEnabledTimestamp: Date.parse(await store.findAuditLogSwitchedAt(db)),
  });

  return [
    // Read from the database, not from memory, so that a caller sees their own change.
    handle(operations.getTenantSettings, async ({ db }) => toReply(db, await store.findTenantSettings(db))),

    handle(operations.updateTenantSettings, ({ change }, { body }) =>
      change(async (tx) => {
        const before = await store.lockTenantSettings(tx);
        const after = changedSettings(before, body);
        await store.updateTenantSettings(tx, after);
        return { reply: await toReply(tx, after), changes: { id: ID, before, after } };
      }),
    ),
  ];
};
