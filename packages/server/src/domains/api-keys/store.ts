import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export interface ApiKeyRow {
  id: number;
  name: string;
  userId: number;
  deploymentIds: number[] | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
}

const COLUMNS = sql`
  id, name, user_id as "userId", to_json(deployment_ids) as "deploymentIds",
  created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt"`;

/** The keys that the caller sees. */
export interface KeyScope {
  /** The scope of the caller's own key. Only keys with a scope inside of it are seen; null means all keys. */
  deploymentIds: readonly number[] | null;
  /** Only keys of this user; null means keys of all users. */
  userId: number | null;
}

const within = ({ deploymentIds, userId }: KeyScope): Sql => sql`
  (${deploymentIds}::bigint[] is null or deployment_ids <@ ${deploymentIds}::bigint[])
  and (${userId}::bigint is null or user_id = ${userId})`;

export const listApiKeys = (db: Queryable, reach: KeyScope, page: PageById) =>
  db.many<ApiKeyRow>(sql`
    select ${COLUMNS} from api_keys where ${within(reach)} and id > ${page.afterId} order by id limit ${page.limit}`);

export const findApiKey = (db: Queryable, reach: KeyScope, id: number) =>
  db.maybeOne<ApiKeyRow>(sql`select ${COLUMNS} from api_keys where id = ${id} and ${within(reach)}`);

/** When the key expires; null if it never does. */
export const findExpiry = async (db: Queryable, id: number) =>
  (
    await db.maybeOne<Pick<ApiKeyRow, 'expiresAt'>>(sql`
    select expires_at as "expiresAt" from api_keys where id = ${id}`)
  )?.expiresAt ?? null;

/** Locks the key: no other transaction can change it until this one ends. */
export const lockApiKey = (tx: Tx, reach: KeyScope, id: number) =>
  tx.maybeOne<ApiKeyRow>(
    sql`select ${COLUMNS} from api_keys where id = ${id} and ${within(reach)} for update`,
  );

/** Returns nothing if there is no such person. External users cannot have keys. */
export const insertApiKey = (
  tx: Tx,
  key: {
    name: string;
    userId: number;
    keyHash: Buffer;
    deploymentIds: number[] | null;
    expiresAt: string | null;
  },
) =>
  tx.maybeOne<ApiKeyRow>(sql`
    insert into api_keys (name, user_id, key_hash, deployment_ids, expires_at)
    select ${key.name}, id, ${key.keyHash}, ${key.deploymentIds}, ${key.expiresAt}
    from users where id = ${key.userId} and embed_tenant is null and deleted_at is null for key share
    returning ${COLUMNS}`);

export const updateApiKey = (tx: Tx, key: Pick<ApiKeyRow, 'id' | 'name' | 'deploymentIds' | 'expiresAt'>) =>
  tx.one<ApiKeyRow>(sql`
    update api_keys set name = ${key.name}, deployment_ids = ${key.deploymentIds}, expires_at = ${key.expiresAt}
    where id = ${key.id} returning ${COLUMNS}`);

export const deleteApiKey = (tx: Tx, id: number) => tx.run(sql`delete from api_keys where id = ${id}`);
