import { createHash } from 'node:crypto';
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { modeller, readFiles } from '../../../test/data-models.ts';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { blobOf } from '../../platform/git/objects.ts';
import { digestOf } from './rules.ts';
import { removeEndedUploads } from './upkeep.ts';

let world: World;
let deploymentId: number;
let admin: OrielClient;
beforeAll(async () => {
  world = await createWorld();
  admin = world.admin;
});
beforeEach(async () => {
  deploymentId = await cliDeployment();
});
afterAll(() => world.stop());

async function cliDeployment(): Promise<number> {
  const { id } = await world.deployment();
  await world.server.db.pool.query(`update deployments set deploy_mode = 'cli' where id = $1`, [id]);
  return id;
}

const sha1 = (content: string) => createHash('sha1').update(content).digest('hex');
const hashesOf = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { hash: sha1(content) }]));

const start = async (query: object = {}, client = admin) =>
  (await client.startUpload({ deploymentId, ...query, body: {} })).transaction.id;
const send = (transaction: string, fileName: string, content: string | Uint8Array, client = admin) =>
  client.uploadFile({
    deploymentId,
    body: { transaction, fileName, file: new Blob([content as string]) },
  });
const finish = (id: string, files: Record<string, string>, options: object = {}, client = admin) =>
  client.finishUpload({
    deploymentId,
    body: { transaction: { id }, files: hashesOf(files), ...options },
  });
/** A whole upload. */
async function upload(files: Record<string, string>, options: object = {}) {
  const id = await start();
  for (const [path, content] of Object.entries(files)) await send(id, path, content);
  return finish(id, files, options);
}
const read = () => readFiles(admin, deploymentId, 'main');

test('an upload replaces the data model in one commit, and nothing is visible before it is finished', async () => {
  const before = await read();
  const files = { 'model/a.yml': 'a: 1\n', 'README.md': '# Model\n' };
  const id = await start();
  for (const [path, content] of Object.entries(files)) await send(id, path, content);
  expect(await read()).toEqual(before);
  const { lastHash } = await finish(id, files, { commitMessage: 'Deploy' });
  expect(await read()).toEqual(files);
  const [newest] = (await admin.listCommits({ deploymentId, name: 'main' })).items;
  expect(newest).toMatchObject({ hash: lastHash, message: 'Deploy' });
});

test('only files that differ are sent, also if they were moved', async () => {
  await upload({ 'a.yml': 'a', 'b.yml': 'b' });
  expect(await admin.fileHashes({ deploymentId })).toEqual(hashesOf({ 'a.yml': 'a', 'b.yml': 'b' }));
  const id = await start();
  await send(id, 'c.yml', 'c');
  await finish(id, { 'a.yml': 'a', 'moved/b.yml': 'b', 'c.yml': 'c' });
  expect(await read()).toEqual({ 'a.yml': 'a', 'moved/b.yml': 'b', 'c.yml': 'c' });
});

test('a hash that nobody sent is a 400 that names the paths, and the upload can go on', async () => {
  await upload({ 'a.yml': 'a' });
  const id = await start();
  await send(id, 'b.yml', 'b');
  const files = { 'a.yml': 'a', 'b.yml': 'b', 'x.yml': 'never sent', 'y.yml': 'neither' };
  await expect(finish(id, files)).rejects.toMatchObject({
    status: 400,
    code: 'unknown_file_hashes',
    message: expect.stringMatching(/x\.yml, y\.yml/),
    issues: [{ path: 'files.x.yml' }, { path: 'files.y.yml' }],
  });
  expect(await read()).toEqual({ 'a.yml': 'a' });
  await send(id, 'x.yml', 'never sent');
  await send(id, 'y.yml', 'neither');
  await finish(id, files);
  expect(await read()).toEqual(files);
});

test('files that are not named are removed, unless `autoRemoveFiles` is off', async () => {
  await upload({ 'a.yml': 'a', 'b.yml': 'b' });
  await upload({ 'c.yml': 'c' }, { autoRemoveFiles: false });
  expect(await read()).toEqual({ 'a.yml': 'a', 'b.yml': 'b', 'c.yml': 'c' });
  await upload({ 'c.yml': 'c' }, { autoRemoveFiles: null });
  expect(await read()).toEqual({ 'c.yml': 'c' });
});

test('an upload without a difference makes no commit', async () => {
  const { lastHash } = await upload({ 'a.yml': 'a' });
  const id = await start();
  expect(await finish(id, { 'a.yml': 'a' })).toEqual({ lastHash });
});

test('a file that is sent again replaces the one before, and one that is not named is not used', async () => {
  const id = await start();
  await send(id, 'a.yml', 'first');
  await send(id, 'a.yml', 'second');
  await send(id, 'unused.yml', 'unused');
  await finish(id, { 'a.yml': 'second' });
  expect(await read()).toEqual({ 'a.yml': 'second' });
});

describe('what tools send', () => {
  test('the transaction as JSON text or as the bare id, and the branch in the address or in the body', async () => {
    const { branchName } = await modeller(world, deploymentId, { branch: unique('tool'), client: admin });
    for (const given of [{ branchName }, { body: { branchName } }]) {
      const { transaction } = await admin.startUpload({ deploymentId, body: {}, ...given });
      await send(JSON.stringify(transaction), 'tool.yml', JSON.stringify(given));
      const files = { 'tool.yml': JSON.stringify(given) };
      await finish(transaction.id, files, { branchName, awaitGitOperations: true });
      expect(await readFiles(admin, deploymentId, branchName)).toEqual(files);
    }
    expect(await read()).not.toHaveProperty('tool.yml');
  });

  test('a start without a body', async () => {
    const address = `/build/api/v1/deployments/${deploymentId}/data-model/upload/start`;
    const response = await world.raw('POST', address);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ transaction: { id: expect.any(String) } });
  });

  test('two different branches are a 400', async () => {
    const attempt = admin.startUpload({ deploymentId, branchName: 'main', body: { branchName: 'other' } });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
    const other = finish(await start(), {}, { branchName: 'other' });
    await expect(other).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('what the start said, again with each file and at the finish', async () => {
    const { branchName } = await modeller(world, deploymentId, { branch: unique('again'), client: admin });
    const query = { branchName, live: true, useDeployProjectRoot: true };
    const id = await start(query);
    const body = { transaction: id, fileName: 'x.yml', file: new Blob(['x']) };
    await admin.uploadFile({ deploymentId, ...query, body });
    const files = hashesOf({ 'x.yml': 'x' });
    await admin.finishUpload({ deploymentId, ...query, body: { transaction: { id }, files } });
    expect(await readFiles(admin, deploymentId, branchName)).toEqual({ 'x.yml': 'x' });
  });

  test.each([
    ['live', { live: true }, { live: false }],
    ['useDeployProjectRoot', { useDeployProjectRoot: true }, { useDeployProjectRoot: false }],
    ['branchName', { branchName: 'other' }, { branchName: 'other' }],
  ])('something else than the start said is a 400, and changes nothing: %s', async (name, one, other) => {
    const { branchName } = await modeller(world, deploymentId, { branch: unique('other'), client: admin });
    const before = await readFiles(admin, deploymentId, branchName);
    for (const [atStart, later] of [
      [{ branchName }, one],
      [{ ...one, branchName }, other],
    ] as const) {
      const id = await start(atStart);
      const refused = { status: 400, code: 'invalid_request', issues: [{ path: name }] };
      const body = { transaction: id, fileName: 'x.yml', file: new Blob(['x']) };
      await expect(admin.uploadFile({ deploymentId, ...later, body })).rejects.toMatchObject(refused);
      await send(id, 'x.yml', 'x');
      const files = hashesOf({ 'x.yml': 'x' });
      const attempt = admin.finishUpload({ deploymentId, ...later, body: { transaction: { id }, files } });
      await expect(attempt).rejects.toMatchObject(refused);
    }
    expect(await readFiles(admin, deploymentId, branchName)).toEqual(before);
  });

  test('a file without a file name, and no body with the type of a form', async () => {
    const address = `/build/api/v1/deployments/${deploymentId}/data-model/upload`;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const started = await world.raw('POST', `${address}/start`, { headers: form, body: '' });
    expect(started.status).toBe(200);
    const { transaction } = (await started.json()) as { transaction: { id: string } };
    const part = (name: string, content: string) =>
      `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
    const sent = await world.raw('POST', `${address}/file`, {
      headers: { 'content-type': 'multipart/form-data; boundary=xx' },
      body: `${part('transaction', transaction.id)}${part('fileName', 'x.yml')}${part('file', 'x: 1')}--xx--\r\n`,
    });
    expect(sent.status).toBe(200);
    await finish(transaction.id, { 'x.yml': 'x: 1' });
    expect(await read()).toEqual({ 'x.yml': 'x: 1' });
  });
});

describe('an upload never mixes with other changes', () => {
  test('of two uploads at once the first that is finished counts, and the other one is refused', async () => {
    const [one, two] = [await start(), await start()];
    await send(one, 'one.yml', '1');
    await send(two, 'two.yml', '2');
    await finish(two, { 'two.yml': '2' });
    await expect(finish(one, { 'one.yml': '1' })).rejects.toMatchObject({
      status: 409,
      code: 'branch_changed',
    });
    expect(await read()).toEqual({ 'two.yml': '2' });
  });

  test('of two that are finished at the same time exactly one counts', async () => {
    const ids = await Promise.all([start(), start(), start()]);
    await Promise.all(ids.map((id, i) => send(id, `${i}.yml`, String(i))));
    const outcomes = await Promise.allSettled(ids.map((id, i) => finish(id, { [`${i}.yml`]: String(i) })));
    const done = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
    expect(done).toHaveLength(1);
    expect(await read()).toEqual({ [`${done[0]}.yml`]: String(done[0]) });
  });

  test('a commit, or an uncommitted change, between start and finish is a 409', async () => {
    const mine = await modeller(world, deploymentId, { branch: unique('between'), client: admin });
    const query = { branchName: mine.branchName };
    const before = await mine.read();
    const id = await start(query);
    await send(id, 'x.yml', 'x');
    await mine.write({ 'y.yml': 'y' });
    await expect(finish(id, { 'x.yml': 'x' })).rejects.toMatchObject({ code: 'branch_changed' });
    await mine.commit('y');
    await expect(finish(id, { 'x.yml': 'x' })).rejects.toMatchObject({ code: 'branch_changed' });
    expect(await mine.read()).toEqual({ ...before, 'y.yml': 'y' });
  });

  test('an upload to a branch with uncommitted changes is a 409, and loses nothing', async () => {
    const mine = await modeller(world, deploymentId, { branch: unique('draft'), client: admin });
    await mine.write({ 'draft.yml': 'not committed' });
    const before = await mine.read();
    const attempt = start({ branchName: mine.branchName });
    await expect(attempt).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
    expect(await mine.read()).toEqual(before);
    const id = await start({ branchName: mine.branchName, live: true });
    await finish(id, {}, { autoRemoveFiles: false });
    expect(await mine.read()).toEqual(before);
    await mine.commit('the draft');
    await finish(await start({ branchName: mine.branchName }), {}, { autoRemoveFiles: false });
    expect(await mine.read()).toEqual(before);
  });
});

describe('an upload that is finished', () => {
  const finished = { status: 409, code: 'upload_finished' };
  const countCommits = async () => (await admin.listCommits({ deploymentId, name: 'main' })).items.length;

  test('answers the same finish again, which changes nothing', async () => {
    const id = await start();
    const files = { 'x.yml': 'x', 'y.yml': 'y' };
    for (const [path, content] of Object.entries(files)) await send(id, path, content);
    const commits = await countCommits();
    const reply = await finish(id, files, { commitMessage: 'once' });
    expect(await finish(id, { 'y.yml': 'y', 'x.yml': 'x' }, { commitMessage: 'once' })).toEqual(reply);
    await upload({ 'z.yml': 'z' });
    await removeEndedUploads.run({}, { db: world.server.db, signal: new AbortController().signal } as never);
    expect(await finish(id, files, { commitMessage: 'once' })).toEqual(reply);
    expect(await countCommits()).toBe(commits + 2);
    expect(await read()).toEqual({ 'z.yml': 'z' });
  });

  test('answers the same to requests that come at the same time', async () => {
    const id = await start();
    await send(id, 'x.yml', 'x');
    const commits = await countCommits();
    const replies = await Promise.all(Array.from({ length: 5 }, () => finish(id, { 'x.yml': 'x' })));
    expect(new Set(replies.map(({ lastHash }) => lastHash)).size).toBe(1);
    expect(await countCommits()).toBe(commits + 1);
  });

  test('answers the same if another process finished it meanwhile', async () => {
    const id = await start();
    await send(id, 'x.yml', 'x');
    const { pool } = world.server.db;
    const { rows } = await pool.query('select branch_id from uploads where id = $1', [id]);
    const held = await holdRows(world, 'branches', [rows[0].branch_id]);
    const waiting = finish(id, { 'x.yml': 'x' });
    await held.waiting();
    const request = { wanted: new Map([['x.yml', sha1('x')]]), removesOthers: true, message: undefined };
    const head = 'f'.repeat(40);
    await pool.query('update uploads set finished_head = $2, finished_request = $3 where id = $1', [
      id,
      head,
      digestOf(request),
    ]);
    await held.release();
    expect(await waiting).toEqual({ lastHash: head });
  });

  test.each([
    ['other files', { 'x.yml': 'y' }, {}],
    ['no removal of others', { 'x.yml': 'x' }, { autoRemoveFiles: false }],
    ['another message', { 'x.yml': 'x' }, { commitMessage: 'another' }],
  ])('refuses a finish that asks for something else: %s', async (_, files, options) => {
    const id = await start();
    await send(id, 'x.yml', 'x');
    await finish(id, { 'x.yml': 'x' });
    await expect(finish(id, files, options)).rejects.toMatchObject(finished);
    await expect(send(id, 'x.yml', 'x')).rejects.toMatchObject(finished);
    expect(await read()).toEqual({ 'x.yml': 'x' });
  });

  test('is forgotten after an hour, and is not one of the ten that may be open', async () => {
    const open = await start();
    const ids: string[] = [];
    for (let i = 0; i < 11; i++) {
      ids.push(await start());
      await finish(ids[i]!, {}, { autoRemoveFiles: false });
    }
    await send(open, 'x.yml', 'x');
    await finish(ids[0]!, {}, { autoRemoveFiles: false });
    const { pool } = world.server.db;
    await pool.query(`update uploads set expires_at = expires_at - interval '1 hour' where id = $1`, [
      ids[0],
    ]);
    const attempt = finish(ids[0]!, {}, { autoRemoveFiles: false });
    await expect(attempt).rejects.toMatchObject({ status: 404, code: 'upload_not_found' });
  });
});

test('an upload of ten thousand files is finished, and one of more is refused', async () => {
  const id = await start();
  const texts = Array.from({ length: 10_000 }, (_, i) => `number: ${i}\n`);
  const files = Object.fromEntries(texts.map((text, i) => [`f${i % 100}/${i}.yml`, text]));
  // Stored as the requests would, because ten thousand of them take minutes.
  const blobs = await createObjects(world.server.db, deploymentId).write(texts.map(blobOf));
  await world.server.db.pool.query(
    `insert into upload_files (upload_id, path, blob, digest, bytes)
     select $1, n.path, n.blob, n.digest, 0 from unnest($2::text[], $3::text[], $4::text[]) n (path, blob, digest)`,
    [id, Object.keys(files), blobs, texts.map(sha1)],
  );
  const tooMany = finish(id, { ...files, 'one-more.yml': '' });
  await expect(tooMany).rejects.toMatchObject({ status: 400, issues: [{ path: 'files' }] });
  await finish(id, files);
  expect(await admin.fileHashes({ deploymentId })).toEqual(hashesOf(files));
  await upload({ 'f7/7.yml': 'changed' }, { autoRemoveFiles: false });
  expect(Object.keys(await admin.fileHashes({ deploymentId }))).toHaveLength(10_000);
});

describe('an upload that is not there', () => {
  const gone = { status: 404, code: 'upload_not_found' };

  test.each(['1', 'abc', '{}', '{"id":7}', '{"id":', '00000000-0000-4000-8000-000000000000'])(
    'is a 404: %s',
    async (id) => {
      await expect(send(id, 'x.yml', 'x')).rejects.toMatchObject(gone);
    },
  );

  test('also of another person and of another deployment', async () => {
    const id = await start();
    const { client } = await world.person({ roles: ['Admin'] });
    await expect(send(id, 'x.yml', 'x', client)).rejects.toMatchObject(gone);
    await expect(finish(id, {}, {}, client)).rejects.toMatchObject(gone);
    deploymentId = await cliDeployment();
    await expect(send(id, 'x.yml', 'x')).rejects.toMatchObject(gone);
    await expect(finish(id, {})).rejects.toMatchObject(gone);
  });

  test('an hour after its start, and then it is removed with what was sent', async () => {
    const id = await start();
    await send(id, 'x.yml', 'x');
    const { pool } = world.server.db;
    const count = async () =>
      (await pool.query('select count(*)::int as n from upload_files where upload_id = $1', [id])).rows[0].n;
    const { rows } = await pool.query(
      `update uploads set expires_at = expires_at - interval '1 hour' where id = $1
       returning extract(epoch from expires_at - created_at)::int as left`,
      [id],
    );
    expect(rows).toEqual([{ left: 0 }]);
    await expect(send(id, 'x.yml', 'x')).rejects.toMatchObject(gone);
    await expect(finish(id, { 'x.yml': 'x' })).rejects.toMatchObject(gone);
    expect(await count()).toBe(1);
    const context = { db: world.server.db, signal: new AbortController().signal };
    await removeEndedUploads.run({}, context as never);
    expect(await count()).toBe(0);
    const { rowCount } = await pool.query('select from uploads where id = $1', [id]);
    expect(rowCount).toBe(0);
  });

  test('when ten newer ones to the same branch have begun', async () => {
    const oldest = await start();
    const second = await start();
    for (let i = 0; i < 9; i++) await start();
    await expect(send(oldest, 'x.yml', 'x')).rejects.toMatchObject(gone);
    await send(second, 'x.yml', 'x');
  });
});

describe('branches', () => {
  const notInDevMode = { status: 409, code: 'not_in_dev_mode' };

  const modeOf = async () => (await admin.getDeploymentSettings({ deploymentId })).deployMode;

  test('a deployment without a deploy mode gets it from its first upload, so that it just works', async () => {
    deploymentId = (await world.deployment()).id;
    expect(await modeOf()).toBeNull();
    // A caller who may not deploy decides nothing.
    const { client } = await world.person({ roles: ['Viewer'] });
    await expect(start({}, client)).rejects.toMatchObject({ status: 403 });
    expect(await modeOf()).toBeNull();
    await upload({ 'model/a.yml': 'cubes: []\n' });
    expect(await read()).toEqual({ 'model/a.yml': 'cubes: []\n' });
    expect(await modeOf()).toBe('cli');
    // Dev mode comes later, and changes nothing.
    await modeller(world, deploymentId, { client: admin });
    expect(await modeOf()).toBe('cli');
  });

  test('or from dev mode, and then uploads go to branches in dev mode', async () => {
    deploymentId = (await world.deployment()).id;
    const mine = await modeller(world, deploymentId, { client: admin });
    expect(await modeOf()).toBe('git');
    await expect(start({ branchName: 'main' })).rejects.toMatchObject(notInDevMode);
    const other = await world.person({ roles: ['Admin'] });
    await expect(start({}, other.client)).rejects.toMatchObject(notInDevMode);
    const id = await start();
    await send(id, 'x.yml', 'x');
    await finish(id, { 'x.yml': 'x' });
    expect(await mine.read()).toEqual({ 'x.yml': 'x' });
  });

  test('uploads to the deploy branch need `SchemaUpdate`, and are refused while it is read-only', async () => {
    const actions = ['DeploymentRead', 'SchemaRead', 'SchemaUpdateDevBranches'] as const;
    const role = await admin.createRole({ body: { name: unique('role'), actions: [...actions] } });
    const { client } = await world.person({ roles: [role.name] });
    await expect(start({}, client)).rejects.toMatchObject({ status: 403, code: 'forbidden' });
    const id = await start();
    await world.server.db.pool.query('update deployments set deploy_branch_read_only = true where id = $1', [
      deploymentId,
    ]);
    const readOnly = { status: 409, code: 'deploy_branch_read_only' };
    await expect(start()).rejects.toMatchObject(readOnly);
    await expect(finish(id, {})).rejects.toMatchObject(readOnly);
  });

  test('a branch that the caller is not in dev mode on is a 409, and an unknown one a 404', async () => {
    const name = unique('closed');
    await admin.createBranch({ deploymentId, body: { name } });
    await expect(start({ branchName: name })).rejects.toMatchObject(notInDevMode);
    await expect(start({ branchName: 'no-such-branch' })).rejects.toMatchObject({ code: 'branch_not_found' });
  });

  test('an upload ends with its branch', async () => {
    const mine = await modeller(world, deploymentId, { branch: unique('deleted'), client: admin });
    const id = await start({ branchName: mine.branchName });
    await send(id, 'x.yml', 'x');
    await admin.deleteBranch({ deploymentId, branchName: mine.branchName });
    await expect(finish(id, { 'x.yml': 'x' })).rejects.toMatchObject({ code: 'upload_not_found' });
  });

  test('a key deploys although its owner is in dev mode, and `live` changes the branch in dev mode without a commit', async () => {
    const mine = await modeller(world, deploymentId, { client: admin });
    await upload({ 'deployed.yml': '1' });
    expect(await read()).toEqual({ 'deployed.yml': '1' });
    const id = await start({ live: true });
    await send(id, 'live.yml', '1');
    await finish(id, { 'live.yml': '1' });
    expect(await mine.read()).toEqual({ 'live.yml': '1' });
    expect(await admin.fileHashes({ deploymentId, live: true })).toEqual(hashesOf({ 'live.yml': '1' }));
    expect(await admin.fileHashes({ deploymentId })).toEqual(hashesOf({ 'deployed.yml': '1' }));
    const branches = (await admin.listBranches({ deploymentId })).items;
    expect(branches.find(({ name }) => name === mine.branchName)).toMatchObject({
      hasUncommittedChanges: true,
    });
    await admin.stopDevMode({ deploymentId });
    await expect(start({ live: true })).rejects.toMatchObject(notInDevMode);
  });

  test('`showLastCLIUpload` shows the files as the last upload left them', async () => {
    const show = async (branchName: string) =>
      (await admin.listFiles({ deploymentId, branchName, showLastCLIUpload: true })).items;
    expect(await show('main')).toEqual([]);
    const mine = await modeller(world, deploymentId, { branch: unique('shown'), client: admin });
    const id = await start({ branchName: mine.branchName });
    await send(id, 'x.yml', 'x');
    await finish(id, { 'x.yml': 'x' });
    await mine.write({ 'y.yml': 'y' });
    expect(await show(mine.branchName)).toEqual([{ path: 'x.yml', type: 'file' }]);
    const reader = await world.person({ roles: ['Explorer'] });
    const showOther = async () =>
      (
        await reader.client.listFiles({
          deploymentId,
          branchName: mine.branchName,
          showLastCLIUpload: true,
        })
      ).items;
    expect(await showOther()).toEqual([{ path: 'x.yml', type: 'file' }]);
    const live = await start({ branchName: mine.branchName, live: true });
    await send(live, 'draft.yml', 'uncommitted');
    await finish(live, { 'draft.yml': 'uncommitted' });
    expect(await show(mine.branchName)).toEqual([{ path: 'draft.yml', type: 'file' }]);
    expect(await showOther()).toEqual([]);
  });
});

test('with `useDeployProjectRoot` paths are below the root, and files elsewhere are left alone', async () => {
  await upload({ 'other/o.yml': 'o', 'project/old.yml': 'old' });
  await world.server.db.pool.query(`update deployments set deploy_project_root = '/project/' where id = $1`, [
    deploymentId,
  ]);
  const query = { useDeployProjectRoot: true };
  expect(await admin.fileHashes({ deploymentId, ...query })).toEqual(hashesOf({ 'old.yml': 'old' }));
  const id = await start(query);
  await send(id, 'new.yml', 'new');
  await finish(id, { 'new.yml': 'new' });
  expect(await read()).toEqual({ 'other/o.yml': 'o', 'project/new.yml': 'new' });
});

test('files of any bytes lie beside the model: they are sent, hashed, read, copied, merged and exported unchanged', async () => {
  const bytes = Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 7) % 256));
  const latin = Buffer.from('caf\xe9\n', 'latin1');
  const model = 'cubes: []\n';
  const id = await start();
  await send(id, 'images/logo.png', bytes);
  await send(id, 'notes.txt', latin);
  await send(id, 'model/a.yml', model);
  const sha = (content: Buffer) => ({ hash: createHash('sha1').update(content).digest('hex') });
  const hashes = {
    'images/logo.png': sha(bytes),
    'notes.txt': sha(latin),
    'model/a.yml': sha(Buffer.from(model)),
  };
  await admin.finishUpload({ deploymentId, body: { transaction: { id }, files: hashes } });
  expect(await admin.fileHashes({ deploymentId })).toEqual(hashes);

  const nodeOf = async (path: string, branchName = 'main') => {
    const { items } = await admin.listFiles({ deploymentId, branchName, withContent: true });
    const all = items.flatMap((node) => [node, ...(node.children ?? [])]);
    return all.find((node) => node.path === path);
  };
  const shown = (path: string, content: Buffer) => ({
    ...{ path, type: 'file', content: content.toString('base64'), encoding: 'base64' },
  });
  expect(await nodeOf('images/logo.png')).toEqual(shown('images/logo.png', bytes));
  expect(await nodeOf('notes.txt')).toEqual(shown('notes.txt', latin));
  expect(await nodeOf('model/a.yml')).toEqual({ path: 'model/a.yml', type: 'file', content: model });
  expect(await admin.validateDataModel({ deploymentId, branchName: 'main' })).toMatchObject({ valid: true });

  // Changed on a branch, and merged back.
  const mine = await modeller(world, deploymentId, { client: admin, branch: unique('branch') });
  const other = Buffer.concat([bytes, Buffer.from([0, 255])]);
  const files = [{ path: 'images/logo.png', content: other.toString('base64'), encoding: 'base64' as const }];
  await admin.updateFiles({ deploymentId, body: { branchName: mine.branchName, files } });
  const bad = [{ ...files[0]!, content: 'not base64!' }];
  const refused = admin.updateFiles({ deploymentId, body: { branchName: mine.branchName, files: bad } });
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_file' });
  await mine.commit('A larger picture');
  const [newest] = (await admin.listCommits({ deploymentId, name: mine.branchName })).items;
  const commit = await admin.getCommit({ deploymentId, hash: newest!.hash });
  expect(JSON.stringify(commit)).toContain('images/logo.png');
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  expect(await nodeOf('images/logo.png')).toEqual(shown('images/logo.png', other));
  const bundle = await admin.exportBundle({ deploymentId });
  expect((await new Response(bundle.stream).arrayBuffer()).byteLength).toBeGreaterThan(500);
});

describe('files that are refused', () => {
  test.each([
    ['a path that leaves the data model', '../x.yml', 'x'],
    ['an absolute path', '/etc/x.yml', 'x'],
    ["git's own folder", '.git/config', 'x'],
    ['bytes that are not text', 'x.yml', new Uint8Array([0xff, 0xfe, 0x00])],
    ['NUL', 'x.yml', 'a\0b'],
  ])('%s', async (_, path, content) => {
    const id = await start();
    await expect(send(id, path, content)).rejects.toMatchObject({ status: 400, code: 'invalid_file' });
  });

  test('a file of the model that is not text, by its path', async () => {
    const attempt = send(await start(), 'model/x.yml', new Uint8Array([0x89, 0x50, 0x4e, 0x47]));
    await expect(attempt).rejects.toMatchObject({
      message: 'file: model/x.yml must be text in UTF-8, as a file of the model',
    });
  });

  test('a file of more than 1 MB', async () => {
    const id = await start();
    await send(id, 'large.yml', 'x'.repeat(1024 * 1024));
    const attempt = send(id, 'larger.yml', 'x'.repeat(1024 * 1024 + 1));
    await expect(attempt).rejects.toMatchObject({ status: 413, code: 'body_too_large' });
  });

  test('two paths that are the same, in the list of a finish', async () => {
    const id = await start();
    await send(id, 'x.yml', 'x');
    const twice = finish(id, { 'é.yml': 'x', 'e\u0301.yml': 'x' });
    await expect(twice).rejects.toMatchObject({ code: 'invalid_file' });
    const byCase = finish(id, { 'A.yml': 'x', 'a.yml': 'x' });
    await expect(byCase).rejects.toMatchObject({ status: 409, code: 'file_path_taken' });
    const tricks = finish(id, { '../x.yml': 'x' });
    await expect(tricks).rejects.toMatchObject({ code: 'invalid_file' });
  });

  test('more than an upload takes: it is not stored, and what is sent again counts again', async () => {
    const { pool } = world.server.db;
    const stored = async (content: string) =>
      (
        await pool.query(`select from git_objects where deployment_id = $1 and digest = decode($2, 'hex')`, [
          deploymentId,
          sha1(content),
        ])
      ).rowCount;
    const id = await start();
    await pool.query('update uploads set bytes = $2 where id = $1', [id, 200 * 1024 * 1024 - 6]);
    await send(id, 'x.yml', '123');
    await send(id, 'x.yml', '45');
    expect(await stored('45')).toBe(1);
    const refused = { status: 409, code: 'upload_too_large' };
    await expect(send(id, 'x.yml', '67')).rejects.toMatchObject(refused);
    expect(await stored('67')).toBe(0);
    await send(id, 'y.yml', '8');
    await pool.query('update uploads set files = 20000, bytes = 0 where id = $1', [id]);
    await expect(send(id, 'z.yml', '9')).rejects.toMatchObject(refused);
    expect(await stored('9')).toBe(0);
    await finish(id, { 'x.yml': '45', 'y.yml': '8' });
    expect(await read()).toEqual({ 'x.yml': '45', 'y.yml': '8' });
  });
});

test('files that are sent at once all count', async () => {
  const id = await start();
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p/${i}.yml`, String(i)]));
  await Promise.all(Object.entries(files).map(([path, content]) => send(id, path, content)));
  const { rows } = await world.server.db.pool.query('select files, bytes from uploads where id = $1', [id]);
  expect(rows).toEqual([{ files: 20, bytes: 30 }]);
  await finish(id, files);
  expect(await read()).toEqual(files);
});
