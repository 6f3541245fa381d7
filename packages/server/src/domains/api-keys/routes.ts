import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { listExistingIds } from '../deployments/index.ts';
import { outlives, reachesFurther } from './rules.ts';
import { generateApiKey, hashApiKey } from './secret.ts';
import * as store from './store.ts';

export const apiKeyRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listApiKeys, ({ actor, db }, { query }) =>
    pageById(cursors, 'api keys by id', query, (page) => store.listApiKeys(db, reachOf(actor), page)),
  ),

  handle(operations.createApiKey, ({ actor, change }, { body }) => {
    const key = generateApiKey();
    const { name, userId, deploymentIds = null, expiresAt = null } = body;
    return change(async (tx) => {
      await requireScope(tx, actor, deploymentIds);
      await requireEnd(tx, actor, expiresAt);
      requireFuture(expiresAt);
      const made = await store.insertApiKey(tx, {
        name,
        userId: userId ?? actor.userId,
        keyHash: hashApiKey(key),
        deploymentIds,
        expiresAt,
      });
      if (!made) throw invalid('userId', 'There is no such user.', 'invalid_reference');
      return { reply: { ...made, key }, changes: created(made) };
    });
  }),

  handle(operations.getApiKey, async ({ actor, db }, { params }) =>
    found(await store.findApiKey(db, reachOf(actor), params.id), 'api_key_not_found'),
  ),

  handle(operations.updateApiKey, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockApiKey(tx, reachOf(actor), params.id);
      if (body.deploymentIds !== undefined) await requireScope(tx, actor, body.deploymentIds);
      requireFuture(body.expiresAt ?? null);
      const wanted = { ...before, ...body };
      await requireEnd(tx, actor, wanted.expiresAt);
      const after = await store.updateApiKey(tx, wanted);
      return { reply: after, changes: changed(before, after) };
    }),
  ),

  handle(operations.deleteApiKey, ({ actor, change }, { params }) =>
    change((tx) => revoke(tx, reachOf(actor), params.id)),
  ),

  handle(operations.listMyApiKeys, ({ actor, db }, { query }) => {
    const list = `api keys of user ${actor.userId} by id`;
    return pageById(cursors, list, query, (page) => store.listApiKeys(db, ownReachOf(actor), page));
  }),

  handle(operations.deleteMyApiKey, ({ actor, change }, { params }) =>
    change((tx) => revoke(tx, ownReachOf(actor), params.id)),
  ),
];

const reachOf = ({ deploymentIds }: Person): store.KeyScope => ({ deploymentIds, userId: null });
const ownReachOf = ({ deploymentIds, userId }: Person): store.KeyScope => ({ deploymentIds, userId });

const lockApiKey = async (tx: Tx, reach: store.KeyScope, id: number) =>
  found(await store.lockApiKey(tx, reach, id), 'api_key_not_found');

async function revoke(tx: Tx, reach: store.KeyScope, id: number) {
  const before = await lockApiKey(tx, reach, id);
  await store.deleteApiKey(tx, before.id);
  return { reply: undefined, changes: deleted(before) };
}

async function requireScope(db: Queryable, actor: Person, deploymentIds: number[] | null) {
  if (reachesFurther(deploymentIds, actor.deploymentIds)) {
    throw new ApiError('outside_key_scope', {
      message: 'A scoped API key cannot create or change a key with a wider scope than its own.',
    });
  }
  if (deploymentIds === null) return;
  const existing = await listExistingIds(db, deploymentIds);
  const missing = deploymentIds.filter((id) => !existing.includes(id));
  if (missing.length)
    throw invalid('deploymentIds', `There is no deployment ${missing.join(', ')}.`, 'invalid_reference');
}

/** A key must not expire later than the key that creates or changes it. */
async function requireEnd(db: Queryable, actor: Person, expiresAt: string | null) {
  const own = actor.apiKeyId === null ? null : await store.findExpiry(db, actor.apiKeyId);
  if (outlives(expiresAt, own)) {
    throw new ApiError('outside_key_scope', {
      message: `An API key that expires cannot create or change a key that expires later: give an \`expiresAt\` of ${own} or earlier.`,
    });
  }
}

function requireFuture(expiresAt: string | null) {
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
    throw invalid('expiresAt', 'must be in the future');
}
