/** Stopping removals in the middle, and refusing the way that takes everything in one statement. */
import pg from 'pg';
import { expect } from 'vitest';
import type { World } from './world.ts';

/** From now on a statement that changes more rows of the table at once fails, as one does that runs out of time. */
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

/** Holds the rows, so that whoever removes them waits, until `release`. */
export async function holdRows(world: World, table: string, ids: number[]) {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  // A test that fails leaves it to the end of its database.
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  await client.query(`select from ${table} where id = any($1) for update`, [ids]);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return {
    /** The backend of the one who waits for these rows. */
    async waiting(): Promise<number> {
      const blocked = async () =>
        (
          await world.server.db.pool.query(
            'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
            [rows[0].pid],
          )
        ).rows;
      let pids: { pid: number }[] = [];
      const look = async () => {
        pids = await blocked();
        return pids.length;
      };
      await expect.poll(look).toBe(1);
      // Of the look that found it: the one who waits may be gone at the next.
      return pids[0]!.pid;
    },
    /** Does something to the rows first, where it is given. They are the parameter `$1`. */
    async release(statement?: string) {
      if (statement) await client.query(statement, [ids]);
      await client.query('commit');
      await client.end();
    },
  };
}
