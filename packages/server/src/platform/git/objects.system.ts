/** The format of objects: the hashes are those that git computes, in memory and in the table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryObjects } from '../../../test/memory-objects.ts';
import { createRealGit, type RealGit } from '../../../test/real-git.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { type Commit, listCommits, parseCommit, readCommit, writeCommit } from './commits.ts';
import { diffTrees } from './diff-trees.ts';
import { isBranchName, isTreePath } from './names.ts';
import { createObjects, listDigests, listFileDigests, listSizes } from './objects.store.ts';
import { blobOf, type Hash, hashOf, MissingObjectError, type Objects } from './objects.ts';
import { EMPTY_TREE, editTree, listTree, PathTakenError, parseTree } from './trees.ts';

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

const inTable = async () => createObjects(world.server.db, (await world.deployment()).id);

const AUTHOR = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-01-02T03:04:05.678Z') };

test('a blob has the hash that git gives it', () => {
  expect(hashOf(blobOf(''))).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
  expect(hashOf(blobOf('hello\n'))).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
});

/** Writes the files and returns the tree. */
async function treeOf(objects: Objects, files: Record<string, string>): Promise<Hash> {
  const hashes = await objects.write(Object.values(files).map(blobOf));
  return editTree(objects, EMPTY_TREE, new Map(Object.keys(files).map((path, i) => [path, hashes[i]!])));
}

async function realTreeOf(files: Record<string, string>): Promise<Hash> {
  const { run } = git;
  const lines = [];
  for (const [path, text] of Object.entries(files)) {
    const blob = (await run(['hash-object', '-w', '--stdin'], { input: text })).trim();
    lines.push(`100644 ${blob}\t${path}\0`);
  }
  await run(['read-tree', '--empty']);
  await run(['update-index', '--add', '-z', '--index-info'], { input: lines.join('') });
  return (await run(['write-tree'])).trim();
}

/** Names that tell git's order from others: a directory sorts as if it ended with a slash, and texts sort by bytes. */
const TRICKY = {
  'a.yml': '1',
  'a/b.yml': '2',
  a0: '3',
  'a-b': '4',
  'ab/c/d.yml': '5',
  'zürich.yml': '6',
  '\uff5e.yml': '7',
  '\u{1f600}.yml': '8',
  'with space/x y.yml': '9',
};

describe.each([
  ['in memory', async () => memoryObjects()],
  ['in the table', inTable],
])('%s', (_where, create) => {
  test('a tree has the hash that git gives it, and lists its files in the order of git', async () => {
    const objects = await create();
    const tree = await treeOf(objects, TRICKY);
    expect(tree).toBe(await realTreeOf(TRICKY));
    const listed = await git.run(['ls-tree', '-r', '-z', '--name-only', tree]);
    expect([...(await listTree(objects, tree)).keys()]).toEqual(listed.split('\0').slice(0, -1));
  });

  test('edits change only the files that they name, and a directory that becomes empty disappears', async () => {
    const objects = await create();
    const before = await treeOf(objects, TRICKY);
    const [blob] = await objects.write([blobOf('new')]);
    const after = await editTree(
      objects,
      before,
      new Map([
        ['a/b.yml', null],
        ['new/file.yml', blob!],
        ['a0', blob!],
      ]),
    );
    const { 'a/b.yml': _gone, ...kept } = TRICKY;
    expect(after).toBe(await realTreeOf({ ...kept, 'new/file.yml': 'new', a0: 'new' }));
    const changes = await diffTrees(objects, before, after);
    expect(changes.map(({ path }) => path)).toEqual(['a/b.yml', 'a0', 'new/file.yml']);
    expect(changes[0]).toMatchObject({ before: hashOf(blobOf('2')), after: null });
    expect(changes[2]).toMatchObject({ before: null, after: blob });
    const all = new Map([...(await listTree(objects, after)).keys()].map((path) => [path, null]));
    expect(await editTree(objects, after, all)).toBe(EMPTY_TREE);
  });

  test('a file can take the place of a directory only if nothing is left in it, and the other way round', async () => {
    const objects = await create();
    const tree = await treeOf(objects, { 'a/b': '1', c: '2' });
    const edit = (...edits: [string, string | null][]) =>
      editTree(objects, tree, new Map(edits.map(([path, text]) => [path, text && hashOf(blobOf(text))])));
    await expect(edit(['a', '3'])).rejects.toThrow(PathTakenError);
    await expect(edit(['c/d', '3'])).rejects.toThrow(PathTakenError);
    await expect(edit(['../x', '3'])).rejects.toThrow(/not a path/);
    await objects.write([blobOf('3')]);
    expect(await edit(['a', '3'], ['a/b', null])).toBe(await realTreeOf({ a: '3', c: '2' }));
    expect(await edit(['c/d', '3'], ['c', null])).toBe(await realTreeOf({ 'a/b': '1', 'c/d': '3' }));
    // A path that is no file is left alone.
    expect(await edit(['a', null], ['none', null], ['c/d', null])).toBe(tree);
  });

  test('a commit has the hash that git gives it, with names and a message that git cleans', async () => {
    const objects = await create();
    const tree = await treeOf(objects, { a: '1' });
    expect(await realTreeOf({ a: '1' })).toBe(tree);
    const message = '\n\n  First line  \n\n\n\nsecond\tline\t\nÜ \u{1f600}\n\n';
    const author = { ...AUTHOR, name: ' .Ada <L>, the "first"; ', email: ' <ada@example.com>' };
    const first = await writeCommit(objects, { tree, parents: [], author, message });
    const second = await writeCommit(objects, { tree, parents: [first], author, message: 'again' });
    const seconds = Math.floor(AUTHOR.at.getTime() / 1000);
    const commit = (committed: number, text: string, ...args: string[]) =>
      git.run(['commit', '--quiet', '--allow-empty', '-m', text, ...args], {
        env: {
          GIT_AUTHOR_NAME: author.name,
          GIT_AUTHOR_EMAIL: author.email,
          GIT_COMMITTER_NAME: author.name,
          GIT_COMMITTER_EMAIL: author.email,
          GIT_AUTHOR_DATE: `${seconds} +0000`,
          GIT_COMMITTER_DATE: `${committed} +0000`,
        },
      });
    await git.run(['symbolic-ref', 'HEAD', `refs/heads/commits-${first}-${Math.random()}`]);
    await commit(seconds, message);
    expect((await git.run(['rev-parse', 'HEAD'])).trim()).toBe(first);
    // The second one was made in the same second, and is younger than its parent.
    await commit(seconds + 1, 'again');
    expect((await git.run(['rev-parse', 'HEAD'])).trim()).toBe(second);
    expect(await readCommit(objects, first)).toMatchObject({
      tree,
      parents: [],
      author: { name: 'Ada L, the "first', email: 'ada@example.com', at: new Date(seconds * 1000) },
      message: '  First line\n\nsecond\tline\nÜ \u{1f600}\n',
    });
  });

  test('the list of commits continues where it stopped, and shows each of them once', async () => {
    const objects = await create();
    const commit = (parents: Hash[], message: string) =>
      writeCommit(objects, { tree: EMPTY_TREE, parents, author: AUTHOR, message });
    const root = await commit([], 'root');
    let heads = [root, root];
    for (let n = 0; n < 12; n++) {
      const [left, right] = heads as [Hash, Hash];
      heads = [await commit([left], `left ${n}`), n % 3 ? right : await commit([right, left], `right ${n}`)];
    }
    const all: Commit[] = [];
    for (let from = heads; from.length; ) {
      const { commits, rest } = await listCommits(objects, { from }, 3);
      all.push(...commits);
      from = rest;
    }
    expect(all).toHaveLength(17);
    expect(new Set(all.map(({ hash }) => hash)).size).toBe(17);
    const placeOf = new Map(all.map(({ hash }, place) => [hash, place]));
    for (const { hash, parents } of all)
      for (const parent of parents) expect(placeOf.get(parent)).toBeGreaterThan(placeOf.get(hash)!);
    expect((await listCommits(objects, { from: heads }, 100)).commits).toEqual(all);
  });

  test('what is missing is an error, and so is an object of another type', async () => {
    const objects = await create();
    const [blob] = await objects.write([blobOf('x')]);
    const nothing = '1'.repeat(40);
    await expect(objects.read([blob!, nothing])).rejects.toThrow(MissingObjectError);
    await expect(listTree(objects, blob!)).rejects.toThrow(MissingObjectError);
    await expect(readCommit(objects, blob!)).rejects.toThrow(MissingObjectError);
    const commit = { tree: EMPTY_TREE, parents: [], author: AUTHOR, message: '' };
    await expect(writeCommit(objects, { ...commit, tree: nothing })).rejects.toThrow(MissingObjectError);
    await expect(writeCommit(objects, { ...commit, parents: [nothing] })).rejects.toThrow(MissingObjectError);
  });
});

test('a deployment does not see the objects of another', async () => {
  const [mine, others] = [await inTable(), await inTable()];
  const tree = await treeOf(mine, { a: 'only mine' });
  await expect(others.read([tree])).rejects.toThrow(MissingObjectError);
  await expect(listTree(others, tree)).rejects.toThrow(MissingObjectError);
  const { id } = await world.deployment();
  await expect(listDigests(world.server.db, id, [hashOf(blobOf('only mine'))])).rejects.toThrow(
    MissingObjectError,
  );
});

test('the digest of a blob is the SHA-1 of its plain bytes, and its size is their number', async () => {
  const { id } = await world.deployment();
  const blobs = await createObjects(world.server.db, id).write([blobOf('hello\n'), blobOf('')]);
  for (let times = 0; times < 2; times++) {
    expect([...(await listDigests(world.server.db, id, blobs)).values()].sort()).toEqual([
      'da39a3ee5e6b4b0d3255bfef95601890afd80709',
      'f572d396fae9206628714fb2ce00f72e94f2258f',
    ]);
    expect(await listSizes(world.server.db, id, blobs)).toEqual(
      new Map([
        [blobs[0], 6],
        [blobs[1], 0],
      ]),
    );
  }
});

test('the digests of all files of a tree are known by path, also if two files are the same', async () => {
  const { id } = await world.deployment();
  const tree = await treeOf(createObjects(world.server.db, id), { 'a/b': 'hello\n', c: '', d: 'hello\n' });
  const hello = { hash: 'f572d396fae9206628714fb2ce00f72e94f2258f' };
  const expected = { 'a/b': hello, c: { hash: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' }, d: hello };
  for (let times = 0; times < 2; times++)
    expect(await listFileDigests(world.server.db, id, tree)).toEqual(expected);
  const other = await world.deployment();
  await expect(listFileDigests(world.server.db, other.id, tree)).rejects.toThrow(MissingObjectError);
});

test('objects cannot be written to a deployment that does not exist', async () => {
  const write = createObjects(world.server.db, 999_999_999).write([blobOf('x')]);
  await expect(write).rejects.toMatchObject({ code: 'OR404' });
});

test('two writers of the same objects in another order both succeed', async () => {
  const { id } = await world.deployment();
  const blobs = Array.from({ length: 50 }, (_, n) => blobOf(`${n}`));
  const write = (list: typeof blobs) =>
    world.server.db.transaction(async (tx) => {
      for (const part of [list.slice(0, 25), list.slice(25)]) await createObjects(tx, id).write(part);
    });
  await Promise.all([write(blobs), write(blobs.toReversed())]);
  expect((await createObjects(world.server.db, id).read(blobs.map(hashOf))).size).toBe(50);
});

test('a large write is split, and every object arrives', async () => {
  const objects = await inTable();
  const blobs = Array.from({ length: 1500 }, (_, n) =>
    blobOf(n < 12 ? Buffer.alloc(900_000, n + 1) : `${n}`),
  );
  const hashes = await objects.write(blobs);
  expect(hashes).toEqual(blobs.map(hashOf));
  const found = await objects.read(hashes);
  for (const [i, hash] of hashes.entries())
    expect(found.get(hash)!.content.equals(blobs[i]!.content)).toBe(true);
});

test('a broken tree or commit is an error', () => {
  expect(() => parseTree(Buffer.from('100644 name\0short'))).toThrow('broken');
  expect(() => parseCommit('1'.repeat(40), Buffer.from('tree x\n\n'))).toThrow('no author');
});

test.each([
  ['a', true],
  ['cubes/orders.yml', true],
  ['.gitignore', true],
  ['a/.github/b', true],
  ['', false],
  ['/a', false],
  ['a//b', false],
  ['a/', false],
  ['./a', false],
  ['a/../b', false],
  ['.git/config', false],
  ['a/.GIT/b', false],
  ['.g\u200cit/x', false],
  ['.git /x', false],
  ['.git...', false],
  ['GIT~1/x', false],
  ['.git::$INDEX_ALLOCATION/x', false],
  ['a\\.git\\x', false],
  ['.gitmodules', false],
  ['a\0b', false],
  ['\ud800', false],
])('as a path, %j is %s', (path, isPath) => {
  expect(isTreePath(path)).toBe(isPath);
});

test('a name is one of a branch exactly if git says so', async () => {
  const names = [
    'main',
    'dev-ada',
    'a/b',
    'ü',
    '\u{1f600}',
    '-a',
    'a..b',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    'a@{b',
    'HEAD',
    'a\x7f',
    'a\x01',
    '',
    'a@b',
    '@a',
    'a.b',
    'heads/HEAD',
  ];
  for (const name of names) {
    const real = await git.run(['check-ref-format', '--branch', name], { codes: [0, 128] });
    expect(isBranchName(name), name).toBe(real.trim() === name && name !== '');
  }
  // Git accepts it, but reads it as HEAD in most places.
  expect(isBranchName('@')).toBe(false);
  expect(isBranchName('a'.repeat(200))).toBe(true);
  expect(isBranchName('a'.repeat(201))).toBe(false);
  expect(isBranchName('\ud800')).toBe(false);
});
