/** What happens to branches that others change while a request waits for them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const stateOf = async (name: string) =>
  (await world.admin.listBranches({ deploymentId })).items.find((branch) => branch.name === name)!;

test.each(['commit', 'write'] as const)(
  'an own branch does not follow the deploy branch if a %s comes first',
  async (how) => {
    const mine = await modeller(world, deploymentId);
    const changed = await modeller(world, deploymentId, { branch: unique('changed') });
    await changed.write({ 'mine.yml': '1' });
    if (how === 'commit') await changed.commit('mine');
    const other = await modeller(world, deploymentId);
    await other.save({ 'other.yml': '1' });
    await other.client.mergeToDefaultBranch({ deploymentId, body: { branchName: other.branchName } });
    const held = await holdRows(world, 'branches', [(await stateOf(mine.branchName)).id]);
    const entering = mine.client.startDevMode({ deploymentId, body: {} });
    await held.waiting();
    await held.release(
      `update branches b set head = c.head, working_tree = c.working_tree from branches c
       where b.id = any($1) and c.deployment_id = b.deployment_id and c.name = '${changed.branchName}'`,
    );
    expect(await entering).toMatchObject({ branchName: mine.branchName });
    const { lastHash, hasUncommittedChanges } = await stateOf(mine.branchName);
    expect(lastHash).toBe((await stateOf(changed.branchName)).lastHash);
    expect(hasUncommittedChanges).toBe(how === 'write');
    expect(await mine.read()).toHaveProperty('mine.yml');
  },
);

test('a branch whose parent is deleted first is not created', async () => {
  const parent = unique('parent');
  await world.admin.createBranch({ deploymentId, body: { name: parent } });
  const held = await holdRows(world, 'data_models', [deploymentId], 'deployment_id');
  const attempt = world.admin.createBranch({ deploymentId, body: { name: unique('child'), from: parent } });
  const refused = expect(attempt).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  await held.waiting();
  await held.release(`delete from branches where deployment_id = any($1) and name = '${parent}'`);
  await refused;
});

test('an upload to a branch that is deleted first is a 404', async () => {
  const { client, branchName } = await modeller(world, deploymentId);
  const held = await holdRows(world, 'branches', [(await stateOf(branchName)).id]);
  const attempt = client.startUpload({ deploymentId, branchName, body: {} });
  const refused = expect(attempt).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  await held.waiting();
  await held.release('delete from branches where id = any($1)');
  await refused;
});

test('a resolved conflict is not committed if the parent is deleted first', async () => {
  const parent = await modeller(world, deploymentId, { branch: unique('parent') });
  const child = await modeller(world, deploymentId, { branch: unique('child'), from: parent.branchName });
  await parent.save({ 'a.yml': 'parent' });
  await child.write({ 'a.yml': 'child' });
  const before = await stateOf(child.branchName);
  const held = await holdRows(world, 'branches', [(await stateOf(parent.branchName)).id]);
  const attempt = child.client.commitChanges({
    deploymentId,
    body: { branchName: child.branchName, message: 'mine', resolveMergeConflict: true },
  });
  const refused = expect(attempt).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  await held.waiting();
  await held.release('delete from branches where id = any($1)');
  await refused;
  expect(await stateOf(child.branchName)).toMatchObject({
    lastHash: before.lastHash,
    hasUncommittedChanges: true,
  });
});

test('a merge into the deploy branch goes to the one that is deployed when it is put in place', async () => {
  const next = await modeller(world, deploymentId, { branch: unique('next') });
  const mine = await modeller(world, deploymentId, { branch: unique('mine') });
  await mine.save({ 'a.yml': 'mine' });
  const main = await stateOf('main');
  const held = await holdRows(world, 'branches', [main.id]);
  const merging = mine.client.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  await held.waiting();
  await held.release(
    `update deployments d set deploy_branch_name = '${next.branchName}' from branches b
     where b.id = any($1) and d.id = b.deployment_id`,
  );
  expect(await merging).toMatchObject({ merged: true });
  expect((await stateOf('main')).lastHash).toBe(main.lastHash);
  expect((await stateOf(next.branchName)).lastHash).toBe((await stateOf(mine.branchName)).lastHash);
});

test.each(['deploy_branch_read_only = true', 'deploy_branch_merge_allowed = false'])(
  'a merge is refused if its target becomes the deploy branch first, with %s',
  async (setting) => {
    const parent = await modeller(world, deploymentId, { branch: unique('parent') });
    const child = await modeller(world, deploymentId, { branch: unique('child'), from: parent.branchName });
    await child.save({ 'a.yml': 'child' });
    const before = await stateOf(parent.branchName);
    const held = await holdRows(world, 'branches', [before.id]);
    const attempt = child.client.mergeIntoParentBranch({
      deploymentId,
      body: { branchName: child.branchName },
    });
    const refused = expect(attempt).rejects.toMatchObject({
      status: 409,
      code: expect.stringMatching(/^deploy_branch_/),
    });
    await held.waiting();
    await held.release(
      `update deployments d set deploy_branch_name = b.name, ${setting} from branches b
       where b.id = any($1) and d.id = b.deployment_id`,
    );
    await refused;
    expect((await stateOf(parent.branchName)).lastHash).toBe(before.lastHash);
  },
);

test('dev mode on a branch that is deployed first is on a branch of the caller', async () => {
  const { branchName } = await modeller(world, deploymentId, { branch: unique('deployed') });
  const { client } = await world.person({ roles: ['Developer'] });
  const { id } = await stateOf(branchName);
  const held = await holdRows(world, 'branches', [id]);
  const entering = client.startDevMode({ deploymentId, body: { branchName } });
  await held.waiting();
  await held.release(
    `update deployments d set deploy_branch_name = b.name from branches b
     where b.id = any($1) and d.id = b.deployment_id`,
  );
  const entered = await entering;
  expect(entered).toMatchObject({ active: true, parentBranch: branchName });
  expect(entered.branchName).toMatch(/^dev-person/);
});

test('files are not written if dev mode ends first', async () => {
  const { branchName, write, client } = await modeller(world, deploymentId, { branch: unique('left') });
  const { id } = await stateOf(branchName);
  const held = await holdRows(world, 'branches', [id]);
  const refused = expect(write({ 'late.yml': '' })).rejects.toMatchObject({ code: 'not_in_dev_mode' });
  await held.waiting();
  await held.release('delete from dev_modes where branch_id = any($1)');
  await refused;
  await client.startDevMode({ deploymentId, body: { branchName } });
  expect((await stateOf(branchName)).hasUncommittedChanges).toBe(false);
});

test('an upload does not reach a deploy branch that becomes read-only first', async () => {
  await world.admin.updateDeployment({ deploymentId, body: { deployMode: 'cli' } });
  const { transaction } = await world.admin.startUpload({ deploymentId, branchName: 'main', body: {} });
  const before = await stateOf('main');
  const held = await holdRows(world, 'branches', [before.id]);
  const finishing = world.admin.finishUpload({ deploymentId, body: { transaction, files: {} } });
  const refused = expect(finishing).rejects.toMatchObject({ code: 'deploy_branch_read_only' });
  await held.waiting();
  await held.release(
    `update deployments d set deploy_branch_read_only = true from branches b
     where b.id = any($1) and d.id = b.deployment_id`,
  );
  await refused;
  expect((await stateOf('main')).lastHash).toBe(before.lastHash);
});
