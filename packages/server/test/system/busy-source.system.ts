/** Two embed tenants send statements that do not end. A third one, and people, are answered all the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployModel } from '../shops.ts';
import { createOwnWorld, unique, type World } from '../world.ts';
import { type Call, startControl } from './control.ts';

const MODEL = `cubes:
  - name: numbers
    sql_table: files.numbers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
    measures:
      - { name: count, type: count }
    access_policy:
      - { group: "*", row_level: { allow_all: true } }
`;
const ROWS = 300_000;
/** The promised time for a simple query of another caller. */
const WITHIN_MS = 2000;
const ASKED = 8;
/** As many as a page sends; the server lets three of a tenant run at once. */
const OF_EACH = 6;

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
  const ids = Array.from({ length: ROWS }, (_, i) => i).join('\n');
  await world.writeFiles(deploymentId, { 'numbers.csv': `id\n${ids}\n` });
  await deployModel(world, deploymentId, { 'model/numbers.yml': MODEL });
});
afterAll(() => world.stop());

const viewerOf = async (embedTenantName: string) =>
  (await world.embedded({ deploymentId, externalId: unique('viewer'), embedTenantName })).client;

type Client = World['admin'];

test('a third tenant is answered within two seconds while two others fill the source', async () => {
  const [third, attackers] = [
    await viewerOf(unique('third')),
    [await viewerOf(unique('first')), await viewerOf(unique('second'))],
  ];
  const simple = (client: Client, i: number) =>
    client.load({
      deploymentId,
      body: {
        query: {
          measures: ['numbers.count'],
          filters: [{ member: 'numbers.id', operator: 'lt', values: [String(i)] }],
        },
      },
    });
  await simple(third, 1);
  const isOver = new AbortController();
  const codes: string[] = [];
  let n = 0;
  const attack = async (client: Client) => {
    while (!isOver.signal.aborted) {
      const query = `select count(*) from numbers a cross join numbers b where a.id * b.id = ${++n}`;
      await client.runSql({ deploymentId, body: { query } }, { signal: isOver.signal }).then(
        () => codes.push('answered'),
        (error) => isOver.signal.aborted || codes.push(error.code),
      );
    }
  };
  const attacks = attackers.flatMap((client) => Array.from({ length: OF_EACH }, () => attack(client)));
  // Wait until the attackers hold all slots.
  await new Promise((resolve) => setTimeout(resolve, 4000));

  const control = await startControl();
  const calls: Call[] = [];
  for (let i = 2; i < 2 + ASKED; i++) {
    calls.push(await control.time(() => simple(i % 3 ? third : world.admin, i)));
    await new Promise((resolve) => setTimeout(resolve, 600));
  }
  const measured = await control.stop();
  isOver.abort();
  await Promise.all(attacks);
  console.log(`simple queries under the attack: ${measured.figures(calls)}`);
  const outcomes = Object.fromEntries(
    [...new Set(codes)].map((code) => [code, codes.filter((one) => one === code).length]),
  );
  console.log(`the statements of the attack ended with ${JSON.stringify(outcomes)}`);
  expect(Math.max(...measured.ownMs(calls))).toBeLessThan(WITHIN_MS);
  expect(Object.keys(outcomes)).not.toContain('answered');
});
