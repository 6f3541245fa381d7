import type { Queryable } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface SigningKeyRow {
  id: string;
  publicKey: { kty: string; crv: string; x: string };
  privateKey: Buffer;
}

/** Newest first. */
export const listSigningKeys = (db: Queryable) =>
  db.many<SigningKeyRow>(sql`
    select id, public_key as "publicKey", private_key as "privateKey" from signing_keys order by created_at desc, id`);

/** Does nothing if there is a key that is not older than `maxAgeDays`. */
export const insertSigningKey = (db: Queryable, key: SigningKeyRow, maxAgeDays: number) =>
  db.run(sql`
    insert into signing_keys (id, public_key, private_key)
    select ${key.id}, ${json(key.publicKey)}, ${key.privateKey}
    where not exists (select from signing_keys where created_at > now() - make_interval(hours => ${maxAgeDays * 24}))`);

export const deleteAllSigningKeys = (db: Queryable) => db.run(sql`delete from signing_keys`);

/** Deletes keys that were replaced by a newer key more than `replacedForDays` ago. */
export const deleteReplacedSigningKeys = (db: Queryable, replacedForDays: number) =>
  db.run(sql`
    delete from signing_keys old using signing_keys newer
    where newer.created_at > old.created_at and newer.created_at < now() - make_interval(hours => ${replacedForDays * 24})`);
