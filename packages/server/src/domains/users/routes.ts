import { limits, operations } from '@oriel/contract';
import { changed, created } from '../../platform/audit/change.ts';
import { sharerOf } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { handle, handleEach } from '../../platform/http/routes.ts';
import { requireBytes } from '../../platform/limits.ts';
import type { Platform } from '../../platform/module.ts';
import { changeUsers } from './bulk.ts';
import { pageOfPeople } from './list.ts';
import { hashNewPassword } from './passwords.ts';
import type { UserRemoval } from './removal.ts';
import { isEmpty, rolesOfNewUser, toTime } from './rules.ts';
import type { UserRow } from './store.ts';
import {
  createUser,
  findPerson,
  lockPerson,
  lockUser,
  NEW_PASSWORD,
  updateUser,
  updateUserContext,
} from './users.ts';

export const toUser = <Row extends Pick<UserRow, 'roles'>>(row: Row) => ({ ...row, defaultRoles: row.roles });

/** Creates a link with which a new user sets a password. */
export type Invite = (tx: Tx, userId: number, seconds?: number | null) => Promise<{ url: string }>;

export const userRoutes = (
  { cursors }: Pick<Platform, 'cursors'>,
  { removal, invite }: { removal: UserRemoval; invite: Invite },
) => [
  handle(operations.listUsers, async ({ db }, { query }) => {
    const { items, pageInfo } = await pageOfPeople(db, cursors, query);
    return { items: items.map(toUser), pageInfo };
  }),

  handle(operations.getUser, async ({ db }, { params }) => toUser(await findPerson(db, params.id))),

  handle(operations.createUser, async ({ actor, change }, { body }) => {
    const { password, invitationExpiresInSeconds } = body;
    if (password && invitationExpiresInSeconds != null) {
      throw invalid('invitationExpiresInSeconds', 'is only for a user without a password');
    }
    const passwordHash = password ? await hashNewPassword('password', password, body, sharerOf(actor)) : null;
    return change(async (tx) => {
      const { username, email, firstName = null, picture = null, externalId = null } = body;
      const user = await createUser(
        tx,
        { username, email, passwordHash, firstName, picture, externalId },
        rolesOfNewUser(body),
      );
      const invitation = passwordHash ? null : await invite(tx, user.id, invitationExpiresInSeconds);
      return {
        reply: { ...toUser(user), invitationUrl: invitation?.url ?? null },
        changes: created(user),
      };
    });
  }),

  ...handleEach(
    [operations.updateUser, operations.updateUserByPost],
    async ({ actor, db, change }, { params, body }) => {
      const { password, embedTheme, securityContext, ...asked } = body;
      for (const name of ['settings', 'tosAccepted', 'embedTheme', 'securityContext'] as const) {
        requireBytes(name, body[name], limits.userSettings);
      }
      if (asked.lastLogin) asked.lastLogin = toTime('lastLogin', asked.lastLogin);
      const passwordHash = password
        ? await hashNewPassword('password', password, await findPerson(db, params.id), sharerOf(actor))
        : null;
      return change(async (tx) => {
        const before = await lockPerson(tx, params.id);
        if (isEmpty(body)) return { reply: toUser(before), changes: [] };
        const after = await updateUser(tx, before, asked, passwordHash);
        const context = await updateUserContext(tx, before.id, { embedTheme, securityContext });
        const audited = { ...after, ...context?.after, ...(passwordHash ? NEW_PASSWORD : {}) };
        return {
          reply: toUser(after),
          changes: changed({ ...before, ...context?.before }, audited),
        };
      });
    },
  ),

  handle(operations.bulkUserAction, ({ change }, { body }) => change((tx) => changeUsers(tx, removal, body))),

  handle(operations.deleteUser, ({ change }, { params, query }) =>
    change(async (tx) => {
      const user = await lockUser(tx, params.id);
      return { reply: undefined, changes: await removal.deleteUser(tx, user, query.newOwnerId ?? undefined) };
    }),
  ),
];
