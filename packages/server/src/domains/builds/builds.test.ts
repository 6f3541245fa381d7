/** What people see of builds. */
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const FILE = 'model/cubes/things.yml';
const GOOD = 'cubes:\n  - name: things\n    sql_table: things\n';
const BROKEN = 'cubes:\n  - name: things\n    sql_tabel: things\n';

const status = (deploymentId: number, branchName?: string, client: OrielClient = world.admin) =>
  client.buildStatus({ deploymentId, branchName });
const settled = async (deploymentId: number, branchName?: string, client = world.admin) => {
  await expect.poll(async () => (await status(deploymentId, branchName)).status).not.toBe('building');
  return status(deploymentId, branchName, client);
};

test('a new deployment is built at once, and its status names the commit and the files', async () => {
  const { id } = await world.deployment();
  expect(['building', 'built']).toContain((await status(id)).status);
  const { items } = await world.admin.listCommits({ deploymentId: id, name: 'main' });
  expect(await settled(id)).toMatchObject({
    branchName: 'main',
    deploymentId: id,
    buildJobId: expect.any(Number),
    status: 'built',
    deploymentStatus: 'built',
    mode: 'production',
    errorText: null,
    lastHash: items[0]!.hash,
    filesHash: expect.stringMatching(/^[0-9a-f]{40}$/),
    updatedAt: expect.any(String),
  });
});

test('without a branch, the status is that of the deploy branch if tools deploy by uploads, also in dev mode', async () => {
  const { id } = await world.deployment();
  await world.admin.startDevMode({ deploymentId: id, body: {} });
  expect(await status(id)).toMatchObject({ mode: 'development' });
  await world.admin.updateDeployment({ deploymentId: id, body: { deployMode: 'cli' } });
  expect(await status(id)).toMatchObject({ branchName: 'main', mode: 'production' });
});

test('without a branch, validate checks what the caller entered, also if tools deploy by uploads', async () => {
  const { id } = await world.deployment();
  await world.admin.updateDeployment({ deploymentId: id, body: { deployMode: 'cli' } });
  const dev = await modeller(world, id);
  await dev.write({ [FILE]: BROKEN });
  const reply = await dev.client.validateDataModel({ deploymentId: id });
  expect(reply).toMatchObject({ branchName: dev.branchName, valid: false });
  expect(await world.admin.validateDataModel({ deploymentId: id })).toMatchObject({
    branchName: 'main',
    valid: true,
  });
});

test('a broken change fails with file, line, column and a hint, while the last good build keeps serving', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  const good = await settled(id, dev.branchName);
  expect(good).toMatchObject({ status: 'built', mode: 'development' });
  await dev.write({ [FILE]: BROKEN });
  const broken = await settled(id, dev.branchName, dev.client);
  expect(broken).toMatchObject({ status: 'failed', deploymentStatus: 'built', lastHash: good.lastHash });
  expect(broken.errorText).toContain(
    `${FILE}:3:5: \`sql_tabel\` is not a key of a cube. Did you mean \`sql_table\`?`,
  );
  expect(broken.filesHash).not.toBe(good.filesHash);
  const history = async () =>
    (await world.admin.listBuilds({ deploymentId: id, branchName: dev.branchName })).items;
  const [newest] = await history();
  expect(newest).toMatchObject({ status: 'failed', cubesCount: expect.anything() });
  // A caller who is not in dev mode on the branch does not see its uncommitted changes here either.
  expect(newest!.errorText).not.toContain('sql_tabel');
  await world.admin.startBuild({ deploymentId: id, body: { branchName: dev.branchName } });
  await expect.poll(async () => (await history())[0]).toMatchObject({ status: 'failed' });
  expect((await history())[0]!.id).toBeGreaterThan(newest!.id);
  const unknown = world.admin.startBuild({ deploymentId: id, body: { branchName: 'no-such-branch' } });
  await expect(unknown).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  expect(await settled(id)).toMatchObject({ status: 'built', branchName: 'main' });
  await dev.write({ [FILE]: GOOD });
  expect(await settled(id, dev.branchName)).toMatchObject({ status: 'built', errorText: null });
});

test('what is wrong with uncommitted changes is told only to those who are in dev mode on the branch', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  await dev.write({ [FILE]: BROKEN });
  expect((await settled(id, dev.branchName, dev.client)).errorText).toContain(FILE);
  const { client } = await world.person({ roles: ['Explorer'] });
  const seen = await status(id, dev.branchName, client);
  expect(seen).toMatchObject({
    status: 'failed',
    errorText: expect.stringContaining('Those who are in dev mode on it see why'),
  });
  expect(JSON.stringify(seen)).not.toContain(FILE);
  await dev.commit('broken');
  await expect
    .poll(() => status(id, dev.branchName, client))
    .toMatchObject({ status: 'failed', errorText: expect.stringContaining(FILE) });
});

test('a build compiles the project: what is below the root of the settings, at every change of that', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  await dev.write({ [`analytics/${FILE}`]: BROKEN, 'elsewhere/bad.yml': 'cubes:\n bad' });
  expect(await settled(id, dev.branchName, dev.client)).toMatchObject({ status: 'failed' });
  const setRoot = (deployProjectRoot: string) =>
    world.admin.updateDeployment({ deploymentId: id, body: { deployProjectRoot } });
  await setRoot('analytics');
  const broken = await settled(id, dev.branchName, dev.client);
  expect(broken).toMatchObject({ status: 'failed' });
  expect(broken.errorText).toContain(`analytics/${FILE}:3:5: `);
  expect(broken.errorText).not.toContain('elsewhere');
  const validated = await dev.client.validateDataModel({ deploymentId: id, branchName: dev.branchName });
  expect(validated).toMatchObject({ valid: false, branchName: dev.branchName });
  expect(new Set(validated.errors.map(({ fileName }) => fileName))).toEqual(new Set([`analytics/${FILE}`]));
  await dev.write({ [`analytics/${FILE}`]: GOOD });
  expect(await settled(id, dev.branchName, dev.client)).toMatchObject({ status: 'built', errorText: null });
  const missing = await settled(id, 'main');
  expect(missing).toMatchObject({ status: 'failed', deploymentStatus: 'built' });
  expect(missing.errorText).toContain('There is no folder analytics/');
  await setRoot('/');
  expect(await settled(id, 'main')).toMatchObject({ status: 'built' });
  expect(await settled(id, dev.branchName, dev.client)).toMatchObject({ status: 'failed' });
});

test('a merge builds the deploy branch, and its log tells of it', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  await dev.save({ [FILE]: GOOD });
  await world.admin.mergeToDefaultBranch({ deploymentId: id, body: { branchName: dev.branchName } });
  const { items } = await world.admin.listCommits({ deploymentId: id, name: 'main' });
  await expect.poll(async () => (await settled(id, 'main')).lastHash).toBe(items[0]!.hash);
  const lines = async () =>
    (await world.admin.logs({ deploymentId: id, source: 'production', container: 'INIT' })).items;
  await expect
    .poll(async () => (await lines()).map(({ message }) => message))
    .toContain(`The build of main at ${items[0]!.hash.slice(0, 8)} is done: 2 cubes.`);
});

test('the status of a branch that does not exist, or that nobody works on, says so', async () => {
  const { id } = await world.deployment();
  expect(await status(id, 'nowhere')).toMatchObject({
    branchName: 'nowhere',
    status: 'none',
    errorText: expect.stringMatching(/^Bad branch/),
  });
  const name = unique('branch');
  await world.admin.createBranch({ deploymentId: id, body: { name } });
  expect(await status(id, name)).toMatchObject({
    status: 'stopped',
    errorText: expect.stringMatching(/^Branch is not active/),
  });
  await world.admin.setBranchStagingEnvironment({
    deploymentId: id,
    body: { branchName: name, enabled: true },
  });
  expect(await settled(id, name)).toMatchObject({ status: 'built', mode: 'staging' });
});

test('without a name, the status is that of the branch that the caller entered last', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  expect((await status(id, undefined, dev.client)).branchName).toBe(dev.branchName);
  expect((await status(id)).branchName).toBe('main');
});

test('validate checks uncommitted changes of who is in dev mode, or the commit, and stores nothing', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  await dev.write({ [FILE]: BROKEN, 'README.md': '# {{ hello }}' });
  const validate = (query: { branchName?: string; devMode?: boolean }, client = dev.client) =>
    client.validateDataModel({ deploymentId: id, ...query });
  expect(await validate({})).toEqual({
    valid: false,
    branchName: dev.branchName,
    cubesCount: 2,
    warnings: [],
    errors: [
      {
        fileName: FILE,
        message: expect.stringContaining('needs `sql_table` or `sql`'),
        line: 2,
        column: 5,
      },
      {
        fileName: FILE,
        message: expect.stringContaining('Did you mean `sql_table`?'),
        line: 3,
        column: 5,
      },
    ],
  });
  expect(await validate({ devMode: false })).toMatchObject({ valid: true, cubesCount: 1 });
  // Another user sees what is committed.
  const { branchName } = dev;
  expect(await validate({ branchName }, world.admin)).toMatchObject({ valid: true, errors: [] });
  expect(await validate({ branchName, devMode: true }, world.admin)).toMatchObject({
    valid: true,
    errors: [],
  });
  expect(await validate({ branchName, devMode: true })).toMatchObject({ valid: false });
  await expect(validate({ branchName: 'nowhere' })).rejects.toMatchObject({
    status: 404,
    code: 'branch_not_found',
  });
});

const joined = (name: string, ...others: string[]) => `  - name: ${name}
    sql_table: ${name}
    dimensions: [{ name: id, sql: id, type: number, primary_key: true }]
    joins:
${others
  .map(
    (other) =>
      `      - { name: ${other}, relationship: many_to_one, sql: "{CUBE}.${other}_id = {${other}.id}" }`,
  )
  .join('\n')}
`;

test('a model that builds with a warning is valid, and validate and the log hold the warning', async () => {
  const { id } = await world.deployment();
  const dev = await modeller(world, id);
  const [a, b, c, d] = [joined('a', 'b', 'c'), joined('b', 'd'), joined('c', 'd'), joined('d')];
  await dev.write({ [FILE]: `cubes:\n${a}${b}${c}${d.replace('    joins:\n\n', '')}` });
  const { errors, warnings } = await dev.client.validateDataModel({ deploymentId: id });
  expect(errors).toEqual([]);
  const message = expect.stringContaining('`a` and `d` can be joined by several paths');
  expect(warnings[0]).toEqual({ fileName: FILE, line: 2, column: 11, message });
  const closed = warnings.filter(({ message }) => message.includes('No cube or view has an `access_policy`'));
  expect(closed).toHaveLength(1);
  expect(await settled(id, dev.branchName)).toMatchObject({ status: 'built', errorText: null });
  const lines = async () => (await dev.client.logs({ deploymentId: id, source: 'dev' })).items;
  const { lastHash } = await status(id, dev.branchName);
  const about = `The build of ${dev.branchName} at ${lastHash!.slice(0, 8)} with uncommitted changes is done`;
  await expect
    .poll(async () => (await lines()).map((line) => line.message))
    .toEqual(
      expect.arrayContaining([
        expect.stringContaining(about),
        expect.stringContaining(`Warning: ${FILE}:2:11: `),
      ]),
    );
});

test('checks of one deployment take turns, and all are answered', async () => {
  const { id } = await world.deployment();
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => world.admin.validateDataModel({ deploymentId: id })),
  );
  expect(replies.map(({ valid }) => valid)).toEqual([true, true, true, true, true]);
});

test('a person who may not read the schema sees no status and no errors', async () => {
  const { id } = await world.deployment();
  const { client } = await world.person({ roles: ['Viewer'] });
  await expect(status(id, 'main', client)).rejects.toMatchObject({ status: 403 });
  await expect(client.validateDataModel({ deploymentId: id })).rejects.toMatchObject({ status: 403 });
});

describe('a staging branch with uncommitted changes', () => {
  async function staged() {
    const { id: deploymentId } = await world.deployment();
    const dev = await modeller(world, deploymentId, { branch: unique('staged') });
    const { branchName } = dev;
    const { data } = await world.admin.setBranchStagingEnvironment({
      deploymentId,
      body: { branchName, enabled: true },
    });
    const committed = (await settled(deploymentId, branchName)).filesHash;
    await dev.write({ [FILE]: GOOD });
    const changed = (await settled(deploymentId, branchName)).filesHash;
    expect(changed).not.toBe(committed);
    const expectBuilt = (filesHash: typeof changed) =>
      expect.poll(() => status(deploymentId, branchName)).toMatchObject({ status: 'built', filesHash });
    return { ...dev, branchId: data.id, committed, changed, expectBuilt };
  }

  test('is built without them when the last person leaves, and with them when the first one enters', async () => {
    const { client, deploymentId, branchName, committed, changed, expectBuilt } = await staged();
    await client.stopDevMode({ deploymentId });
    await expectBuilt(committed);
    await client.startDevMode({ deploymentId, body: { branchName } });
    await expectBuilt(changed);
  });

  test('is built without them also if the last two leave at once', async () => {
    const { client, deploymentId, branchName, branchId, committed, expectBuilt } = await staged();
    await world.admin.startDevMode({ deploymentId, body: { branchName } });
    const { id: otherId } = await world.admin.getMe();
    const held = await holdRows(world, 'branches', [branchId]);
    const leaving = client.stopDevMode({ deploymentId });
    await held.waiting();
    await held.release(`delete from dev_modes where branch_id = any($1) and user_id = ${otherId}`);
    await leaving;
    await expectBuilt(committed);
  });
});
