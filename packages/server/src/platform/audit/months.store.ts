/** The partitions of the log. Each holds one month, in UTC. */
import type { Database, Queryable, Tx } from '../db/database.ts';
import { raw, sql } from '../db/sql.ts';

export interface MonthRow {
  /** The first day. */
  month: string;
  isDropped: boolean;
  entries: number | null;
  mac: Buffer | null;
}

/** Newest first. */
export const listMonths = (db: Queryable) =>
  db.many<MonthRow>(sql`
    select month::text, dropped_at is not null as "isDropped", entries, mac from audit_log_months order by month desc`);

/** Months with entries that have no partition yet. */
export const listStrayMonths = async (db: Queryable) =>
  (
    await db.many<{ month: string }>(
      sql`select distinct to_char(created_at at time zone 'UTC', 'YYYY-MM-01') as month from audit_log_default`,
    )
  ).map(({ month }) => month);

/** Makes partitions ahead of time. Reads first, because making them locks the chain. */
export async function makeMonths(db: Database): Promise<void> {
  const { isNeeded } = await db.one<{ isNeeded: boolean }>(sql`
    select exists (select from audit_log_default)
      or (select count(*) from audit_log_months where month > now()) < 2 as "isNeeded"`);
  if (isNeeded) await db.transaction((tx) => tx.run(sql`select make_audit_months()`));
}

/** The oldest month that is older than this as a whole. */
export const findOldestMonth = async (db: Queryable, olderThanDays: number) =>
  (
    await db.maybeOne<{ month: string }>(sql`
      select month::text from audit_log_months
      where dropped_at is null
        and (month::timestamp + interval '1 month') at time zone 'UTC' <= now() - ${olderThanDays} * interval '24 hours'
      order by month limit 1`)
  )?.month;

/** Waits for statements that read or write the log, for as long as the limit for locks allows. */
export const dropPartition = (tx: Tx, month: string) =>
  tx.run(sql`drop table ${raw(`audit_log_${month.slice(0, 7).replace('-', '_')}`)}`);

export const updateDroppedMonth = (tx: Tx, month: string, entries: number, mac: Buffer) =>
  tx.run(sql`
    update audit_log_months set dropped_at = now(), entries = ${entries}, mac = ${mac} where month = ${month}::date`);

export const findRetentionDays = async (db: Queryable) =>
  (await db.one<{ days: number | null }>(sql`select audit_log_retention_days as days from tenant_settings`))
    .days;
