import type { Queryable } from '../db/database.ts';
import { raw, sql } from '../db/sql.ts';
import type { Hash } from './objects.ts';

/**
 * Objects are written before anything refers to them, so young ones are kept. A change that takes longer than this
 * between its first object and its commit would lose objects; none of ours may run so long.
 */
const IS_OLD = raw("written_at < now() - interval '1 hour'");

/** The hashes of objects that may be swept if nothing needs them, in order. */
export const listOldObjects = async (db: Queryable, repositoryId: number, after: Hash, limit: number) =>
  (
    await db.many<{ hash: string }>(sql`
      select encode(hash, 'hex') as hash from git_objects
      where deployment_id = ${repositoryId} and hash > ${Buffer.from(after, 'hex')} and ${IS_OLD}
      order by git_objects.hash limit ${limit}`)
  ).map(({ hash }) => hash);

/** Leaves out objects that were written again in the meantime. Returns how many were deleted. */
export const deleteOldObjects = (db: Queryable, repositoryId: number, hashes: readonly Hash[]) =>
  db.run(sql`
    delete from git_objects
    where deployment_id = ${repositoryId} and hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])
      and ${IS_OLD}`);
