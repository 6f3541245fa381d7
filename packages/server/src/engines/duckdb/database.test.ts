/** What DuckDB itself refuses, even if a statement that should not be run would get that far. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, withConnection } from './database.ts';

let folder: string;
let instance: DuckDBInstance;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oriel-database-'));
  await writeFile(join(folder, 'secret.csv'), 'id\n1\n');
  instance = await openDatabase({ type: 'duckdb', filesDir: join(folder, 'own'), memoryMb: 100, threads: 1 });
});
afterAll(async () => {
  instance.closeSync();
  await rm(folder, { recursive: true, force: true });
});

const run = (sql: string) => withConnection(instance, (connection) => connection.run(sql));

test.each([
  "select * from read_csv('/etc/passwd')",
  "select * from glob('/etc/*')",
  "select * from read_csv('http://127.0.0.1:1/x.csv')",
  "copy (select 1) to '/tmp/oriel-copied.csv'",
  "attach '/tmp/oriel-attached.db'",
  'install httpfs',
  "load '/tmp/oriel.duckdb_extension'",
  "set memory_limit = '100GB'",
  'set lock_configuration = false',
  'set enable_external_access = true',
])('%s fails', async (sql) => {
  await expect(run(sql)).rejects.toThrow(/Permission Error|Invalid Input|configuration|disabled/i);
});

test('a folder whose name only begins with the name of the own folder is closed too', async () => {
  await expect(run(`select * from read_csv('${folder}/secret.csv')`)).rejects.toThrow('Permission Error');
  await expect(run(`select * from read_csv('${folder}/own2/a.csv')`)).rejects.toThrow('Permission Error');
});
