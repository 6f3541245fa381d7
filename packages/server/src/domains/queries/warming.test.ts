/** A model that was built is ready before somebody asks for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { createShop, deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const compiled = async () => {
  const text = await (await fetch(`${world.url}/metrics`)).text();
  return Number(/^oriel_models_compiled (\d+)$/m.exec(text)?.[1]);
};
const count = async (deploymentId: number, measure: string, branchName?: string) =>
  (await world.admin.load({ deploymentId, body: { query: { measures: [measure] }, branchName } })) as object;
/** How many models were compiled when the query has its answer. */
async function compiledFor(deploymentId: number, branchName?: string) {
  const answer = await count(deploymentId, 'orders.count', branchName);
  expect(answer).toMatchObject({ data: [{ 'orders.count': '5' }] });
  return compiled();
}
/** A model with these files has so many million characters more. */
const padding = (millions: number) =>
  Object.fromEntries(
    Array.from({ length: millions }, (_, i) => [
      `model/cubes/padding${i}.yml`,
      `cubes: []\n# ${'x'.repeat(1_000_000)}\n`,
    ]),
  );

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
  await compiledFor(one);
  const both = await compiledFor(other);
  expect([await compiledFor(one), await compiledFor(other)]).toEqual([both, both]);
  // No more fit into one request.
  await deployModel(world, one, padding(6));
  const files = Object.entries(padding(11)).slice(6);
  await deployModel(world, one, Object.fromEntries(files));
  const large = await compiledFor(one);
  expect(await compiledFor(one)).toBe(large);
});

test('the models of several branches are kept, also one that is larger than all that is kept of branches', async () => {
  const deploymentId = await createShop(world);
  await compiledFor(deploymentId);
  const [name, text] = Object.entries(SHOP_MODEL)[0]!;
  const branchOf = async (files: Record<string, string>) => {
    const { branchName, save } = await modeller(world, deploymentId, {
      branch: unique('b'),
      client: world.admin,
    });
    await save(files);
    return branchName;
  };
  const branches = [];
  for (const title of ['Sales', 'Purchases'])
    branches.push(await branchOf({ [name]: text.replace('title: Orders', `title: ${title}`) }));
  const [one, other] = branches;
  await compiledFor(deploymentId, one);
  const both = await compiledFor(deploymentId, other);
  expect([await compiledFor(deploymentId, one), await compiledFor(deploymentId, other)]).toEqual([
    both,
    both,
  ]);
  const large = await branchOf(padding(3));
  expect(await compiledFor(deploymentId, large)).toBe(both + 1);
  expect(await compiledFor(deploymentId, large)).toBe(both + 1);
});
