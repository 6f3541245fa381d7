import { type BodyOf, operations } from '@oriel/contract';
import { changed } from '../../platform/audit/change.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import * as store from './ledger.store.ts';
import type { Revocations } from './revocations.ts';
import type { RevocationRow } from './tokens.store.ts';

interface LedgerOptions {
  cursors: Cursors;
  revocations: Revocations;
}

const LIST = 'embed sessions by id, newest first';

export const ledgerRoutes = ({ cursors, revocations }: LedgerOptions) => [
  handle(operations.listEmbedSessions, async ({ actor, db }, { query }) => {
    const size = pageSize(query.first);
    const beforeId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : null;
    const filter = { ...query, within: actor.deploymentIds };
    const rows = await store.listEntries(db, filter, { beforeId, limit: size + 1 });
    return toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(LIST, [id]) });
  }),

  handle(operations.getEmbedSessionEntry, async ({ actor, db }, { params }) =>
    found(await store.findEntry(db, params.id, actor.deploymentIds), 'embed_session_not_found'),
  ),

  handle(operations.revokeEmbedSession, ({ actor, change }, { params }) =>
    announced(revocations, async (announce) =>
      change(async (tx) => {
        const { count, entry: revocation } = await store.revokeSessions(tx, { sessionId: params.id });
        const entry = await store.findEntry(tx, params.id, actor.deploymentIds);
        const session = found(entry, 'embed_session_not_found');
        announce(revocation);
        const { deploymentId } = session;
        const change = { ...changed({ revokedAt: null }, session), deploymentId };
        return { reply: undefined, changes: count ? change : [] };
      }),
    ),
  ),

  handle(operations.revokeEmbedSessions, ({ change }, { body }) => {
    const target = targetOf(body);
    return announced(revocations, async (announce) =>
      change(async (tx) => {
        const { count, entry } = await store.revokeSessions(tx, target);
        announce(entry);
        const [[kind, id]] = Object.entries(target) as [[string, number | string]];
        const after = { ...target, revoked: count };
        return { reply: { revoked: count }, changes: { id: `${kind}:${id}`, before: null, after } };
      }),
    );
  }),
];

/** Adds the revocation on this server before it replies. The database notifies the other servers. */
async function announced<T>(
  revocations: Revocations,
  work: (announce: (entry: RevocationRow | undefined) => void) => Promise<T>,
): Promise<T> {
  let revoked: RevocationRow | undefined;
  const result = await work((entry) => {
    revoked = entry;
  });
  if (revoked) revocations.add(revoked);
  return result;
}

/** Requires exactly one target. An external id needs its embed tenant. */
function targetOf(body: BodyOf<typeof operations.revokeEmbedSessions>): store.Target {
  const { embedTenantName, externalId, apiKeyId, deploymentId } = body;
  const targets: store.Target[] = [];
  if (embedTenantName != null) {
    targets.push(externalId == null ? { embedTenantName } : { externalId, embedTenantName });
  } else if (externalId != null) {
    throw refuse('`externalId` needs its `embedTenantName`.');
  }
  if (apiKeyId != null) targets.push({ apiKeyId });
  if (deploymentId != null) targets.push({ deploymentId });
  const [target, ...more] = targets;
  if (!target || more.length) {
    throw refuse(
      'Give exactly one of `embedTenantName`, `externalId` with its `embedTenantName`, `apiKeyId`, `deploymentId`.',
    );
  }
  return target;
}

const refuse = (message: string) => new ApiError('invalid_request', { message });
