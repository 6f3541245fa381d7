import { limits, operations } from '@oriel/contract';
import { changed, created } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { NotifiedCache } from '../../platform/db/notified-cache.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireBytes } from '../../platform/limits.ts';
import type { Platform } from '../../platform/module.ts';
import { hashPassword } from './passwords.ts';
import type { UserRemoval } from './removal.ts';
import { rolesOfNewUser, toTime } from './rules.ts';
import * as store from './store.ts';
import { createUser, updateUser, updateUserContext } from './users.ts';

const toUser = (row: store.UserRow) => ({ ...row, defaultRoles: row.roles });

export const userRoutes = ({ remember }: Pick<Platform, 'remember'>, removal: UserRemoval) => [
  getMe(remember<number, store.UserRow>((id) => [`user:${id}`])),

  handle(operations.createUser, async ({ change }, { body }) => {
    const passwordHash = body.password ? await hashPassword(body.password) : null;
    return change(async (tx) => {
      const { username, email, firstName = null, picture = null, externalId = null } = body;
      const user = await createUser(
        tx,
        { username, email, passwordHash, firstName, picture, externalId },
        rolesOfNewUser(body),
      );
      return { reply: toUser(user), changes: created(user) };
    });
  }),

  handle(operations.updateUser, async ({ change }, { params, body }) => {
    const { password, embedTheme, securityContext, ...asked } = body;
    for (const name of ['settings', 'tosAccepted', 'embedTheme', 'securityContext'] as const) {
      requireBytes(name, body[name], limits.userSettings);
    }
    if (asked.lastLogin) asked.lastLogin = toTime('lastLogin', asked.lastLogin);
    const passwordHash = password ? await hashPassword(password) : null;
    return change(async (tx) => {
      const before = await lockUser(tx, params.id);
      // Only the sessions that are minted for external viewers change them.
      if (before.embedTenant !== null) throw new ApiError('user_not_found');
      const after = await updateUser(tx, before, asked, passwordHash);
      const context = await updateUserContext(tx, before.id, { embedTheme, securityContext });
      // The audit log shows that the password changed. It masks the field, so the value here does not matter.
      const audited = { ...after, ...context?.after, ...(passwordHash ? { password: 'changed' } : {}) };
      return {
        reply: toUser(after),
        changes: changed({ ...before, ...context?.before }, audited),
      };
    });
  }),

  handle(operations.deleteUser, ({ change }, { params, query }) =>
    change(async (tx) => {
      const user = await lockUser(tx, params.id);
      return { reply: undefined, changes: await removal.deleteUser(tx, user, query.newOwnerId ?? undefined) };
    }),
  ),
];

/** Callers read their own user often, and it changes seldom, so it is kept in memory until it changes. */
const getMe = (remembered: NotifiedCache<number, store.UserRow>) =>
  handle(operations.getMe, async ({ actor: { userId }, db }) => {
    // If there is no user, they were deleted after the credential was verified.
    const read = async () => found(await store.findUser(db, userId), 'unauthenticated');
    return toUser(remembered.get(userId) ?? (await remembered.load(userId, read)));
  });

async function lockUser(tx: Tx, id: number) {
  await store.lockUser(tx, id);
  return found(await store.findUser(tx, id), 'user_not_found');
}
