/** Bundles are taken by the real `git clone`, and the sweep deletes only objects that nothing needs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitOf, type Files, treeOf } from '../../../test/git-files.ts';
import { memoryObjects } from '../../../test/memory-objects.ts';
import { createRealGit, type RealGit } from '../../../test/real-git.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { streamBundle } from './bundle.ts';
import { createCache } from './cache.ts';
import { listCommits } from './commits.ts';
import { createObjects } from './objects.store.ts';
import { blobOf, type Hash } from './objects.ts';
import type { Roots } from './reachable.ts';
import { sweepObjects } from './sweep.ts';
import { listTree } from './trees.ts';

let world: World;
let git: RealGit;
beforeAll(async () => {
  world = await createWorld();
  git = await createRealGit();
});
afterAll(async () => {
  await git.remove();
  await world.stop();
});

/** Sizes around the limits of the pack format's variable numbers, and names that sort differently in git. */
const FILES: Files = {
  empty: '',
  'cubes/orders.yml': 'cubes: []\n',
  'cubes.yml': 'a file that sorts before the directory',
  'zürich/\u{1f600}.yml': 'x',
  ...Object.fromEntries([15, 16, 2047, 2048, 300_000].map((size) => [`size/${size}`, 'y'.repeat(size)])),
};

test('git clones a bundle with every branch, commit and file, and git fsck finds nothing', async () => {
  const { id } = await world.deployment();
  const objects = createObjects(world.server.db, id);
  const root = await commitOf(objects, {});
  const first = await commitOf(objects, FILES, root);
  const side = await commitOf(objects, { ...FILES, 'cubes/orders.yml': 'side' }, first);
  const main = await commitOf(objects, { ...FILES, more: 'm' }, first, side);
  const refs = new Map([
    ['refs/heads/main', main],
    ['refs/heads/dev/ada', side],
  ]);
  const file = join(git.dir, 'model.bundle');
  await writeFile(file, await buffer(streamBundle(objects, refs, 'refs/heads/main')));

  await git.run(['bundle', 'verify', file]);
  await git.run(['clone', '--quiet', file, 'clone']);
  const inClone = (...args: string[]) => git.run(['-C', 'clone', ...args]);
  expect(await inClone('fsck', '--full', '--strict')).toBe('');
  expect((await inClone('symbolic-ref', 'HEAD')).trim()).toBe('refs/heads/main');
  expect((await inClone('rev-parse', 'origin/main', 'origin/dev/ada')).trim().split('\n')).toEqual([
    main,
    side,
  ]);

  const { commits } = await listCommits(objects, { from: [main] }, 100);
  expect(commits.map(({ hash }) => hash)).toEqual([main, side, first, root]);
  const logged = await inClone('log', '--format=%H %T');
  expect(logged.trim().split('\n')).toEqual(commits.map(({ hash, tree }) => `${hash} ${tree}`));
  for (const { tree } of commits) {
    const listed = (await inClone('ls-tree', '-r', '-z', tree)).split('\0').slice(0, -1);
    const own = [...(await listTree(objects, tree))].map(([path, hash]) => `100644 blob ${hash}\t${path}`);
    expect(own).toEqual(listed);
  }
  for (const [path, text] of Object.entries({ ...FILES, more: 'm' }))
    expect(await inClone('show', `main:${path}`), path).toBe(text);
});

test.each(['a', 'live', 'z'])(
  'git checks out the branch that is deployed, though others have the same commit: %s',
  async (deployed) => {
    const objects = memoryObjects();
    const commit = await commitOf(objects, FILES);
    const refs = new Map(['a', 'dev/ada', 'live', 'z'].map((name) => [`refs/heads/${name}`, commit]));
    const file = join(git.dir, `${deployed}.bundle`);
    await writeFile(file, await buffer(streamBundle(objects, refs, `refs/heads/${deployed}`)));
    await git.run(['clone', '--quiet', file, `clone-of-${deployed}`]);
    const current = await git.run(['-C', `clone-of-${deployed}`, 'branch', '--show-current']);
    expect(current.trim()).toBe(deployed);
  },
);

test('a branch that the settings of git name is checked out instead, unless the clone names another', async () => {
  const objects = memoryObjects();
  const commit = await commitOf(objects, FILES);
  const refs = new Map(['live', 'main'].map((name) => [`refs/heads/${name}`, commit]));
  const file = join(git.dir, 'guessed.bundle');
  await writeFile(file, await buffer(streamBundle(objects, refs, 'refs/heads/live')));
  const clone = async (folder: string, ...options: string[]) => {
    await git.run(['-c', 'init.defaultBranch=main', 'clone', '--quiet', ...options, file, folder]);
    return (await git.run(['-C', folder, 'branch', '--show-current'])).trim();
  };
  expect(await clone('guessed')).toBe('main');
  expect(await clone('named', '--branch', 'live')).toBe('live');
});

/** A deployment without the data model that it began with. */
async function emptyRepository() {
  const { id } = await world.deployment();
  // The build reads the objects.
  await expect.poll(async () => (await world.admin.buildStatus({ deploymentId: id })).status).toBe('built');
  await world.server.db.pool.query('delete from git_objects where deployment_id = $1', [id]);
  return { id };
}

const makeOld = (deploymentId: number) =>
  world.server.db.pool.query(
    `update git_objects set written_at = now() - interval '61 minutes' where deployment_id = $1`,
    [deploymentId],
  );

const countObjects = async (deploymentId: number) =>
  (await world.server.db.pool.query('select from git_objects where deployment_id = $1', [deploymentId]))
    .rowCount;

const sweep = (deploymentId: number, roots: Roots, signal = new AbortController().signal) =>
  sweepObjects(world.server.db, deploymentId, roots, signal);

test('the sweep keeps what commits, trees and blobs need, and deletes the rest', async () => {
  const [{ id }, other] = [await emptyRepository(), await emptyRepository()];
  const objects = createObjects(world.server.db, id);
  const base = await commitOf(objects, { 'a/b': '1', c: '2' });
  const head = await commitOf(objects, { 'a/b': '3', c: '2' }, base);
  const tree = await treeOf(objects, { 'uncommitted/x': '4' });
  const [blob] = await objects.write([blobOf('uploaded')]);
  const needed = await countObjects(id);
  await commitOf(objects, { 'of a/deleted branch': '5' }, head);
  await createObjects(world.server.db, other.id).write([blobOf('of another deployment')]);
  await makeOld(id);
  await makeOld(other.id);
  const roots = { commits: [head], trees: [tree], blobs: [blob!] };
  const aborted = AbortSignal.abort();
  expect(await sweep(id, roots, aborted)).toBe(0);
  expect(await sweep(id, roots)).toBe(4);
  expect(await countObjects(id)).toBe(needed);
  expect(await countObjects(other.id)).toBe(1);
  expect(await sweep(id, roots)).toBe(0);
});

test('the sweep goes through more objects than a batch has', async () => {
  const { id } = await emptyRepository();
  const objects = createObjects(world.server.db, id);
  const kept = await objects.write(Array.from({ length: 600 }, (_, n) => blobOf(`kept ${n}`)));
  await objects.write(Array.from({ length: 700 }, (_, n) => blobOf(`gone ${n}`)));
  await makeOld(id);
  expect(await sweep(id, { commits: [], blobs: kept })).toBe(700);
  expect(await countObjects(id)).toBe(600);
});

test('an object that was just written, or written again, is not swept', async () => {
  const { id } = await emptyRepository();
  const objects = createObjects(world.server.db, id);
  const write = (text: string) => objects.write([blobOf(text)]);
  await write('again');
  await makeOld(id);
  await write('new');
  await write('again');
  expect(await sweep(id, { commits: [] })).toBe(0);
  await makeOld(id);
  expect(await sweep(id, { commits: [] })).toBe(2);
});

test('a sweep that meets a change which writes the object again waits for it, and keeps the object', async () => {
  const { id } = await emptyRepository();
  let hash: Hash;
  await createObjects(world.server.db, id).write([blobOf('shared')]);
  await makeOld(id);
  let swept: Promise<number>;
  await world.server.db.transaction(async (tx) => {
    [hash] = (await createObjects(tx, id).write([blobOf('shared')])) as [Hash];
    swept = sweep(id, { commits: [] });
    const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from git_objects%'`;
    await expect.poll(async () => (await world.server.db.pool.query(isWaiting)).rowCount).toBe(1);
  });
  expect(await swept!).toBe(0);
  expect((await createObjects(world.server.db, id).read([hash!])).size).toBe(1);
});

test('the cache evicts what was not used for the longest time, and holds no more than its weight', () => {
  const cache = createCache<{ weight: number }>(10, ({ weight }) => weight);
  const weights = (...keys: string[]) => keys.map((key) => cache.get(key)?.weight);
  cache.set('a', { weight: 4 });
  cache.set('b', { weight: 4 });
  cache.set('a', { weight: 4 });
  cache.set('c', { weight: 2 });
  expect(weights('a', 'b', 'c')).toEqual([4, 4, 2]);
  cache.get('a');
  cache.set('d', { weight: 3 });
  expect(weights('a', 'b', 'c', 'd')).toEqual([4, undefined, 2, 3]);
  cache.set('heavier than the cache', { weight: 30 });
  expect(weights('a', 'c', 'd', 'heavier than the cache')).toEqual([undefined, undefined, undefined, 30]);
});

test('a bundle of nothing but an empty commit is whole too', async () => {
  const objects = memoryObjects();
  const commit = await commitOf(objects, {});
  const file = join(git.dir, 'empty.bundle');
  await writeFile(file, await buffer(streamBundle(objects, new Map([['refs/heads/main', commit]]))));
  expect(await git.run(['bundle', 'list-heads', file])).toBe(`${commit} refs/heads/main\n`);
  await git.run(['clone', '--quiet', '--branch', 'main', file, 'empty']);
  expect(await git.run(['-C', 'empty', 'fsck', '--full', '--strict'])).toBe('');
});
