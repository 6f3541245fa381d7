import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

export interface ProcessRow {
  name: string;
  type: 'web' | 'worker';
  containers: string[];
  startedAt: string;
  seenAt: string;
  restarts: number;
  /** Whether it reported within the time that is given to it. */
  isReady: boolean;
}

type NewProcess = Pick<ProcessRow, 'name' | 'type' | 'containers'>;

/** Adds the row. If one is left, the process had ended without deleting it, so this counts as a restart. */
export const upsertStarted = (db: Queryable, { name, type, containers }: NewProcess) =>
  db.run(sql`
    insert into server_processes (name, type, containers) values (${name}, ${type}, ${containers})
    on conflict (name) do update set type = excluded.type, containers = excluded.containers,
      started_at = now(), seen_at = now(), restarts = server_processes.restarts + 1`);

/** Adds the row again if other processes deleted it, for example because the machine had been asleep. */
export const upsertSeen = (db: Queryable, { name, type, containers }: NewProcess) =>
  db.run(sql`
    insert into server_processes (name, type, containers) values (${name}, ${type}, ${containers})
    on conflict (name) do update set seen_at = now()`);

export const deleteProcess = (db: Queryable, name: string) =>
  db.run(sql`delete from server_processes where name = ${name}`);

export const deleteGone = (db: Queryable, afterMs: number) =>
  db.run(sql`delete from server_processes where seen_at < now() - ${afterMs} * interval '1 ms'`);

export interface PresenceTimes {
  readyMs: number;
  goneMs: number;
}

/** Lists processes by name, after the given name. Leaves out processes that are gone. */
export const listProcesses = (
  db: Queryable,
  { readyMs, goneMs }: PresenceTimes,
  page: { after: string; limit: number },
) =>
  db.many<ProcessRow>(sql`
    select name, type, containers, started_at as "startedAt", seen_at as "seenAt", restarts,
      seen_at > now() - ${readyMs} * interval '1 ms' as "isReady"
    from server_processes
    where seen_at > now() - ${goneMs} * interval '1 ms' and name collate "C" > ${page.after}
    order by name collate "C" limit ${page.limit}`);
