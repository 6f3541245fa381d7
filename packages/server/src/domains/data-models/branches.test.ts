import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modeller, readFiles } from '../../../test/data-models.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const branchesOf = async (id = deploymentId) => (await world.admin.listBranches({ deploymentId: id })).items;

test('a new deployment has its deploy branch, with a first commit of a model', async () => {
  const [main, ...others] = await branchesOf((await world.deployment()).id);
  expect(others).toEqual([]);
  expect(main).toMatchObject({
    name: 'main',
    parentBranch: null,
    isDefault: true,
    isActive: false,
    hasUncommittedChanges: false,
    isStagingEnvironmentEnabled: false,
    lastHash: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
});

test('a branch begins at the newest commit of its parent, without its uncommitted changes', async () => {
  const parent = await modeller(world, deploymentId, { branch: unique('parent') });
  await parent.save({ 'model/a.yml': 'a: 1\n' });
  await parent.write({ 'model/b.yml': 'b: 1\n' });
  const child = await modeller(world, deploymentId, { branch: unique('child'), from: parent.branchName });
  const files = await child.read();
  expect(files).toMatchObject({ 'model/a.yml': 'a: 1\n' });
  expect(files).not.toHaveProperty('model/b.yml');
  const shown = (await branchesOf()).find(({ name }) => name === child.branchName);
  expect(shown).toMatchObject({ parentBranch: parent.branchName, isDefault: false });
});

test.each(['activate', 'enterDevMode'])('a new branch is entered with `%s`', async (field) => {
  const { client } = await world.person({ roles: ['Developer'] });
  const name = unique('entered');
  const entered = await client.createBranch({ deploymentId, body: { name, [field]: true } });
  expect(entered).toEqual({ active: true, branchName: name, parentBranch: 'main' });
  await client.updateFiles({ deploymentId, body: { files: [{ path: 'x.yml', content: '' }] } });
  expect(await readFiles(client, deploymentId)).toHaveProperty('x.yml');
});

test('a branch that is not entered cannot be written to', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  const name = unique('left-alone');
  expect(await client.createBranch({ deploymentId, body: { name } })).toMatchObject({ active: false });
  for (const branchName of [name, 'main', undefined]) {
    const body = { branchName, files: [{ path: 'x.yml', content: '' }] };
    await expect(client.updateFiles({ deploymentId, body })).rejects.toMatchObject({
      status: 409,
      code: 'not_in_dev_mode',
    });
  }
});

describe('names', () => {
  const create = (name: string) => world.admin.createBranch({ deploymentId, body: { name } });

  test.each(['a b', 'a..b', '.a', 'a.lock', 'a/', '-a', 'HEAD', 'a~1', 'a@{b', 'a\tb', 'ä'.repeat(101)])(
    'git refuses %j, and so do we',
    async (name) => {
      await expect(create(name)).rejects.toMatchObject({ status: 400, code: 'invalid_branch_name' });
    },
  );

  test('of two that want a name at once exactly one gets it', async () => {
    const name = unique('wanted');
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => create(name)));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject(
      Array.from({ length: 2 }, () => ({ reason: { status: 409, code: 'branch_name_taken' } })),
    );
  });

  test('a branch cannot be a folder of another one, also if both are created at once', async () => {
    const name = unique('folder');
    await create(name);
    await expect(create(`${name}/below`)).rejects.toMatchObject({ code: 'branch_name_taken' });
    const other = unique('other');
    await create(`${other}/a/b`);
    await expect(create(other)).rejects.toMatchObject({ code: 'branch_name_taken' });
    await expect(create(`${other}/a`)).rejects.toMatchObject({ code: 'branch_name_taken' });
    await create(`${other}/c`);
    const both = unique('both');
    const outcomes = await Promise.allSettled([create(both), create(`${both}/x`)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('an unknown parent is a 404', async () => {
    const body = { name: unique('orphan'), from: 'no-such-branch' };
    await expect(world.admin.createBranch({ deploymentId, body })).rejects.toMatchObject({
      status: 404,
      code: 'branch_not_found',
      message: 'There is no branch no-such-branch.',
    });
  });
});

describe('the deletion of a branch', () => {
  test('removes it, and its children belong to the deploy branch', async () => {
    const parent = await modeller(world, deploymentId, { branch: unique('parent') });
    const child = await modeller(world, deploymentId, { branch: unique('child'), from: parent.branchName });
    await world.admin.deleteBranch({ deploymentId, branchName: parent.branchName, removeOnUpstream: true });
    const left = await branchesOf();
    expect(left.map(({ name }) => name)).not.toContain(parent.branchName);
    expect(left.find(({ name }) => name === child.branchName)).toMatchObject({ parentBranch: 'main' });
    await expect(parent.write({ 'x.yml': '' })).rejects.toMatchObject({
      status: 404,
      code: 'branch_not_found',
    });
    const again = world.admin.deleteBranch({ deploymentId, branchName: parent.branchName });
    await expect(again).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  });

  test('with uncommitted changes is a 409, unless it is forced', async () => {
    const { branchName, write } = await modeller(world, deploymentId, { branch: unique('draft') });
    await write({ 'draft.yml': 'x' });
    await expect(world.admin.deleteBranch({ deploymentId, branchName })).rejects.toMatchObject({
      status: 409,
      code: 'uncommitted_changes',
      message: expect.stringContaining('`force`'),
    });
    await world.admin.deleteBranch({ deploymentId, branchName, force: true });
    expect((await branchesOf()).map(({ name }) => name)).not.toContain(branchName);
  });

  test('is refused for the deploy branch', async () => {
    const attempt = world.admin.deleteBranch({ deploymentId, branchName: 'main' });
    await expect(attempt).rejects.toMatchObject({ status: 409, code: 'deploy_branch_required' });
  });

  test('of another deployment is a 404', async () => {
    const other = (await world.deployment()).id;
    const { branchName } = await modeller(world, other, { branch: unique('theirs') });
    const attempt = world.admin.deleteBranch({ deploymentId, branchName });
    await expect(attempt).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  });
});

describe('staging environments', () => {
  test('are given to a branch by name or id, and taken back', async () => {
    const { branchName } = await modeller(world, deploymentId, { branch: unique('staging') });
    const on = await world.admin.setBranchStagingEnvironment({
      deploymentId,
      body: { branchName, enabled: true },
    });
    expect(on.data).toMatchObject({ name: branchName, isStagingEnvironmentEnabled: true });
    const off = await world.admin.setBranchStagingEnvironment({
      deploymentId,
      body: { branchId: on.data.id, enabled: false },
    });
    expect(off.data).toMatchObject({ isStagingEnvironmentEnabled: false });
  });

  test('are refused for the deploy branch, and for an id and a name of two branches', async () => {
    const set = (body: object) =>
      world.admin.setBranchStagingEnvironment({ deploymentId, body: { enabled: true, ...body } });
    await expect(set({ branchName: 'main' })).rejects.toMatchObject({
      status: 409,
      code: 'deploy_branch_is_production',
    });
    const [main] = await branchesOf();
    const { branchName } = await modeller(world, deploymentId, { branch: unique('another') });
    await expect(set({ branchName, branchId: main!.id })).rejects.toMatchObject({ code: 'branch_not_found' });
  });
});

describe('dev mode', () => {
  test('forks a branch of the caller, and enters the same one again', async () => {
    const person = await world.person({ roles: ['Developer'] });
    const { client } = person;
    const first = await client.startDevMode({ deploymentId, body: {} });
    expect(first).toMatchObject({ active: true, parentBranch: 'main' });
    expect(first.branchName).toMatch(/^dev-person/);
    await client.updateFiles({ deploymentId, body: { files: [{ path: 'mine.yml', content: 'x' }] } });
    await client.stopDevMode({ deploymentId });
    const write = () =>
      client.updateFiles({ deploymentId, body: { files: [{ path: 'mine.yml', content: 'y' }] } });
    await expect(write()).rejects.toMatchObject({ code: 'not_in_dev_mode' });
    expect(await readFiles(client, deploymentId)).not.toHaveProperty('mine.yml');
    for (const branchName of [undefined, null, 'main', first.branchName]) {
      expect(await client.startDevMode({ deploymentId, body: { branchName } })).toEqual(first);
    }
    expect(await readFiles(client, deploymentId)).toMatchObject({ 'mine.yml': 'x' });
    await write();
  });

  test('works without a body', async () => {
    const { apiKey } = await world.person({ roles: ['Developer'] });
    const address = `/build/api/v1/deployments/${deploymentId}/dev-mode`;
    expect((await world.raw('POST', address, { apiKey })).status).toBe(200);
    expect((await world.raw('DELETE', address, { apiKey })).status).toBe(200);
  });

  test('of two people is on two branches, and of one person who enters twice at once on one', async () => {
    const { client } = await world.person({ roles: ['Developer'] });
    const entered = await Promise.all([1, 2, 3].map(() => client.startDevMode({ deploymentId, body: {} })));
    expect(new Set(entered.map(({ branchName }) => branchName)).size).toBe(1);
    const other = await modeller(world, deploymentId);
    expect(other.branchName).not.toBe(entered[0]!.branchName);
  });

  test('without a branch means the one that was entered last', async () => {
    const first = await modeller(world, deploymentId, { branch: unique('first') });
    const { client } = first;
    await modeller(world, deploymentId, { branch: unique('second'), client });
    await client.updateFiles({ deploymentId, body: { files: [{ path: 'second.yml', content: '' }] } });
    await client.startDevMode({ deploymentId, body: { branchName: first.branchName } });
    await client.updateFiles({ deploymentId, body: { files: [{ path: 'first.yml', content: '' }] } });
    const files = await readFiles(client, deploymentId);
    expect([Object.hasOwn(files, 'first.yml'), Object.hasOwn(files, 'second.yml')]).toEqual([true, false]);
  });

  test('uncommitted changes are shown only to those who are in dev mode on the branch', async () => {
    const writer = await modeller(world, deploymentId, { branch: unique('draft') });
    await writer.write({ 'draft.yml': 'x' });
    const reader = await world.person({ roles: ['Explorer'] });
    expect(await readFiles(reader.client, deploymentId, writer.branchName)).not.toHaveProperty('draft.yml');
    await writer.commit('now');
    expect(await readFiles(reader.client, deploymentId, writer.branchName)).toHaveProperty('draft.yml');
  });

  test('an own branch whose work was merged follows the deploy branch when it is entered again', async () => {
    const { id } = await world.deployment();
    const one = await modeller(world, id);
    const two = await modeller(world, id);
    await two.save({ 'two.yml': '2' });
    await two.client.mergeToDefaultBranch({ deploymentId: id, body: { message: 'two' } });
    expect(await one.read()).not.toHaveProperty('two.yml');
    await one.client.startDevMode({ deploymentId: id, body: {} });
    expect(await one.read()).toHaveProperty('two.yml');
    await one.write({ 'one.yml': '1' });
    await two.client.startDevMode({ deploymentId: id, body: {} });
    await two.save({ 'three.yml': '3' });
    await two.client.mergeToDefaultBranch({ deploymentId: id, body: { message: 'three' } });
    await one.client.startDevMode({ deploymentId: id, body: {} });
    expect(await one.read()).not.toHaveProperty('three.yml');
  });
});

describe('an own branch', () => {
  const enter = (client: OrielClient, id: number) => client.startDevMode({ deploymentId: id, body: {} });
  const deploy = (id: number, deployBranchName: string) =>
    world.admin.updateDeployment({ deploymentId: id, body: { deployBranchName } });

  test('that was deployed is replaced by another one, which is entered again', async () => {
    const { id } = await world.deployment();
    const { client } = await world.person({ roles: ['Developer'] });
    const first = await enter(client, id);
    await client.stopDevMode({ deploymentId: id });
    await deploy(id, first.branchName!);
    const second = await enter(client, id);
    expect(second.branchName).not.toBe(first.branchName);
    expect(await enter(client, id)).toEqual(second);
  });

  test('is never a branch that somebody else made, whatever its name', async () => {
    const { id } = await world.deployment();
    const { client } = await world.person({ roles: ['Developer'] });
    const { username, id: userId } = await client.getMe();
    const theirs = await modeller(world, id, { branch: `dev-${username}` });
    await theirs.write({ 'theirs.yml': 'x' });
    const entered = await enter(client, id);
    expect(entered.branchName).toBe(`dev-${username}-${userId}`);
    expect(await readFiles(client, id)).not.toHaveProperty('theirs.yml');
    expect(await enter(client, id)).toEqual(entered);
  });

  test('is created also if somebody took the names for it', async () => {
    const { id } = await world.deployment();
    const { client } = await world.person({ roles: ['Developer'] });
    const { username, id: userId } = await client.getMe();
    const name = `dev-${username}`;
    const take = (taken: string) => world.admin.createBranch({ deploymentId: id, body: { name: taken } });
    await take(`${name}/x`);
    await take(`${name}-${userId}/x`);
    const entered = await enter(client, id);
    expect(entered.branchName!.startsWith(`${name}-${userId}-`)).toBe(true);
    expect(await enter(client, id)).toEqual(entered);
  });
});

test('people with `SchemaUpdateDevBranches` edit branches, and only those with `SchemaUpdate` reach the deploy branch', async () => {
  const actions = ['DeploymentRead', 'SchemaRead', 'SchemaUpdateDevBranches'] as const;
  const role = await world.admin.createRole({ body: { name: unique('role'), actions: [...actions] } });
  const { client } = await world.person({ roles: [role.name] });
  const mine = await modeller(world, deploymentId, { branch: unique('mine'), client });
  await mine.save({ 'mine.yml': '1' });
  const below = await modeller(world, deploymentId, {
    branch: unique('below'),
    from: mine.branchName,
    client,
  });
  await below.save({ 'below.yml': '1' });
  const up = await client.mergeIntoParentBranch({ deploymentId, body: { branchName: below.branchName } });
  expect(up).toEqual({ merged: true, branchDeleted: false });
  for (const merge of [client.mergeIntoParentBranch, client.mergeToDefaultBranch]) {
    const attempt = merge({ deploymentId, body: { branchName: mine.branchName } });
    await expect(attempt).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  }
});

test('a branch with a staging environment is changed only by people with `SchemaUpdate`', async () => {
  const actions = ['DeploymentRead', 'SchemaRead', 'SchemaUpdateDevBranches'] as const;
  const role = await world.admin.createRole({ body: { name: unique('role'), actions: [...actions] } });
  const { client } = await world.person({ roles: [role.name] });
  const staged = await modeller(world, deploymentId, { branch: unique('staged'), client });
  const { branchName } = staged;
  const child = await modeller(world, deploymentId, { branch: unique('child'), from: branchName, client });
  await child.save({ 'child.yml': '1' });
  await staged.save({ 'before.yml': '1' });
  await staged.write({ 'draft.yml': '1' });
  const stage = (name: string) =>
    world.admin.setBranchStagingEnvironment({ deploymentId, body: { branchName: name, enabled: true } });
  await stage(branchName);
  const refused = { status: 403, code: 'forbidden', message: expect.stringContaining('`SchemaUpdate`') };
  await expect(staged.write({ 'staged.yml': '1' })).rejects.toMatchObject(refused);
  await expect(staged.commit('now')).rejects.toMatchObject(refused);
  await expect(client.startUpload({ deploymentId, branchName, body: {} })).rejects.toMatchObject(refused);
  await expect(client.deleteBranch({ deploymentId, branchName, force: true })).rejects.toMatchObject(refused);
  await client.stopDevMode({ deploymentId });
  await expect(client.startDevMode({ deploymentId, body: { branchName } })).rejects.toMatchObject(refused);
  const up = { branchName: child.branchName };
  await expect(client.mergeIntoParentBranch({ deploymentId, body: up })).rejects.toMatchObject(refused);
  const { branchName: grandchild } = await modeller(world, deploymentId, {
    branch: unique('grandchild'),
    from: child.branchName,
    client,
  });
  await stage(grandchild);
  const gone = client.mergeIntoParentBranch({
    deploymentId,
    body: { branchName: grandchild, deleteBranch: true },
  });
  await expect(gone).rejects.toMatchObject(refused);
  // An admin may do all of this.
  await world.admin.startDevMode({ deploymentId, body: { branchName } });
  await world.admin.commitChanges({ deploymentId, body: { branchName } });
  await world.admin.mergeIntoParentBranch({ deploymentId, body: up });
  await world.admin.deleteBranch({ deploymentId, branchName });
});

test('the number of branches is limited', async () => {
  const { id } = await world.deployment();
  await world.server.db.pool.query(
    `insert into branches (deployment_id, name, head)
     select $1, 'b' || n, (select head from branches where deployment_id = $1 and name = 'main') from generate_series(1, 999) n`,
    [id],
  );
  const attempt = world.admin.createBranch({ deploymentId: id, body: { name: 'one-more' } });
  await expect(attempt).rejects.toMatchObject({ status: 409, code: 'too_many_branches' });
});

test('a pull is refused while no remote repository is connected', async () => {
  for (const body of [{}, { branchName: 'main' }, { branchName: 'no-such-branch' }]) {
    await expect(world.admin.pull({ deploymentId, body })).rejects.toMatchObject({
      status: 409,
      code: 'no_remote',
    });
  }
});
