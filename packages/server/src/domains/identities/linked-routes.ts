/** The identities that users have, for admins and for the person. */
import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import { findPerson } from '../users/index.ts';
import * as store from './store.ts';
import { unlinkIdentity, unlinkOwnIdentity } from './unlink.ts';

export const linkedRoutes = [
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

  handle(operations.unlinkMyIdentity, ({ actor, change }, { params }) =>
    change(async (tx) => ({
      reply: undefined,
      changes: await unlinkOwnIdentity(tx, actor.userId, params.id),
    })),
  ),
];
