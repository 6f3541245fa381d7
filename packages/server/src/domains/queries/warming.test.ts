/** A model that was built is ready before somebody asks for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const compiled = async () => {
  const text = await (await fetch(`${world.url}/metrics`)).text();
  return Number(/^oriel_models_compiled (\d+)$/m.exec(text)?.[1]);
};
const count = async (deploymentId: number, measure: string) =>
  (await world.admin.load({ deploymentId, body: { query: { measures: [measure] } } })) as object;

test('a new model is compiled for queries when it was built, once, and not for other changes', async () => {
  const deploymentId = await createShop(world);
  expect(await count(deploymentId, 'orders.count')).toMatchObject({ data: [{ 'orders.count': '5' }] });
  const before = await compiled();

  // Variables are notified like builds, and so are builds of branches that are not deployed, such as the one that is merged here.
  const env_variables = [{ name: 'ANYTHING', value: 'x' }];
  await world.admin.setEnvVariables({ deploymentId, body: { env_variables } });
  const [name, text] = Object.entries(SHOP_MODEL)[0]!;
  await deployModel(world, deploymentId, { [name]: text.replace('title: Orders', 'title: Sales') });
  await expect.poll(compiled, { timeout: 30_000 }).toBe(before + 1);
  expect(await count(deploymentId, 'orders.count')).toMatchObject({ data: [{ 'orders.count': '5' }] });
  expect(await compiled()).toBe(before + 1);
});

test('the models of several deployments are kept, also one that is larger than all that is kept', async () => {
  const [one, other] = [await createShop(world), await createShop(world)];
  const query = async (deploymentId: number) => {
    expect(await count(deploymentId, 'orders.count')).toMatchObject({ data: [{ 'orders.count': '5' }] });
    return compiled();
  };
  const both = [await query(one), await query(other)].at(-1);
  expect([await query(one), await query(other)]).toEqual([both, both]);

  const padding = `cubes: []\n# ${'x'.repeat(1_000_000)}\n`;
  const files = Array.from({ length: 11 }, (_, i) => [`model/cubes/padding${i}.yml`, padding]);
  // No more fit into one request.
  for (const some of [files.slice(0, 6), files.slice(6)])
    await deployModel(world, one, Object.fromEntries(some));
  const large = await query(one);
  expect(await query(one)).toBe(large);
});
