/** The environments of a deployment, which follow its branches. */
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newDeployment = async () => ({ deploymentId: (await world.deployment()).id });
type Place = Awaited<ReturnType<typeof newDeployment>>;

const addBranch = async (at: Place, name: string, isStaging = false) => {
  await world.admin.createBranch({ ...at, body: { name } });
  if (isStaging) {
    await world.admin.setBranchStagingEnvironment({ ...at, body: { branchName: name, enabled: true } });
  }
};
const listed = async (at: Place, client: OrielClient = world.admin) =>
  (await client.getDeploymentEnvironments(at)).items.map(({ type, branch }) => `${type} ${branch}`);
const newToken = (client: OrielClient, at: Place, environmentId: string) =>
  client.createDeploymentEnvironmentToken({ ...at, environmentId, body: { security_context: {} } });

test('the deploy branch is production, flagged branches are staging, and others are nothing', async () => {
  const at = await newDeployment();
  expect(await listed(at)).toEqual(['production main']);
  await addBranch(at, 'plain');
  await addBranch(at, 'next', true);
  expect(await listed(at)).toEqual(['production main', 'staging next']);
  await world.admin.updateDeployment({ ...at, body: { deployBranchName: 'plain' } });
  expect(await listed(at)).toEqual(['production plain', 'staging next']);
  const staging = await world.admin.getDeploymentEnvironments({ ...at, type: 'staging' });
  expect(staging).toMatchObject({ items: [{ branch: 'next', user: null }], pagination: { total: 1 } });
});

test('a development environment is seen only by the person in dev mode, and ends with it', async () => {
  const at = await newDeployment();
  const [ada, bob] = [
    await world.person({ roles: ['Developer'] }),
    await world.person({ roles: ['Developer'] }),
  ];
  await addBranch(at, 'plain');
  await ada.client.startDevMode({ ...at, body: {} });
  const { items } = await ada.client.getDeploymentEnvironments({ ...at, type: 'development' });
  const { username } = await ada.client.getMe();
  expect(items).toMatchObject([{ user: username }]);
  expect(await listed(at, bob.client)).toEqual(['production main']);
  const { id: environmentId } = items[0]!;
  await expect(newToken(bob.client, at, environmentId)).rejects.toMatchObject({
    status: 404,
    code: 'environment_not_found',
  });
  await expect(newToken(ada.client, at, environmentId)).resolves.toBeDefined();
  await ada.client.stopDevMode(at);
  expect(await listed(at, ada.client)).toEqual(['production main']);
});

test('pages hold every environment once, in both ways', async () => {
  const at = await newDeployment();
  for (const name of ['a', 'b', 'c']) await addBranch(at, name, true);
  const seen: unknown[] = [];
  for await (const { branch } of world.admin.iterate.getDeploymentEnvironments({ ...at, first: 2 })) {
    seen.push(branch);
  }
  expect(seen).toEqual(['main', 'a', 'b', 'c']);
  const page = await world.admin.getDeploymentEnvironments({ ...at, offset: 1, limit: 2 });
  expect(page.items.map(({ branch }) => branch)).toEqual(['a', 'b']);
  expect(page).toMatchObject({ pageInfo: null, pagination: { offset: 1, limit: 2, total: 4 } });
  expect((await world.admin.getDeploymentEnvironments({ ...at, limit: 0 })).items).toEqual([]);
});

test('each environment lists its own tokens, and its cursors work nowhere else', async () => {
  const at = await newDeployment();
  await addBranch(at, 'next', true);
  const { items } = await world.admin.getDeploymentEnvironments(at);
  const [production, staging] = items.map(({ id }) => id) as [string, string];
  for (const environmentId of [production, staging, staging]) await newToken(world.admin, at, environmentId);
  const tokens = (environmentId: string, query: { first?: number; after?: string } = {}) =>
    world.admin.getDeploymentEnvironmentTokens({ ...at, environmentId, ...query });
  expect((await tokens(production)).items).toHaveLength(1);
  const { pageInfo } = await tokens(staging, { first: 1 });
  const after = pageInfo!.endCursor!;
  expect((await tokens(staging, { after })).items).toHaveLength(1);
  await expect(tokens(production, { after })).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
});

test('the tokens of an environment go with its branch, and none is made while it is being deleted', async () => {
  const at = await newDeployment();
  const stored = async () =>
    (
      await world.server.db.pool.query('select from environment_tokens where deployment_id = $1', [
        at.deploymentId,
      ])
    ).rowCount;
  await addBranch(at, 'short', true);
  const [environment] = (await world.admin.getDeploymentEnvironments({ ...at, type: 'staging' })).items;
  await newToken(world.admin, at, environment!.id);
  expect(await stored()).toBe(1);
  const held = await holdRows(world, 'branches', [Number(environment!.id)]);
  const late = newToken(world.admin, at, environment!.id).catch((error) => error);
  await held.waiting('for key share of b');
  await held.release('delete from branches where id = any($1)');
  expect(await late).toMatchObject({ status: 404, code: 'environment_not_found' });
  expect(await stored()).toBe(0);
});
