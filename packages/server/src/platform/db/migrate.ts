/** Numbered SQL files, run once each and in order, under a lock that lets several servers start at once. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { StartupError } from '../startup-error.ts';
import { type ConnectionSettings, openClient } from './connection.ts';
import type { Queryable } from './database.ts';
import { requireOwnSession } from './own-session.ts';
import { sql } from './sql.ts';

export interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

/** Any constant does; it is the same for every server of every version. */
const MIGRATION_LOCK = 7_023_455_201;
const OLDEST_POSTGRES = 150_000;

export async function readMigrations(dir: string): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, i) => {
      const version = Number(file.slice(0, 4));
      if (version !== i + 1) throw new Error(`migration ${file} should have the number ${i + 1}`);
      const text = await readFile(join(dir, file), 'utf8');
      return {
        version,
        name: file.slice(5, -4),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}

export async function migrate(connection: ConnectionSettings, migrations: Migration[]): Promise<void> {
  const client = await openClient(connection);
  try {
    await requireVersion(client);
    await requireOwnSession(client, connection);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await appliedMigrations(client);
    requireKnown(applied, migrations);
    for (const migration of migrations.slice(applied.length)) await apply(client, migration);
  } finally {
    // Ending the session gives the lock back.
    await client.end();
  }
}

async function requireVersion(client: pg.Client) {
  const { rows } = await client.query('show server_version_num');
  const version = Number(rows[0].server_version_num);
  if (version < OLDEST_POSTGRES) {
    throw new StartupError(
      `The database is PostgreSQL ${Math.floor(version / 10_000)}, and Oriel needs 15 or later: upgrade it, or point ORIEL_DATABASE_URL at another server.`,
    );
  }
}

async function appliedMigrations(client: pg.Client) {
  await client.query(`
    create table if not exists schema_migrations (
      version int primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<AppliedMigration>(
    'select version, name, checksum from schema_migrations order by version',
  );
  return rows;
}

interface AppliedMigration {
  version: number;
  name: string;
  checksum: string;
}

function requireKnown(applied: AppliedMigration[], known: Migration[]) {
  if (applied.length > known.length) {
    throw new StartupError(
      `The database has schema version ${applied.length}, and this Oriel knows versions up to ${known.length}: start a newer Oriel, or restore a backup made before the upgrade.`,
    );
  }
  for (const [i, row] of applied.entries()) {
    if (row.checksum !== known[i]!.checksum) {
      throw new StartupError(
        `Migration ${row.version} (${row.name}) of this Oriel is not the one that the database was made with: use an unmodified release.`,
      );
    }
  }
}

/** For whoever works on a database beside its server, and does not migrate it. */
export async function requireMigrated(db: Queryable, migrations: Migration[]): Promise<void> {
  const { exists } = await db.one<{ exists: boolean }>(
    sql`select to_regclass('schema_migrations') is not null as exists`,
  );
  const applied = exists
    ? await db.many<AppliedMigration>(
        sql`select version, name, checksum from schema_migrations order by version`,
      )
    : [];
  requireKnown(applied, migrations);
  if (applied.length < migrations.length) {
    throw new StartupError(
      `The database has schema version ${applied.length}, and this Oriel works with ${migrations.length}: start Oriel once, which brings it there.`,
    );
  }
}

async function apply(client: pg.Client, migration: Migration) {
  try {
    await client.query('begin');
    await client.query(migration.text);
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw new Error(
      `migration ${migration.version} (${migration.name}) failed: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
