/** People come back from a service at which they allowed this server to act for them. */
import { operations } from '@oriel/contract';
import type { SessionHolder } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import { handle } from '../../platform/http/routes.ts';
import { ACCOUNT_PATH } from './show.ts';

export interface Connections {
  /** Throws a 400 or 502, and stores nothing, if the service gives no tokens. */
  finish(
    db: Database,
    person: SessionHolder,
    returned: { code?: string; state?: string; iss?: string; error?: string; redirectName: string },
    origin: CallOrigin,
  ): Promise<void>;
}

const CONNECTED = `${ACCOUNT_PATH}?notice=connected`;

export const connectionRoutes = (connections: Connections) => [
  handle(operations.finishOAuthFlow, async ({ actor, db, origin }, { query }) => {
    await connections.finish(db, actor, { ...query, redirectName: '' }, origin);
    return { location: CONNECTED };
  }),

  handle(operations.finishNamedOAuthFlow, async ({ actor, db, origin }, { params, query }) => {
    await connections.finish(db, actor, { ...query, redirectName: params.redirectName }, origin);
    return { location: CONNECTED };
  }),
];
