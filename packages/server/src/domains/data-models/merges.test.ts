import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Modeller, modeller, readFiles } from '../../../test/data-models.ts';
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

const branch = (options: { branch?: string; from?: string } = {}) =>
  modeller(world, deploymentId, { branch: unique('branch'), client: world.admin, ...options });
const toDefault = (from: Modeller, body: object = {}) =>
  from.client.mergeToDefaultBranch({ deploymentId, body: { branchName: from.branchName, ...body } });
const intoParent = (from: Modeller, body: object = {}) =>
  from.client.mergeIntoParentBranch({ deploymentId, body: { branchName: from.branchName, ...body } });
const commitsOf = async (name: string) => (await world.admin.listCommits({ deploymentId, name })).items;
const stateOf = async (name: string) =>
  (await world.admin.listBranches({ deploymentId })).items.find((each) => each.name === name);

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
const withLine = (n: number, text: string) =>
  `${LINES.map((line, i) => (i === n ? text : line)).join('\n')}\n`;

/** Two branches that begin with the same file of seven lines. */
async function twoBranches() {
  const first = await branch();
  await first.save({ 'shared.yml': withLine(-1, '') }, 'the file');
  await toDefault(first);
  return { first: await branch(), second: await branch() };
}

test('changes of two branches are merged, also in one file, and authors and messages are kept', async () => {
  const { first, second } = await twoBranches();
  await first.save({ 'shared.yml': withLine(0, 'ONE'), 'a.yml': 'a' }, 'first');
  await second.save({ 'shared.yml': withLine(6, 'SEVEN'), 'b.yml': 'b' }, 'second');
  expect(await toDefault(first, { message: 'Merge the first' })).toEqual({
    merged: true,
    branchDeleted: false,
  });
  expect(await toDefault(second, { message: 'Merge the second' })).toEqual({
    merged: true,
    branchDeleted: false,
  });
  expect(await readFiles(world.admin, deploymentId, 'main')).toMatchObject({
    'shared.yml': withLine(0, 'ONE').replace('seven', 'SEVEN'),
    'a.yml': 'a',
    'b.yml': 'b',
  });
  const commits = await commitsOf('main');
  const [newest, ...older] = commits.map(({ message }) => message);
  expect(newest).toBe('Merge the second');
  // Commits of the same second have no order, except that parents come later.
  expect(older.slice(0, 3).sort()).toEqual(['Merge the first', 'first', 'second']);
  expect(older.indexOf('Merge the first')).toBeLessThan(older.indexOf('first'));
  expect(older.slice(3)).toEqual(['the file', 'Start the data model']);
  const earlier = commits.find(({ message }) => message === 'Merge the first')!;
  expect(commits[0]!.parents).toEqual([earlier.hash, (await stateOf(second.branchName))!.lastHash]);
  const me = await world.admin.getMe();
  expect(commits[0]!.author).toEqual({ name: me.firstName ?? me.username, email: me.email });
});

test('without a message, a branch that is only ahead is a fast-forward', async () => {
  const mine = await branch();
  await mine.save({ 'a.yml': 'a' }, 'ahead');
  expect(await intoParent(mine)).toEqual({ merged: true, branchDeleted: false });
  expect((await stateOf('main'))!.lastHash).toBe((await stateOf(mine.branchName))!.lastHash);
  expect(await intoParent(mine)).toEqual({ merged: false, branchDeleted: false });
});

test('with a message, a branch that is only ahead gets a merge commit', async () => {
  const mine = await branch();
  await mine.save({ 'a.yml': 'a' }, 'ahead');
  await intoParent(mine, { message: 'Together' });
  const [newest] = await commitsOf('main');
  expect(newest).toMatchObject({ message: 'Together' });
  expect(newest!.parents).toHaveLength(2);
});

test.each([
  ['the parent', intoParent],
  ['the deploy branch', toDefault],
])('squashed commits are one commit with one parent, in %s', async (_, merge) => {
  const mine = await branch();
  await mine.save({ 'a.yml': 'a' }, 'one');
  await mine.save({ 'b.yml': 'b' }, 'two');
  const before = (await stateOf('main'))!.lastHash;
  await merge(mine, { squashCommits: true, message: 'Both' });
  const [newest] = await commitsOf('main');
  expect(newest).toMatchObject({ message: 'Both', parents: [before] });
  expect(await readFiles(world.admin, deploymentId, 'main')).toMatchObject({ 'a.yml': 'a', 'b.yml': 'b' });
});

describe('a conflict', () => {
  test('is a 409 with files and lines, and both branches stay as they were', async () => {
    const { first, second } = await twoBranches();
    await first.save({ 'shared.yml': withLine(3, 'FOUR'), 'same.yml': '1' }, 'first');
    await second.save({ 'shared.yml': withLine(3, '4'), 'same.yml': '2', 'fine.yml': 'fine' }, 'second');
    await toDefault(first);
    const before = [await stateOf('main'), await stateOf(second.branchName)];
    const error = await toDefault(second).catch((reason) => reason);
    expect(error).toMatchObject({ status: 409, code: 'merge_conflict' });
    expect(error.issues.map(({ path }: { path: string }) => path).sort()).toEqual(['same.yml', 'shared.yml']);
    const shared = error.conflicts.find(({ path }: { path: string }) => path === 'shared.yml');
    expect(shared).toEqual({
      path: 'shared.yml',
      kind: 'content',
      hunks: [{ line: 4, base: 'four\n', ours: 'FOUR\n', theirs: '4\n' }],
    });
    expect(error.conflicts).toContainEqual(
      expect.objectContaining({ path: 'same.yml', kind: 'added_by_both' }),
    );
    expect([await stateOf('main'), await stateOf(second.branchName)]).toEqual(before);
  });

  test('is resolved by a commit with `resolveMergeConflict`, which keeps the lines of the branch', async () => {
    const { first, second } = await twoBranches();
    await first.save({ 'shared.yml': withLine(3, 'FOUR'), 'theirs.yml': 'theirs' }, 'first');
    await second.save({ 'shared.yml': withLine(3, '4') }, 'second');
    await toDefault(first);
    await expect(toDefault(second)).rejects.toMatchObject({ code: 'merge_conflict' });
    await second.write({ 'shared.yml': withLine(3, 'four and FOUR') });
    await world.admin.commitChanges({
      deploymentId,
      body: { branchName: second.branchName, message: 'Resolve', resolveMergeConflict: true },
    });
    const [resolution] = await commitsOf(second.branchName);
    expect(resolution).toMatchObject({ message: 'Resolve' });
    expect(resolution!.parents).toHaveLength(2);
    await toDefault(second);
    expect(await readFiles(world.admin, deploymentId, 'main')).toMatchObject({
      'shared.yml': withLine(3, 'four and FOUR'),
      'theirs.yml': 'theirs',
    });
  });

  test('with the deploy branch is resolved with it, although the parent of the branch is another one', async () => {
    const { first, second: parent } = await twoBranches();
    await first.save({ 'shared.yml': withLine(3, 'FOUR'), 'theirs.yml': 'theirs' });
    await toDefault(first);
    await parent.save({ 'parent.yml': 'of the parent' });
    const child = await branch({ from: parent.branchName });
    await child.save({ 'shared.yml': withLine(3, '4') });
    await parent.save({ 'later.yml': 'later' });
    const { branchName } = child;
    await expect(toDefault(child)).rejects.toMatchObject({
      code: 'merge_conflict',
      message: expect.stringContaining(`which merges main into ${branchName}, and merge again`),
    });
    const resolve = () =>
      world.admin.commitChanges({ deploymentId, body: { branchName, resolveMergeConflict: true } });
    await resolve();
    const [resolution] = await commitsOf(branchName);
    expect(resolution!.parents).toContain((await stateOf('main'))!.lastHash);
    expect(await toDefault(child)).toMatchObject({ merged: true });
    expect(await readFiles(world.admin, deploymentId, 'main')).toMatchObject({
      'shared.yml': withLine(3, '4'),
      'theirs.yml': 'theirs',
      'parent.yml': 'of the parent',
    });
    // Afterwards it is the parent again that such a commit merges.
    await resolve();
    expect(await child.read()).toHaveProperty('later.yml');
  });

  test('is resolved with the branch that the last merge was in conflict with', async () => {
    const { first, second: parent } = await twoBranches();
    const child = await branch({ from: parent.branchName });
    await first.save({ 'shared.yml': withLine(3, 'FOUR') });
    await toDefault(first);
    await parent.save({ 'shared.yml': withLine(3, 'vier') });
    await child.save({ 'shared.yml': withLine(3, '4') });
    await expect(toDefault(child)).rejects.toMatchObject({ code: 'merge_conflict' });
    await expect(intoParent(child)).rejects.toMatchObject({
      message: expect.stringContaining(`which merges ${parent.branchName} into ${child.branchName}`),
    });
    const body = { branchName: child.branchName, resolveMergeConflict: true };
    await world.admin.commitChanges({ deploymentId, body });
    expect(await intoParent(child)).toMatchObject({ merged: true });
  });

  test('of a deletion with a change is resolved by what the branch has', async () => {
    const { first, second } = await twoBranches();
    await first.save({ 'shared.yml': withLine(3, 'FOUR') }, 'first');
    await second.client.removeFiles({
      deploymentId,
      body: { branchName: second.branchName, files: [{ path: 'shared.yml' }] },
    });
    await second.commit('gone');
    await toDefault(first);
    await expect(toDefault(second)).rejects.toMatchObject({
      conflicts: [{ path: 'shared.yml', kind: 'deleted_by_theirs' }],
    });
    const body = { branchName: second.branchName, resolveMergeConflict: true };
    await world.admin.commitChanges({ deploymentId, body });
    await toDefault(second);
    expect(await readFiles(world.admin, deploymentId, 'main')).not.toHaveProperty('shared.yml');
    await expect(world.admin.commitChanges({ deploymentId, body })).rejects.toMatchObject({
      code: 'nothing_to_commit',
    });
  });
});

test('uncommitted changes of either branch are a 409', async () => {
  const parent = await branch();
  const child = await branch({ from: parent.branchName });
  await child.write({ 'c.yml': 'c' });
  await expect(intoParent(child)).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
  await child.commit('c');
  await parent.write({ 'p.yml': 'p' });
  await expect(intoParent(child)).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
  await parent.commit('p');
  expect(await intoParent(child)).toMatchObject({ merged: true });
  expect(await parent.read()).toMatchObject({ 'c.yml': 'c', 'p.yml': 'p' });
});

test('a merged branch is deleted if the request says so, and the caller moves to the parent', async () => {
  const parent = await branch();
  const child = await branch({ from: parent.branchName });
  await child.save({ 'c.yml': 'c' });
  const merged = await intoParent(child, { deleteBranch: true, switchToParentBranch: true });
  expect(merged).toEqual({ merged: true, branchDeleted: true });
  expect(await stateOf(child.branchName)).toBeUndefined();
  await world.admin.updateFiles({ deploymentId, body: { files: [{ path: 'next.yml', content: '' }] } });
  expect(await parent.read()).toHaveProperty('next.yml');
  await parent.commit('next');
  await intoParent(parent, { switchToParentBranch: true });
  await expect(parent.write({ 'late.yml': '' })).rejects.toMatchObject({ code: 'not_in_dev_mode' });
  expect(await toDefault(parent, { removeBranchAfterMerge: true })).toEqual({
    merged: false,
    branchDeleted: true,
  });
});

test('the deploy branch has no parent, and a branch of another deployment is not there', async () => {
  for (const merge of [world.admin.mergeIntoParentBranch, world.admin.mergeToDefaultBranch]) {
    await expect(merge({ deploymentId, body: { branchName: 'main' } })).rejects.toMatchObject({
      status: 409,
      code: 'no_parent_branch',
    });
    await expect(merge({ deploymentId, body: { branchName: 'no-such-branch' } })).rejects.toMatchObject({
      status: 404,
      code: 'branch_not_found',
    });
  }
});

test.each([
  ['deploy_branch_read_only = true', 'deploy_branch_read_only'],
  ['deploy_branch_merge_allowed = false', 'deploy_branch_merge_not_allowed'],
])('merges into the deploy branch are refused with %s, and other merges work', async (setting, code) => {
  const parent = await branch();
  const child = await branch({ from: parent.branchName });
  await child.save({ 'c.yml': 'c' });
  await world.server.db.pool.query(`update deployments set ${setting} where id = $1`, [deploymentId]);
  await intoParent(child);
  await expect(intoParent(parent)).rejects.toMatchObject({ status: 409, code });
  await expect(toDefault(child)).rejects.toMatchObject({ status: 409, code });
});

test('a merge that would make a file larger than 1 MB is refused, and changes nothing', async () => {
  const parent = await branch();
  const middle = 'between\n'.repeat(10);
  await parent.save({ 'large.yml': `top\n${middle}bottom\n` });
  const child = await branch({ from: parent.branchName });
  const addition = 'a line of some length\n'.repeat(30_000);
  await child.save({ 'large.yml': `top\n${middle}bottom\n${addition}` });
  await parent.save({ 'large.yml': `${addition}top\n${middle}bottom\n` });
  const before = await commitsOf(parent.branchName);
  await expect(intoParent(child)).rejects.toMatchObject({
    code: 'data_model_too_large',
    message: expect.stringContaining('large.yml'),
  });
  expect(await commitsOf(parent.branchName)).toEqual(before);
});

test('merges of three branches at once all land', async () => {
  const branches = [];
  for (let i = 0; i < 3; i++) {
    const mine = await branch();
    await mine.save({ [`${i}.yml`]: String(i) });
    branches.push(mine);
  }
  // A merge is computed again for each other one that was faster. Three tries are allowed.
  const replies = await Promise.all(branches.map((mine) => toDefault(mine)));
  expect(replies.map(({ merged }) => merged)).toEqual([true, true, true]);
  const files = await readFiles(world.admin, deploymentId, 'main');
  expect(files).toMatchObject({ '0.yml': '0', '1.yml': '1', '2.yml': '2' });
});
