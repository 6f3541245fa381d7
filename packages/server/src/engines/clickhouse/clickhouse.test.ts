/**
 * The guarantees of ClickHouse as an engine, with a real process, and with a server that speaks as ClickHouse does and
 * can hang and die. ClickHouse itself answers in `npm run test:clickhouse`.
 */
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Behaviour,
  type FakeClickHouse,
  failure,
  linesOf,
  rows,
  startFakeClickHouse,
} from '../../../test/fake-clickhouse.ts';
import { SELF_SIGNED } from '../../../test/front-of-postgres.ts';
import type { ServerSource } from '../data-sources.ts';
import type { Engine, Query, QueryLimits } from '../engine.ts';
import { createEngines, type Engines } from '../engines.ts';

const PATIENTLY = { timeoutMs: 120_000 };
const PASSWORD = 'hunter2hunter2';
const SCOPE = "In scope SELECT secret = _CAST('of somebody', 'String')";

/** Sends some rows, and then does not end the answer as it should. */
const halfWay =
  (end: Behaviour, headers: Record<string, string> = {}): Behaviour =>
  async (response, received) => {
    response.writeHead(200, headers);
    const values = Array.from({ length: 20_000 }, (_, i) => [`row ${i}`]);
    await new Promise((resolve) => response.write(linesOf({ name: 'String' }, ...values), resolve));
    await end(response, received);
  };

const TAGGED = 'Code: 395. DB::Exception: Value passed to throwIf. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n';
const BEHAVIOURS: Record<string, Behaviour> = {
  one: rows({ one: 'UInt8' }, [1]),
  every_value: rows(
    {
      big: 'Int64',
      huge: 'Nullable(UInt256)',
      small: 'Int32',
      price: 'Decimal(10, 2)',
      round: 'Nullable(Decimal(10, 2))',
      double: 'Float64',
      large: 'Float64',
      nan: 'Float64',
      endless: 'Float64',
      day: 'Date',
      second: "DateTime('Europe/Berlin')",
      moment: "Nullable(DateTime64(6, 'UTC'))",
      yes: 'Bool',
      nothing: 'Nullable(String)',
      kind: 'LowCardinality(Nullable(String))',
      total: 'SimpleAggregateFunction(sum, Int64)',
      list: 'Array(String)',
    },
    [
      '9007199254740993',
      '340282366920938463463374607431768211456',
      5,
      '12.30',
      '100.00',
      0.1,
      1e25,
      '-nan',
      'inf',
      '2024-01-31',
      '2024-01-30T23:00:00Z',
      '1969-12-31T23:59:59.999999Z',
      true,
      null,
      'a "quoted" ü',
      '7',
      ['a'],
    ],
  ),
  many_rows: rows({ n: 'UInt8' }, [1], [2], [3]),
  wide_rows: rows({ text: 'String' }, ['x'.repeat(600)], ['y'.repeat(600)]),
  no_rows: rows({ n: 'UInt8' }),
  wrong_syntax: failure(
    400,
    `Code: 62. DB::Exception: Syntax error: failed at position 1. ${SCOPE}. (SYNTAX_ERROR)`,
  ),
  wrong_value: failure(400, "Code: 407. DB::Exception: Can't compare decimal number. (DECIMAL_OVERFLOW)"),
  is_write: failure(500, 'Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)'),
  limited_user: failure(
    500,
    "Code: 164. DB::Exception: Cannot modify 'limit' setting in readonly mode. (READONLY)",
  ),
  too_slow: failure(500, 'Code: 159. DB::Exception: Timeout exceeded: elapsed 60 s. (TIMEOUT_EXCEEDED)'),
  too_much: failure(500, 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'),
  stranger: failure(403, 'Code: 516. DB::Exception: reader: Authentication failed. (AUTHENTICATION_FAILED)'),
  web_page: failure(500, '<html>internal secret</html>'),
  web_text: (response) => response.end('<html>\ninternal secret\n</html>\n'),
  hangs: () => {},
  endless_row: async (response, { gone }) => {
    response.writeHead(200);
    response.write(`${linesOf({ text: 'String' })}["`);
    let isGone = false;
    void gone.then(() => {
      isGone = true;
    });
    const piece = 'x'.repeat(1024 * 1024);
    while (!isGone) {
      await Promise.race([gone, new Promise((resolve) => response.write(piece, resolve))]);
    }
  },
  hang_half_way: halfWay(() => {}),
  dies_half_way: halfWay((response) => response.socket!.destroy()),
  closes_half_way: halfWay((response) => response.socket!.end(), {
    connection: 'close',
    'transfer-encoding': 'identity',
  }),
  fails_half_way: halfWay((response) => response.end(`["cut off${TAGGED}`)),
  tagged_half_way: halfWay(
    (response) =>
      response.end(`\r\n__exception__\r\nabcdefgh\n${TAGGED}${TAGGED.length} abcdefgh\r\n__exception__\r\n`),
    { 'x-clickhouse-exception-tag': 'abcdefgh' },
  ),
  'system.columns': rows(
    { database: 'String', table: 'String', name: 'String', type: 'String' },
    ['shop', 'orders', 'id', 'UInt64'],
    ['shop', 'orders', 'at', 'Nullable(DateTime)'],
    ['shop', 'states', 'id', 'UUID'],
    ['shop', 'states', 'kind', "LowCardinality(Nullable(Enum8('a' = 1)))"],
  ),
  'system.tables': rows(
    { database: 'String', name: 'String', engine: 'String', primary_key: 'String' },
    ['shop', 'orders', 'MergeTree', 'id'],
    ['shop', 'states', 'ReplicatedReplacingMergeTree', 'id, kind'],
  ),
  'version()': rows({ 'version()': 'String' }, ['26.9.2.1']),
};

let fake: FakeClickHouse;
let secure: FakeClickHouse;
let engine: Engine;
const started: Engines[] = [];

function create(allowPrivateRemotes = true) {
  const made = createEngines({
    script: join(import.meta.dirname, '../../../dist/engine.js'),
    dataDir: '/nowhere',
    allowPrivateRemotes,
    ownDatabase: async () => ({ systemIdentifier: '1', database: 'oriel' }),
    log: pino({ level: 'silent' }),
  });
  started.push(made);
  return made;
}

const source = (more: Partial<ServerSource> = {}): ServerSource => ({
  name: 'default',
  type: 'clickhouse',
  host: '127.0.0.1',
  port: fake.port,
  database: 'shop',
  user: 'reader',
  password: PASSWORD,
  tls: 'off',
  ...more,
});

beforeAll(async () => {
  fake = await startFakeClickHouse(BEHAVIOURS);
  secure = await startFakeClickHouse(BEHAVIOURS, SELF_SIGNED);
  engine = create().of(1, source());
});
afterAll(async () => {
  for (const each of started) await each.stop();
  await fake.stop();
  await secure.stop();
});

async function ask(sql: string, more: Partial<Query & QueryLimits> = {}, asked = engine) {
  const { parameters, ...limits } = more;
  const answer = await asked.query({ sql, parameters }, { ...PATIENTLY, ...limits });
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  const found = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>[];
  return { columns: answer.columns, rows: found, ...(await answer.summary) };
}

const requireWorking = async () => expect((await ask('select one')).rows).toEqual([{ one: '1' }]);
const requestFor = (word: string) => fake.received.find(({ sql }) => sql.includes(word))!;

describe('answers', () => {
  test('every value has the form that DuckDB gives it', async () => {
    const { columns, rows: found } = await ask('select every_value');
    expect(found).toEqual([
      {
        big: '9007199254740993',
        huge: '340282366920938463463374607431768211456',
        small: '5',
        price: '12.3',
        round: '100',
        double: '0.1',
        large: '1e+25',
        nan: 'NaN',
        endless: 'Infinity',
        day: '2024-01-31T00:00:00.000',
        second: '2024-01-30T23:00:00.000',
        moment: '1969-12-31T23:59:59.999',
        yes: true,
        nothing: null,
        kind: 'a "quoted" ü',
        total: '7',
        list: '["a"]',
      },
    ]);
    expect(columns.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 9 }, () => 'number'),
      ...Array.from({ length: 3 }, () => 'time'),
      'boolean',
      'string',
      'string',
      'number',
      'other',
    ]);
  });

  test('rows above the limit are left out, and bytes above the limit are an error', async () => {
    expect(await ask('select many_rows', { maxRows: 2 })).toMatchObject({
      rows: [{ n: '1' }, { n: '2' }],
      isCapped: true,
    });
    expect(requestFor('many_rows').fields.get('limit')).toBe('3');
    await expect(ask('select wide_rows', { maxBytes: 1000 })).rejects.toMatchObject({
      code: 'result_too_large',
    });
    expect(await ask('select no_rows')).toMatchObject({ rows: [], columns: [{ name: 'n', type: 'number' }] });
    await requireWorking();
  });
});

describe('a request', () => {
  test('cannot write, ends on the server when its time is over, and is signed', async () => {
    await ask('select one as signed', { timeoutMs: 119_999 });
    const { fields, authorization } = requestFor('signed');
    expect(Object.fromEntries(fields)).toMatchObject({
      database: 'shop',
      readonly: '2',
      cancel_http_readonly_queries_on_client_close: '1',
      max_execution_time: '120',
      session_timezone: 'UTC',
    });
    expect(authorization).toBe(`Basic ${Buffer.from(`reader:${PASSWORD}`).toString('base64')}`);
    expect([...fields.values()].join()).not.toContain(PASSWORD);
  });

  test('sends values apart from the statement, however many there are', async () => {
    const parameters = ['9007199254740993', "o'x\\\n"];
    await ask('select one as bound, {p1:Int64}, {p2:String}', { parameters });
    const { fields, sql } = requestFor('bound');
    expect([fields.get('param_p1'), fields.get('param_p2')]).toEqual(['9007199254740993', "o\\'x\\\\\\n"]);
    expect(sql).not.toContain('9007199254740993');
    await ask(`select one as crowded -- ${'x'.repeat(60_000)}`, {
      parameters: Array.from({ length: 10_000 }, (_, i) => `value ${i}`),
    });
    const crowded = requestFor('crowded');
    expect(crowded.contentType).toMatch(/^multipart\/form-data/);
    expect(crowded.fields.get('param_p10000')).toBe('value 9999');
    expect(Number(crowded.fields.get('max_query_size'))).toBeGreaterThan(100_000);
  });

  test.each(['insert into t values (1)', 'drop table t', 'set readonly = 0', ''])(
    'is not sent for %j',
    async (sql) => {
      const before = fake.received.length;
      await expect(ask(sql)).rejects.toMatchObject({ code: 'query_refused' });
      expect(fake.received.length).toBe(before);
    },
  );
});

describe('errors', () => {
  test.each([
    ['wrong_syntax', 'query_invalid', /^Syntax error: failed at position 1\.?$/],
    ['wrong_value', 'value_invalid', /decimal/],
    ['is_write', 'query_refused', /readonly/],
    ['limited_user', 'source_unavailable', /set `readonly` of the user to 2/],
    ['too_slow', 'timed_out', /took too long/],
    ['too_much', 'query_too_large', /Memory limit/],
    ['stranger', 'credential_refused', /Authentication failed/],
    ['web_page', 'source_unavailable', /^The server at this address does not answer as ClickHouse does\.$/],
    ['web_text', 'source_unavailable', /^The server at this address does not answer as ClickHouse does\.$/],
  ])('%s is %s', async (word, code, message) => {
    const error = (await ask(`select ${word}`).catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.message).not.toMatch(/hunter2|somebody|internal secret/);
    await requireWorking();
  });
});

test('a row that never ends is an error, and the next query works', async () => {
  await expect(ask('select endless_row')).rejects.toMatchObject({
    code: 'result_too_large',
    message: expect.stringContaining('A row has more than'),
  });
  expect((await ask('select one')).rows).toEqual([{ one: '1' }]);
});

describe('a source that is lost', () => {
  test.each(['dies_half_way', 'closes_half_way', 'fails_half_way', 'tagged_half_way'])(
    'is an error, and not a shorter answer: %s',
    async (word) => {
      const answered = ask(`select ${word}`);
      await expect(answered).rejects.toMatchObject({
        code:
          word.endsWith('fails_half_way') || word.startsWith('tagged')
            ? 'value_invalid'
            : 'source_unavailable',
      });
      await requireWorking();
    },
  );

  test('before it answers is an error when the time is over, and the request ends', async () => {
    await expect(ask('select hangs', { timeoutMs: 2000 })).rejects.toMatchObject({ code: 'timed_out' });
    await requestFor('hangs').gone;
    await requireWorking();
  });

  test('in the middle of its answer is an error when the time is over, and the request ends', async () => {
    await expect(ask('select hang_half_way', { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'timed_out',
    });
    await requestFor('hang_half_way').gone;
    await requireWorking();
  });
});

test('a request ends when its caller leaves', async () => {
  const controller = new AbortController();
  const asked = ask('select hangs as left', { signal: controller.signal });
  await expect.poll(() => requestFor('left')).toBeDefined();
  controller.abort(new Error('the caller left'));
  await expect(asked).rejects.toThrow('the caller left');
  await requestFor('left').gone;
  await requireWorking();
});

describe('the address', () => {
  test.each(['127.0.0.1', '127.1', 'localhost'])('%s is refused, because it is private', async (host) => {
    const before = fake.received.length;
    expect(await create(false).of(1, source({ host })).test(PATIENTLY)).toEqual({
      isReachable: false,
      message: 'The address of the database is not public (see ORIEL_ALLOW_PRIVATE_REMOTES).',
    });
    expect(fake.received.length).toBe(before);
  });

  test('needs a certificate that somebody vouches for, unless the check is off', async () => {
    const test = (tls: ServerSource['tls']) =>
      create()
        .of(1, source({ port: secure.port, tls }))
        .test(PATIENTLY);
    expect(await test('verify')).toMatchObject({
      isReachable: false,
      message: expect.stringMatching(/self-signed certificate.*set DB_SSL to no-verify/),
    });
    expect(await test('no-verify')).toEqual({ isReachable: true, message: 'ClickHouse 26.9.2.1 answers.' });
  });
});

test('tables are listed with their columns, and with keys only where rows cannot share them', async () => {
  expect(await engine.listTables(PATIENTLY)).toEqual([
    {
      schema: 'shop',
      name: 'orders',
      columns: [
        { name: 'id', type: 'number', nativeType: 'UInt64', isNullable: false },
        { name: 'at', type: 'time', nativeType: 'Nullable(DateTime)', isNullable: true },
      ],
      primaryKey: [],
      foreignKeys: [],
    },
    {
      schema: 'shop',
      name: 'states',
      columns: [
        { name: 'id', type: 'string', nativeType: 'UUID', isNullable: false },
        {
          name: 'kind',
          type: 'string',
          nativeType: "LowCardinality(Nullable(Enum8('a' = 1)))",
          isNullable: true,
        },
      ],
      primaryKey: ['id', 'kind'],
      foreignKeys: [],
    },
  ]);
});
