/** The guarantees of PostgreSQL as an engine, with a real process and a real database. */
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { engineProcesses } from '../../../test/engines.ts';
import { type Front, SELF_SIGNED, startFront } from '../../../test/front-of-postgres.ts';
import { createSourceDatabase, type SourceDatabase } from '../../../test/source-database.ts';
import type { ServerSource } from '../data-sources.ts';
import type { Engine, Query, QueryLimits } from '../engine.ts';
import { createEngines, type EngineLimits, type Engines } from '../engines.ts';

const PATIENTLY = { timeoutMs: 120_000 };
const OTHER = { systemIdentifier: '1', database: 'oriel' };

let database: SourceDatabase;
let engines: Engines;
let engine: Engine;
const started: Engines[] = [];
const fronts: Front[] = [];

function create(options: Partial<Parameters<typeof createEngines>[0]> = {}, limits?: Partial<EngineLimits>) {
  const made = createEngines({
    script: join(import.meta.dirname, '../../../dist/engine.js'),
    dataDir: '/nowhere',
    allowPrivateRemotes: true,
    ownDatabase: async () => OTHER,
    log: pino({ level: 'silent' }),
    limits,
    ...options,
  });
  started.push(made);
  return made;
}

const SHOP = `
  create type mood as enum ('good', 'bad');
  create domain price as numeric(10, 2) check (value >= 0);
  create table customers (id bigint primary key, name text not null, mood mood);
  insert into customers values (1, 'Ada', 'good'), (9007199254740993, 'Bob', null);
  create table orders (
    id bigint, line smallint, customer_id bigint references customers (id), amount price, at timestamptz,
    primary key (id, line));
  insert into orders select i, 1, 1, i, '2024-01-31 01:00+02' from generate_series(1, 100) i;
  create view paid as select id, amount from orders;
  create schema other;
  create table other.parts (day date) partition by range (day);
  create table other.parts_2024 partition of other.parts for values from ('2024-01-01') to ('2025-01-01');
  create table changes (text text);
  create function write_change() returns text language sql
    as $$ insert into changes values ('x') returning text $$`;

beforeAll(async () => {
  database = await createSourceDatabase(SHOP);
  engines = create();
  engine = engines.of(1, database.source);
});
afterAll(async () => {
  for (const each of started) await each.stop();
  for (const front of fronts) front.stop();
  await database.stop();
});

async function ask(sql: string, more: Partial<Query & QueryLimits> = {}, asked = engine) {
  const { parameters, keys, rowForm, ...limits } = more;
  const answer = await asked.query({ sql, parameters, keys, rowForm }, { ...PATIENTLY, ...limits });
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  const rows = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>[];
  return { columns: answer.columns, rows, ...(await answer.summary) };
}

const requireWorking = async (asked?: Engine) =>
  expect((await ask('select 1 as one', {}, asked)).rows).toEqual([{ one: '1' }]);

/** The queries of others that hold this word and still run. */
const running = async (word: string) =>
  (
    await database.administer(
      `select from pg_stat_activity where state = 'active' and query like '%${word}%' and pid <> pg_backend_pid()`,
    )
  ).rowCount;

const via = (port: number, more: Partial<ServerSource> = {}): ServerSource => ({
  ...database.source,
  port,
  ...more,
});

async function front(options: Parameters<typeof startFront>[0]) {
  const made = await startFront({ target: database.target, ...options });
  fronts.push(made);
  return made;
}

describe('answers', () => {
  test('every value has the form that DuckDB gives it', async () => {
    const { rows, columns } = await ask(`
      select 9007199254740993::bigint as big, 12.30::numeric as price, 100::numeric(10, 2) as round,
        0.1::float8 as double, 0.1::float4 as float, 1e25::float8 as large, 'nan'::float8 as nan, 5::smallint as small,
        date '2024-01-31' as day, true as yes, null as nothing, timestamp '1969-12-31 23:59:59.999999' as before,
        timestamptz '2024-01-31 01:00:00+02' as zoned, 'infinity'::timestamp as never, 'a "quoted" ü' as words,
        array[1, 2] as list, '\\xAB'::bytea as bytes, '0b4b2b6e-0a3a-4f0e-9d3c-111111111111'::uuid as uuid`);
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        price: '12.3',
        round: '100',
        double: '0.1',
        float: '0.1',
        large: '1e+25',
        nan: 'NaN',
        small: '5',
        day: '2024-01-31T00:00:00.000',
        yes: true,
        nothing: null,
        before: '1969-12-31T23:59:59.999',
        zoned: '2024-01-30T23:00:00.000',
        never: 'infinity',
        words: 'a "quoted" ü',
        list: '{1,2}',
        bytes: '\\xab',
        uuid: '0b4b2b6e-0a3a-4f0e-9d3c-111111111111',
      },
    ]);
    const types = {
      big: 'number',
      day: 'time',
      zoned: 'time',
      yes: 'boolean',
      words: 'string',
      list: 'other',
    };
    expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject(types);
  });

  test('the settings of the user do not change how values are written', async () => {
    const { user } = database.source;
    for (const setting of [
      "timezone = 'Asia/Tokyo'",
      "datestyle = 'German'",
      "bytea_output = 'escape'",
      'extra_float_digits = -10',
    ]) {
      await database.administer(`alter role ${user} set ${setting}`);
    }
    const changed = create().of(1, database.source);
    const sql = "select at, '\\xAB'::bytea as bytes, 0.1::float8 + 0.2 as sum from orders limit 1";
    expect((await ask(sql, {}, changed)).rows).toEqual([
      { at: '2024-01-30T23:00:00.000', bytes: '\\xab', sum: '0.30000000000000004' },
    ]);
    await database.administer(`alter role ${user} reset all`);
  });

  test('parameters are bound with the type that the statement says, so ids above 2^53 stay distinct', async () => {
    const sql = 'select name from customers where id = $1::bigint';
    expect((await ask(sql, { parameters: ['9007199254740993'] })).rows).toEqual([{ name: 'Bob' }]);
    expect((await ask(sql, { parameters: ['9007199254740992'] })).rows).toEqual([]);
    expect((await ask(sql, { parameters: [null] })).rows).toEqual([]);
    await expect(ask(sql, { parameters: ['1 or true'] })).rejects.toMatchObject({ code: 'value_invalid' });
    await expect(ask(sql)).rejects.toMatchObject({ code: 'query_invalid' });
    for (const text of ["'; drop table orders; --", '\\', '"']) {
      expect((await ask('select $1::text as t', { parameters: [text] })).rows).toEqual([{ t: text }]);
    }
  });

  test('an answer without rows has columns, and columns of one name can be told apart by keys', async () => {
    const { rows, columns } = await ask('select 1 as one where false');
    expect(rows).toEqual([]);
    expect(columns).toEqual([{ name: 'one', type: 'number', nativeType: 'integer' }]);
    expect((await ask('select 1 as a, 2 as a', { keys: ['x', 'y'] })).rows).toEqual([{ x: '1', y: '2' }]);
    await expect(ask('select 1 as a, 2 as a')).rejects.toMatchObject({ code: 'query_invalid' });
  });

  test('rows above the limit are left out, in the order of the statement, and the summary says so', async () => {
    const all = 'select i from generate_series(1, 50001) i order by i desc -- all of them';
    const { rows, ...summary } = await ask(all, { rowForm: 'arrays' });
    expect(summary).toMatchObject({ rowCount: 50_000, isCapped: true });
    expect([rows[0], rows.at(-1)]).toEqual([['50001'], ['2']]);
    expect(await ask('select i from generate_series(1, 3) i;', { maxRows: 3 })).toMatchObject({
      rowCount: 3,
      isCapped: false,
    });
  });

  test('an answer that is too large, in many rows or in one value, is an error', async () => {
    const many = 'select repeat(md5(i::text), 30) as text from generate_series(1, 3000) i';
    await expect(ask(many, { maxBytes: 1_000_000 })).rejects.toMatchObject({ code: 'result_too_large' });
    const one = "select repeat('x', 300000000) as text /* one value */";
    await expect(ask(one, { maxBytes: 1_000_000 })).rejects.toMatchObject({ code: 'result_too_large' });
    await expect.poll(() => running('one value')).toBe(0);
    await requireWorking();
  });

  test('one row that does not fit into the memory is an error', async () => {
    const row = (bytes: number) => `select repeat('x', ${bytes}) || '€' as a, repeat('y', ${bytes}) as b`;
    await expect(ask(row(20_000_000))).rejects.toMatchObject({
      code: 'result_too_large',
      message: expect.stringContaining('A row has more than'),
    });
    await requireWorking();
    // Several rows that are short enough, although together they are not.
    const { rowCount } = await ask(`${row(3_000_000)} from generate_series(1, 4)`);
    expect(rowCount).toBe(4);
  });

  test('an error in a late row is an error, and not an answer with fewer rows', async () => {
    const sql = 'select 1 / (199999 - i) as n from generate_series(1, 200000) i';
    await expect(ask(sql, { maxRows: 1_000_000 })).rejects.toMatchObject({ code: 'value_invalid' });
  });

  test('the engine reads no more than its reader takes', async () => {
    const sql = 'select repeat(md5(i::text), 30) as text from generate_series(1, 50000) i /* slow reader */';
    const answer = await engine.query({ sql }, PATIENTLY);
    const iterator = answer.rows[Symbol.asyncIterator]();
    await iterator.next();
    await requireWorking();
    expect(await running('slow reader')).toBe(1);
    let bytes = 0;
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      bytes += next.value.length;
    expect(bytes).toBeGreaterThan(45_000_000);
    expect(await answer.summary).toMatchObject({ rowCount: 50_000 });
  });
});

describe('what a query can do', () => {
  test.each([
    "insert into changes values ('x')",
    "with x as (insert into changes values ('x') returning 1) select * from x",
    'select 1 into copied',
    'select * from orders for update',
    'select 1; select 2',
    "select 1; insert into changes values ('x')",
    "select 1) as a; insert into changes values ('x'); select * from (select 1",
    "select set_config('transaction_read_only', 'off', true)",
    'copy orders to stdout',
    "copy (select 1) to program 'true'",
    'create temporary table t (a int)',
    'set statement_timeout = 0',
    'begin',
    'commit',
    'do $$ begin end $$',
    'explain analyze select 1',
    'listen x',
    '/* a /* nested */ comment */ -- and another\n vacuum',
    '',
    ';',
  ])('%j is refused', async (sql) => {
    await expect(ask(sql)).rejects.toMatchObject({
      name: 'EngineError',
      code: expect.stringMatching(/^query_(refused|invalid)$/),
    });
  });

  test('even a user who may write changes nothing', async () => {
    await database.administer(`grant insert on changes to ${database.source.user}`);
    await expect(ask('select write_change()')).rejects.toMatchObject({ code: 'query_refused' });
    expect((await ask('select count(*) as n from changes')).rows).toEqual([{ n: '0' }]);
  });

  test('nothing of a query is left on its connection', async () => {
    const one = create({}, { atOnce: 1 }).of(1, database.source);
    await ask(
      "select pg_advisory_lock(77), set_config('search_path', 'other', false)",
      { rowForm: 'arrays' },
      one,
    );
    const left = `select current_setting('search_path') as path,
      (select count(*) from pg_locks where locktype = 'advisory' and objid = 77) as locks`;
    expect((await ask(left, {}, one)).rows).toEqual([{ path: '"$user", public', locks: '0' }]);
  });
});

describe('what ends a query', () => {
  test('its time, also on the server', async () => {
    const slow = ask('select pg_sleep(600) /* too slow */', { timeoutMs: 500 });
    await expect(slow).rejects.toMatchObject({ code: 'timed_out' });
    await expect.poll(() => running('too slow')).toBe(0);
    await requireWorking();
  });

  test('its time on the server, although the process of the engine is gone', async () => {
    const known = new Set(engineProcesses());
    const own = create().of(3, database.source);
    await requireWorking(own);
    const asked = ask('select pg_sleep(600) /* left behind */', { timeoutMs: 10_000 }, own).catch(() => {});
    await expect.poll(() => running('left behind')).toBe(1);
    for (const pid of engineProcesses()) if (!known.has(pid)) process.kill(pid, 'SIGKILL');
    await asked;
    await expect.poll(() => running('left behind')).toBe(0);
  });

  test('the signal of its caller, also on the server', async () => {
    const controller = new AbortController();
    const asked = ask('select pg_sleep(600) /* left alone */', { signal: controller.signal });
    await expect.poll(() => running('left alone')).toBe(1);
    controller.abort(new Error('the caller left'));
    await expect(asked).rejects.toThrow('the caller left');
    await expect.poll(() => running('left alone')).toBe(0);
  });

  test('a reader who leaves', async () => {
    const sql = 'select repeat(md5(i::text), 30) as text from generate_series(1, 50000) i /* half read */';
    const answer = await engine.query({ sql }, PATIENTLY);
    for await (const piece of answer.rows) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => running('half read')).toBe(0);
    await requireWorking();
  });

  test('the loss of its connection, and the next query works', async () => {
    const sql = 'select repeat(md5(i::text), 30) as text from generate_series(1, 50000) i /* will be lost */';
    const answer = await engine.query({ sql }, PATIENTLY);
    await database.administer(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '%will be lost%' and pid <> pg_backend_pid()",
    );
    const read = async () => {
      for await (const piece of answer.rows) expect(piece.length).toBeGreaterThan(0);
    };
    await expect(read()).rejects.toMatchObject({ code: 'source_unavailable' });
    await expect(answer.summary).rejects.toMatchObject({ code: 'source_unavailable' });
    await requireWorking();
  });
});

describe('connections', () => {
  test('there are no more than queries may run at once', async () => {
    const counting = `select count(*) as n from pg_stat_activity, pg_sleep(0.2)
      where datname = current_database() and usename = current_user`;
    const own = create({}, { atOnce: 2 }).of(2, database.source);
    const before = Number((await ask(counting)).rows[0]!.n);
    const counts = await Promise.all(Array.from({ length: 8 }, () => ask(counting, {}, own)));
    expect(Math.max(...counts.map(({ rows }) => Number(rows[0]!.n)))).toBeLessThanOrEqual(before + 2);
  });

  test('our own database is refused, whatever address leads to it', async () => {
    const { rows } = await database.administer(
      'select system_identifier::text as id from pg_control_system()',
    );
    const own = { systemIdentifier: rows[0].id as string, database: database.source.database };
    const refusing = create({ ownDatabase: async () => own });
    const asked = ask('select 1', {}, refusing.of(1, via(database.source.port, { host: 'localhost' })));
    await expect(asked).rejects.toMatchObject({ code: 'source_unavailable', message: /server itself/ });
    const elsewhere = new URL(inject('postgresUrl')).pathname.slice(1);
    await expect(
      refusing.of(1, via(database.source.port, { database: elsewhere })).test(PATIENTLY),
    ).resolves.toMatchObject({ isReachable: true });
  });

  test.each(['127.0.0.1', 'localhost', '::1', '169.254.169.254'])(
    'the private address %s is refused',
    async (host) => {
      const guarded = create({ allowPrivateRemotes: false }).of(1, via(database.source.port, { host }));
      expect(await guarded.test(PATIENTLY)).toEqual({
        isReachable: false,
        message: 'The address of the database is not public (see ORIEL_ALLOW_PRIVATE_REMOTES).',
      });
    },
  );

  test('a certificate that nobody vouches for is refused, unless the check is off', async () => {
    const { port } = await front({ refusal: () => undefined, tls: SELF_SIGNED });
    expect(await engines.of(1, via(port, { tls: 'verify' })).test(PATIENTLY)).toMatchObject({
      isReachable: false,
      message: expect.stringMatching(/self-signed certificate.*set DB_SSL to no-verify/),
    });
    const encrypted = engines.of(1, via(port, { tls: 'no-verify' }));
    await requireWorking(encrypted);
    const controller = new AbortController();
    const asked = ask('select pg_sleep(600) /* encrypted */', { signal: controller.signal }, encrypted);
    await expect.poll(() => running('encrypted')).toBe(1);
    controller.abort(new Error('the caller left'));
    await expect(asked).rejects.toThrow('the caller left');
    await expect.poll(() => running('encrypted')).toBe(0);
  });

  test('a server without TLS is refused, unless it is allowed', async () => {
    expect(await engines.of(1, via(database.source.port, { tls: 'verify' })).test(PATIENTLY)).toMatchObject({
      isReachable: false,
      message: expect.stringMatching(/does not support SSL.*set DB_SSL to false/),
    });
  });

  test('a test says in one line what it has found', async () => {
    expect(await engine.test(PATIENTLY)).toEqual({
      isReachable: true,
      message: expect.stringMatching(/^PostgreSQL \d+[\w. ()-]* answers\.$/),
    });
    const wrong = engines.of(1, via(database.source.port, { password: 'guessed' }));
    expect(await wrong.test(PATIENTLY)).toMatchObject({
      isReachable: false,
      message: expect.stringMatching(/^password authentication failed/),
    });
    const { port, stop } = await startFront({ refusal: () => undefined });
    stop();
    expect(await engines.of(1, via(port)).test(PATIENTLY)).toMatchObject({
      isReachable: false,
      message: expect.stringMatching(/^The database cannot be reached: .*ECONNREFUSED/),
    });
  });
});

test('tables are listed with their columns and keys, as far as the user can read them', async () => {
  await database.administer(`revoke pg_read_all_data from ${database.source.user};
    grant select on orders, paid, other.parts to ${database.source.user};
    grant select (id, mood) on customers to ${database.source.user};
    grant usage on schema other to ${database.source.user};`);
  const number = (name: string, nativeType: string, isNullable = true) => ({
    name,
    type: 'number',
    nativeType,
    isNullable,
  });
  expect(await engine.listTables(PATIENTLY)).toEqual([
    {
      schema: 'other',
      name: 'parts',
      columns: [{ name: 'day', type: 'time', nativeType: 'date', isNullable: true }],
      primaryKey: [],
      foreignKeys: [],
    },
    {
      schema: 'public',
      name: 'customers',
      columns: [
        number('id', 'bigint', false),
        { name: 'mood', type: 'string', nativeType: 'mood', isNullable: true },
      ],
      primaryKey: ['id'],
      foreignKeys: [],
    },
    {
      schema: 'public',
      name: 'orders',
      columns: [
        number('id', 'bigint', false),
        number('line', 'smallint', false),
        number('customer_id', 'bigint'),
        number('amount', 'price'),
        { name: 'at', type: 'time', nativeType: 'timestamp with time zone', isNullable: true },
      ],
      primaryKey: ['id', 'line'],
      foreignKeys: [
        { columns: ['customer_id'], toSchema: 'public', toTable: 'customers', toColumns: ['id'] },
      ],
    },
    {
      schema: 'public',
      name: 'paid',
      columns: [number('id', 'bigint'), number('amount', 'price')],
      primaryKey: [],
      foreignKeys: [],
    },
  ]);
  await database.administer(`grant pg_read_all_data to ${database.source.user}`);
});
