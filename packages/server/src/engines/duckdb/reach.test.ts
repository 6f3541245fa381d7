/** What queries of DuckDB can reach, with real processes. */
import { existsSync, readFileSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ask,
  createOwn,
  engineOf,
  filesOf,
  requireWorking,
  source,
  useDuckdb,
} from '../../../test/duckdb-engines.ts';
import { engineProcesses } from '../../../test/engines.ts';
import { isRoot } from '../../platform/processes/process-user.ts';

useDuckdb();

describe('what a query can reach', () => {
  const REFUSED = [
    "select * from read_csv('/etc/passwd')",
    "select content from read_text('/etc/passwd')",
    "select * from read_blob('/proc/self/environ')",
    "select * from glob('/etc/*')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from parquet_metadata('/etc/passwd')",
    "select * from read_csv('http://127.0.0.1:1/x.csv')",
    "copy (select 1) to '/tmp/oriel-copied.csv'",
    'copy (select 1) to program',
    "attach '/tmp/oriel-attached.db'",
    "attach ':memory:' as other",
    'install httpfs',
    'load httpfs',
    "load '/tmp/oriel.duckdb_extension'",
    "set memory_limit = '100GB'",
    'set lock_configuration = false',
    'reset memory_limit',
    'pragma threads = 8',
    'pragma database_list',
    'select 1; select 2',
    'select 1; drop schema files cascade',
    'create table t (a int)',
    'create or replace view files.orders as select 1',
    'drop view files.orders',
    'insert into files.orders values (1)',
    "export database '/tmp/oriel-exported'",
    "import database '/tmp/oriel-exported'",
    'call pragma_version()',
    'use files',
    'set variable x = 1',
    'prepare p as select 1',
    'begin transaction',
    'checkpoint',
    'explain analyze select 1',
    "select current_setting('memory_limit')",
    '/* a /* nested */ comment */ -- and another\n copy (select 1) to stdout',
    '',
    ';',
  ];
  test.each(REFUSED)('%j is refused', async (sql) => {
    await expect(ask(sql)).rejects.toMatchObject({
      name: 'EngineError',
      code: expect.stringMatching(/^query_(refused|invalid)$/),
    });
    for (const file of ['oriel-copied.csv', 'oriel-attached.db', 'oriel-exported']) {
      expect(existsSync(join('/tmp', file))).toBe(false);
    }
    expect((await ask('/* fine */ (select count(*) as n from files.orders)')).rows).toEqual([{ n: '2' }]);
  });

  test('the error says that only one statement can be run', async () => {
    await expect(ask('select 1; select 2; select 3')).rejects.toMatchObject({
      code: 'query_refused',
      message: expect.stringContaining('there are 3'),
    });
  });

  test('a deployment cannot read the files of another one, by name, by path or by a link', async () => {
    const [own, other] = [filesOf(1), filesOf(10)];
    for (const path of [`${other}/secret.csv`, `${own}/../10/secret.csv`, `${own}0/secret.csv`]) {
      await expect(ask(`select * from read_csv('${path}')`)).rejects.toMatchObject({ code: 'query_refused' });
    }
    await expect(ask('select * from files.secret')).rejects.toMatchObject({ code: 'query_invalid' });
    await symlink(join(other, 'secret.csv'), join(own, 'linked.csv'));
    await expect(ask('select * from files.linked')).rejects.toMatchObject({ code: 'query_invalid' });
    await rm(join(own, 'linked.csv'));
    // No link is a table, wherever it leads.
    await symlink(join(own, 'orders.csv'), join(own, 'again.csv'));
    await expect(ask('select * from files.again')).rejects.toMatchObject({ code: 'query_invalid' });
    await rm(join(own, 'again.csv'));
    const theirs = engineOf(10);
    expect((await ask('select name from files.secret', {}, theirs)).rows).toEqual([{ name: 'hidden' }]);
    await expect(ask('select * from files.orders', {}, theirs)).rejects.toMatchObject({
      code: 'query_invalid',
    });
  });

  test('the process has an empty environment, and does not run as root', async () => {
    const own = createOwn();
    await requireWorking(own.of(1, source));
    const [pid] = engineProcesses().filter((id) => !before.has(id));
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toMatch(
      /^UV_THREADPOOL_SIZE=\d+\0DUCKDB_JE_MALLOC_CONF=[\w:,]+\0(PWD=[^\0]*\0)?$/,
    );
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (isRoot()) expect(uid).not.toBe('0');
  });
  let before = new Set<number>();
  beforeAll(async () => {
    await requireWorking();
    await requireWorking(engineOf(10));
    before = new Set(engineProcesses());
  });
});
