import { operations } from '@oriel/contract';
import type { Person } from '../../platform/auth/actor.ts';
import { generateApiKey, hashApiKey } from '../../platform/auth/api-keys.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { listExistingIds } from '../deployments/index.ts';
import { outlives, reachesFurther } from './rules.ts';
import * as store from './store.ts';

const LIST = 'api keys by id';

export const apiKeyRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listApiKeys, async ({ actor, db }, { query }) => {
    const size = pageSize(query.first);
    const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
    const rows = await store.listApiKeys(db, actor.deploymentIds, { afterId, limit: size + 1 });
    return toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(LIST, [id]) });
  }),

  handle(operations.createApiKey, ({ actor, change }, { body }) => {
    const key = generateApiKey();
    const { name, userId, deploymentIds = null, expiresAt = null } = body;
    return change(async (tx) => {
      await requireScope(tx, actor, deploymentIds);
      await requireEnd(tx, actor, expiresAt);
      requireFuture(expiresAt);
      const created = await store.insertApiKey(tx, {
        name,
        userId: userId ?? actor.userId,
        keyHash: hashApiKey(key),
        deploymentIds,
        expiresAt,
      });
      if (!created) throw invalid('userId', 'There is no such user.', 'invalid_reference');
      return { reply: { ...created, key }, changes: { id: created.id, before: null, after: created } };
    });
  }),

  handle(operations.getApiKey, async ({ actor, db }, { params }) => {
    const key = await store.findApiKey(db, actor.deploymentIds, params.id);
    if (!key) throw new ApiError('api_key_not_found');
    return key;
  }),

  handle(operations.updateApiKey, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const before = await requireApiKey(tx, actor, params.id);
      if (body.deploymentIds !== undefined) await requireScope(tx, actor, body.deploymentIds);
      requireFuture(body.expiresAt ?? null);
      const wanted = { ...before, ...body };
      await requireEnd(tx, actor, wanted.expiresAt);
      const after = await store.updateApiKey(tx, wanted);
      return { reply: after, changes: { id: after.id, before, after } };
    }),
  ),

  handle(operations.deleteApiKey, ({ actor, change }, { params }) =>
    change(async (tx) => {
      const before = await requireApiKey(tx, actor, params.id);
      await store.deleteApiKey(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before, after: null } };
    }),
  ),
];

async function requireApiKey(tx: Tx, actor: Person, id: number) {
  const key = await store.lockApiKey(tx, actor.deploymentIds, id);
  if (!key) throw new ApiError('api_key_not_found');
  return key;
}

async function requireScope(db: Queryable, actor: Person, deploymentIds: number[] | null) {
  if (reachesFurther(deploymentIds, actor.deploymentIds)) {
    throw new ApiError('outside_key_scope', {
      message: 'A scoped API key can not give a scope wider than its own.',
    });
  }
  if (deploymentIds === null) return;
  const existing = await listExistingIds(db, deploymentIds);
  const missing = deploymentIds.filter((id) => !existing.includes(id));
  if (missing.length)
    throw invalid('deploymentIds', `There is no deployment ${missing.join(', ')}.`, 'invalid_reference');
}

/** No key outlives the one that made or changed it. */
async function requireEnd(db: Queryable, actor: Person, expiresAt: string | null) {
  const own = actor.apiKeyId === null ? null : await store.findExpiry(db, actor.apiKeyId);
  if (outlives(expiresAt, own)) {
    throw new ApiError('outside_key_scope', {
      message: `An API key that expires can not make or change one that outlives it: give an \`expiresAt\` of ${own} or earlier.`,
    });
  }
}

function requireFuture(expiresAt: string | null) {
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
    throw invalid('expiresAt', 'must be in the future');
}
