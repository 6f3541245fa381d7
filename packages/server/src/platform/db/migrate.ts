/**
 * Brings a database to the schema of this build. It runs the numbered files in order, each once, and then updates
 * functions and triggers. A lock makes it safe for several servers to start at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { StartupError } from '../startup-error.ts';
import { type ConnectionSettings, openClient } from './connection.ts';
import { isConflict, isLocked, type Queryable } from './database.ts';
import { applyFunctions, type Definition, readFunctions } from './functions.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { requireOwnSession } from './own-session.ts';
import { sql } from './sql.ts';

export interface Schema {
  migrations: Migration[];
  functions: Definition[];
  /** The version of this build. */
  version: string;
}

export interface SchemaFiles {
  migrationsDir: string;
  functionsDir: string;
  version: string;
}

export const readSchema = async ({ migrationsDir, functionsDir, version }: SchemaFiles): Promise<Schema> => ({
  migrations: await readMigrations(migrationsDir),
  functions: await readFunctions(functionsDir),
  version,
});

/** An arbitrary constant, which must be the same for every server of every version. */
export const MIGRATION_LOCK = 7_023_455_201;
/** The advisory lock that a backup holds, shared with other backups, until it ends. */
export const BACKUP_LOCK = 7_023_455_203;
const LOOK_AGAIN_MS = 200;
const OLDEST_POSTGRES = 150_000;

/** `onWait` is told if a backup must end first, because migrations change tables that it reads. */
export async function migrate(
  connection: ConnectionSettings,
  schema: Schema,
  onWait = () => {},
): Promise<void> {
  const client = await openClient(connection);
  try {
    await requireServer(client);
    await requireOwnSession(client, connection);
    // The role or the database may set its own limit.
    await client.query('set statement_timeout = 0');
    await takeLock(client);
    const applied = await appliedMigrations(client);
    requireKnown(applied, schema.migrations);
    for (const migration of schema.migrations.slice(applied.length)) {
      await apply(client, migration, () => backupEnds(client, onWait));
    }
    await inTransaction(client, 'functions', () => applyFunctions(client, schema.functions, schema.version));
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** Makes the schema of these migrations in an empty database, and lets `fill` put rows into it, in one transaction. */
export async function makeSchema(
  connection: ConnectionSettings,
  migrations: Migration[],
  options: {
    /** Runs before the transaction, and refuses a database that is not empty. */
    prepare: (client: pg.Client) => Promise<void>;
    fill: (client: pg.Client) => Promise<void>;
    /** Aborts the work, as long as it is not committed. */
    signal?: AbortSignal;
  },
): Promise<void> {
  const { prepare, fill, signal } = options;
  const client = await openClient(connection);
  // Fails the statement that runs, and all later ones.
  const end = () => void client.end();
  signal?.addEventListener('abort', end);
  try {
    signal?.throwIfAborted();
    await requireServer(client);
    await requireOwnSession(client, connection);
    await takeLock(client);
    await prepare(client);
    await client.query('begin');
    await appliedMigrations(client);
    for (const migration of migrations) {
      // No other session uses the tables yet, so indexes need not be made concurrently, which a transaction forbids.
      const text = migration.outside ? migration.text.replaceAll(/\bconcurrently\b/g, '') : migration.text;
      await explaining(titleOf(migration), () => client.query(text));
      await record(client, migration);
    }
    await client.query('set constraints all immediate');
    await fill(client);
    signal?.removeEventListener('abort', end);
    signal?.throwIfAborted();
    await client.query('commit');
  } finally {
    // Ending the session undoes what is not committed, and releases the lock.
    await client.end();
  }
}

async function requireServer(client: pg.Client) {
  const show = async (setting: string) => (await client.query(`show ${setting}`)).rows[0][setting] as string;
  const version = Number(await show('server_version_num'));
  if (version < OLDEST_POSTGRES) {
    throw new StartupError(
      `The database is PostgreSQL ${Math.floor(version / 10_000)}, and Oriel needs 15 or later: upgrade it, or point ORIEL_DATABASE_URL at another server.`,
    );
  }
  const encoding = await show('server_encoding');
  if (encoding !== 'UTF8') {
    throw new StartupError(
      `The encoding of the database is ${encoding}, and Oriel needs UTF8: create another one with \`createdb --encoding=UTF8 --template=template0\`.`,
    );
  }
}

/** Polls, because `create index concurrently` would wait for another server's statement that waits for this lock. */
async function takeLock(client: pg.Client) {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK]);
    if (rows[0].taken) return;
    await pause(LOOK_AGAIN_MS);
  }
}

/**
 * Waits until no backup runs: a backup holds locks on all tables until its end. A migration that tried to get past them
 * would block all other statements at each try, and fail in the end.
 */
async function backupEnds(client: pg.Client, onWait: () => void) {
  for (let isTold = false; ; isTold = true) {
    const { rows } = await client.query(
      'select case when pg_try_advisory_lock($1) then pg_advisory_unlock($1) else false end as "isFree"',
      [BACKUP_LOCK],
    );
    if (rows[0].isFree) return;
    if (!isTold) onWait();
    await pause(LOOK_AGAIN_MS);
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
        `Migration ${row.version} (${row.name}) of this Oriel is not the one that the database was made with: use an unmodified release. If you are writing this migration, start on a new data dir: a database that has run a draft cannot be used any more.`,
      );
    }
  }
}

/** For commands that use the database of a server and must not migrate it. */
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
      `The database has schema version ${applied.length}, and this Oriel works with ${migrations.length}: start Oriel once to upgrade the database.`,
    );
  }
}

const titleOf = ({ version, name }: Migration) => `migration ${version} (${name})`;

async function apply(client: pg.Client, migration: Migration, ready: () => Promise<void>) {
  const title = titleOf(migration);
  if (migration.outside) {
    await explaining(title, () => applyOutside(client, migration));
    return;
  }
  const work = async () => {
    await client.query(migration.text);
    await record(client, migration);
  };
  await inTransaction(client, title, work, ready);
}

const record = (client: pg.Client, { version, name, checksum }: Migration) =>
  client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
    version,
    name,
    checksum,
  ]);

/** An interrupted start may have left an index that is not valid, or one that is complete but not recorded. */
async function applyOutside(client: pg.Client, migration: Migration) {
  const { index, isMade } = migration.outside!;
  // The statement does not block reads or writes, and it may have to wait for long transactions.
  await client.query('set lock_timeout = 0');
  const { rows } = await client.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  const isWhole = isMade && rows[0]?.indisvalid === true;
  if (isMade && rows[0] && !isWhole) await client.query(`drop index concurrently ${index}`);
  if (!isWhole) await client.query(migration.text);
  await record(client, migration);
}

/**
 * While a statement waits for a lock on a table, all other statements wait behind it. So it gives up soon, lets them
 * run, and tries again.
 */
const LOCK_TIMEOUT = '2s';
const LOCK_TRIES = 30;
const BETWEEN_TRIES_MS = 1000;

async function inTransaction(
  client: pg.Client,
  title: string,
  work: () => Promise<void>,
  /** Called before each try. */
  ready = async () => {},
) {
  await explaining(title, async () => {
    for (let tries = 1; ; tries++) {
      await ready();
      try {
        await client.query(`begin; set local lock_timeout = '${LOCK_TIMEOUT}'`);
        await work();
        await client.query('commit');
        return;
      } catch (error) {
        await client.query('rollback').catch(() => {});
        if (tries >= LOCK_TRIES || !(isLocked(error) || isConflict(error))) throw error;
      }
      await pause(BETWEEN_TRIES_MS);
    }
  });
}

async function explaining(title: string, work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    throw new Error(`${title} failed: ${(error as Error).message}`, { cause: error });
  }
}
