import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Modeller, modeller } from '../../../test/data-models.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { blobOf } from '../../platform/git/objects.ts';
import { EMPTY_TREE, editTree } from '../../platform/git/trees.ts';

let world: World;
let deploymentId: number;
let mine: Modeller;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
beforeEach(async () => {
  mine = await modeller(world, deploymentId, { branch: unique('files'), client: mine?.client });
});
afterAll(() => world.stop());

const bodyOf = (files: object[]) => ({ branchName: mine.branchName, files }) as never;
const remove = (...paths: string[]) =>
  mine.client.removeFiles({ deploymentId, body: bodyOf(paths.map((path) => ({ path }))) });
const rename = (renames: Record<string, string>) =>
  mine.client.renameFiles({
    deploymentId,
    body: bodyOf(Object.entries(renames).map(([path, newPath]) => ({ path, newPath }))),
  });
const list = (query: object = {}) =>
  mine.client.listFiles({ deploymentId, branchName: mine.branchName, ...query });
const mineOnly = async () => {
  const files = await mine.read();
  return Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith('model/')));
};

test('files are written, replaced, renamed and removed, and other files stay as they are', async () => {
  const before = await mine.read();
  await mine.write({ 'a.yml': 'a: 1\n', 'deep/er/b.yml': 'b: 1\n' });
  await mine.write({ 'a.yml': 'a: 2\n', 'leer.yml': '' });
  await rename({ 'deep/er/b.yml': 'elsewhere/b.yml' });
  await remove('leer.yml');
  expect(await mine.read()).toEqual({ ...before, 'a.yml': 'a: 2\n', 'elsewhere/b.yml': 'b: 1\n' });
});

test('a list without content holds the same tree', async () => {
  await mine.write({ 'a.yml': 'a', 'x/b.yml': 'b' });
  const { items, data } = await list();
  expect(data).toEqual(items);
  expect(items).toContainEqual({ path: 'a.yml', type: 'file' });
  expect(items).toContainEqual({
    path: 'x',
    type: 'directory',
    children: [{ path: 'x/b.yml', type: 'file' }],
  });
});

test('a list is paged by files, and pages go on where the last one ended while files come and go', async () => {
  await mine.write(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}.yml`, name])));
  const first = await list({ first: 2, withContent: true });
  expect(first.items.map(({ path }) => path)).toEqual(['a.yml', 'b.yml']);
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  await remove('b.yml');
  await mine.write({ 'bb.yml': 'new', 'A.txt': 'before' });
  const second = await list({ first: 3, after: first.pageInfo.endCursor });
  expect(second.items.map(({ path }) => path)).toEqual(['bb.yml', 'c.yml', 'd.yml']);
  const other = await modeller(world, deploymentId, { branch: unique('other'), client: mine.client });
  const foreign = mine.client.listFiles({
    deploymentId,
    branchName: other.branchName,
    after: first.pageInfo.endCursor!,
  });
  await expect(foreign).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
});

test('contents that are too large for one reply are read in pages', async () => {
  const large = 'x'.repeat(1024 * 1024);
  for (let part = 0; part < 3; part++) {
    await mine.write(
      Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`large/${part}-${i}.yml`, large])),
    );
  }
  await expect(list({ withContent: true })).rejects.toMatchObject({ status: 400, code: 'page_required' });
  await list();
  const seen: string[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = await list({ withContent: true, first: 1000, after });
    expect(JSON.stringify(page.items).length).toBeLessThan(4 * 1024 * 1024);
    const paths = JSON.stringify(page.items).match(/"large\/\d-\d\.yml"/g) ?? [];
    seen.push(...paths);
    after = page.pageInfo.endCursor!;
    more = page.pageInfo.hasNextPage;
  }
  expect(new Set(seen).size).toBe(18);
  expect(seen.length).toBe(18);
});

describe('nothing changes if one of the files is refused', () => {
  const refused: [what: string, files: Record<string, string>, error: object][] = [
    ['a path that leaves the data model', { '../x.yml': '' }, { code: 'invalid_file' }],
    ['an absolute path', { '/x.yml': '' }, { code: 'invalid_file' }],
    ["git's own folder", { '.git/config': '' }, { code: 'invalid_file' }],
    ["git's own folder by another name", { 'a/GIT~1': '' }, { code: 'invalid_file' }],
    ['a name that JSON objects cannot have', { 'a/__proto__': '' }, { code: 'invalid_file' }],
    ['a name that Windows cannot have', { 'Aux.yml': '' }, { code: 'invalid_file' }],
    ['a control character', { 'a\u0007b': '' }, { code: 'invalid_file' }],
    ['a name of 256 bytes', { ['x'.repeat(256)]: '' }, { code: 'invalid_file' }],
    ['a path twice, in two normal forms', { 'é.yml': '1', 'e\u0301.yml': '2' }, { code: 'invalid_file' }],
    [
      'content of more than 1 MB of bytes',
      { 'big.yml': 'ä'.repeat(600_000) },
      { code: 'invalid_file', message: expect.stringContaining('big.yml must have') },
    ],
    ['a file below a file', { 'there.yml/x.yml': '' }, { code: 'file_path_taken' }],
    ['a file in the place of a folder', { folder: '' }, { code: 'file_path_taken' }],
    ['another case', { 'THERE.yml': '' }, { code: 'file_path_taken' }],
    ['two new files of which one is a folder', { n: '', 'n/x.yml': '' }, { code: 'file_path_taken' }],
  ];
  test.each(refused)('%s', async (_, files, error) => {
    await mine.write({ 'there.yml': '1', 'folder/x.yml': '1' });
    const before = await mine.read();
    const attempt = mine.write({ 'good.yml': 'good', ...files });
    await expect(attempt).rejects.toMatchObject({
      issues: expect.arrayContaining([expect.anything()]),
      ...error,
    });
    expect(await mine.read()).toEqual(before);
  });

  test.each(['\\ud800', '\\u0000'])('content with %s', async (content) => {
    const body = `{"files":[{"path":"x.yml","content":"${content}"}]}`;
    const headers = { 'content-type': 'application/json' };
    const address = `/build/api/v1/deployments/${deploymentId}/data-model/files`;
    const response = await world.raw('PUT', address, { headers, body });
    const text = expect.stringMatching(/^files\[0\]\.content: must not have (NUL|half of a character)/);
    const issues = [{ path: 'files[0].content' }];
    expect(await response.json()).toMatchObject({
      statusCode: 400,
      code: 'invalid_text',
      message: text,
      issues,
    });
  });

  test('a removal of a file that is not there, or of a folder', async () => {
    await mine.write({ 'there.yml': '1', 'folder/x.yml': '1' });
    for (const path of ['missing.yml', 'folder']) {
      await expect(remove('there.yml', path)).rejects.toMatchObject({
        status: 400,
        code: 'invalid_reference',
        issues: [{ path: 'files[1].path' }],
      });
    }
    expect(await mineOnly()).toHaveProperty('there.yml');
  });

  test.each([
    ['onto another file', { 'good.yml': 'better.yml', 'a.yml': 'b.yml' }, 'file_path_taken'],
    ['in a circle', { 'a.yml': 'b.yml', 'b.yml': 'a.yml' }, 'file_path_taken'],
    ['into a chain', { 'a.yml': 'b.yml', 'b.yml': 'c.yml' }, 'file_path_taken'],
    ['onto the same new path', { 'a.yml': 'n.yml', 'b.yml': 'n.yml' }, 'invalid_file'],
    ['below a file', { 'a.yml': 'b.yml/x' }, 'file_path_taken'],
    ['onto a path that differs by case', { 'a.yml': 'B.yml' }, 'file_path_taken'],
    ['to a path that is not allowed', { 'a.yml': '../a.yml' }, 'invalid_file'],
    ['of a file that is not there', { 'missing.yml': 'n.yml' }, 'invalid_reference'],
  ])('a rename %s', async (_, renames, code) => {
    await mine.write({ 'good.yml': 'good', 'a.yml': 'a', 'b.yml': 'b' });
    await expect(rename(renames)).rejects.toMatchObject({ code });
    expect(await mineOnly()).toEqual({ 'good.yml': 'good', 'a.yml': 'a', 'b.yml': 'b' });
  });
});

test('a file is renamed by case only, and a file takes the place of an emptied folder', async () => {
  await mine.write({ 'orders.yml': '1', 'folder/x.yml': '2' });
  await rename({ 'orders.yml': 'Orders.yml', 'folder/x.yml': 'x.yml' });
  await rename({ 'x.yml': 'folder' });
  expect(await mineOnly()).toEqual({ 'Orders.yml': '1', folder: '2' });
});

test('both normal forms of a path are one file', async () => {
  await mine.write({ 'modèle.yml': '1' });
  await mine.write({ 'mode\u0300le.yml': '2' });
  expect(await mineOnly()).toEqual({ 'modèle.yml': '2' });
  await remove('mode\u0300le.yml');
  expect(await mineOnly()).toEqual({});
});

test('changes that are taken back are no changes', async () => {
  await mine.write({ 'a.yml': '1' });
  await remove('a.yml');
  await expect(mine.commit('nothing')).rejects.toMatchObject({ status: 409, code: 'nothing_to_commit' });
});

test('a body of more than 8 MB is a 413', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`${i}.yml`, 'x'.repeat(1024 * 1024)]),
  );
  await expect(mine.write(files)).rejects.toMatchObject({ status: 413, code: 'body_too_large' });
});

test('people who write other files of a branch at once, on two servers, lose nothing', async () => {
  const { apiKey } = await world.person({ roles: ['Developer'] });
  const { url } = await world.anotherServer();
  const client = createOrielClient({ baseUrl: url, apiKey });
  await client.startDevMode({ deploymentId, body: { branchName: mine.branchName } });
  const write = (from: typeof client, path: string) =>
    from.updateFiles({ deploymentId, body: bodyOf([{ path, content: path }]) });
  const paths = Array.from({ length: 12 }, (_, i) => `parallel/${i}.yml`);
  await Promise.all(paths.map((path, i) => write(i % 2 ? client : mine.client, path)));
  expect(Object.keys(await mineOnly()).sort()).toEqual([...paths].sort());
});

test('uncommitted changes are discarded by people in dev mode, and what was committed stays', async () => {
  const { id } = await world.deployment();
  const one = await modeller(world, id, { branch: 'shared' });
  await one.save({ 'kept.yml': 'committed' });
  const before = await one.read();
  await one.write({ 'kept.yml': 'changed', 'new.yml': 'new' });
  const discard = (client = one.client) =>
    client.discardChanges({ deploymentId: id, body: { branchName: 'shared' } });
  const other = await modeller(world, id);
  await expect(discard(other.client)).rejects.toMatchObject({ status: 409, code: 'not_in_dev_mode' });
  expect(await one.read()).not.toEqual(before);
  await discard();
  expect(await one.read()).toEqual(before);
  const { items } = await world.admin.listBranches({ deploymentId: id });
  expect(items.find(({ name }) => name === 'shared')).toMatchObject({ hasUncommittedChanges: false });
  const built = async () => (await one.client.buildStatus({ deploymentId: id, branchName: 'shared' })).status;
  await expect.poll(built).toBe('built');
  await discard();
  await expect(one.commit('nothing')).rejects.toMatchObject({ code: 'nothing_to_commit' });
});

test('people who commit to one branch at once: all changes land, and whoever had nothing left gets the 409', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  await client.startDevMode({ deploymentId, body: { branchName: mine.branchName } });
  const save = async (from: typeof client, path: string) => {
    await from.updateFiles({ deploymentId, body: bodyOf([{ path, content: path }]) });
    return from.commitChanges({ deploymentId, body: { branchName: mine.branchName, message: path } });
  };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) => save(i % 2 ? client : mine.client, `c/${i}.yml`)),
  );
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'nothing_to_commit' });
  const reader = await world.person({ roles: ['Explorer'] });
  const { items } = await reader.client.listFiles({ deploymentId, branchName: mine.branchName });
  const folder = items.find(({ path }) => path === 'c')!;
  expect((folder as { children: unknown[] }).children).toHaveLength(8);
});

test('what a deployment stores is bounded, also if the same file is written again and again', async () => {
  const { id } = await world.deployment();
  await world.admin.updateDeployment({ deploymentId: id, body: { deployMode: 'cli' } });
  const person = await modeller(world, id, { branch: 'full', client: world.admin });
  const { transaction } = await world.admin.startUpload({ deploymentId: id, branchName: 'main', body: {} });
  const { pool } = world.server.db;
  const written = async (): Promise<number> =>
    (await pool.query('select written_bytes from data_models where deployment_id = $1', [id])).rows[0]
      .written_bytes;
  await person.write({ 'x.yml': 'x'.repeat(1000) });
  // What was written is added with the next write. Other databases of this process may have left something too.
  const first = await written();
  await person.write({ 'x.yml': 'y'.repeat(1000) });
  await person.write({ 'x.yml': 'y'.repeat(1000) });
  const before = await written();
  expect(before - first).toBeGreaterThan(2000);
  expect(before - first).toBeLessThan(5000);
  const max = 10 * 1024 ** 3;
  await pool.query('update data_models set stored_bytes = $2 where deployment_id = $1', [
    id,
    max - before - 3000,
  ]);
  await person.write({ 'x.yml': 'z'.repeat(1000) });
  const full = { status: 409, code: 'data_model_storage_full' };
  await expect(person.write({ 'x.yml': 'w'.repeat(3000) })).rejects.toMatchObject(full);
  const file = new Blob(['v'.repeat(3000)]);
  const body = { transaction: transaction.id, fileName: 'x.yml', file };
  await expect(world.admin.uploadFile({ deploymentId: id, body })).rejects.toMatchObject(full);
  await pool.query('update data_models set stored_bytes = $2 where deployment_id = $1', [id, max]);
  const files = [{ path: 'x.yml', newPath: 'y.yml' }];
  const renaming = person.client.renameFiles({ deploymentId: id, body: { branchName: 'full', files } });
  await expect(renaming).rejects.toMatchObject(full);
  expect(await person.read()).toMatchObject({ 'x.yml': 'z'.repeat(1000) });
  await person.client.removeFiles({
    deploymentId: id,
    body: { branchName: 'full', files: [{ path: 'x.yml' }] },
  });
});

test('the audit log holds the paths and hashes of changed files, and no content', async () => {
  await mine.write({ 'audited.yml': 'the content of the file' });
  await rename({ 'audited.yml': 'renamed.yml' });
  const { items } = await world.admin.listAuditLog({ deploymentId, resourceType: 'dataModelFile', first: 3 });
  const hash = expect.stringMatching(/^[0-9a-f]{40}$/);
  expect(items).toMatchObject([
    { resourceId: expect.stringMatching(/audited|renamed/), operation: 'renameFiles' },
    { resourceId: expect.stringMatching(/audited|renamed/), operation: 'renameFiles' },
    {
      resourceId: 'audited.yml',
      before: null,
      after: { branch: mine.branchName, hash },
      operation: 'updateFiles',
    },
  ]);
  expect(JSON.stringify(items)).not.toContain('the content');
});

/** Gives the branch these files, faster than requests would. */
async function fillBranch({ branchName }: Modeller, id: number, files: Map<string, string>) {
  const { db } = world.server;
  const objects = createObjects(db, id);
  const blobs = new Map<string, string>();
  for (const text of new Set(files.values())) blobs.set(text, (await objects.write([blobOf(text)]))[0]!);
  const edits = new Map([...files].map(([path, text]) => [path, blobs.get(text)!]));
  const tree = await editTree(objects, EMPTY_TREE, edits);
  await db.pool.query('update branches set working_tree = $1 where deployment_id = $2 and name = $3', [
    tree,
    id,
    branchName,
  ]);
}

const numbered = (count: number, text: string) =>
  new Map(Array.from({ length: count }, (_, i): [string, string] => [`f${i % 7}/${i}.yml`, text]));

test('a data model with too many files is refused', async () => {
  const { id } = await world.deployment();
  const person = await modeller(world, id, { branch: 'many' });
  await fillBranch(person, id, numbered(9999, ''));
  await person.write({ 'one-more.yml': '' });
  const refused = { status: 409, code: 'data_model_too_large' };
  await expect(person.write({ 'another.yml': '' })).rejects.toMatchObject(refused);
  await person.write({ 'f0/0.yml': 'changed' });
  await person.commit('ten thousand files');
});

test('a data model with too many folders is refused', async () => {
  const { id } = await world.deployment();
  const person = await modeller(world, id, { branch: 'deep' });
  const deep = (i: number, text = '') => [`${i}${'/x'.repeat(19)}/f.yml`, text] as const;
  await fillBranch(person, id, new Map(Array.from({ length: 1000 }, (_, i) => deep(i))));
  await person.write(Object.fromEntries([deep(7, 'changed')]));
  await expect(person.write({ 'one/more.yml': '' })).rejects.toMatchObject({
    status: 409,
    code: 'data_model_too_large',
    message: expect.stringContaining('20000 folders'),
  });
});

test('a list of long paths in many folders is read in pages', async () => {
  const { id } = await world.deployment();
  const person = await modeller(world, id, { branch: 'long' });
  const part = 'x'.repeat(50);
  const paths = Array.from({ length: 1000 }, (_, i) => `${i}${`/${part}`.repeat(18)}/f.yml`);
  await fillBranch(person, id, new Map(paths.map((path) => [path, ''])));
  const read = (query: object = {}) =>
    person.client.listFiles({ deploymentId: id, branchName: 'long', first: 1000, ...query });
  await expect(read({ first: undefined })).resolves.toBeDefined();
  const first = await read();
  expect(JSON.stringify(first.items).length).toBeLessThan(3 * 1024 * 1024);
  expect(first.items.length).toBeGreaterThan(100);
  expect(first.pageInfo.hasNextPage).toBe(true);
  await fillBranch(
    person,
    id,
    new Map([...paths, ...paths.map((path) => `y${path}`)].map((path) => [path, ''])),
  );
  await expect(read({ first: undefined })).rejects.toMatchObject({ status: 400, code: 'page_required' });
});

test('a file whose path is no longer allowed can be read, renamed and removed', async () => {
  const { id } = await world.deployment();
  const person = await modeller(world, id, { branch: 'old' });
  await fillBranch(
    person,
    id,
    new Map([
      ['con.yml', '1'],
      ['a:b', '2'],
    ]),
  );
  const body = <File>(file: File) => ({ branchName: 'old', files: [file] });
  const [from, to] = ['con.yml', 'console.yml'];
  await person.client.renameFiles({ deploymentId: id, body: body({ path: from, newPath: to }) });
  await person.client.removeFiles({ deploymentId: id, body: body({ path: 'a:b' }) });
  expect(await person.read()).toEqual({ 'console.yml': '1' });
});

test('a data model with too many bytes is refused, where the same content counts as often as it is there', async () => {
  const { id } = await world.deployment();
  const person = await modeller(world, id, { branch: 'large' });
  await fillBranch(person, id, numbered(199, 'x'.repeat(512 * 1024)));
  const half = 'y'.repeat(512 * 1024);
  await person.write({ 'half.yml': half });
  const refused = { status: 409, code: 'data_model_too_large' };
  await expect(person.write({ 'one-byte.yml': 'y' })).rejects.toMatchObject(refused);
  await person.write({ 'half.yml': '' });
  await person.write({ 'one-byte.yml': 'y' });
});

test('the files of an earlier commit can be listed, and what is no commit is a 404', async () => {
  await mine.save({ 'kept.yml': 'one\n', 'gone.yml': 'x\n' });
  const { items } = await mine.client.listCommits({ deploymentId, name: mine.branchName, first: 1 });
  const commit = items[0]!.hash;
  await remove('gone.yml');
  await mine.save({ 'kept.yml': 'two\n', 'later.yml': '' });
  const listed = await list({ commit, withContent: true });
  const own = listed.items.filter(({ path }) => path.endsWith('.yml'));
  expect(own.map(({ path, content }) => [path, content])).toEqual([
    ['gone.yml', 'x\n'],
    ['kept.yml', 'one\n'],
  ]);
  for (const unknown of ['0'.repeat(40), 'x'.repeat(40)])
    await expect(list({ commit: unknown })).rejects.toMatchObject({ status: 404, code: 'commit_not_found' });
});
