import { operations } from '@oriel/contract';
import { found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { endConnection } from './connections.ts';
import type { Flows } from './flows.ts';
import type { Integrations } from './integrations.ts';
import { findToken, listTokens } from './tokens.store.ts';

interface Options {
  integrations: Integrations;
  flows: Flows;
  revocation: JobKind;
}

export const oauthRoutes = ({ integrations, flows, revocation }: Options) => [
  handle(operations.listOAuthIntegrations, ({ db }) => integrations.list(db)),

  handle(operations.createOAuthIntegration, ({ change }, { body }) => {
    integrations.check(body);
    return change((tx) => integrations.create(tx, body));
  }),

  handle(operations.getOAuthIntegration, ({ db }, { params }) => integrations.require(db, params.id)),

  handle(operations.updateOAuthIntegration, ({ change }, { params, body }) =>
    change((tx) => integrations.update(tx, params.id, body)),
  ),

  handle(operations.deleteOAuthIntegration, ({ change }, { params }) =>
    change(async (tx) => {
      const changes = await integrations.hide(tx, params.id);
      await enqueue(tx, revocation, {});
      return { reply: undefined, changes };
    }),
  ),

  handle(operations.listUserOAuthTokens, ({ actor, db }) => listTokens(db, actor.userId)),

  handle(operations.getUserOAuthToken, async ({ actor, db }, { params }) =>
    found(await findToken(db, actor.userId, params.integrationId), 'oauth_token_not_found'),
  ),

  handle(operations.revokeUserOAuthToken, ({ actor, change }, { params }) =>
    change(async (tx) => ({
      reply: undefined,
      changes: await endConnection(tx, actor.userId, params.integrationId, revocation),
    })),
  ),

  handle(operations.initiateOAuthFlow, ({ actor, db }, { params }) =>
    flows.begin(db, actor, params.integrationId),
  ),
];
