/** Stops calls in the middle, and refuses statements that change too many rows at once. */
import pg from 'pg';
import { expect } from 'vitest';
import type { World } from './world.ts';

/** From now on, a statement that changes more rows of the table than this fails as if it had timed out. */
export async function limitStatements(world: World, table: string, maxRows: number) {
  await world.server.db.pool.query(`
    create function ${table}_limit() returns trigger language plpgsql as $$
    begin
      if (select count(*) from gone) > ${maxRows} then
        raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
      end if;
      return null;
    end $$;
    create trigger ${table}_delete_limit after delete on ${table}
      referencing old table as gone for each statement execute function ${table}_limit();
    create trigger ${table}_update_limit after update on ${table}
      referencing old table as gone for each statement execute function ${table}_limit();`);
}

/** Waits until this many connections wait for locks. The world has a database of its own. */
export const expectWaiting = (world: World, count: number) =>
  expect.poll(() => waitingForLocks(world)).toBe(count);

export const waitingForLocks = async (world: World) =>
  (
    await world.server.db.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount;

/** Locks the rows until `release`, so that code that removes them waits. */
export async function holdRows(world: World, table: string, ids: number[], key = 'id') {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  // If a test fails, the connection ends with the database.
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  await client.query(`select from ${table} where ${key} = any($1) for update`, [ids]);
  // Avoid a deadlock: a statement of `release` that must wait would wait for the stopped call, which waits for these
  // rows.
  await client.query("set local lock_timeout = '200ms'");
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return {
    /**
     * The backend that waits for these rows. If the end of its statement is given, other backends may wait too, such as
     * a build that a change started.
     */
    async waiting(statementEnd = ''): Promise<number> {
      const blocked = async () =>
        (
          await world.server.db.pool.query(
            `select pid from pg_stat_activity
             where $1 = any(pg_blocking_pids(pid)) and right(query, length($2)) = $2`,
            [rows[0].pid, statementEnd],
          )
        ).rows;
      let pids: { pid: number }[] = [];
      const look = async () => {
        pids = await blocked();
        return pids.length;
      };
      await expect.poll(look).toBe(1);
      // Returns the result of the successful attempt, because the waiting backend may be gone at the next one.
      return pids[0]!.pid;
    },
    /** Runs the statement, if it is given, before it unlocks the rows. Their ids are the parameter `$1`. */
    async release(statement?: string) {
      if (statement) await client.query(statement, [ids]);
      await client.query('commit');
      await client.end();
    },
  };
}
