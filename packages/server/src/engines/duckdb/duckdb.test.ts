/** The guarantees of DuckDB as an engine, with real processes: what queries can reach, and what ends them. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { engineProcesses, NO_SERVERS } from '../../../test/engines.ts';
import { isRoot } from '../../platform/processes/process-user.ts';
import type { DataSource } from '../data-sources.ts';
import type { Answer, Engine, Query, QueryLimits } from '../engine.ts';
import { filesDirOf } from '../engine-user.ts';
import { createEngines, type EngineLimits, type Engines } from '../engines.ts';
import { explain } from './errors.ts';

const script = join(import.meta.dirname, '../../../dist/engine.js');
const source: DataSource = { name: 'default', type: 'duckdb' };
const log = pino({ level: 'silent' });
/** Long enough for a busy machine. */
const PATIENTLY = { timeoutMs: 120_000 };
const PATIENTLY_POLLED = { timeout: 60_000 };

let dataDir: string;
let engines: Engines;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oriel-duckdb-'));
  await chmod(dataDir, 0o755);
  await write(1, 'orders.csv', 'id,status,at\n1,new,2024-01-31\n9007199254740993,done,2024-02-01\n');
  await write(10, 'secret.csv', 'id,name\n1,hidden\n');
  engines = create();
});
afterAll(async () => {
  await engines.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const others: Engines[] = [];
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop();
});

const create = (limits: Partial<EngineLimits> = {}) =>
  createEngines({
    script,
    dataDir,
    ...NO_SERVERS,
    log,
    limits: { memoryMb: 256, threads: 2, ...limits },
    process: { pauses: { firstMs: 20, maxMs: 100 } },
  });

function createOwn(limits?: Partial<EngineLimits>): Engines {
  const own = create(limits);
  others.push(own);
  return own;
}

async function write(deploymentId: number, name: string, text: string) {
  await mkdir(filesDirOf(dataDir, deploymentId), { recursive: true });
  await writeFile(join(filesDirOf(dataDir, deploymentId), name), text);
}

async function textOf(answer: Answer): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function ask(
  sql: string,
  more: Partial<Query & QueryLimits> = {},
  engine: Engine = engines.of(1, source),
) {
  const { parameters, keys, rowForm, ...limits } = more;
  const answer = await engine.query({ sql, parameters, keys, rowForm }, { ...PATIENTLY, ...limits });
  const rows = JSON.parse(await textOf(answer)) as Record<string, unknown>[];
  return { columns: answer.columns, rows, ...(await answer.summary) };
}

const ONE = [{ one: '1' }];
const requireWorking = async (engine?: Engine) =>
  expect((await ask('select 1 as one', {}, engine)).rows).toEqual(ONE);

const ENDLESS =
  'select count(*) from range(100000) a, range(100000) b, range(100000) c where a.range + b.range + c.range = -1';
/** Takes seconds within one call of a function. */
const UNINTERRUPTIBLE =
  "select strpos(repeat('a', 10000000 + range::integer), repeat('a', 30000) || 'b') as n from range(1)";

describe('answers', () => {
  test('every number is a text with all of its digits, and every time has one form', async () => {
    const { rows, columns } = await ask(`
      select 9007199254740993::bigint as big, 170141183460469231731687303715884105727::hugeint as huge,
        12.30::decimal(10, 2) as price, 100::decimal(10, 2) as round, 0.1::double as double, 0.1::float as float,
        'nan'::double as nan, 5::tinyint as small, date '2024-01-31' as day, true as yes, null as nothing,
        timestamp '1969-12-31 23:59:59.999999' as before, timestamptz '2024-01-31 01:00:00+02' as zoned,
        'infinity'::timestamp as never, 'a "quoted" ü' as words, [1, 2] as list, '\\xAB'::blob as bytes,
        '0b4b2b6e-0a3a-4f0e-9d3c-111111111111'::uuid as uuid`);
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        huge: '170141183460469231731687303715884105727',
        price: '12.3',
        round: '100',
        double: '0.1',
        float: '0.1',
        nan: 'NaN',
        small: '5',
        day: '2024-01-31T00:00:00.000',
        yes: true,
        nothing: null,
        before: '1969-12-31T23:59:59.999',
        zoned: '2024-01-30T23:00:00.000',
        never: 'infinity',
        words: 'a "quoted" ü',
        list: '[1, 2]',
        bytes: '\\xab',
        uuid: '0b4b2b6e-0a3a-4f0e-9d3c-111111111111',
      },
    ]);
    expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject({
      big: 'number',
      price: 'number',
      day: 'time',
      zoned: 'time',
      yes: 'boolean',
      words: 'string',
      uuid: 'string',
      list: 'other',
    });
  });

  test('parameters are bound with the type that the statement says, so ids above 2^53 stay distinct', async () => {
    const sql = 'select status from files.orders where id = $1::bigint';
    expect((await ask(sql, { parameters: ['9007199254740993'] })).rows).toEqual([{ status: 'done' }]);
    expect((await ask(sql, { parameters: ['9007199254740992'] })).rows).toEqual([]);
    expect((await ask(sql, { parameters: [null] })).rows).toEqual([]);
    await expect(ask(sql, { parameters: ['1 or true'] })).rejects.toMatchObject({ code: 'value_invalid' });
    await expect(ask(sql)).rejects.toMatchObject({ code: 'query_invalid' });
    for (const text of ["'; drop view files.orders; --", '\\', '"']) {
      expect((await ask('select $1::varchar as t', { parameters: [text] })).rows).toEqual([{ t: text }]);
    }
  });

  test('rows can be arrays, and have other keys than the columns', async () => {
    const sql = 'select 1 as a, true as b union all select 2, null order by 1';
    expect((await ask(sql, { rowForm: 'arrays' })).rows).toEqual([
      ['1', true],
      ['2', null],
    ]);
    const keys = ['orders.count', 'a "key"'];
    expect((await ask(sql, { keys })).rows[0]).toEqual({ 'orders.count': '1', 'a "key"': true });
    await expect(ask(sql, { keys: ['one'] })).rejects.toMatchObject({ code: 'query_invalid' });
    await expect(ask('select 1 as a, 2 as a')).rejects.toMatchObject({ code: 'query_invalid' });
  });

  test('an answer without rows has columns and an empty list', async () => {
    const { rows, columns } = await ask('select 1 as one where false');
    expect(rows).toEqual([]);
    expect(columns).toMatchObject([{ name: 'one', type: 'number', nativeType: 'INTEGER' }]);
  });

  test('rows above the limit are left out, and the summary says so', async () => {
    expect(await ask('select range from range(50001)')).toMatchObject({ rowCount: 50_000, isCapped: true });
    expect(await ask('select range from range(3)', { maxRows: 3 })).toMatchObject({
      rowCount: 3,
      isCapped: false,
    });
  });

  test('a gigabyte of answer, in many rows or in one value, is an error', async () => {
    const many = 'select repeat(md5(range::varchar), 300) as text from range(10000)';
    await expect(ask(many)).rejects.toMatchObject({ code: 'result_too_large' });
    const more = 'select repeat(md5(range::varchar), 1000) as text from range(40000)';
    await expect(ask(more)).rejects.toMatchObject({ code: 'query_too_large' });
    await expect(ask("select repeat('x', 1000000000) as text")).rejects.toMatchObject({
      code: 'query_too_large',
    });
    // Whether it fits into the memory depends on what else is in it.
    await expect(ask("select repeat('x', 40000000) as text")).rejects.toMatchObject({
      code: expect.stringMatching(/^(query|result)_too_large$/),
    });
    await requireWorking();
  });

  test('one row that does not fit into the memory is an error, and the process goes on', async () => {
    const known = new Set(engineProcesses());
    const pids = () => engineProcesses().filter((pid) => !known.has(pid));
    const engine = createOwn({ memoryMb: 1024 }).of(1, source);
    await requireWorking(engine);
    const before = pids();
    expect(before).toHaveLength(1);
    const again = (of: string) => `select concat(${Array(31).fill('x').join(', ')}) as x from ${of}`;
    const twenty = (value: string) => Array.from({ length: 20 }, (_, i) => `${value} as c${i}`).join(', ');
    const long = `with z as (select '${'a'.repeat(1000)}' as x), a as (${again('z')}), b as (${again('a')})`;
    // Whether the driver gets memory for this row depends on how much Node itself uses.
    await expect(
      ask(`${long}, c as (${again('b')}) select ${twenty('x')} from c`, {}, engine),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^(query|result)_too_large$/) });
    await requireWorking(engine);
    for (const sql of [
      `${long} select ${twenty('x')} from b`,
      `${long} select ${twenty('[x]')} from b`,
      `${long} select ${twenty("{'a': [x, null]}")} from b`,
      `${long} select ${twenty('map([1], [x])')} from b`,
      `${long} select ${twenty('array_value(x, x)')} from b`,
      `${long} select ${twenty('encode(x)')} from b`,
      'select range(5000000) as list',
    ]) {
      const asked = ask(sql, {}, engine);
      await expect(asked, sql.slice(-80)).rejects.toMatchObject({ code: 'result_too_large' });
      await requireWorking(engine);
    }
    const { rows } = await ask(`${long} select x, [x] as list from b`, {}, engine);
    expect(String(rows[0]?.x)).toBe('a'.repeat(961_000));
    expect(pids()).toEqual(before);
  });

  test('what a query that was too large has used is there for the next ones', async () => {
    const engine = createOwn().of(1, source);
    for (let i = 0; i < 3; i++) {
      const large = ask('select repeat(md5(range::varchar), 1000) as text from range(40000)', {}, engine);
      await expect(large).rejects.toMatchObject({ code: 'query_too_large' });
      // Reading a file needs several large buffers.
      expect((await ask('select count(*) as n from files.orders', {}, engine)).rows).toEqual([{ n: '2' }]);
    }
  });

  test('the process gives the memory of a large query back to the system', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    const sql =
      'select count(*) as n from (select distinct repeat(md5(range::varchar), 100) from range(30000))';
    expect((await ask(sql, {}, engine)).rows).toEqual([{ n: '30000' }]);
    const [pid] = engineProcesses().filter((one) => !known.has(one));
    const status = () => readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status())![1]);
    // The query takes more than 100 MB.
    await expect
      .poll(() => kilobytes('VmHWM') - kilobytes('VmRSS'), PATIENTLY_POLLED)
      .toBeGreaterThan(60_000);
  });

  test('an error without words gets some', () => {
    expect(explain(new Error(' '), new Map()).message).toContain('did not say why');
  });

  test('only a query that was alone is too large', async () => {
    const engine = createOwn().of(1, source);
    // Sorted rows are in memory until the reader has taken them.
    const neighbour = async () => {
      const sql = 'select repeat(md5(range::varchar), 100) as text from range(30000) order by text';
      return engine.query({ sql }, { ...PATIENTLY, maxRows: 100_000, maxBytes: 1e9 });
    };
    const large = 'select repeat(md5(range::varchar), 1000) as text from range(40000)';
    const fair =
      'select count(*) as n from (select distinct repeat(md5(range::varchar), 100) from range(30000))';

    const first = await neighbour();
    // The neighbour stays, so it can not run again.
    await expect(ask('select range(1000000000)', { timeoutMs: 8000 }, engine)).rejects.toMatchObject({
      code: 'source_busy',
    });
    const [counted] = await Promise.all([ask(fair, PATIENTLY, engine), textOf(first)]);
    expect(counted.rows).toEqual([{ n: '30000' }]);
    await expect(ask(large, PATIENTLY, engine)).rejects.toMatchObject({ code: 'query_too_large' });
  });

  test('a query that waits for memory keeps no place from others', async () => {
    const engine = createOwn({ atOnce: 2 }).of(1, source);
    // Sorted rows are in memory until the reader has taken them.
    const sql = 'select repeat(md5(range::varchar), 100) as text from range(30000) order by text';
    const hog = await engine.query({ sql }, { ...PATIENTLY, sharer: 'a', maxRows: 100_000, maxBytes: 1e9 });
    const leave = new AbortController();
    const waiting = ['b', 'c'].map((sharer) =>
      ask('select range(1000000000)', { ...PATIENTLY, sharer, signal: leave.signal }, engine).catch(
        (error: unknown) => error,
      ),
    );
    for (let i = 0; i < 3; i++) {
      expect((await ask('select 1 as one', { sharer: 'd' }, engine)).rows).toEqual(ONE);
    }
    leave.abort(new Error('the caller left'));
    expect(await Promise.all(waiting)).toEqual([leave.signal.reason, leave.signal.reason]);
    await textOf(hog);
    await requireWorking(engine);
  });

  test('an error in a late row is an error, and not an answer with fewer rows', async () => {
    const sql = "select case when range = 199999 then error('late') else range end as n from range(200000)";
    await expect(ask(sql, { maxRows: 1_000_000 })).rejects.toThrow(/late/);
  });

  test('the order of the statement stays, and so do columns of the same name', async () => {
    const sql = 'select range as n from range(60000) order by n desc;';
    const { rows } = await ask(sql, { rowForm: 'arrays' });
    expect(rows).toEqual(Array.from({ length: 50_000 }, (_, i) => [String(59_999 - i)]));
    const twice = await ask('select 1 as a, 2 as a', { rowForm: 'arrays' });
    expect(twice.columns.map(({ name }) => name)).toEqual(['a', 'a']);
  });

  test('an engine sends no more than its reader takes', async () => {
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(100000)';
    const answer = await engines.of(1, source).query({ sql }, { ...PATIENTLY, maxRows: 100_000 });
    const iterator = answer.rows[Symbol.asyncIterator]();
    await iterator.next();
    let hasEnded = false;
    void answer.summary.then(() => {
      hasEnded = true;
    });
    // Another query runs meanwhile, so the engine had time to send more.
    await requireWorking();
    expect(hasEnded).toBe(false);
    let bytes = 0;
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      bytes += next.value.length;
    expect(bytes).toBeGreaterThan(30_000_000);
    expect(await answer.summary).toMatchObject({ rowCount: 100_000 });
  });
});

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

  test('a deployment can not read the files of another one, by name, by path or by a link', async () => {
    const [own, other] = [filesDirOf(dataDir, 1), filesDirOf(dataDir, 10)];
    for (const path of [`${other}/secret.csv`, `${own}/../10/secret.csv`, `${own}0/secret.csv`]) {
      await expect(ask(`select * from read_csv('${path}')`)).rejects.toMatchObject({ code: 'query_refused' });
    }
    await expect(ask('select * from files.secret')).rejects.toMatchObject({ code: 'query_invalid' });
    await symlink(join(other, 'secret.csv'), join(own, 'linked.csv'));
    await expect(ask('select * from files.linked')).rejects.toMatchObject({ code: 'query_invalid' });
    await rm(join(own, 'linked.csv'));
    const theirs = engines.of(10, source);
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
    await requireWorking(engines.of(10, source));
    before = new Set(engineProcesses());
  });
});

describe('files', () => {
  test('a file that comes, changes or goes is followed by the next query', async () => {
    await write(2, 'a b.csv', 'x\n1\n');
    const engine = engines.of(2, source);
    expect((await ask('select x from files."a b"', {}, engine)).rows).toEqual([{ x: '1' }]);
    await write(2, 'a b.csv', 'y\nnow another column\n');
    expect((await ask('select y from files."a b"', {}, engine)).rows).toEqual([{ y: 'now another column' }]);
    await rm(join(filesDirOf(dataDir, 2), 'a b.csv'));
    await expect(ask('select * from files."a b"', {}, engine)).rejects.toMatchObject({
      code: 'query_invalid',
    });
  });

  test('a file that can not be read says so, and leaves the others alone', async () => {
    await write(3, 'good.csv', 'x\n1\n');
    await write(3, 'broken.parquet', 'this is not Parquet');
    const engine = engines.of(3, source);
    expect((await ask('select x from files.good', {}, engine)).rows).toEqual([{ x: '1' }]);
    await expect(ask('select * from files.broken', {}, engine)).rejects.toThrow(/broken can not be read/);
    expect(await engine.test(PATIENTLY)).toEqual({
      isReachable: true,
      message: 'DuckDB reads 1 file, and 1 that can not be read.',
    });
  });

  test('tables are listed with their columns', async () => {
    expect(await engines.of(1, source).listTables(PATIENTLY)).toEqual([
      {
        schema: 'files',
        name: 'orders',
        primaryKey: [],
        foreignKeys: [],
        columns: [
          { name: 'id', type: 'number', nativeType: 'BIGINT', isNullable: true },
          { name: 'status', type: 'string', nativeType: 'VARCHAR', isNullable: true },
          { name: 'at', type: 'time', nativeType: 'DATE', isNullable: true },
        ],
      },
    ]);
    expect(await engines.of(999, source).listTables(PATIENTLY)).toEqual([]);
  });
});

describe('what ends a query', () => {
  test('its time, whatever it computes, and the next query works', async () => {
    for (const sql of [
      ENDLESS,
      "select count(*) from range(1000000000) where md5(repeat(range::varchar, 1000)) = ''",
    ]) {
      await expect(ask(sql, { timeoutMs: 2000 })).rejects.toMatchObject({ code: 'query_timed_out' });
      await requireWorking();
    }
  });

  test('the signal of its caller', async () => {
    const controller = new AbortController();
    const asked = ask(ENDLESS, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('the caller left')), 200);
    await expect(asked).rejects.toThrow('the caller left');
    await requireWorking();
  });

  test('a caller who leaves does not end the queries of others, even if the own one can not be interrupted', async () => {
    const known = new Set(engineProcesses());
    const running = () => engineProcesses().filter((pid) => !known.has(pid));
    const engine = createOwn({ atOnce: 2, waitMs: 120_000 }).of(1, source);
    await requireWorking(engine);
    const before = running();
    const controller = new AbortController();
    const left = ask(UNINTERRUPTIBLE, { signal: controller.signal, sharer: 'a' }, engine);
    const leaving = expect(left).rejects.toThrow('the caller left');
    // By then, the query has begun.
    for (let i = 0; i < 10; i++) await ask('select 1 as one', { sharer: 'b' }, engine);
    controller.abort(new Error('the caller left'));
    await leaving;
    // A sharer has one of two places, and this one is taken until the first query has ended.
    let isNext = false;
    const next = ask('select 1 as one', { sharer: 'a' }, engine).then(() => {
      isNext = true;
    });
    for (let i = 0; i < 5; i++) await ask('select 1 as one', { sharer: 'b' }, engine);
    expect(isNext).toBe(false);
    await next;
    expect(running()).toEqual(before);
  });

  test('its own time limit, even if it can not be interrupted', async () => {
    const engine = createOwn({ atOnce: 1 }).of(1, source);
    await expect(ask(UNINTERRUPTIBLE, { timeoutMs: 300 }, engine)).rejects.toMatchObject({
      code: 'query_timed_out',
    });
    await requireWorking(engine);
  });

  test('a reader who leaves', async () => {
    const engine = createOwn({ atOnce: 1 }).of(1, source);
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(50000)';
    const answer = await engine.query({ sql }, PATIENTLY);
    for await (const piece of answer.rows) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    // Only one query runs at once, so the first one must have ended.
    await requireWorking(engine);
  });

  test('memory that it may not have', async () => {
    for (const sql of [
      'select list(range) from range(1000000000)',
      "select string_agg(range::varchar, ',') from range(1000000000)",
      'select range(1000000000)',
      'select count(*) from (select distinct range, md5(range::varchar) from range(100000000))',
    ]) {
      await expect(ask(sql)).rejects.toMatchObject({ code: 'query_too_large' });
    }
    await requireWorking();
  });

  test('others go on while queries are ended', async () => {
    const slow = 'select sum(a.range % 7)::bigint as n from range(3000000) a';
    const good = Array.from({ length: 6 }, (_, i) => ask(`${slow} where a.range % 10 = ${i}`));
    const bad = [ENDLESS, 'select range(1000000000)'].map((sql) => ask(sql, { timeoutMs: 500 }));
    await Promise.allSettled(bad);
    const expected = Array.from({ length: 6 }, (_, i) => {
      let sum = 0;
      for (let value = i; value < 3_000_000; value += 10) sum += value % 7;
      return [{ n: String(sum) }];
    });
    expect((await Promise.all(good)).map(({ rows }) => rows)).toEqual(expected);
  });
});

describe('a process that is killed', () => {
  const kill = (known: Set<number>) => {
    const pids = engineProcesses().filter((pid) => !known.has(pid));
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids;
  };

  test('a query that was lost with it runs again, and the engines of others do not notice', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    await requireWorking(engine);
    const counted = ask('select count(*) as n from range(40000000) where range % 3 = 0', {}, engine);
    const others = ask('select count(*) as n from range(10000000)');
    // A process of the other tests may have been started again meanwhile.
    expect(kill(known).length).toBeGreaterThan(0);
    expect((await counted).rows).toEqual([{ n: '13333334' }]);
    expect((await others).rows).toEqual([{ n: '10000000' }]);
  });

  test('a query that has sent rows fails, and the next one works', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(50000)';
    const answer = await engine.query({ sql }, PATIENTLY);
    kill(known);
    await expect(textOf(answer)).rejects.toMatchObject({ code: 'source_unavailable' });
    await expect(answer.summary).rejects.toMatchObject({ code: 'source_unavailable' });
    await requireWorking(engine);
  });

  test('a query that loses its process twice fails', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    await requireWorking(engine);
    const asked = ask(ENDLESS, {}, engine).catch((error: unknown) => error);
    const [first] = kill(known);
    await expect
      .poll(() => engineProcesses().some((pid) => !known.has(pid) && pid !== first), PATIENTLY_POLLED)
      .toBe(true);
    // The second process must have begun with the query, or it would be given to a third.
    await requireWorking(engine);
    kill(known);
    expect(await asked).toMatchObject({ code: 'source_unavailable' });
    await requireWorking(engine);
  });
});

describe('processes', () => {
  test('an idle one is stopped, and makes way for another', async () => {
    const known = new Set(engineProcesses());
    const running = () => engineProcesses().filter((pid) => !known.has(pid)).length;
    const own = createOwn({ processes: 1, idleMs: 60_000 });
    await requireWorking(own.of(1, source));
    await requireWorking(own.of(10, source));
    await expect.poll(running, PATIENTLY_POLLED).toBe(1);
    const held = ask(ENDLESS, { timeoutMs: 3000 }, own.of(10, source)).catch((error: unknown) => error);
    await expect(ask('select 1 as one', {}, own.of(1, source))).rejects.toMatchObject({
      code: 'source_busy',
    });
    expect(await held).toMatchObject({ code: 'query_timed_out' });

    const short = createOwn({ idleMs: 50 });
    await requireWorking(short.of(2, source));
    await own.stop();
    await expect.poll(running, PATIENTLY_POLLED).toBe(0);
    await requireWorking(short.of(2, source));
  });

  test('one deployment can not have all of them', async () => {
    const own = createOwn({ processes: 3, deploymentProcesses: 2 });
    const named = (name: string) => own.of(1, { ...source, name });
    const leave = new AbortController();
    const held = ['a', 'b'].map((name) =>
      ask(ENDLESS, { signal: leave.signal }, named(name)).catch((error: unknown) => error),
    );
    await expect(ask('select 1 as one', {}, named('c'))).rejects.toMatchObject({
      code: 'source_busy',
      message: expect.stringContaining('of this deployment'),
    });
    await requireWorking(own.of(10, source));
    leave.abort(new Error('the caller left'));
    await Promise.all(held);
    // One that is idle makes way for another one of the same deployment.
    await expect
      .poll(
        () =>
          requireWorking(named('c')).then(
            () => true,
            () => false,
          ),
        PATIENTLY_POLLED,
      )
      .toBe(true);
  });

  test('somebody new does not wait for those who have places', async () => {
    const engine = createOwn({ atOnce: 2 }).of(1, source);
    await requireWorking(engine);
    const leave = new AbortController();
    const held = Array.from({ length: 5 }, () =>
      ask(ENDLESS, { sharer: 'a', signal: leave.signal }, engine).catch((error: unknown) => error),
    );
    for (let i = 0; i < 2; i++) {
      expect((await ask('select 1 as one', { sharer: 'b' }, engine)).rows).toEqual(ONE);
    }
    leave.abort(new Error('the caller left'));
    await Promise.all(held);
  });

  test('more queries than may run at once wait, and too many are refused', async () => {
    const own = createOwn({ atOnce: 1, waiting: 2 });
    const engine = own.of(1, source);
    await requireWorking(engine);
    const first = ask(ENDLESS, { timeoutMs: 2000 }, engine).catch((error: unknown) => error);
    const two = [1, 2].map(() => ask('select 1 as one', {}, engine));
    await expect(ask('select 1 as one', {}, engine)).rejects.toMatchObject({ code: 'source_busy' });
    expect((await Promise.all(two)).map(({ rows }) => rows)).toEqual([ONE, ONE]);
    expect(await first).toMatchObject({ code: 'query_timed_out' });
  });
});
