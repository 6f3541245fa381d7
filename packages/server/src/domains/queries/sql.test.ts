/** SQL of callers, on DuckDB and on PostgreSQL: who sees which rows, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ATTACKS } from '../../../../semantic/test/attacks.ts';
import { deployModel, SHOP_FILES } from '../../../test/shops.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const REGION = unique('region');

const modelOn = (schema: string) => `cubes:
  - name: customers
    sql_table: ${schema}.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: "role:Admin"
        row_level: { allow_all: true }
      - group: "*"
        member_level: { excludes: [name] }
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }] }
  - name: orders
    sql_table: ${schema}.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: customer_id, sql: customer_id, type: number }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
    access_policy: [{ group: "*" }]
  - name: hidden
    sql_table: ${schema}.orders
    public: false
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
views:
  - name: sales
    cubes:
      - { join_path: orders, includes: "*" }
      - { join_path: orders.customers, includes: [region, name] }
`;

const TABLES = `
  create sequence counted;
  create table customers (id bigint, name text, region text, tenant_id bigint);
  insert into customers values (1, 'Ada', 'EMEA', 1), (2, 'Bob', 'AMER', 2), (3, 'Cyd', 'EMEA', 2);
  create table orders (id bigint, customer_id bigint, status text, amount numeric, ordered_at timestamp);
  insert into orders values (1, 1, 'new', 10.50, '2024-01-10'), (2, 1, 'done', 20, '2024-01-31'),
    (3, 2, 'done', 5.25, '2024-02-01'), (4, 3, 'done', 7, '2024-02-15'), (5, 3, 'new', 1, '2024-03-01')`;

let world: World;
let database: SourceDatabase;
const ids: Record<string, number> = {};
beforeAll(async () => {
  // The database of these tests is on loopback.
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  database = await createSourceDatabase(TABLES);
  await world.admin.createUserAttribute({ body: { name: REGION, type: 'string', displayName: REGION } });
  ids.duckdb = (await world.deployment()).id;
  await world.writeFiles(ids.duckdb, SHOP_FILES);
  ids.postgres = (await world.deployment()).id;
  await world.admin.setEnvVariables({
    deploymentId: ids.postgres,
    body: { env_variables: variablesOf(database.source) },
  });
  await deployModel(world, ids.duckdb, { 'model/shop.yml': modelOn('files') });
  await deployModel(world, ids.postgres, { 'model/shop.yml': modelOn('public') });
});
afterAll(async () => {
  await world.stop();
  await database.stop();
});

type Client = World['admin'];

interface Answer {
  schema: { name: string; column_type: string }[];
  lastRefreshTime: string;
  data: unknown[][];
  rowsCapped: boolean;
}

async function answerOf(client: Client, deploymentId: number, query: string, cache?: 'no-cache') {
  const reply = await client.runSql({ deploymentId, body: { query, cache } });
  return linesOf(await reply.bytes());
}

function linesOf(bytes: Uint8Array): Answer {
  const lines = Buffer.from(bytes).toString().trim().split('\n');
  return Object.assign({}, ...lines.map((line) => JSON.parse(line)));
}

/** The rows, the same from the data source, from the cache, and from the data source again. */
async function rowsOf(client: Client, deploymentId: number, query: string) {
  const first = await answerOf(client, deploymentId, query);
  const kept = await answerOf(client, deploymentId, query);
  expect(kept).toEqual(first);
  const renewed = await answerOf(client, deploymentId, query, 'no-cache');
  expect(renewed.data).toEqual(first.data);
  expect(renewed.lastRefreshTime > kept.lastRefreshTime).toBe(true);
  return first.data;
}

describe.each(['duckdb', 'postgres'])('on %s', (engine) => {
  const session = async (region?: string) =>
    (
      await world.embedded({
        deploymentId: ids[engine]!,
        externalId: unique('viewer'),
        userAttributes: region === undefined ? [] : [{ name: REGION, value: region }],
      })
    ).client;
  const rows = (client: Client, query: string) => rowsOf(client, ids[engine]!, query);

  test('an answer has the columns, the rows, and when the data source was asked', async () => {
    const answer = await answerOf(
      world.admin,
      ids[engine]!,
      'select status, measure(amount) as sum, count(*) > 2 as many from orders group by 1 order by 1',
    );
    expect(answer).toEqual({
      schema: [
        { name: 'status', column_type: 'String' },
        { name: 'sum', column_type: 'Number' },
        { name: 'many', column_type: 'Boolean' },
      ],
      lastRefreshTime: expect.any(String),
      data: [
        ['done', '32.25', true],
        ['new', '11.5', false],
      ],
      rowsCapped: false,
    });
  });

  test('each viewer sees the rows of their policies, wherever a table stands', async () => {
    const [emea, amer, nobody] = [await session('EMEA'), await session('AMER'), await session()];
    const texts: [string, unknown, unknown, unknown][] = [
      ['select id from customers order by 1', [['1'], ['3']], [['2']], []],
      ['select measure(count) from customers', [['2']], [['1']], [['0']]],
      ['select count(*) from customers', [['2']], [['1']], [['0']]],
      ['select sum(id) from orders', [['15']], [['15']], [['15']]],
      ['select measure(amount) from sales where region is not null', [['38.5']], [['5.25']], [[null]]],
      [
        'select o.id from orders o join customers c on c.id = o.customer_id order by 1',
        [['1'], ['2'], ['4'], ['5']],
        [['3']],
        [],
      ],
      [
        'with c as (select region from customers union all select region from sales where id > 0) select count(*) from c',
        [['6']],
        [['2']],
        [['0']],
      ],
      [
        'select (select max(region) from customers), count(*) from orders where customer_id not in (select id from customers)',
        [['EMEA', '1']],
        [['AMER', '4']],
        [[null, '5']],
      ],
    ];
    for (const [text, ...expected] of texts) {
      const seen = [await rows(emea, text), await rows(amer, text), await rows(nobody, text)];
      expect(seen, text).toEqual(expected);
    }
  });

  test('a hidden column and one that is not there get the same answer', async () => {
    const viewer = await session('EMEA');
    const told = async (text: string) =>
      answerOf(viewer, ids[engine]!, text).then(
        () => 'nothing wrong',
        ({ status, code, message }) => [status, code, message.replace(/name|nome|hidden|hodden/g, 'X')],
      );
    for (const [hidden, missing] of [
      ['select name from customers', 'select nome from customers'],
      ['select c.name from customers c', 'select c.nome from customers c'],
      ['select 1 from customers where name = 1', 'select 1 from customers where nome = 1'],
      [
        'select 1 from orders o, customers c order by c.name',
        'select 1 from orders o, customers c order by c.nome',
      ],
      ['select name from sales', 'select nome from sales'],
      ['select * from hidden', 'select * from hodden'],
    ] as const) {
      const answer = await told(hidden);
      expect(answer).toEqual(await told(missing));
      expect(answer).toMatchObject([400, 'unknown_member', expect.any(String)]);
    }
    expect(await rows(viewer, 'select * from customers order by 1')).toEqual([
      ['1', 'EMEA'],
      ['3', 'EMEA'],
    ]);
    expect(await rows(world.admin, 'select name from customers where id = 2')).toEqual([['Bob']]);
  });

  test('what is wrong with a value is told, but not with words of the data source', async () => {
    const viewer = await session('EMEA');
    const wrong = answerOf(viewer, ids[engine]!, 'select cast(region as integer) from customers');
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      code: 'value_invalid',
      message: 'A value does not have the type that the SQL needs.',
    });
    const ungrouped = answerOf(viewer, ids[engine]!, 'select status, count(*) from orders');
    await expect(ungrouped).rejects.toMatchObject({ status: 400, code: 'query_invalid' });
    // Nobody of AMER can be seen, so nothing is computed for them either.
    const nobody = await session('nowhere');
    expect(await rows(nobody, 'select 1 from customers where cast(region as integer) = 1')).toEqual([]);
  });

  test('attacks are refused, and the next query works', async () => {
    const viewer = await session('EMEA');
    const each = Math.ceil(ATTACKS.length / 60);
    const chosen = ATTACKS.filter((_, i) => i % each === (engine === 'duckdb' ? 0 : 1));
    for (const text of chosen) {
      await expect(answerOf(viewer, ids[engine]!, text), text).rejects.toMatchObject({ status: 400 });
    }
    expect(chosen.length).toBeGreaterThan(40);
    expect(await rows(viewer, 'select id from customers order by 1')).toEqual([['1'], ['3']]);
  });
});

test('a short statement cannot make texts so long that the engine is held', async () => {
  const run = (query: string) => answerOf(world.admin, ids.duckdb!, query);
  let grown = 'select status as x from orders';
  for (let i = 0; i < 20; i++) grown = `select concat(x, x) as x from (${grown}) t`;
  await expect(run(`select strpos(x, x || 'b') from (${grown}) t`)).rejects.toMatchObject({
    code: 'unsupported_query',
    message: expect.stringContaining('texts that are too long'),
  });
});

test.each(['duckdb', 'postgres'])('string_agg makes no very long text on %s', async (engine) => {
  const run = (query: string) => answerOf(world.admin, ids[engine]!, query);
  const many = 'from orders a, orders b, orders c, orders d, orders e';
  for (const over of ['', ' over ()']) {
    const long = run(`select string_agg('${'a'.repeat(90)}', ', ')${over} ${many}`);
    await expect(long).rejects.toMatchObject({
      status: 400,
      code: 'result_too_large',
      message: 'string_agg makes a text of more than 100,000 bytes: aggregate fewer or shorter texts.',
    });
  }
  const few =
    "select string_agg(status, ',' order by id), string_agg(status, ',') filter (where id < 0) from orders";
  expect((await run(few)).data).toEqual([['new,done,done,done,new', null]]);
  const each =
    "select id, string_agg(status, ',') over (order by id) from orders where id < 3 group by id, status order by id";
  expect((await run(each)).data).toEqual([
    ['1', 'new'],
    ['2', 'new,done'],
  ]);
});

test('statements that are too large or too deep for the parser are refused, and the next query works', async () => {
  const run = (query: string) => answerOf(world.admin, ids.duckdb!, query);
  const large: [string, string][] = [
    [`select ${'1+'.repeat(4900)}1 from orders`, 'unsupported_query'],
    [`select ${'not '.repeat(4500)}true from orders`, 'unsupported_query'],
    [`select ${'a,'.repeat(9900)}a from orders`, 'unsupported_query'],
    // The parser itself runs out of stack.
    [`select ${'~ '.repeat(9900)}1 from orders`, 'unsupported_query'],
    [`select '${'a'.repeat(20_000)}'`, 'invalid_request'],
    ['select status\0 from orders', 'invalid_text'],
    [' ', 'invalid_query'],
  ];
  for (const [text, code] of large) {
    await expect(run(text), text.slice(0, 30)).rejects.toMatchObject({ status: 400, code });
  }
  expect((await run('select count(*) from orders')).data).toEqual([['5']]);
});

test('who may not query the deployment cannot run SQL', async () => {
  const deploymentId = ids.duckdb!;
  const query = 'select count(*) from orders';
  const stranger = world.client('wrong').runSql({ deploymentId, body: { query } });
  await expect(stranger).rejects.toMatchObject({ status: 401 });
  const elsewhere = await world.embedded({ deploymentId: ids.postgres!, externalId: unique('viewer') });
  await expect(answerOf(elsewhere.client, deploymentId, query)).rejects.toMatchObject({ status: 403 });
});

describe.each(['duckdb', 'postgres'])('the data source itself, on %s', (engine) => {
  const table = engine === 'duckdb' ? 'files.customers' : 'public.customers';
  const askIn = async (client: Client, query: string, signal?: AbortSignal) => {
    const reply = await client.queryDataSource(
      { deploymentId: ids[engine]!, name: 'default', body: { query } },
      { signal },
    );
    return linesOf(await reply.bytes());
  };
  const runner = () => world.person({ roles: ['Explorer'] });

  test('people with SqlRunnerRead see all rows, each statement is audited, and nobody else may', async () => {
    const { client, userId } = await runner();
    const query = `select name from ${table} order by id`;
    expect(await askIn(client, `${query};`)).toMatchObject({
      schema: [{ name: 'name', column_type: 'String' }],
      data: [['Ada'], ['Bob'], ['Cyd']],
      rowsCapped: false,
    });
    await expect(askIn(client, 'select nothing')).rejects.toMatchObject({
      status: 400,
      code: 'query_invalid',
      message: expect.stringContaining('nothing'),
    });
    const { items } = await world.admin.listAuditLog({
      operation: 'queryDataSource',
      resourceType: 'dataSourceQuery',
      deploymentId: ids[engine]!,
    });
    expect(items.slice(0, 2)).toMatchObject([
      { userId, resourceId: 'default', after: { dataSource: 'default', query: 'select nothing' } },
      { userId, after: { query: `${query};` } },
    ]);

    const refused = { status: 403 };
    await expect(askIn((await world.person({ roles: ['Viewer'] })).client, query)).rejects.toMatchObject(
      refused,
    );
    await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
    for (const more of [{}, { creatorMode: true, embedTenantName: unique('customer') }]) {
      const { client: embedded } = await world.embedded({
        deploymentId: ids[engine]!,
        externalId: unique('viewer'),
        ...more,
      });
      await expect(askIn(embedded, query)).rejects.toMatchObject(refused);
    }
    const other = client.queryDataSource({
      deploymentId: ids[engine]!,
      name: 'other',
      body: { query: 'select 1' },
    });
    await expect(other).rejects.toMatchObject({ status: 409, code: 'source_not_configured' });
  });

  test('a statement that cannot be audited does not run', async () => {
    const { client } = await runner();
    await world.server.db.pool.query(`
      create function refuse_entry() returns trigger language plpgsql as 'begin raise exception ''no entry''; end';
      create trigger refuse_entries before insert on audit_log for each row
        when (new.operation = 'queryDataSource') execute function refuse_entry();`);
    try {
      await expect(askIn(client, `select name from ${table}`)).rejects.toMatchObject({ status: 500 });
    } finally {
      await world.server.db.pool.query('drop function refuse_entry cascade');
    }
  });

  test('nothing can be written, no second statement is run, and no file is read', async () => {
    const { client } = await runner();
    const attacks = [
      `delete from ${table}`,
      `select 1; delete from ${table}`,
      `select 1) as answer; delete from ${table}; select * from (select 1`,
      `with gone as (delete from ${table} returning id) select id from gone`,
      `select 1; commit; delete from ${table}`,
      `(select 1) limit 1; drop table ${table}`,
      `/* select */ drop table ${table}`,
      `explain analyze delete from ${table}`,
      `select * into taken from ${table}`,
      `copy ${table} to '/tmp/oriel-taken.csv'`,
      ...(engine === 'duckdb'
        ? [
            "select * from read_text('/etc/passwd')",
            "select * from '/etc/passwd'",
            'select * from duckdb_settings()',
            "select getenv('HOME')",
            `attach '/tmp/oriel-taken.db' as taken`,
          ]
        : [
            "select set_config('transaction_read_only', 'off', false), nextval('counted')",
            'do $$ begin perform 1; end $$',
            `select * from ${table} for update`,
          ]),
    ];
    for (const attack of attacks)
      await expect(askIn(client, attack), attack).rejects.toMatchObject({ status: 400 });
    const cut = `select 1\0 as hidden from ${table}`;
    await expect(askIn(client, cut)).rejects.toMatchObject({ message: expect.stringContaining('U+0000') });
    const whole = await askIn(client, `select count(*) from ${table}`);
    expect(whole.data).toEqual([['3']]);
  });
});

test('a statement of the data source is ended when its caller has left', async () => {
  const { client } = await world.person({ roles: ['Explorer'] });
  const asleep = async () =>
    (
      await database.administer(
        "select 1 from pg_stat_activity where state = 'active' and query like '%/* of the source */%' and pid <> pg_backend_pid()",
      )
    ).rows.length;
  const leaving = new AbortController();
  const asked = client.queryDataSource(
    {
      deploymentId: ids.postgres!,
      name: 'default',
      body: { query: 'select pg_sleep(600) /* of the source */' },
    },
    { signal: leaving.signal },
  );
  const ended = expect(asked).rejects.toThrow();
  await expect.poll(asleep, { timeout: 30_000 }).toBe(1);
  leaving.abort();
  await ended;
  await expect.poll(asleep, { timeout: 30_000 }).toBe(0);
});

test('the account can take SQL from embed viewers, who still ask with JSON', async () => {
  const deploymentId = ids.duckdb!;
  const query = 'select count(*) from orders';
  const viewer = (await world.embedded({ deploymentId, externalId: unique('viewer') })).client;
  const set = (embedSql: boolean) => world.admin.updateTenantSettings({ body: { embedSql } });
  await set(false);
  try {
    const refusal = { status: 403, code: 'embed_sql_disabled' };
    await expect(answerOf(viewer, deploymentId, query)).rejects.toMatchObject(refusal);
    // Before anything is parsed.
    await expect(answerOf(viewer, deploymentId, 'no sql')).rejects.toMatchObject(refusal);
    await viewer.load({ deploymentId, body: { query: { measures: ['orders.count'] } } });
    expect((await answerOf(world.admin, deploymentId, query)).data).toEqual([['5']]);
  } finally {
    await set(true);
  }
  expect((await answerOf(viewer, deploymentId, query)).schema).toHaveLength(1);
});

test('queries of embed viewers have a time limit of their own', async () => {
  const limited = await createOwnWorld({
    env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true', ORIEL_EMBED_QUERY_SECONDS: '1' },
  });
  try {
    const deploymentId = (await limited.deployment()).id;
    await limited.admin.setEnvVariables({
      deploymentId,
      body: { env_variables: variablesOf(database.source) },
    });
    const slow = `cubes:
  - name: slow
    sql: select 1 as id from (select pg_sleep(4)) as slept
    dimensions: [{ name: id, sql: id, type: number, primary_key: true }]
    measures: [{ name: count, type: count }]
    access_policy: [{ group: "*", row_level: { allow_all: true } }]
`;
    await deployModel(limited, deploymentId, { 'model/slow.yml': slow });
    const viewer = (await limited.embedded({ deploymentId, externalId: unique('viewer') })).client;
    const load = (client: Client) =>
      client.load({ deploymentId, body: { query: { measures: ['slow.count'] } } });
    const ofPerson = load(limited.admin);
    // Another statement than that of the person, which it would wait for.
    await expect(
      viewer.load({ deploymentId, body: { query: { measures: ['slow.count'], limit: 7 } } }),
    ).rejects.toMatchObject({ status: 504, code: 'timed_out' });
    expect(await ofPerson).toMatchObject({ data: [{ 'slow.count': '1' }] });
  } finally {
    await limited.stop();
  }
});
