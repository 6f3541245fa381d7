/**
 * The viewer of a query, as policies see the caller. It stays in memory until a notification says that it changed. While
 * notifications cannot be received, it is read for each query; viewers of queries that come at the same time by one
 * statement.
 */
import type { Json, Viewer } from '@oriel/semantic';
import type { Caller, EmbeddedCaller, TokenHolder } from '../../platform/auth/actor.ts';
import { batchCalls } from '../../platform/batch-calls.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Platform } from '../../platform/module.ts';
import { attributesInForce } from '../embed-sessions/index.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import * as store from './store.ts';

export type QueryCaller = Caller | TokenHolder;

export interface Viewers {
  /** Everything that this server was told of before this call is in force: its own changes, and those of others. */
  of(actor: QueryCaller): Promise<Viewer>;
  /**
   * Returns a viewer that a caller asks about: a person, or one that the caller describes, who counts as a viewer in a
   * page of a host unless `isPerson` is given.
   */
  given(viewer: ViewerInput | { userId: number }): Promise<Viewer>;
}

export interface ViewerInput {
  groups?: string[] | null;
  tenantGroups?: string[] | null;
  roles?: string[] | null;
  userAttributes?: Record<string, unknown> | null;
  securityContext?: object | null;
  /** A person of the account, and not a viewer in a page of a host. */
  isPerson?: boolean;
}

/** A batch is read only after all its calls have begun, so a call never gets rights that were read before it. */
const TOGETHER = { atOnce: 1, size: 100 };

/** The subject of changes that may concern every viewer: names of groups and roles, and definitions of attributes. */
const VIEWERS = 'viewers';

const NOBODY: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: null,
  seesUnguarded: true,
};

/** The creator of an environment token answers for what it opens; people have their own rights, embedded or not. */
const OPEN = { seesUnguarded: true };

/** A security context may be large, and thousands of viewers are cached. */
const KEEP_CHARACTERS_MAX = 4000;

export function createViewers(
  { db, createCache }: { db: Queryable } & Pick<Platform, 'createCache'>,
  settings: TenantSettings,
): Viewers {
  const cache = createCache<string, Viewer>((key) => [`user:${key.split(' ', 1)[0]}`, VIEWERS]);
  const read = batchCalls((keys: Key[]) => listViewers(db, keys), TOGETHER);
  const goodUntil = (viewer: Viewer) =>
    JSON.stringify(viewer).length > KEEP_CHARACTERS_MAX ? 0 : Number.POSITIVE_INFINITY;
  const find = (key: Key): Viewer | Promise<Viewer> => {
    const text = viewerKey(key);
    return cache.get(text) ?? cache.load(text, () => read(key), goodUntil);
  };
  const openToEmbedded = async () => ({ seesUnguarded: (await settings.current()).embedWithoutPolicies });
  return {
    async given(viewer) {
      if ('userId' in viewer) return find({ ...personKey(viewer.userId), ...OPEN });
      return {
        groups: viewer.groups ?? [],
        tenantGroups: viewer.tenantGroups ?? [],
        roles: viewer.roles ?? [],
        userAttributes: (viewer.userAttributes ?? {}) as Viewer['userAttributes'],
        securityContext: (viewer.securityContext ?? null) as Json,
        ...(viewer.isPerson ? OPEN : await openToEmbedded()),
      };
    },
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
        case 'externalViewer': {
          const viewer = await find({ ...sessionKey(actor), ...(await openToEmbedded()) });
          const { securityContext } = actor.embed;
          return securityContext === undefined
            ? viewer
            : { ...viewer, securityContext: securityContext as Json };
        }
      }
    },
  };
}

type Key = store.ViewerKey & Pick<Viewer, 'seesUnguarded'>;

const personKey = (userId: number): store.ViewerKey => ({ userId, embedTenant: null, sessionId: null });

const sessionKey = ({
  userId,
  embed: { sessionId, embedTenant, creatorMode },
}: EmbeddedCaller): store.ViewerKey => ({
  userId,
  embedTenant: creatorMode ? embedTenant : null,
  sessionId,
});

/** Many queries of a page have the same viewer, who is read once. */
async function listViewers(db: Queryable, keys: readonly Key[]): Promise<Viewer[]> {
  const distinct = new Map(keys.map((key) => [viewerKey(key), key]));
  const rows = await store.listViewers(db, [...distinct.values()]);
  const viewers = new Map([...distinct].map(([text, key], i) => [text, toViewer(rows[i]!, key)]));
  return keys.map((key) => viewers.get(viewerKey(key))!);
}

const viewerKey = ({ userId, sessionId, seesUnguarded, embedTenant }: Key) =>
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
