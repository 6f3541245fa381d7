/** What the query API answers, and to whom. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { createShop, deployModel, SHOP_FILES, whenBuilt } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
});
afterAll(() => world.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers of several forms, each checked against its schema
const jsonOf = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

const base = (id = deploymentId) => `/query/api/v1/deployments/${id}`;
const get = (what: string, query: unknown, headers?: Record<string, string>, more = '') =>
  world.raw('GET', `${base()}/${what}?query=${encodeURIComponent(JSON.stringify(query))}${more}`, {
    headers,
  });
const post = (what: string, body: unknown, options: { headers?: Record<string, string>; id?: number } = {}) =>
  world.raw('POST', `${base(options.id)}/${what}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...options.headers },
  });
const load = (query: object, options?: Parameters<typeof post>[2]) =>
  jsonOf(post('load', { query }, options));
const refusal = async (response: Promise<Response>) => {
  const answer = await response;
  return { status: answer.status, code: answer.headers.get('x-error-code'), ...(await jsonOf(answer)) };
};

const COUNT = { measures: ['orders.count'] };

describe('answers', () => {
  test('numbers come with all of their digits, by POST and by GET', async () => {
    const query = { measures: ['orders.count', 'orders.amount'], dimensions: ['orders.status'] };
    const expected = [
      { 'orders.status': 'done', 'orders.count': '3', 'orders.amount': '32.25' },
      { 'orders.status': 'new', 'orders.count': '2', 'orders.amount': '11.5' },
    ];
    expect((await load(query)).data).toEqual(expected);
    expect((await jsonOf(get('load', query))).data).toEqual(expected);
  });

  test('an answer says how it understood the query, and what its columns are', async () => {
    const answer = await load({
      measures: ['orders.amount'],
      dimensions: ['orders.status'],
      timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month', dateRange: '2024-01-31' }],
      timezone: 'Europe/Berlin',
    });
    expect(answer.query).toMatchObject({
      timeDimensions: [
        {
          dimension: 'orders.ordered_at',
          granularity: 'month',
          dateRange: ['2024-01-31T00:00:00.000', '2024-01-31T23:59:59.999'],
        },
      ],
      order: [{ id: 'orders.ordered_at.month', desc: false }],
      limit: 50_000,
      timezone: 'Europe/Berlin',
    });
    expect(answer.annotation).toMatchObject({
      measures: {
        'orders.amount': { title: 'Orders Amount', shortTitle: 'Amount', type: 'number', format: 'currency' },
      },
      dimensions: { 'orders.status': { title: 'Orders State', shortTitle: 'State', type: 'string' } },
      timeDimensions: { 'orders.ordered_at.month': { granularity: { name: 'month', interval: '1 month' } } },
    });
    expect(answer).toMatchObject({ dataSource: 'default', dbType: 'duckdb', rowsCapped: false, data: [] });
  });

  test('the total counts all rows, whatever the limit', async () => {
    const query = { dimensions: ['orders.id'], limit: 2, total: true };
    expect(await load(query)).toMatchObject({
      query: { limit: 2 },
      total: 5,
      data: [{ 'orders.id': '1' }, { 'orders.id': '2' }],
    });
  });

  test('rows beyond the largest number are left out, and the answer says so', async () => {
    const { id } = await world.deployment();
    const rows = Array.from({ length: 50_001 }, (_, i) => `${i}\n`).join('');
    await world.writeFiles(id, { 'many.csv': `id\n${rows}` });
    const model = `cubes:\n  - name: many\n    sql_table: files.many\n    dimensions:\n      - { name: id, sql: id, type: number, primary_key: true, public: true }\n`;
    await deployModel(world, id, { 'model/cubes/many.yml': model });
    const capped = await load({ dimensions: ['many.id'], limit: 1_000_000, total: true }, { id });
    expect(capped).toMatchObject({ rowsCapped: true, total: 50_001, query: { limit: 50_000 } });
    expect(capped.data).toHaveLength(50_000);
    const whole = await load({ dimensions: ['many.id'], limit: 50_000, ungrouped: true }, { id });
    expect(whole).toMatchObject({ rowsCapped: false });
  });

  test('rows can come as arrays', async () => {
    const answer = await load({ ...COUNT, dimensions: ['orders.status'], responseFormat: 'compact' });
    expect(answer.data).toEqual({
      members: ['orders.status', 'orders.count'],
      dataset: [
        ['done', '3'],
        ['new', '2'],
      ],
    });
  });

  test('rows of several queries have their time under a common name, also as arrays', async () => {
    const timeDimensions = [{ dimension: 'orders.ordered_at', granularity: 'year' }];
    const query = { ...COUNT, timeDimensions };
    const [plain, compact] = await Promise.all(
      ['default', 'compact'].map((responseFormat) =>
        load([query, COUNT].map((one) => ({ ...one, responseFormat }))),
      ),
    );
    const year = '2024-01-01T00:00:00.000';
    expect(plain.results[0].data).toEqual([
      { 'orders.ordered_at.year': year, 'orders.ordered_at': year, 'time.year': year, 'orders.count': '5' },
    ]);
    const { members, dataset } = compact.results[0].data;
    const rows = dataset.map((row: string[]) =>
      Object.fromEntries(members.map((name: string, i: number) => [name, row[i]])),
    );
    expect(rows).toEqual(plain.results[0].data);
    expect(dataset[0]).toHaveLength(members.length);
  });

  test('of two ways between cubes, join hints choose one', async () => {
    const { id } = await world.deployment();
    const join = (name: string) =>
      `{ name: ${name}, relationship: many_to_one, sql: "{CUBE}.${name}_id = {${name}.id}" }`;
    const cube = (name: string, sql: string, ...joins: string[]) => `  - name: ${name}
    sql: ${sql}
    joins: [${joins.map(join).join(', ')}]
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    measures: [{ name: count, type: count }]
`;
    const model = `cubes:\n${[
      cube('sale', 'select 1 as id, 10 as shop_id, 20 as buyer_id', 'shop', 'buyer'),
      cube('shop', 'select 10 as id, 31 as city_id', 'city'),
      cube('buyer', 'select 20 as id, 32 as city_id', 'city'),
      cube('city', 'select unnest([31, 32]) as id'),
    ].join('')}`;
    await deployModel(world, id, { 'model/cubes/cities.yml': model });
    const query = { measures: ['sale.count'], dimensions: ['city.id'] };
    const cityBy = async (joinHints: string[][]) => (await load({ ...query, joinHints }, { id })).data;
    expect(await cityBy([['sale', 'shop', 'city']])).toEqual([{ 'city.id': '31', 'sale.count': '1' }]);
    const pairs = [
      ['buyer', 'city'],
      ['sale', 'buyer'],
    ];
    expect(await cityBy(pairs)).toEqual([{ 'city.id': '32', 'sale.count': '1' }]);
    expect(await refusal(post('load', { query }, { id }))).toMatchObject({
      status: 400,
      code: 'ambiguous_join',
    });
    const direct = { ...query, joinHints: [['sale', 'city']] };
    expect(await refusal(post('load', { query: direct }, { id }))).toMatchObject({
      status: 400,
      code: 'no_join_path',
      error: expect.stringContaining('No join leads from `sale` to `city`.'),
    });
  });

  test('the SQL of a query holds no value of it', async () => {
    const filters = [{ member: 'orders.status', operator: 'equals', values: ["it's; drop table x"] }];
    const answer = await jsonOf(post('sql', { query: { ...COUNT, filters } }));
    const [text, values] = answer.sql.sql;
    expect(text).not.toContain('drop');
    expect(values).toContain("it's; drop table x");
    expect((await load({ ...COUNT, filters })).data).toEqual([{ 'orders.count': '0' }]);
  });

  test('a list of what can be queried has the members of cubes and views', async () => {
    const { cubes } = await jsonOf(world.raw('GET', `${base()}/meta`));
    const orders = cubes.find(({ name }: { name: string }) => name === 'orders');
    expect(orders.measures.map(({ name }: { name: string }) => name)).toEqual([
      'orders.count',
      'orders.amount',
    ]);
    expect(orders.measures[0].drillMembers).toEqual(['orders.id', 'orders.status']);
    const views = (await jsonOf(post('meta', { onlyViews: true }))).cubes;
    expect(views.map(({ name }: { name: string }) => name)).toEqual(['example', 'sales']);
    expect(views[1].dimensions).toContainEqual(
      expect.objectContaining({ name: 'sales.region', aliasMember: 'customers.region' }),
    );
  });
});

describe('bad queries', () => {
  test.each([
    ['an unknown member', { measures: ['orders.nothing'] }, 400, 'unknown_member'],
    ['nothing to ask for', { measures: [] }, 400, 'invalid_query'],
    [
      'too many filters',
      { ...COUNT, filters: Array(501).fill({ member: 'orders.id', operator: 'set' }) },
      400,
      'invalid_query',
    ],
    [
      'more filters in all queries together than can be planned quickly',
      Array(12).fill({ ...COUNT, filters: Array(500).fill({ member: 'orders.id', operator: 'set' }) }),
      400,
      'unsupported_query',
    ],
    ['an unknown time zone', { ...COUNT, timezone: 'Mars/Base' }, 400, 'invalid_query'],
  ])('%s is refused, and the next query works', async (_, query, status, code) => {
    const refused = await refusal(post('load', { query }));
    expect(refused).toMatchObject({ status, code, error: expect.any(String) });
    expect((await load(COUNT)).data).toEqual([{ 'orders.count': '5' }]);
  });

  test('text in the address that is no query is a 400, and a number that would be rounded too', async () => {
    const at = (text: string, address = 'load') =>
      world.raw('GET', `${base()}/${address}?query=${encodeURIComponent(text)}`);
    for (const address of ['load', 'subscribe', 'sql', 'dry-run']) {
      for (const text of ['{"measures":', 'notjson']) {
        expect(await refusal(at(text, address)), `${address} ${text}`).toMatchObject({
          status: 400,
          code: 'malformed_json',
          error: 'The text of `query` is not valid JSON.',
        });
      }
    }
    for (const text of ['[]', '7', 'null', '"query"', '[null]', '[[]]', '[{"measures":["orders.count"]},7]'])
      expect(await refusal(at(text)), text).toMatchObject({ status: 400, code: 'invalid_request' });
    const large = '{"filters":[{"member":"orders.id","operator":"equals","values":[9007199254740993]}]}';
    expect(await refusal(at(large))).toMatchObject({ status: 400, code: 'integer_too_large' });
  });

  test('what is wrong with the SQL of the model is told to those who may read the model only', async () => {
    const { id } = await world.deployment();
    const model = `cubes:\n  - name: gone\n    sql_table: files.secret_name\n    measures:\n      - { name: count, type: count }\n    access_policy: [{ group: "*" }]\n`;
    await deployModel(world, id, { 'model/cubes/gone.yml': model });
    const body = { query: { measures: ['gone.count'] } };
    expect(await refusal(post('load', body, { id }))).toMatchObject({
      status: 400,
      code: 'query_invalid',
      error: expect.stringContaining('secret_name'),
    });
    const { token } = await world.embedded({ deploymentId: id, externalId: unique('viewer') });
    const viewer = await world.person({ roles: ['Viewer'] });
    const holder = await environmentToken(id, 'production');
    for (const authorization of [token, viewer.apiKey, holder]) {
      const seen = await refusal(post('load', body, { id, headers: { authorization } }));
      expect(seen).toMatchObject({ status: 400, code: 'query_invalid' });
      expect(seen.error).not.toContain('secret_name');
    }
  });

  test('without a build there is nothing to ask', async () => {
    const { id } = await world.deployment();
    expect(await refusal(post('load', { query: COUNT }, { id }))).toMatchObject({
      status: 409,
      code: 'model_not_built',
    });
  });

  test('what another version of the server has built, and this one refuses, is not built', async () => {
    const { id } = await world.deployment();
    const { branchName, write } = await modeller(world, id, { branch: unique('b'), client: world.admin });
    await write({ 'model/cubes/shop.yml': 'cubes: 7' });
    const status = async () => (await world.admin.buildStatus({ deploymentId: id, branchName })).status;
    await expect.poll(status).toBe('failed');
    await world.server.db.pool.query("update builds set status = 'built' where deployment_id = $1", [id]);
    const authorization = await environmentToken(id, 'development');
    expect(await refusal(post('load', { query: COUNT }, { id, headers: { authorization } }))).toMatchObject({
      status: 409,
      code: 'model_not_built',
    });
  });

  test('a cube of a data source that no variable describes is a 409', async () => {
    const { id } = await world.deployment();
    const model = `cubes:\n  - name: far\n    data_source: warehouse\n    sql_table: t\n    measures:\n      - { name: count, type: count }\n`;
    await deployModel(world, id, { 'model/cubes/far.yml': model });
    const answer = await refusal(post('load', { query: { measures: ['far.count'] } }, { id }));
    expect(answer).toMatchObject({ status: 409, code: 'source_not_configured' });
  });
});

/** A token for the first environment of this type. */
async function environmentToken(id: number, type: 'production' | 'development') {
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId: id, type });
  const { data } = await world.admin.createDeploymentEnvironmentToken({
    deploymentId: id,
    environmentId: items[0]!.id,
    body: { security_context: {} },
  });
  return data.token;
}

describe('callers', () => {
  test('people, API keys, embed tokens and environment tokens query alike, with or without a scheme', async () => {
    const reader = await world.person({ roles: ['Viewer'] });
    const { token: embedToken } = await world.embedded({ deploymentId, externalId: unique('viewer') });
    const holder = await environmentToken(deploymentId, 'production');
    for (const secret of [reader.apiKey, embedToken, holder]) {
      for (const authorization of [secret, `Bearer ${secret}`]) {
        expect((await jsonOf(get('load', COUNT, { authorization }))).data).toEqual([{ 'orders.count': '5' }]);
      }
    }
  });

  test('an environment token queries the model of its environment, and a broken build does not replace it', async () => {
    const { id } = await world.deployment();
    await world.writeFiles(id, SHOP_FILES);
    const developer = await modeller(world, id, { branch: 'trial', client: world.admin });
    const modelWith = (measure: string) =>
      `cubes:\n  - name: orders\n    sql_table: files.orders\n    measures:\n      - { name: ${measure}, type: count }\n`;
    await developer.write({ 'model/cubes/orders.yml': modelWith('trial_count') });
    await whenBuilt(world, id, 'trial');
    const headers = { authorization: await environmentToken(id, 'development') };
    const query = { measures: ['orders.trial_count'] };
    const loaded = () => post('load', { query }, { id, headers });
    await expect.poll(async () => (await loaded()).status).toBe(200);
    expect(await refusal(post('load', { query }, { id }))).toMatchObject({ code: 'unknown_member' });
    await developer.write({ 'model/cubes/orders.yml': 'cubes: 7' });
    await expect
      .poll(async () => (await world.admin.buildStatus({ deploymentId: id, branchName: 'trial' })).status)
      .toBe('failed');
    // Other changes of the deployment let the server look again what was built.
    await world.admin.setEnvVariables({
      deploymentId: id,
      body: { env_variables: [{ name: 'ANYTHING', value: 'x' }] },
    });
    expect((await loaded()).status).toBe(200);
  });

  test('without AIBIView nobody queries, and a token for another deployment is a 403', async () => {
    const role = await world.admin.createRole({
      body: { name: unique('role'), actions: ['DeploymentRead'] },
    });
    const person = await world.person({ roles: [role.name] });
    expect(await refusal(get('load', COUNT, { authorization: person.apiKey }))).toMatchObject({
      status: 403,
    });
    const { id: other } = await world.deployment();
    const { token } = await world.embedded({ deploymentId: other, externalId: unique('viewer') });
    expect(await refusal(get('load', COUNT, { authorization: token }))).toMatchObject({
      status: 403,
      error: 'The embed token is for another deployment.',
    });
  });
});
