import type { JsonWebKey } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface SigningKeyRow {
  id: string;
  publicKey: JsonWebKey;
  privateKey: Buffer;
  createdAt: string;
}

export type NewSigningKey = Omit<SigningKeyRow, 'createdAt'>;

export interface KeyStore {
  /** Newest first. */
  list(db: Queryable): Promise<SigningKeyRow[]>;
  /** Does nothing if there is a key that is not older than `maxAgeDays`. */
  insert(db: Queryable, key: NewSigningKey, maxAgeDays: number): Promise<unknown>;
  /** Deletes keys that were replaced by a newer key more than `replacedForDays` ago. */
  deleteReplaced(db: Queryable, replacedForDays: number): Promise<unknown>;
  deleteAll(db: Queryable): Promise<unknown>;
}

const COLUMNS = sql`id, public_key as "publicKey", private_key as "privateKey", created_at as "createdAt"`;
const valuesOf = (key: NewSigningKey) => sql`${key.id}, ${json(key.publicKey)}, ${key.privateKey}`;
const youngerThan = (days: number) => sql`created_at > now() - make_interval(hours => ${days * 24})`;
const wasReplacedFor = (days: number) =>
  sql`newer.created_at > old.created_at and newer.created_at < now() - make_interval(hours => ${days * 24})`;

export const signingKeys: KeyStore = {
  list: (db) => db.many<SigningKeyRow>(sql`select ${COLUMNS} from signing_keys order by created_at desc, id`),
  insert: (db, key, maxAgeDays) =>
    db.run(sql`
      insert into signing_keys (id, public_key, private_key)
      select ${valuesOf(key)} where not exists (select from signing_keys where ${youngerThan(maxAgeDays)})`),
  deleteReplaced: (db, days) =>
    db.run(sql`delete from signing_keys old using signing_keys newer where ${wasReplacedFor(days)}`),
  deleteAll: (db) => db.run(sql`delete from signing_keys`),
};

/** In a table of their own, because servers of an earlier version would sign embed tokens with them. */
export const workloadKeys: KeyStore = {
  list: (db) =>
    db.many<SigningKeyRow>(sql`select ${COLUMNS} from workload_keys order by created_at desc, id`),
  insert: (db, key, maxAgeDays) =>
    db.run(sql`
      insert into workload_keys (id, public_key, private_key)
      select ${valuesOf(key)} where not exists (select from workload_keys where ${youngerThan(maxAgeDays)})`),
  deleteReplaced: (db, days) =>
    db.run(sql`delete from workload_keys old using workload_keys newer where ${wasReplacedFor(days)}`),
  deleteAll: (db) => db.run(sql`delete from workload_keys`),
};
