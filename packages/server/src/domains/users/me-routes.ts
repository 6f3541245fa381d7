/** What callers read and change about themselves. */
import { operations } from '@oriel/contract';
import { changed } from '../../platform/audit/change.ts';
import { found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { toUser } from './routes.ts';
import { isEmpty } from './rules.ts';
import * as store from './store.ts';
import { updateUser } from './users.ts';

/** If there is no user, they were deleted after the credential was verified. */
const GONE = 'unauthenticated';

export function meRoutes({ createCache }: Pick<Platform, 'createCache'>) {
  // Callers read their own user often, and it changes seldom, so it is cached until it changes.
  const userCache = createCache<number, store.UserRow>((id) => [`user:${id}`]);
  return [
    handle(operations.getMe, async ({ actor: { userId }, db }) => {
      const read = async () => found(await store.findUser(db, userId), GONE);
      return toUser(userCache.get(userId) ?? (await userCache.load(userId, read)));
    }),

    handle(operations.updateMe, ({ actor: { userId }, change }, { body }) =>
      change(async (tx) => {
        await store.lockUser(tx, userId);
        const before = found(await store.findUser(tx, userId), GONE);
        if (isEmpty(body)) return { reply: toUser(before), changes: [] };
        const after = await updateUser(tx, before, body);
        return { reply: toUser(after), changes: changed(before, after) };
      }),
    ),

    handle(operations.getEmbedTheme, async ({ actor: { userId }, db }) => {
      const { embedTheme } = found(await store.findUserContext(db, userId), GONE);
      return { embedTheme };
    }),
  ];
}
