/** Calculated fields of a query, as clients use them. What is refused and what engines make of them is tested in packages/semantic. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
});
afterAll(() => world.stop());

const post = (what: string, query: object) =>
  world.raw('POST', `/query/api/v1/deployments/${deploymentId}/${what}`, {
    body: JSON.stringify({ query }),
    headers: { 'content-type': 'application/json' },
  });

const MONTHS = { dimension: 'orders.ordered_at', granularity: 'month' };
const QUERY = {
  measures: ['orders.count'],
  timeDimensions: [MONTHS],
  calculated: [
    {
      name: 'buyers',
      title: 'Who bought',
      kind: 'aggregate',
      of: 'customers.name',
      function: 'countDistinct',
    },
    { name: 'share', kind: 'shareOfTotal', of: 'orders.count' },
    { name: 'so_far', kind: 'runningTotal', of: 'orders.amount' },
    { name: 'each', kind: 'expression', expression: 'orders.amount / buyers', format: 'currency' },
  ],
  order: [['share', 'desc']],
};

test('they are columns of the answer like measures: in rows, titles, order, limits and the query as it was understood', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: an answer, whose parts are compared
  const answer: any = await (await post('load', QUERY)).json();
  const rows = answer.data.map((row: Record<string, string>) =>
    ['orders.ordered_at.month', 'orders.count', 'buyers', 'share', 'so_far', 'each'].map((key) =>
      key.includes('month') ? row[key]!.slice(0, 7) : Number(row[key]),
    ),
  );
  expect(rows).toEqual([
    ['2024-01', 2, 1, 0.4, 30.5, 30.5],
    ['2024-02', 2, 2, 0.4, 42.75, 6.125],
    ['2024-03', 1, 1, 0.2, 43.75, 1],
  ]);
  expect(Object.keys(answer.data[0])).not.toContain('orders.amount');
  expect(answer.annotation.measures).toMatchObject({
    buyers: { title: 'Who bought', shortTitle: 'Who bought', type: 'number' },
    share: { shortTitle: 'Share', format: 'percent' },
    so_far: { format: 'currency' },
    each: { format: 'currency' },
  });
  expect(answer.query).toMatchObject({ calculated: QUERY.calculated, order: [{ id: 'share', desc: true }] });
  // The query as it was understood can be sent again.
  const { data } = (await (await post('load', answer.query)).json()) as { data: unknown };
  expect(data).toEqual(answer.data);
  // The limit leaves rows out of the answer, and not of what is computed.
  const first = (await (await post('load', { ...QUERY, limit: 1 })).json()) as { data: object[] };
  expect(first.data).toEqual([answer.data[0]]);
});

test('what is wrong with an expression is told with its place', async () => {
  const calculated = [{ name: 'x', kind: 'expression', expression: 'orders.count / orders.amuont' }];
  const refused = await post('dry-run', { ...QUERY, calculated, order: undefined });
  expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'unknown_member']);
  const { error } = (await refused.json()) as { error: string };
  expect(error).toContain('calculated[0].expression[15..28]: There is no member `orders.amuont`');
  expect(error).toContain('Did you mean `orders.amount`?');
});

test('an embed viewer computes from their own rows, and from no member that is hidden from them', async () => {
  const policy = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
        member_level: { excludes: [name] }
`;
  const id = await createShop(world, shopWith(policy));
  const { client } = await world.embedded({
    deploymentId: id,
    externalId: unique('viewer'),
    securityContext: { region: 'EMEA' },
  });
  const ask = (calculated: object[]) =>
    client.load({
      deploymentId: id,
      body: { query: { dimensions: ['customers.region'], calculated } } as never,
    });
  const made = (await ask([
    { name: 'orders', kind: 'aggregate', of: 'orders.id', function: 'countDistinct' },
    { name: 'share', kind: 'shareOfTotal', of: 'orders' },
    { name: 'place', kind: 'rank', of: 'orders.amount' },
  ])) as { data: object[] };
  // The order of AMER counts in no total and in no rank.
  expect(made.data).toEqual([{ 'customers.region': 'EMEA', orders: '4', share: '1', place: '1' }]);
  for (const field of [
    { kind: 'aggregate', of: 'customers.name', function: 'countDistinct' },
    { kind: 'expression', expression: 'count_distinct(customers.name)' },
  ])
    await expect(ask([{ name: 'x', ...field }])).rejects.toMatchObject({ code: 'unknown_member' });
});
