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
