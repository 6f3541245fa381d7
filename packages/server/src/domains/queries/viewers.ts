/**
 * The viewer of a query, as policies see the caller. It is read for each query, so that nothing outlives its end.
 * Viewers of queries that come at the same time are read by one statement.
 */
import type { Json, Viewer } from '@oriel/semantic';
import type { Caller, TokenHolder } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { gather } from '../../platform/gather.ts';
import { attributesInForce } from '../embed-sessions/index.ts';
import * as store from './store.ts';

export type Asker = Caller | TokenHolder;

export interface Viewers {
  /** Everything that was changed before this call is in force. */
  of(actor: Asker): Promise<Viewer>;
}

/** A statement does not begin before all calls that it is for, so a call never gets what was read before it. */
const TOGETHER = { atOnce: 1, size: 100 };

const NOBODY: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: null,
};

export function createViewers(db: Queryable): Viewers {
  const find = gather((keys: store.ViewerKey[]) => listViewers(db, keys), TOGETHER);
  return {
    async of(actor) {
      switch (actor.kind) {
        case 'tokenHolder': {
          const securityContext = actor.securityContext as Json;
          const own = actor.isCreator ? await find(personKey(actor.userId)) : NOBODY;
          return { ...own, securityContext };
        }
        case 'person':
          return find(personKey(actor.userId));
        default: {
          const { sessionId, embedTenant, creatorMode } = actor.embed;
          return find({ userId: actor.userId, embedTenant: creatorMode ? embedTenant : null, sessionId });
        }
      }
    },
  };
}

const personKey = (userId: number): store.ViewerKey => ({ userId, embedTenant: null, sessionId: null });

/** Many queries of a page have the same viewer, who is read once. */
async function listViewers(db: Queryable, keys: readonly store.ViewerKey[]): Promise<Viewer[]> {
  const distinct = new Map(keys.map((key) => [textOf(key), key]));
  const rows = await store.listViewers(db, [...distinct.values()]);
  const viewers = new Map([...distinct].map(([text, key], i) => [text, toViewer(rows[i]!, key)]));
  return keys.map((key) => viewers.get(textOf(key))!);
}

const textOf = ({ userId, sessionId, embedTenant }: store.ViewerKey) =>
  `${userId} ${sessionId} ${embedTenant ?? ''}`;

const toViewer = (row: store.ViewerRow, { sessionId }: store.ViewerKey): Viewer => ({
  groups: row.groups,
  // Groups of embed tenants are for sessions.
  tenantGroups: sessionId === null ? [] : row.tenantGroups,
  roles: row.roles,
  userAttributes: attributesInForce(row) as Viewer['userAttributes'],
  securityContext: row.securityContext as Json,
});
