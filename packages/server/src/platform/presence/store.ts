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

/** A row that is left says that the process had ended without a farewell, and was started again. */
export const upsertStarted = (db: Queryable, { name, type, containers }: NewProcess) =>
  db.run(sql`
    insert into server_processes (name, type, containers) values (${name}, ${type}, ${containers})
    on conflict (name) do update set type = excluded.type, containers = excluded.containers,
      started_at = now(), seen_at = now(), restarts = server_processes.restarts + 1`);

/** Adds the row again if others took this process for gone, for example because the machine had been asleep. */
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

/** By name, after the given one. Leaves out those that are gone. */
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
