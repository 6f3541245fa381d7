/** The data model of a deployment: how it begins, and which branch is deployed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { STARTER_MODEL } from './starter-model.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const input = {
  name: 'Fresh',
  cloudProvider: 'managed',
  creationStep: 'project',
  isManaged: true,
  region: 'local',
  targetPlatform: 'embedded',
} as const;

interface Node {
  path: string;
  content?: string | null;
  children?: Node[] | null;
}
const filesIn = (nodes: Node[]): [path: string, content: unknown][] =>
  nodes.flatMap(({ path, content, children }) => (children ? filesIn(children) : [[path, content]]));

test('a new deployment has a small model on main, in one commit of its creator', async () => {
  const { client } = await world.person({ roles: ['Admin'] });
  const { id: deploymentId } = await client.createDeployment({ body: input });
  const { items } = await client.listCommits({ deploymentId, name: 'main' });
  const { email } = await client.getMe();
  expect(items).toMatchObject([{ author: { email } }]);
  const tree = await client.listFiles({ deploymentId, branchName: 'main', withContent: true });
  expect(filesIn(tree.items)).toEqual([...STARTER_MODEL]);
});

test('a branch that exists can be deployed, and the old deploy branch can then go', async () => {
  const { id: deploymentId } = await world.deployment();
  await world.admin.createBranch({ deploymentId, body: { name: 'next' } });
  const body = { deployBranchName: 'next' };
  expect(await world.admin.updateDeployment({ deploymentId, body })).toMatchObject(body);
  await world.admin.deleteBranch({ deploymentId, branchName: 'main' });
  const back = world.admin.updateDeployment({ deploymentId, body: { deployBranchName: 'main' } });
  await expect(back).rejects.toMatchObject({ status: 400, code: 'invalid_reference' });
});

test('a branch that is deployed and deleted at once is one of the two, and the deploy branch exists', async () => {
  const { id: deploymentId } = await world.deployment();
  for (let i = 0; i < 5; i++) {
    const name = `next-${i}`;
    await world.admin.createBranch({ deploymentId, body: { name } });
    const outcomes = await Promise.allSettled([
      world.admin.updateDeployment({ deploymentId, body: { deployBranchName: name } }),
      world.admin.deleteBranch({ deploymentId, branchName: name }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { items } = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'production' });
    expect(items).toHaveLength(1);
  }
});

test('a branch with uncommitted changes is not deployed, and keeps them', async () => {
  const { id: deploymentId } = await world.deployment();
  const draft = await modeller(world, deploymentId, { branch: 'draft' });
  await draft.write({ 'draft.yml': 'x' });
  const deploy = () => world.admin.updateDeployment({ deploymentId, body: { deployBranchName: 'draft' } });
  await expect(deploy()).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
  expect(await world.admin.getDeploymentSettings({ deploymentId })).toMatchObject({
    deployBranchName: 'main',
  });
  expect(await draft.read()).toHaveProperty('draft.yml');
  await draft.commit('now');
  expect(await deploy()).toMatchObject({ deployBranchName: 'draft' });
});

test('a branch that gets uncommitted changes while its deployment waits for it is not deployed', async () => {
  const { id: deploymentId } = await world.deployment();
  const mine = await modeller(world, deploymentId, { branch: 'mine' });
  const draft = await modeller(world, deploymentId, { branch: 'draft' });
  await draft.write({ 'draft.yml': 'x' });
  const { items } = await world.admin.listBranches({ deploymentId });
  const held = await holdRows(world, 'branches', [items.find(({ name }) => name === mine.branchName)!.id]);
  const attempt = world.admin.updateDeployment({ deploymentId, body: { deployBranchName: 'mine' } });
  const refused = expect(attempt).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
  await held.waiting();
  await held.release(
    `update branches b set working_tree = c.working_tree from branches c
     where b.id = any($1) and c.deployment_id = b.deployment_id and c.name = 'draft'`,
  );
  await refused;
});
