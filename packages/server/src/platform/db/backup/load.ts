/** Puts what an archive holds into an empty database: everything or, if anything fails, nothing. */
import type pg from 'pg';
import { StartupError } from '../../startup-error.ts';
import { type ConnectionSettings, openClient } from '../connection.ts';
import { ClientQueries, type Queryable } from '../database.ts';
import { makeSchema } from '../migrate.ts';
import type { Migration } from '../migrations.ts';
import type { Entry, Header, Totals } from './archive.ts';
import {
  hasTables,
  listForeignKeys,
  listPartitions,
  listTables,
  listTablesWithTriggers,
  type Partition,
  type StoredTable,
} from './catalogue.ts';
import { type CopyIn, copyIn } from './copy.ts';
import { COPY_SETTINGS, sumRows } from './dump.ts';

export async function loadDatabase(
  connection: ConnectionSettings,
  options: {
    header: Header;
    /** The migrations of the backup's version. */
    migrations: Migration[];
    entries: AsyncIterable<Entry>;
    takeFile: (file: string, data: Buffer) => Promise<void>;
    /** Changes the restored rows, in the same transaction. They have the schema of the backup's version. */
    finish: (db: Queryable) => Promise<void>;
    /** Aborts the load. */
    signal?: AbortSignal;
  },
): Promise<void> {
  const { header, migrations, entries, takeFile, finish, signal } = options;
  const prepare = async (client: pg.Client) => {
    await client.query(COPY_SETTINGS);
    if (await hasTables(client)) {
      throw new StartupError(
        'The database is not empty: restore into a new data dir, or set ORIEL_DATABASE_URL to an empty database.',
      );
    }
  };
  const fill = async (client: pg.Client) => {
    const tables = await listTables(client);
    requireSameTables(header.tables, tables);
    await replacePartitions(client, header.partitions);
    const addForeignKeys = await dropForeignKeys(client);
    await disableTriggers(client);
    // Migrations have put rows into some of them.
    await client.query(`truncate ${tables.map(({ name }) => client.escapeIdentifier(name)).join(', ')}`);
    const totals = await loadRows(client, header.tables, entries, takeFile);
    await requireSameRows(client, header.tables, totals);
    for (const { name, lastValue, isCalled } of totals.sequences) {
      await client.query('select setval(quote_ident($1)::regclass, $2, $3)', [name, lastValue, isCalled]);
    }
    await finish(new ClientQueries(client));
    await addForeignKeys();
  };
  await makeSchema(connection, migrations, { prepare, fill, signal });
}

/** Names that are used in SQL come from the catalogue, and those of the file must be the same. */
function requireSameTables(stored: StoredTable[], made: StoredTable[]) {
  const shapeOf = (tables: StoredTable[]) =>
    JSON.stringify(tables.map(({ name, columns }) => [name, columns.toSorted()]).sort());
  if (shapeOf(stored) !== shapeOf(made)) {
    throw new StartupError('The tables of the backup are not those of its version: it is damaged.');
  }
}

const PARTITION_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const BOUNDS = /^(DEFAULT|FOR VALUES FROM \('[-\d:.+ ]+'\) TO \('[-\d:.+ ]+'\))$/;

async function replacePartitions(client: pg.Client, partitions: Partition[]) {
  const made = await listPartitions(client);
  const tables = new Set(made.map(({ table }) => table));
  for (const { name } of made) await client.query(`drop table ${client.escapeIdentifier(name)}`);
  for (const { name, table, bounds } of partitions) {
    if (!PARTITION_NAME.test(name) || !tables.has(table) || !BOUNDS.test(bounds)) {
      throw new StartupError('A partition of the backup is not one of its version: it is damaged.');
    }
    await client.query(`create table ${name} partition of ${client.escapeIdentifier(table)} ${bounds}`);
  }
}

/** Rows of one table may refer to rows of another that comes later. Adding the keys again checks all of them. */
async function dropForeignKeys(client: pg.Client) {
  const keys = await listForeignKeys(client);
  for (const { table, name } of keys) {
    await client.query(`alter table ${table} drop constraint ${client.escapeIdentifier(name)}`);
  }
  return async () => {
    for (const { table, name, definition } of keys) {
      await client.query(
        `alter table ${table} add constraint ${client.escapeIdentifier(name)} ${definition}`,
      );
    }
  };
}

/** What triggers would write is in the backup already. A start makes them again, with the functions. */
async function disableTriggers(client: pg.Client) {
  for (const table of await listTablesWithTriggers(client)) {
    await client.query(`alter table ${table} disable trigger user`);
  }
}

async function loadRows(
  client: pg.Client,
  tables: StoredTable[],
  entries: AsyncIterable<Entry>,
  takeFile: (file: string, data: Buffer) => Promise<void>,
): Promise<Totals> {
  let open: { table: string; copy: CopyIn } | undefined;
  for await (const entry of entries) {
    if ('header' in entry) continue;
    const table = 'part' in entry && 'table' in entry.part ? entry.part.table : undefined;
    if (open && open.table !== table) {
      await open.copy.end();
      open = undefined;
    }
    if ('totals' in entry) return entry.totals;
    if ('file' in entry.part) await takeFile(entry.part.file, entry.data);
    if (table === undefined) continue;
    open ??= { table, copy: await copyInto(client, tables, table) };
    await open.copy.write(entry.data);
  }
  throw new Error('an archive ends with its totals');
}

function copyInto(client: pg.Client, tables: StoredTable[], name: string): Promise<CopyIn> {
  const table = tables.find((other) => other.name === name);
  if (!table) throw new StartupError(`The backup holds rows of an unknown table, ${name}: it is damaged.`);
  const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(', ');
  return copyIn(client, `copy ${client.escapeIdentifier(name)} (${columns}) from stdin`);
}

/** Reads back what was written. */
async function requireSameRows(client: pg.Client, tables: StoredTable[], totals: Totals) {
  for (const table of tables) {
    const { rows, sum } = await sumRows(client, table);
    const expected = totals.tables[table.name];
    if (rows !== expected?.rows || sum !== expected.sum) {
      throw new StartupError(
        `The restored table ${table.name} has other rows than the backup, so nothing was restored.`,
      );
    }
  }
}

/** Updates the statistics of the tables, so that the first requests get good query plans. */
export async function analyzeDatabase(connection: ConnectionSettings): Promise<void> {
  const client = await openClient(connection);
  try {
    await client.query('set statement_timeout = 0; analyze');
  } finally {
    await client.end();
  }
}
