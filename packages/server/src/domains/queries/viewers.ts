/**
 * The viewer of a query, as policies see the caller. It is read for each query, so that nothing outlives its end.
 * Viewers of queries that come at the same time are read by one statement.
 */
import type { Json, Viewer } from '@oriel/semantic';
import type { Caller, Embedded, TokenHolder } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { gather } from '../../platform/gather.ts';
import { attributesInForce } from '../embed-sessions/index.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import * as store from './store.ts';

export type Asker = Caller | TokenHolder;

export interface Viewers {
  /** Everything that was changed before this call is in force. */
  of(actor: Asker): Promise<Viewer>;
  /** The viewer that somebody asks about, who counts as one in a page of a host. */
  given(viewer: GivenViewer): Promise<Viewer>;
}

export interface GivenViewer {
  groups?: string[] | null;
  tenantGroups?: string[] | null;
  roles?: string[] | null;
  userAttributes?: Record<string, unknown> | null;
  securityContext?: object | null;
}

/** A statement does not begin before all calls that it is for, so a call never gets what was read before it. */
const TOGETHER = { atOnce: 1, size: 100 };

const NOBODY: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: null,
  seesUnguarded: true,
};

/** Whoever makes an environment token answers for what it opens; people have their own rights, embedded or not. */
const OPEN = { seesUnguarded: true };

export function createViewers(db: Queryable, settings: TenantSettings): Viewers {
  const find = gather((keys: Key[]) => listViewers(db, keys), TOGETHER);
  const openToEmbedded = async () => ({ seesUnguarded: (await settings.current()).embedWithoutPolicies });
  return {
    given: async (viewer) => ({
      groups: viewer.groups ?? [],
      tenantGroups: viewer.tenantGroups ?? [],
      roles: viewer.roles ?? [],
      userAttributes: (viewer.userAttributes ?? {}) as Viewer['userAttributes'],
      securityContext: (viewer.securityContext ?? null) as Json,
      ...(await openToEmbedded()),
    }),
    async of(actor) {
      switch (actor.kind) {
        case 'tokenHolder': {
          const securityContext = actor.securityContext as Json;
          const own = actor.isCreator ? await find({ ...personKey(actor.userId), ...OPEN }) : NOBODY;
          return { ...own, securityContext };
        }
        case 'person':
          return find({ ...personKey(actor.userId), ...OPEN });
        case 'embeddedPerson':
          return find({ ...sessionKey(actor), ...OPEN });
        case 'externalViewer':
          return find({ ...sessionKey(actor), ...(await openToEmbedded()) });
      }
    },
  };
}

type Key = store.ViewerKey & Pick<Viewer, 'seesUnguarded'>;

const personKey = (userId: number): store.ViewerKey => ({ userId, embedTenant: null, sessionId: null });

const sessionKey = ({
  userId,
  embed: { sessionId, embedTenant, creatorMode },
}: Embedded): store.ViewerKey => ({
  userId,
  embedTenant: creatorMode ? embedTenant : null,
  sessionId,
});

/** Many queries of a page have the same viewer, who is read once. */
async function listViewers(db: Queryable, keys: readonly Key[]): Promise<Viewer[]> {
  const distinct = new Map(keys.map((key) => [textOf(key), key]));
  const rows = await store.listViewers(db, [...distinct.values()]);
  const viewers = new Map([...distinct].map(([text, key], i) => [text, toViewer(rows[i]!, key)]));
  return keys.map((key) => viewers.get(textOf(key))!);
}

const textOf = ({ userId, sessionId, seesUnguarded, embedTenant }: Key) =>
  `${userId} ${sessionId} ${seesUnguarded} ${embedTenant ?? ''}`;

const toViewer = (row: store.ViewerRow, { sessionId, seesUnguarded }: Key): Viewer => ({
  groups: row.groups,
  // Groups of embed tenants are for sessions.
  tenantGroups: sessionId === null ? [] : row.tenantGroups,
  roles: row.roles,
  userAttributes: attributesInForce(row) as Viewer['userAttributes'],
  securityContext: row.securityContext as Json,
  seesUnguarded,
});
