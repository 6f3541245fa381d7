/** Fetches from a real git server and pushes to it, and compares every object with those of the git program. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitOf, type Files } from '../../../../test/git-files.ts';
import { createGitHttp, type GitHttp } from '../../../../test/git-http.ts';
import { memoryObjects } from '../../../../test/memory-objects.ts';
import { createOutbound, rulesOf } from '../../outbound/outbound.ts';
import { streamPack } from '../bundle.ts';
import { type GitObject, type Hash, hashOf, type Objects } from '../objects.ts';
import { findReachable } from '../reachable.ts';
import { formatTree } from '../trees.ts';
import { readPackets } from './pkt-line.ts';
import { createPackReader, type ReceiveLimits } from './receive.ts';
import { RemoteError, type RemoteFailure } from './remote-error.ts';
import { createRemote } from './smart-http.ts';

const LIMITS: ReceiveLimits = {
  objects: 10_000,
  objectBytes: 1024 * 1024,
  totalBytes: 32 * 1024 * 1024,
  deltaDepth: 250,
  segmentBytes: 255,
  treeEntries: 30_000,
  treeDepth: 100,
};
const outbound = createOutbound(rulesOf({ allowPrivate: true }));
const signal = AbortSignal.timeout(120_000);
const packs = createPackReader();
let host: GitHttp;
beforeAll(async () => {
  host = await createGitHttp();
});
afterAll(async () => {
  await packs.stop();
  await host.stop();
});

const remoteAt = (url: string) =>
  createRemote(
    outbound,
    { url, credentials: host.credentials },
    { packBytes: 64 * 1024 * 1024, timeoutMs: 60_000 },
  );

/** A clone with commits of the git program, pushed by it. */
async function workingCopy(name: string) {
  const url = await host.createRepository(name);
  await host.git.run(['clone', '--quiet', join('served', `${name}.git`), name]);
  const run = (...args: string[]) => host.git.run(['-C', name, ...args]);
  return {
    url,
    run,
    async commit(message: string, files: Files) {
      for (const [path, content] of Object.entries(files)) {
        const file = join(host.git.dir, name, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
      }
      await run('add', '--all');
      await run('commit', '--quiet', '--allow-empty', '-m', message);
      return (await run('rev-parse', 'HEAD')).trim();
    },
  };
}

async function fetchInto(objects: Objects, url: string, wants: Hash[], haves: Hash[] = []) {
  const pack = await remoteAt(url).fetchPack({ wants, haves }, signal);
  const received = await packs.read(pack, objects, LIMITS, signal);
  await objects.write(received.objects);
  return { pack, received };
}

async function listAll(run: (...args: string[]) => Promise<string>, ...refs: string[]) {
  const lines = (await run('rev-list', '--objects', '--no-object-names', ...refs)).trim().split('\n');
  return lines.sort();
}

const allOf = async (objects: Objects, commit: Hash) => {
  const { commits, trees, blobs } = await findReachable(objects, { commits: [commit] });
  return [...commits, ...trees, ...blobs].sort();
};

async function failureOf(work: Promise<unknown>): Promise<{ failure: RemoteFailure; message: string }> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteError);
  return error as RemoteError;
}

test('a history of the git program is fetched whole, then only what is new, and is the same object by object', async () => {
  const copy = await workingCopy('fetched');
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} of a long file`);
  await copy.commit('first', {
    'cubes/orders.yml': lines.join('\n'),
    'zürich/\u{1f600}.yml': 'x',
    empty: '',
  });
  for (let i = 0; i < 5; i++) {
    lines[i * 500] = `changed ${i}`;
    await copy.commit(`change ${i}`, {
      'cubes/orders.yml': lines.join('\n'),
      [`more/${i}.bin`]: randomBytes(2000),
    });
  }
  await copy.run('checkout', '--quiet', '-b', 'dev/ada', 'HEAD~3');
  await copy.commit('on a branch', { side: 's' });
  await copy.run('checkout', '--quiet', 'main');
  await copy.run('merge', '--quiet', '--no-ff', '-m', 'merged', 'dev/ada');
  // Deltas are made by a repack; a push of few objects may go without.
  await copy.run('push', '--quiet', 'origin', '--all');
  // With bitmaps, the server would not make thin packs.
  await host.git.run(['-C', 'served/fetched.git', '-c', 'repack.writeBitmaps=false', 'repack', '-adfq']);

  const { heads, defaultBranch } = await remoteAt(copy.url).listBranches(signal);
  const main = (await copy.run('rev-parse', 'main')).trim();
  expect(defaultBranch).toBe('main');
  expect([...heads.keys()].sort()).toEqual(['dev/ada', 'main']);
  expect(heads.get('main')).toBe(main);

  const objects = memoryObjects();
  await fetchInto(objects, copy.url, [main]);
  expect(await allOf(objects, main)).toEqual(await listAll(copy.run, 'main'));

  lines[42] = 'changed again';
  const next = await copy.commit('after', { 'cubes/orders.yml': lines.join('\n') });
  await copy.run('push', '--quiet');
  const { pack, received } = await fetchInto(objects, copy.url, [next], [main]);
  // The file has 70 KB, so it can only be here as a delta.
  expect(pack.length).toBeLessThan(2000);
  // One commit, two trees and one file, although the file is sent as a delta on one that is not in the pack.
  expect(received.objects).toHaveLength(4);
  expect(await allOf(objects, next)).toEqual(await listAll(copy.run, 'main'));
});

test('authors, time zones and signatures of foreign commits stay byte for byte', async () => {
  const copy = await workingCopy('signed');
  await copy.commit('first', { a: '1' });
  const tree = (await copy.run('rev-parse', 'HEAD^{tree}')).trim();
  const written = `tree ${tree}
author J\u00f6rg  M\u00fcller <j@example.com> 1700000000 +0545
committer x <> 1700000001 -1130
gpgsig -----BEGIN PGP SIGNATURE-----
 
 parent is only a word here
 -----END PGP SIGNATURE-----

A message without a line feed at its end`;
  const hash = (
    await host.git.run(['-C', 'signed', 'hash-object', '-t', 'commit', '-w', '--stdin'], { input: written })
  ).trim();
  await copy.run('push', '--quiet', 'origin', `${hash}:refs/heads/signed`);
  const objects = memoryObjects();
  await fetchInto(objects, copy.url, [hash]);
  expect((await objects.read([hash])).get(hash)!.content.toString()).toBe(written);
});

test('what this server pushes is what git would have, and a push against a moved branch is rejected', async () => {
  const url = await host.createRepository('pushed');
  const remote = remoteAt(url);
  expect(await remote.listBranches(signal)).toEqual({ heads: new Map(), defaultBranch: 'main' });
  const objects = memoryObjects();
  const files = { 'cubes/orders.yml': 'cubes: []\n', 'a/b/c': 'deep', big: 'y'.repeat(300_000) };
  const first = await commitOf(objects, files);
  const packed = (to: Hash, known: Hash[]) => buffer(streamPack(objects, [to], known));
  await remote.push([{ branch: 'main', from: null, to: first }], await packed(first, []), signal);

  const second = await commitOf(objects, { ...files, 'a/b/c': 'changed' }, first);
  const pack = await packed(second, [first]);
  expect(pack.readUInt32BE(8)).toBe(5); // The commit, three trees and one file.
  await remote.push([{ branch: 'main', from: first, to: second }], pack, signal);
  const run = (...args: string[]) => host.git.run(['-C', 'served/pushed.git', ...args]);
  expect(await run('fsck', '--full', '--strict')).toBe('');
  expect(await listAll(run, 'main')).toEqual(await allOf(objects, second));

  const third = await commitOf(objects, { other: 'x' }, first);
  const late = remote.push(
    [{ branch: 'main', from: first, to: third }],
    await packed(third, [first]),
    signal,
  );
  expect((await failureOf(late)).failure).toBe('rejected');
  expect((await run('rev-parse', 'main')).trim()).toBe(second);

  await remote.push([{ branch: 'gone', from: null, to: first }], await packed(first, [second]), signal);
  await remote.push([{ branch: 'gone', from: first, to: null }], undefined, signal);
  expect([...(await remote.listBranches(signal)).heads.keys()]).toEqual(['main']);
});

test('a wrong token, a missing repository and a server that is no git server are told apart', async () => {
  const url = await host.createRepository('private');
  const as = (token: string, at = url) =>
    createRemote(
      outbound,
      { url: at, credentials: { user: 'oriel', token } },
      { packBytes: 1000, timeoutMs: 5000 },
    );
  const refused = await failureOf(as('a-wrong-secret').listBranches(signal));
  expect(refused.failure).toBe('unauthorized');
  expect(refused.message).not.toContain('a-wrong-secret');
  const { token } = host.credentials;
  expect((await failureOf(as(token, `${host.url}/none.git`).listBranches(signal))).failure).toBe('not_found');
  expect((await failureOf(as(token, 'http://127.0.0.1:1/x').listBranches(signal))).failure).toBe(
    'unreachable',
  );
});

/** A pack written by hand. `entries` are the raw bytes of each. */
function packOf(entries: Buffer[], { count = entries.length, spoil = false } = {}): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0');
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries]);
  const checksum = Buffer.from(hashOfBytes(body), 'hex');
  if (spoil) checksum[0]! ^= 1;
  return Buffer.concat([body, checksum]);
}
const hashOfBytes = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');

function entryOf(
  type: number,
  content: Buffer,
  { size = content.length, base = Buffer.alloc(0) } = {},
): Buffer {
  const head = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head[head.length - 1]! |= 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(content)]);
}

const blob = (content: Buffer | string) => entryOf(3, Buffer.from(content));
const BLOB = hashOf({ type: 'blob', content: Buffer.from('x') });
const treeWith = (...names: [mode: string, name: string][]) =>
  entryOf(
    2,
    Buffer.concat(
      names.flatMap(([mode, name]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(BLOB, 'hex')]),
    ),
  );
const deltaOn = (base: Hash, delta: number[]) =>
  entryOf(7, Buffer.from(delta), { base: Buffer.from(base, 'hex') });

const HOSTILE: [string, () => Buffer, RemoteFailure][] = [
  ['a spoilt checksum', () => packOf([blob('x')], { spoil: true }), 'not_git'],
  ['fewer objects than it says', () => packOf([blob('x')], { count: 2 }), 'not_git'],
  ['four billion objects', () => packOf([], { count: 0xffff_ffff }), 'too_large'],
  [
    'an object that says it is small and is not',
    () => packOf([entryOf(3, Buffer.alloc(5_000_000), { size: 10 })]),
    'not_git',
  ],
  ['an object of two megabytes', () => packOf([blob(Buffer.alloc(2_000_000))]), 'too_large'],
  [
    'many objects of a megabyte, each small in the pack',
    () => packOf(Array.from({ length: 40 }, (_, i) => blob(Buffer.alloc(1_000_000, i)))),
    'too_large',
  ],
  [
    'a delta whose result is claimed to be huge',
    () => packOf([blob('x'), deltaOn(BLOB, [1, 0xff, 0xff, 0xff, 0xff, 0x7f])]),
    'too_large',
  ],
  [
    'a delta that copies beyond its base',
    () => packOf([blob('x'), deltaOn(BLOB, [1, 9, 0x91, 0, 9])]),
    'not_git',
  ],
  ['a delta on an object that nobody has', () => packOf([deltaOn('1'.repeat(40), [1, 1, 1, 65])]), 'not_git'],
  [
    'a delta on itself, by its place',
    () => packOf([entryOf(6, Buffer.from([1, 1, 1, 65]), { base: Buffer.from([0]) })]),
    'not_git',
  ],
  [
    'two deltas that name one another',
    () =>
      packOf([
        deltaOn('a'.repeat(40), [1, 1, 1, 65]),
        deltaOn(hashOf({ type: 'blob', content: Buffer.from('A') }), [1, 1, 1, 66]),
      ]),
    'not_git',
  ],
  ['a folder called ..', () => packOf([blob('x'), treeWith(['100644', '..'])]), 'unacceptable'],
  ['a file in .git', () => packOf([blob('x'), treeWith(['100644', '.GIT'])]), 'unacceptable'],
  ['a slash in a name', () => packOf([blob('x'), treeWith(['100644', 'a/b'])]), 'unacceptable'],
  ['a symbolic link', () => packOf([blob('x'), treeWith(['120000', 'link'])]), 'unacceptable'],
  ['a submodule', () => packOf([blob('x'), treeWith(['160000', 'module'])]), 'unacceptable'],
  [
    'names that differ in case only',
    () => packOf([blob('x'), treeWith(['100644', 'A'], ['100644', 'a'])]),
    'unacceptable',
  ],
  ['a name twice', () => packOf([blob('x'), treeWith(['100644', 'a'], ['100644', 'a'])]), 'unacceptable'],
  ['a name that is not UTF-8', () => packOf([blob('x'), notUtf8()]), 'unacceptable'],
  [
    'a folder that is out of order',
    () => packOf([blob('x'), treeWith(['100644', 'b'], ['100644', 'a'])]),
    'unacceptable',
  ],
  ['a file that is a folder', () => packOf([blob('x'), treeWith(['40000', 'a'])]), 'unacceptable'],
  [
    'a commit without an author',
    () => packOf([entryOf(1, Buffer.from(`tree ${'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}\n\nx`))]),
    'unacceptable',
  ],
  [
    'a commit of the year 3 million',
    () =>
      packOf([
        entryOf(
          1,
          Buffer.from(`tree ${EMPTY}\nauthor a <a> 99999999999999 +0000\ncommitter a <a> 1 +0000\n\nx\n`),
        ),
      ]),
    'unacceptable',
  ],
  ['a commit with a thousand parents', () => packOf([octopus(1000)]), 'unacceptable'],
  ['a very long name', () => packOf([blob('x'), treeWith(['100644', 'x'.repeat(900_000)])]), 'unacceptable'],
  ['a commit whose folder nobody has', () => packOf([commitEntry('2'.repeat(40))]), 'not_git'],
  ['a bomb of folders', () => nested(9, 10), 'too_large'],
  ['a thousand folders in one another', () => nested(1000, 1), 'too_large'],
  ['nothing at all', () => Buffer.alloc(0), 'not_git'],
];
/** Folders in one another, each of which holds the next one several times. */
function nested(levels: number, times: number): Buffer {
  let tree = formatTree([{ mode: '100644', name: 'x', hash: BLOB }]);
  const entries = [blob('x'), entryOf(2, tree.content)];
  for (let level = 0; level < levels; level++) {
    const hash = hashOf(tree);
    tree = formatTree(Array.from({ length: times }, (_, i) => ({ mode: '40000', name: `${i}`, hash })));
    entries.push(entryOf(2, tree.content));
  }
  return packOf(entries);
}
const EMPTY = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const octopus = (parents: number) =>
  entryOf(
    1,
    Buffer.from(
      `tree ${EMPTY}\n${`parent ${'3'.repeat(40)}\n`.repeat(parents)}author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`,
    ),
  );
const notUtf8 = () =>
  entryOf(2, Buffer.concat([Buffer.from('100644 \xff\0', 'latin1'), Buffer.from(BLOB, 'hex')]));
const commitEntry = (tree: Hash) =>
  entryOf(1, Buffer.from(`tree ${tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`));

test.each(HOSTILE)('a pack with %s is refused, and nothing is stored', async (_what, pack, failure) => {
  const refused = await failureOf(packs.read(pack(), memoryObjects(), LIMITS, signal));
  expect(refused.failure).toBe(failure);
  expect(refused.message.length).toBeLessThan(300);
});

test('a chain of deltas beyond the limit is refused, and one within it is read', async () => {
  const chain = (length: number) => {
    const entries = [blob('x')];
    let base: GitObject = { type: 'blob', content: Buffer.from('x') };
    for (let i = 0; i < length; i++) {
      const content: Buffer = Buffer.concat([base.content, Buffer.from('y')]);
      entries.push(
        deltaOn(hashOf(base), [
          base.content.length & 0x7f,
          content.length & 0x7f,
          0x90,
          base.content.length,
          1,
          0x79,
        ]),
      );
      base = { type: 'blob', content };
    }
    // Backwards, so that every delta comes before its base.
    return { pack: packOf(entries.reverse()), last: hashOf(base) };
  };
  const limits = { ...LIMITS, deltaDepth: 20 };
  const { pack, last } = chain(20);
  const { objects } = await packs.read(pack, memoryObjects(), limits, signal);
  expect(objects.map(hashOf)).toContain(last);
  expect((await failureOf(packs.read(chain(21).pack, memoryObjects(), limits, signal))).failure).toBe(
    'too_large',
  );
});

test('a shallow clone cannot be fetched from', async () => {
  const copy = await workingCopy('deep');
  for (const i of [1, 2, 3]) await copy.commit(`${i}`, { a: `${i}` });
  await copy.run('push', '--quiet', 'origin', 'main');
  await rm(join(host.git.dir, 'served/shallow.git'), { recursive: true, force: true });
  await host.git.run([
    'clone',
    '--quiet',
    '--bare',
    '--depth=1',
    `file://${host.git.dir}/served/deep.git`,
    'served/shallow.git',
  ]);
  const head = (await copy.run('rev-parse', 'main')).trim();
  const objects = memoryObjects();
  const failed = await failureOf(fetchInto(objects, `${host.url}/shallow.git`, [head]));
  expect(['unacceptable', 'not_git']).toContain(failed.failure);
  expect(failed.message).toMatch(/shallow/);
});

test('an answer with more packets than any repository needs is refused', () => {
  const packets = (count: number) => Buffer.from('0005x'.repeat(count));
  expect([...readPackets(packets(100_000))]).toHaveLength(100_000);
  expect(() => [...readPackets(packets(100_001))]).toThrow(RemoteError);
});
