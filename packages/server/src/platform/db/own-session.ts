/**
 * Checks that a connection is one session of PostgreSQL for as long as it lasts. A pooler may share sessions between
 * connections, and then settings, locks, prepared statements and `listen` do not stay with the connection.
 */
import type pg from 'pg';
import { StartupError } from '../startup-error.ts';
import { type ConnectionSettings, openClient, SESSION_SETTINGS } from './connection.ts';

/**
 * Several checks, because a pooler may give us the same session a few times by chance. Most poolers are detected at
 * once.
 */
const LOOKS = 10;

export const SHARED_SESSIONS =
  'The pooler in ORIEL_DATABASE_URL shares sessions of the database between connections, and Oriel needs its own sessions: set it to session mode (`pool_mode = session` in PgBouncer).';

export async function requireOwnSession(client: pg.Client, connection: ConnectionSettings): Promise<void> {
  const own = await sessionOf(client);
  const other = await openClient(connection);
  try {
    for (let look = 0; look < LOOKS; look++) {
      // While the other connection is in a transaction, a pooler cannot give its session to us.
      await other.query('begin').catch(refuseStatementMode);
      if ((await sessionOf(other)).pid === own.pid) throw new StartupError(SHARED_SESSIONS);
      if ((await sessionOf(client)).pid !== own.pid) throw new StartupError(SHARED_SESSIONS);
      await other.query('commit');
    }
  } finally {
    await other.end();
  }
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    const actual = own.settings[name];
    if (!actual?.startsWith(value)) {
      throw new StartupError(
        `The database does not keep what Oriel sets on a connection (${name} is ${actual} instead of ${value}): check the pooler in ORIEL_DATABASE_URL.`,
      );
    }
  }
}

/** In statement mode, PgBouncer refuses transactions. */
function refuseStatementMode(error: Error & { code?: string }): never {
  throw error.code === '08P01' ? new StartupError(SHARED_SESSIONS) : error;
}

async function sessionOf(client: pg.Client): Promise<{ pid: number; settings: Record<string, string> }> {
  const { rows } = await client.query(
    `select pg_backend_pid() as pid, (
       select json_object_agg(lower(name), setting) from pg_settings where lower(name) = any($1)) as settings`,
    [Object.keys(SESSION_SETTINGS)],
  );
  return rows[0];
}
