/** Queries to the model of a branch: for people who work on it, and for nobody else. */
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { createShop, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
});
afterAll(() => world.stop());

const FILE = 'model/cubes/shop.yml';
const CHANGED = SHOP_MODEL[FILE].replace('{ name: amount,', '{ name: takings,');
const QUERY = { measures: ['orders.takings'] };
type Client = World['admin'];
const load = (client: Client, branchName?: string) =>
  client.load({ deploymentId, body: { query: QUERY, ...(branchName && { branchName }) } });

test('a modeller asks the model of a branch, with what is not committed, and others the one that is deployed', async () => {
  const { client, branchName, write, commit } = await modeller(world, deploymentId, { branch: unique('b') });
  await write({ [FILE]: CHANGED });
  expect(await load(client, branchName)).toMatchObject({ data: [{ 'orders.takings': '43.75' }] });
  await expect(load(client)).rejects.toMatchObject({ code: 'unknown_member' });
  const meta = (await client.postQueryMeta({ deploymentId, body: { branchName } })) as object;
  expect(JSON.stringify(meta)).toContain('orders.takings');
  const asked = { deploymentId, body: { query: QUERY, branchName } };
  expect(JSON.stringify(await client.querySql(asked))).toContain('sum(');
  expect(await client.dryRunQuery(asked)).toMatchObject({ queryType: 'regularQuery' });
  // A person who is not in dev mode on the branch sees what is committed.
  await expect(load(world.admin, branchName)).rejects.toMatchObject({ code: 'unknown_member' });
  await commit('takings');
  expect(await load(world.admin, branchName)).toMatchObject({ data: [{ 'orders.takings': '43.75' }] });

  await write({ [FILE]: CHANGED.replace('type: sum', 'type: summ') });
  await expect(load(client, branchName)).rejects.toMatchObject({
    code: 'model_not_built',
    message: expect.stringContaining(FILE),
  });
  await expect(load(client, unique('no'))).rejects.toMatchObject({ code: 'branch_not_found' });
});

test('a branch without the folder of the project has no model', async () => {
  const { id } = await world.deployment();
  const { branchName } = await modeller(world, id, { branch: unique('b'), client: world.admin });
  await world.admin.updateDeployment({ deploymentId: id, body: { deployProjectRoot: '/elsewhere' } });
  const asked = world.admin.load({ deploymentId: id, body: { query: QUERY, branchName } });
  await expect(asked).rejects.toMatchObject({ status: 409, code: 'model_not_built' });
});

test('a branch is closed to embed viewers, to environment tokens, and to people who may not change branches or read tables', async () => {
  const { branchName, save } = await modeller(world, deploymentId, { branch: unique('b') });
  await save({ [FILE]: CHANGED });
  const explorer = (await world.person({ roles: ['Explorer'] })).client;
  const viewer = (await world.embedded({ deploymentId, externalId: unique('viewer') })).client;
  const role = await world.admin.createRole({
    body: {
      name: unique('modellers'),
      actions: ['DeploymentRead', 'AIBIView', 'SchemaRead', 'SchemaUpdateDevBranches'],
    },
  });
  const withoutTables = (await world.person({ roles: [role.name] })).client;
  for (const client of [explorer, viewer, withoutTables])
    await expect(load(client, branchName)).rejects.toMatchObject({ status: 403 });
  for (const client of [explorer, viewer])
    await expect(client.postQueryMeta({ deploymentId, body: { branchName } })).rejects.toMatchObject({
      status: 403,
    });
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'production' });
  const { data } = await world.admin.createDeploymentEnvironmentToken({
    deploymentId,
    environmentId: items[0]!.id,
    body: { security_context: {} },
  });
  const token = createOrielClient({ baseUrl: world.url, token: data.token });
  await expect(load(token, branchName)).rejects.toMatchObject({ status: 403 });
});
