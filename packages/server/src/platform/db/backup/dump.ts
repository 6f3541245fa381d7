/** Writes the whole database into an archive, as it is at one moment, while others go on reading and writing. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { type ConnectionSettings, openClient } from '../connection.ts';
import { ClientQueries, type Queryable } from '../database.ts';
import { BACKUP_LOCK } from '../migrate.ts';
import type { ArchiveWriter, Header, RowSum, Totals } from './archive.ts';
import { listPartitions, listSequences, listTables, type StoredTable } from './catalogue.ts';
import { copyOut } from './copy.ts';

/** No limits, and values written in one way, whatever the role or the database sets. */
export const COPY_SETTINGS = `
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0;
  set bytea_output = 'hex'; set intervalstyle = 'postgres'; set extra_float_digits = 1; set client_encoding = 'UTF8'`;

/** Rows are batched until they have so many bytes. */
const PART_BYTES = 256 * 1024;
/** The state of an error about a table that was dropped. */
const UNDEFINED_TABLE = '42P01';
const SUM_MASK = (1n << 64n) - 1n;

type BackupDetails = Omit<Header, 'oriel' | 'format' | 'migrations' | 'tables' | 'partitions'>;

export async function dumpDatabase(
  connection: ConnectionSettings,
  archive: ArchiveWriter,
  describe: (snapshot: Queryable) => Promise<BackupDetails>,
): Promise<Omit<Totals, 'files'>> {
  const client = await openClient(connection);
  try {
    await client.query(COPY_SETTINGS);
    // The end of the session releases the lock.
    await client.query('select pg_advisory_lock_shared($1)', [BACKUP_LOCK]);
    const tables = await beginSnapshot(client);
    const described = await describe(new ClientQueries(client));
    const { rows: migrations } = await client.query(
      'select version, name, checksum from schema_migrations order by version',
    );
    const partitions = await listPartitions(client);
    await archive.header({ ...described, migrations, tables, partitions });
    const sums: Totals['tables'] = {};
    for (const table of tables) sums[table.name] = await dumpTable(client, table, archive);
    return { tables: sums, sequences: await listSequences(client) };
  } finally {
    await client.end();
  }
}

/**
 * Locks every table before the snapshot is taken, so that no migration changes one in between, and retention drops no
 * partition. Only changes of tables wait for these locks.
 */
async function beginSnapshot(client: pg.Client): Promise<StoredTable[]> {
  for (;;) {
    const before = await listTables(client);
    const names = before.map(({ name }) => client.escapeIdentifier(name));
    await client.query('begin isolation level repeatable read read only');
    try {
      await client.query(`lock table ${names.join(', ')} in access share mode`);
      const tables = await listTables(client);
      if (JSON.stringify(tables) === JSON.stringify(before)) return tables;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== UNDEFINED_TABLE) throw error;
    }
    await client.query('rollback');
  }
}

async function dumpTable(client: pg.Client, table: StoredTable, archive: ArchiveWriter): Promise<RowSum> {
  let batch: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    if (bytes) await archive.part({ table: table.name }, Buffer.concat(batch, bytes));
    [batch, bytes] = [[], 0];
  };
  const sum = await sumRows(client, table, async (row) => {
    batch.push(row);
    bytes += row.length;
    if (bytes >= PART_BYTES) await flush();
  });
  await flush();
  return sum;
}

/** Reads all rows of a table, and hands each one on. */
export async function sumRows(
  client: pg.Client,
  { name, columns }: StoredTable,
  take?: (row: Buffer) => Promise<void>,
): Promise<RowSum> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  let rows = 0;
  let sum = 0n;
  for await (const row of copyOut(
    client,
    `copy (select ${list} from ${client.escapeIdentifier(name)}) to stdout`,
  )) {
    rows++;
    sum = (sum + hash('sha256', row, 'buffer').readBigUInt64BE()) & SUM_MASK;
    await take?.(row);
  }
  return { rows, sum: sum.toString(16) };
}
