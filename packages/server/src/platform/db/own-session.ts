/**
 * Whether a connection is one session of PostgreSQL for as long as it lasts. A pooler may hand the sessions around
 * instead, and then nothing that we set, lock, prepare or listen for on a connection stays with it.
 */
import type pg from 'pg';
import { StartupError } from '../startup-error.ts';
import { type ConnectionSettings, openClient, SESSION_SETTINGS } from './connection.ts';

/** A pooler that takes turns over its sessions shows it sooner or later; most show it at once. */
const LOOKS = 10;

export const SHARED_SESSIONS =
  'The pooler in ORIEL_DATABASE_URL hands sessions of the database around, and Oriel needs its own: set it to session mode (`pool_mode = session` in PgBouncer).';

export async function requireOwnSession(client: pg.Client, connection: ConnectionSettings): Promise<void> {
  const own = await sessionOf(client);
  const other = await openClient(connection);
  try {
    for (let look = 0; look < LOOKS; look++) {
      // While the other one holds what a pooler gave it for this transaction, we can not be given the same.
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

/** There, PgBouncer knows no transactions at all. */
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
