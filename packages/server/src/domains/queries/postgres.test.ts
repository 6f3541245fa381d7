/** PostgreSQL as the data source of a deployment, from the request to the rows. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCodeOf } from '../../../test/error-code.ts';
import { deployModel } from '../../../test/shops.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { ADMIN_KEY, createWorld, unique, type World } from '../../../test/world.ts';

const REGION = unique('region').replaceAll('-', '_');
const MODEL = `cubes:
  - name: customers
    sql_table: public.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: "role:Admin"
        row_level: { allow_all: true }
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }] }
  - name: orders
    sql_table: public.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: ordered_at, sql: ordered_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
    access_policy: [{ group: "*" }]
  - name: long_texts
    sql: "select i as id, repeat(md5(i::text), 30) as text from generate_series(1, 50000) i /* long texts */"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
  - name: stalling
    sql: >-
      select i as id, repeat(md5(i::text), 30) || case when i = 40000 then pg_sleep(600)::text else '' end as text
      from generate_series(1, 50000) i /* stalls */
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
  - name: failing
    sql: "select i as id, repeat(md5(i::text), 30) || (1 / (40000 - i))::text as text from generate_series(1, 50000) i"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
  - name: slow
    sql: "select 1 as id, pg_sleep(600)::text as text /* sleeps */"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
`;

let world: World;
let shop: SourceDatabase;
let deploymentId: number;
beforeAll(async () => {
  // The databases of these tests are on loopback.
  world = await createWorld({ ORIEL_ALLOW_PRIVATE_REMOTES: 'true' });
  shop = await createSourceDatabase(`
    create table customers (id bigint primary key, region text);
    insert into customers values (9007199254740992, 'EMEA'), (9007199254740993, 'AMER');
    create table orders (id bigint primary key, customer_id bigint, amount numeric, ordered_at timestamptz);
    insert into orders values (1, 9007199254740992, 0.1, '2024-01-01 03:00+00'),
      (2, 9007199254740993, 12345678901234567890.5, '2024-01-01 05:00+00'),
      (3, 9007199254740993, 0.25, '2024-03-10 12:00+02');`);
  await world.admin.createUserAttribute({ body: { name: REGION, type: 'string', displayName: 'Region' } });
  deploymentId = await deploymentOn(shop.source);
});
afterAll(async () => {
  await world.stop();
  await shop.stop();
});

async function deploymentOn(
  source: SourceDatabase['source'],
  more: { name: string; value: string }[] = [],
): Promise<number> {
  const { id } = await world.deployment();
  const variables = [...variablesOf(source), ...more];
  await world.admin.setEnvVariables({ deploymentId: id, body: { env_variables: variables } });
  await deployModel(world, id, { 'model/cubes/shop.yml': MODEL });
  return id;
}

const load = (query: object, id = deploymentId) =>
  world.raw('POST', `/query/api/v1/deployments/${id}/load`, {
    // A compressed answer has another length, which is not known before it is sent.
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ query }),
  });

/** For answers that are not read to their end. */
const loadUnchecked = (query: object, signal?: AbortSignal, id = deploymentId) =>
  fetch(`${world.url}/query/api/v1/deployments/${id}/load`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Api-Key ${ADMIN_KEY}` },
    body: JSON.stringify({ query }),
    signal,
  });

async function rowsOf(query: object): Promise<Record<string, unknown>[]> {
  const reply = (await (await load(query)).json()) as { data: Record<string, unknown>[] };
  return reply.data;
}

const COUNT = { measures: ['orders.count'], renewQuery: true };
const requireWorking = async () => expect(await rowsOf(COUNT)).toEqual([{ 'orders.count': '3' }]);

/** How many statements with this word in a comment the source runs. */
const running = async (word: string) =>
  (
    await shop.administer(
      `select from pg_stat_activity where state = 'active' and query like '%/* ${word} */%' and pid <> pg_backend_pid()`,
    )
  ).rowCount;

test('numbers have all of their digits, and ids above 2^53 are told apart', async () => {
  const query = {
    measures: ['orders.amount'],
    dimensions: ['customers.id'],
    order: { 'customers.id': 'asc' },
  };
  expect(await rowsOf(query)).toEqual([
    { 'customers.id': '9007199254740992', 'orders.amount': '0.1' },
    { 'customers.id': '9007199254740993', 'orders.amount': '12345678901234567890.75' },
  ]);
  const values = ['9007199254740993'];
  expect(
    await rowsOf({ ...COUNT, filters: [{ member: 'customers.id', operator: 'equals', values }] }),
  ).toEqual([{ 'orders.count': '2' }]);
});

test('days and ranges are those of the time zone of the query', async () => {
  const dated = (timezone: string) =>
    rowsOf({
      measures: ['orders.count'],
      timeDimensions: [
        { dimension: 'orders.ordered_at', granularity: 'day', dateRange: ['2024-01-01', '2024-12-31'] },
      ],
      timezone,
    });
  const row = (day: string, count: string) => ({
    'orders.ordered_at': `${day}T00:00:00.000`,
    'orders.ordered_at.day': `${day}T00:00:00.000`,
    'orders.count': count,
  });
  expect(await dated('UTC')).toEqual([row('2024-01-01', '2'), row('2024-03-10', '1')]);
  // The first order is of 22:00 on the last day of 2023 there.
  expect(await dated('America/New_York')).toEqual([row('2024-01-01', '1'), row('2024-03-10', '1')]);
});

test('each viewer sees the rows of their attributes, in joined cubes too', async () => {
  const rowsFor = async (userAttributes: { name: string; value: string }[]) => {
    const { client } = await world.embedded({ deploymentId, externalId: unique('viewer'), userAttributes });
    const query = { measures: ['orders.count'], dimensions: ['customers.region'], total: true };
    return (await client.load({ deploymentId, body: { query } })) as never as {
      data: object[];
      total: number;
    };
  };
  const region = (value: string) => [{ name: REGION, value }];
  expect(await rowsFor(region('EMEA'))).toMatchObject({
    data: [{ 'customers.region': 'EMEA', 'orders.count': '1' }],
    total: 1,
  });
  expect(await rowsFor(region('AMER'))).toMatchObject({
    data: [{ 'customers.region': 'AMER', 'orders.count': '2' }],
    total: 1,
  });
  expect(await rowsFor(region("EMEA' or '1' = '1"))).toMatchObject({ data: [], total: 0 });
  expect(await rowsFor([])).toMatchObject({ data: [], total: 0 });
});

test('an answer says if policies can hide rows of it from its caller', async () => {
  const query = { dimensions: ['customers.region'] };
  const { client } = await world.embedded({ deploymentId, externalId: unique('viewer') });
  const answers = [client, world.admin].map((one) => one.load({ deploymentId, body: { query } }));
  const [limited, whole] = await Promise.all(answers);
  expect(limited).toMatchObject({ rowsLimited: true });
  expect(whole).not.toHaveProperty('rowsLimited');
});

test('each deployment gets answers of its own, also from the same database', async () => {
  const askedAt = async (id: number) => {
    const reply = await load({ measures: ['orders.count'] }, id);
    return ((await reply.json()) as { lastRefreshTime: string }).lastRefreshTime;
  };
  const first = await askedAt(deploymentId);
  expect(await askedAt(deploymentId)).toBe(first);
  expect(await askedAt(await deploymentOn(shop.source))).not.toBe(first);
});

test('a deployment whose variables name another database gets no answer of the one before', async () => {
  const other = await createSourceDatabase('create table orders (id bigint primary key, amount numeric)');
  try {
    const id = await deploymentOn(shop.source);
    const count = async () => {
      const reply = await load({ measures: ['orders.count'] }, id);
      return ((await reply.json()) as { data: object[] }).data;
    };
    expect(await count()).toEqual([{ 'orders.count': '3' }]);
    const env_variables = variablesOf(other.source);
    await world.admin.setEnvVariables({ deploymentId: id, body: { env_variables } });
    expect(await count()).toEqual([{ 'orders.count': '0' }]);
  } finally {
    await other.stop();
  }
});

test('a large answer is sent as a whole, with its length', async () => {
  const limit = 10_000;
  const query = { dimensions: ['long_texts.id', 'long_texts.text'], ungrouped: true, limit };
  const [one, other] = await Promise.all([load(query), load(query)]);
  const text = await one!.text();
  expect(Number(one!.headers.get('content-length'))).toBe(Buffer.byteLength(text));
  const { data, rowsCapped } = JSON.parse(text) as { data: unknown[]; rowsCapped: boolean };
  expect([data.length, rowsCapped]).toEqual([limit, false]);
  expect(JSON.parse(await other!.text()).data).toHaveLength(limit);
});

describe('a data source that', () => {
  const endQueries = (word: string) =>
    shop.administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%/* ${word} */%' and pid <> pg_backend_pid()`,
    );

  test('takes connections but never answers is a 503, and the next query works when it answers', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {}));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const id = await deploymentOn({ ...shop.source, port });
    expect(await errorCodeOf(await load(COUNT, id))).toBe('source_unavailable');
    await world.admin.setEnvVariables({
      deploymentId: id,
      body: { env_variables: variablesOf(shop.source) },
    });
    expect((await load(COUNT, id)).status).toBe(200);
    silent.close();
  });

  test('dies before the first row is a 503, and the next query works', async () => {
    const asked = load({ dimensions: ['slow.text'] });
    await expect.poll(() => running('sleeps')).toBe(1);
    await endQueries('sleeps');
    const reply = await asked;
    expect([reply.status, await errorCodeOf(reply)]).toEqual([503, 'source_unavailable']);
    await requireWorking();
  });

  test('dies in the middle of an answer is a 503 too, and the next query works', async () => {
    const asked = load({ dimensions: ['stalling.id', 'stalling.text'], ungrouped: true, limit: 50_000 });
    await expect.poll(() => running('stalls')).toBe(1);
    await endQueries('stalls');
    const reply = await asked;
    expect([reply.status, await errorCodeOf(reply)]).toEqual([503, 'source_unavailable']);
    await requireWorking();
  });

  test('fails at one of the last rows is an error, and not half an answer', async () => {
    const reply = await load({
      dimensions: ['failing.id', 'failing.text'],
      ungrouped: true,
      limit: 50_000,
    });
    expect([reply.status, await errorCodeOf(reply)]).toEqual([400, 'value_invalid']);
    await requireWorking();
  });

  test('is slow is asked no more when the caller leaves, and the next query works', async () => {
    const controller = new AbortController();
    const asked = loadUnchecked({ dimensions: ['slow.id', 'slow.text'] }, controller.signal);
    await expect.poll(() => running('sleeps')).toBe(1);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => running('sleeps')).toBe(0);
    await requireWorking();
  });
});

test.each([
  ['1', 1],
  ['6', 5],
])('of %s queries at once, which DB_CONCURRENCY allows, one caller runs %i', async (concurrency, most) => {
  const id = await deploymentOn(shop.source, [{ name: 'DB_CONCURRENCY', value: concurrency }]);
  const leaving = new AbortController();
  const asked = Array.from({ length: most + 2 }, (_, i) =>
    loadUnchecked({ dimensions: ['slow.id', 'slow.text'], limit: i + 1 }, leaving.signal, id).catch(() => {}),
  );
  await expect.poll(() => running('sleeps'), { timeout: 20_000 }).toBe(most);
  // The others wait: had they a place, they would have begun with these.
  expect(await running('sleeps')).toBe(most);
  leaving.abort();
  await Promise.all(asked);
  await expect.poll(() => running('sleeps'), { timeout: 20_000 }).toBe(0);
});
