/** The identities that users have, for admins and for the person. */
import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import type { Console } from '../sessions/index.ts';
import { findPerson } from '../users/index.ts';
import * as store from './store.ts';
import { unlinkIdentity, unlinkOwnIdentity } from './unlink.ts';

export const linkedRoutes = (console: Pick<Console, 'renew'>) => [
  handle(operations.listUserIdentities, async ({ db }, { params }) =>
    store.listIdentities(db, (await findPerson(db, params.id)).id),
  ),

  handle(operations.unlinkUserIdentity, ({ change }, { params }) =>
    change(async (tx) => ({
      reply: undefined,
      changes: await unlinkIdentity(tx, params.id, params.identityId),
    })),
  ),

  handle(operations.listMyIdentities, ({ actor, db }) => store.listIdentities(db, actor.userId)),

  handle(operations.unlinkMyIdentity, ({ actor, origin, change, sendHeaders }, { params }) =>
    change(async (tx) => {
      const unlink = () => unlinkOwnIdentity(tx, actor.userId, params.id);
      const { headers, result } = await console.renew(tx, actor, origin, unlink);
      sendHeaders(headers);
      return { reply: undefined, changes: result };
    }),
  ),
];
