import type { Database, Queryable, Tx } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { ChainState, Seal } from './macs.ts';

export interface ChainRow extends ChainState {
  key: Buffer | null;
  mac: Buffer | null;
  /** Entries with ids up to this one are sealed next; null if that is not decided yet. */
  nextTo: number | null;
  /** Whether no transaction is left that could still add an entry with such an id. */
  isQuiet: boolean | null;
}

const CHAIN = sql`
  select key, sealed_to as "sealedTo", head_no as "headNo", head_mac as "headMac", anchor_no as "anchorNo",
         anchor_mac as "anchorMac", mac, next_to as "nextTo",
         pg_snapshot_xmin(pg_current_snapshot()) >= next_after as "isQuiet"
  from audit_log_chain`;

export const findChain = (db: Queryable) => db.one<ChainRow>(CHAIN);

/** Only the transaction that holds this lock seals entries or drops months. */
export const lockChain = (tx: Tx) => tx.one<ChainRow>(sql`${CHAIN} for update`);

export const updateChain = (
  tx: Tx,
  chain: ChainState & { key: Buffer; mac: Buffer; nextTo: number | null },
) =>
  tx.run(sql`
    update audit_log_chain
    set key = ${chain.key}, sealed_to = ${chain.sealedTo}, head_no = ${chain.headNo}, head_mac = ${chain.headMac},
        anchor_no = ${chain.anchorNo}, anchor_mac = ${chain.anchorMac}, mac = ${chain.mac}, next_to = ${chain.nextTo}`);

/** The newest id that an entry got or may still get. */
export const findLastId = async (db: Queryable) =>
  (
    await db.one<{ id: number }>(
      sql`select case when is_called then last_value else last_value - 1 end as id from audit_log_ids`,
    )
  ).id;

/**
 * Says that entries up to `lastId` are next, as soon as all transactions before this one have ended. `lastId` must have
 * been read in an earlier transaction: then those that hold such an id began to write before this one. A number that this
 * database has not reached yet is from the database that this one was restored from.
 */
export const markNext = (db: Database, lastId: number) =>
  db.writes.run(sql`
    update audit_log_chain set next_to = ${lastId}, next_after = pg_current_xact_id()
    where sealed_to < ${lastId} and (next_to is null or next_after > pg_current_xact_id())`);

export interface EntryDigest {
  id: number;
  month: string;
  digest: Buffer;
}

/** The digest is computed here and not by a function in the database, which an attacker could replace. */
const DIGEST = sql`
  id, to_char(created_at at time zone 'UTC', 'YYYY-MM-01') as month,
  pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.jsonb_build_array(
    id, extract(epoch from created_at), operation, resource_type, resource_id, deployment_id, embed_tenant, user_id,
    api_key_id, ip, request_id, before, after)::text, 'UTF8')) as digest`;

/** Ordered by id. */
export const listDigests = (
  db: Queryable,
  { after, to, limit }: { after: number; to: number; limit: number },
) =>
  db.many<EntryDigest>(sql`
    select ${DIGEST} from audit_log where id > ${after} and id <= ${to} order by id limit ${limit}`);

/** Ordered by id. */
export const listDigestsOfMonth = (
  db: Queryable,
  { month, after, to, limit }: { month: string; after: number; to: number; limit: number },
) =>
  db.many<EntryDigest>(sql`
    select ${DIGEST} from audit_log
    where created_at >= ${`${month} 00:00:00+00`}::timestamptz
      and created_at < (${month}::timestamp + interval '1 month') at time zone 'UTC'
      and id > ${after} and id <= ${to}
    order by id limit ${limit}`);

export const countUnsealed = async (db: Queryable, sealedTo: number) =>
  (await db.one<{ count: number }>(sql`select count(*) from audit_log where id > ${sealedTo}`)).count;

export const insertSeal = (tx: Tx, { no, month, ids, digests, sealedAt, mac }: SealRow) =>
  tx.run(sql`
    insert into audit_log_seals (no, month, ids, digests, sealed_at, mac)
    values (${no}, ${month}::date, ${ids}::bigint[], ${digests}::bytea[], ${sealedAt}::timestamptz, ${mac})`);

export interface SealRow extends Seal {
  mac: Buffer;
}

/** Ordered by number. */
export const listSeals = (
  db: Queryable,
  { after, to, limit }: { after: number; to: number; limit: number },
) =>
  db.many<SealRow>(sql`
    select no, month::text, to_json(ids) as ids, digests, sealed_at as "sealedAt", mac from audit_log_seals
    where no > ${after} and no <= ${to} order by no limit ${limit}`);

export const findSealMac = async (db: Queryable, no: number) =>
  (await db.maybeOne<{ mac: Buffer }>(sql`select mac from audit_log_seals where no = ${no}`))?.mac;

export const countSealedEntries = async (db: Queryable, month: string) =>
  (
    await db.one<{ count: number }>(
      sql`select coalesce(sum(cardinality(ids)), 0)::bigint as count from audit_log_seals where month = ${month}::date`,
    )
  ).count;

/** The last of the seals at the beginning of the chain whose months were all dropped. */
export const findLastOfDropped = (tx: Tx) =>
  tx.maybeOne<{ no: number; mac: Buffer }>(sql`
    select no, mac from audit_log_seals
    where no < coalesce(
      (select min(s.no) from audit_log_seals s join audit_log_months m on m.month = s.month and m.dropped_at is null),
      (select max(no) + 1 from audit_log_seals))
    order by no desc limit 1`);

export const deleteSealsTo = (tx: Tx, no: number) =>
  tx.run(sql`delete from audit_log_seals where no <= ${no}`);

/** Begins a new chain, for a database whose secret key is lost: no server can use the key of the old chain any more. */
export const restartSeals = (tx: Tx) => tx.run(sql`select restart_audit_seals()`);
