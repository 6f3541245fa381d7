import { operations } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { createUser } from './create-user.ts';
import { hashPassword } from './passwords.ts';
import { rolesOfNewUser } from './rules.ts';
import * as store from './store.ts';

const toUser = (row: store.UserRow) => ({ ...row, defaultRoles: row.roles });

export const userRoutes = () => [
  handle(operations.getMe, async ({ actor, db }) => {
    const user = await store.findUser(db, actor.userId);
    // Deleted since the credential was verified.
    if (!user) throw new ApiError('unauthenticated');
    return toUser(user);
  }),

  handle(operations.createUser, async ({ change }, { body }) => {
    const passwordHash = body.password ? await hashPassword(body.password) : null;
    return change(async (tx) => {
      const { username, email, firstName = null, picture = null, externalId = null } = body;
      const user = await createUser(
        tx,
        { username, email, passwordHash, firstName, picture, externalId },
        rolesOfNewUser(body),
      );
      return { reply: toUser(user), changes: { id: user.id, before: null, after: user } };
    });
  }),
];
