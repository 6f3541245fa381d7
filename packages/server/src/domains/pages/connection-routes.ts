/** What the person is connected to: services at which they allow this server to act for them. */
import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Person, SignedIn } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import { handle } from '../../platform/http/routes.ts';
import { ACCOUNT_PATH, type Show } from './show.ts';
import { type Connection, leavingView } from './views/connections.ts';

export interface Connections {
  /** All integrations, with the state of the person's connection. */
  list(db: Queryable, userId: number): Promise<Connection[]>;
  begin(
    db: Database,
    person: Person,
    integrationId: number,
  ): Promise<{ name: string; authorizationUrl: string }>;
  /** Throws a 400 or 502, and stores nothing, if the service gives no tokens. */
  finish(
    db: Database,
    person: SignedIn,
    returned: { code?: string; state?: string; iss?: string; error?: string; redirectName: string },
    origin: CallOrigin,
  ): Promise<void>;
  end(tx: Tx, userId: number, integrationId: number): Promise<Change>;
}

const CONNECTED = `${ACCOUNT_PATH}?notice=connected#connections`;

export const connectionRoutes = (show: Show, connections: Connections) => [
  handle(operations.beginOAuthFlowByForm, async ({ actor, db, sendHeaders }, { body }) =>
    show.page(sendHeaders, leavingView(await connections.begin(db, actor, body.id))),
  ),

  handle(operations.finishOAuthFlow, async ({ actor, db, origin }, { query }) => {
    await connections.finish(db, actor, { ...query, redirectName: '' }, origin);
    return { location: CONNECTED };
  }),

  handle(operations.finishNamedOAuthFlow, async ({ actor, db, origin }, { params, query }) => {
    await connections.finish(db, actor, { ...query, redirectName: params.redirectName }, origin);
    return { location: CONNECTED };
  }),

  handle(operations.endConnectionByForm, ({ actor, change }, { body }) =>
    change(async (tx) => ({
      reply: { location: `${ACCOUNT_PATH}?notice=disconnected` },
      changes: await connections.end(tx, actor.userId, body.id),
    })),
  ),
];
