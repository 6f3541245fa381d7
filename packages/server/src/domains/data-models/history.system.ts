import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Modeller, modeller, readFiles } from '../../../test/data-models.ts';
import { createRealGit } from '../../../test/real-git.ts';
import { serverErrors } from '../../../test/server-log.ts';
import { ADMIN_KEY, createWorld, unique, type World } from '../../../test/world.ts';
import { readCommit, writeCommit } from '../../platform/git/commits.ts';
import { createObjects } from '../../platform/git/objects.store.ts';

let world: World;
let deploymentId: number;
let mine: Modeller;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  mine = await modeller(world, deploymentId, {
    branch: 'feature/größe 100%'.replace(' ', '-'),
    client: world.admin,
  });
});
afterAll(() => world.stop());

describe('the commits of a branch', () => {
  test('are listed, newest first, also of a branch with slashes, letters and signs in its name', async () => {
    for (const message of ['one', 'two\n\nwith more lines', 'three'])
      await mine.save({ 'x.yml': message }, message);
    const { items } = await world.admin.listCommits({ deploymentId, name: mine.branchName });
    expect(items.map(({ message }) => message)).toEqual([
      'three',
      'two\n\nwith more lines',
      'one',
      'Start the data model',
    ]);
    const address = `/build/api/v1/deployments/${deploymentId}/branches/feature%2Fgr%C3%B6%C3%9Fe-100%25/commits`;
    expect(await (await world.raw('GET', address)).json()).toMatchObject({ items });
    for (const [i, { parents }] of items.entries())
      expect(parents).toEqual(items[i + 1] ? [items[i + 1]!.hash] : []);
  });

  test('are paged, and commits that are added meanwhile move nothing', async () => {
    const other = await modeller(world, deploymentId, { branch: unique('paged'), client: world.admin });
    for (let i = 0; i < 4; i++) await other.save({ 'p.yml': String(i) }, `p${i}`);
    const name = other.branchName;
    const first = await world.admin.listCommits({ deploymentId, name, first: 2 });
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    await other.save({ 'p.yml': 'late' }, 'late');
    const second = await world.admin.listCommits({
      deploymentId,
      name,
      first: 2,
      after: first.pageInfo.endCursor!,
    });
    const messages = [...first.items, ...second.items].map(({ message }) => message);
    expect(messages).toEqual(['p3', 'p2', 'p1', 'p0']);
    const afterFirst = await world.admin.listCommits({
      deploymentId,
      name,
      first: 1,
      after: first.pageInfo.startCursor!,
    });
    expect(afterFirst.items).toEqual([first.items[1]]);
    const foreign = world.admin.listCommits({
      deploymentId,
      name: 'main',
      after: first.pageInfo.endCursor!,
    });
    await expect(foreign).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  test('are paged with short cursors, however many lines of history run beside each other', async () => {
    const { id } = await world.deployment();
    const objects = createObjects(world.server.db, id);
    const [main] = (await world.admin.listBranches({ deploymentId: id })).items;
    const { tree } = await readCommit(objects, main!.lastHash!);
    const author = { name: 'Ada', email: 'ada@example.com', at: new Date() };
    const lines: string[] = [];
    for (let i = 0; i < 300; i++)
      lines.push(
        await writeCommit(objects, { tree, parents: [main!.lastHash!], author, message: `line ${i}` }),
      );
    const head = await writeCommit(objects, { tree, parents: lines, author, message: 'all' });
    await world.server.db.pool.query('update branches set head = $2 where deployment_id = $1', [id, head]);

    const listed: string[] = [];
    const page = (after?: string) =>
      world.admin.listCommits({ deploymentId: id, name: 'main', first: 120, after });
    for (let after: string | undefined; ; ) {
      const { items, pageInfo } = await page(after);
      listed.push(...items.map(({ hash }) => hash));
      for (const cursor of [pageInfo.startCursor!, pageInfo.endCursor!])
        expect(cursor.length).toBeLessThan(4096);
      const { items: afterFirst } = await page(pageInfo.startCursor!);
      expect(afterFirst.slice(0, items.length - 1)).toEqual(items.slice(1));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor!;
    }
    expect(listed).toEqual([head, ...lines.sort(), main!.lastHash]);
  });

  test('of an unknown branch are a 404', async () => {
    const attempt = world.admin.listCommits({ deploymentId, name: 'no/such' });
    await expect(attempt).rejects.toMatchObject({ status: 404, code: 'branch_not_found' });
  });
});

describe('a commit', () => {
  test('shows what it changed', async () => {
    const other = await modeller(world, deploymentId, { branch: unique('shown'), client: world.admin });
    await other.save({ 'changed.yml': 'a\nb\nc\n', 'gone.yml': 'x\n' }, 'before');
    await other.write({ 'changed.yml': 'a\nB\nc\n', 'new.yml': 'n\n' });
    await world.admin.removeFiles({
      deploymentId,
      body: { branchName: other.branchName, files: [{ path: 'gone.yml' }] },
    });
    await other.commit('after');
    const [newest] = (await world.admin.listCommits({ deploymentId, name: other.branchName })).items;
    const commit = await world.admin.getCommit({ deploymentId, hash: newest!.hash });
    expect(commit).toMatchObject({ ...newest, filesChanged: 3 });
    expect(commit.files).toEqual([
      {
        path: 'changed.yml',
        status: 'modified',
        isShortened: false,
        hunks: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [' a', '-b', '+B', ' c'] }],
      },
      {
        path: 'gone.yml',
        status: 'deleted',
        isShortened: false,
        hunks: [{ oldStart: 1, oldLines: 1, newStart: 0, newLines: 0, lines: ['-x'] }],
      },
      {
        path: 'new.yml',
        status: 'added',
        isShortened: false,
        hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines: ['+n'] }],
      },
    ]);
  });

  test('with a very large change is shortened', async () => {
    const other = await modeller(world, deploymentId, { branch: unique('large'), client: world.admin });
    const text = 'a line of some length\n'.repeat(40_000);
    await other.save(Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.yml`, text])));
    const [newest] = (await world.admin.listCommits({ deploymentId, name: other.branchName })).items;
    const commit = await world.admin.getCommit({ deploymentId, hash: newest!.hash });
    expect(commit.files).toHaveLength(3);
    expect(commit.files.filter(({ isShortened }) => isShortened).length).toBeGreaterThan(0);
    expect(JSON.stringify(commit).length).toBeLessThan(2 * 1024 * 1024);
  });

  test('of a deleted branch is a 404 as soon as its parent is swept', async () => {
    const { id } = await world.deployment();
    const other = await modeller(world, id, { branch: 'swept', client: world.admin });
    await other.save({ 'x.yml': '1' });
    await other.save({ 'x.yml': '2' });
    const [newest, parent] = (await world.admin.listCommits({ deploymentId: id, name: 'swept' })).items;
    await world.admin.deleteBranch({ deploymentId: id, branchName: 'swept' });
    expect(await world.admin.getCommit({ deploymentId: id, hash: newest!.hash })).toMatchObject(newest!);
    await world.server.db.pool.query(
      `delete from git_objects where deployment_id = $1 and hash = decode($2, 'hex')`,
      [id, parent!.hash],
    );
    await expect(world.admin.getCommit({ deploymentId: id, hash: newest!.hash })).rejects.toMatchObject({
      status: 404,
      code: 'commit_not_found',
    });
  });

  test('that is not there, is no commit or belongs to another deployment is a 404', async () => {
    const { lastHash } = (await world.admin.listBranches({ deploymentId })).items[0]!;
    const other = (await world.deployment()).id;
    const { rows } = await world.server.db.pool.query(
      `select encode(hash, 'hex') as hash from git_objects where deployment_id = $1 and type <> 'commit'`,
      [deploymentId],
    );
    const attempts = [
      { deploymentId, hash: '0'.repeat(40) },
      { deploymentId, hash: rows[0].hash },
      { deploymentId: other, hash: lastHash! },
    ];
    for (const attempt of attempts) {
      await expect(world.admin.getCommit(attempt)).rejects.toMatchObject({
        status: 404,
        code: 'commit_not_found',
      });
    }
  });

  test('is named by all 40 digits of its hash', async () => {
    const { lastHash } = (await world.admin.listBranches({ deploymentId })).items[0]!;
    await expect(world.admin.getCommit({ deploymentId, hash: lastHash!.slice(0, 12) })).rejects.toMatchObject(
      {
        status: 400,
        message: 'hash: must have at least 40 characters',
      },
    );
  });
});

test('the real git clones the exported bundle, with every file, hash and branch, and finds no fault in it', async () => {
  const { id } = await world.deployment();
  const one = await modeller(world, id, { branch: 'feature/one', client: world.admin });
  await one.save({ 'model/ä.yml': 'ä: 1\n', 'a/b/c.yml': '', 'no-newline.yml': 'x' }, 'Erste Änderung 📈');
  const two = await modeller(world, id, { branch: 'two', client: world.admin });
  await two.save({ 'model/two.yml': '2\n' }, 'two');
  await world.admin.mergeToDefaultBranch({ deploymentId: id, body: { branchName: 'feature/one' } });
  await world.admin.mergeToDefaultBranch({ deploymentId: id, body: { branchName: 'two', message: 'Merge' } });
  await two.write({ 'uncommitted.yml': '' });
  // Production moves to another branch, and others have the same commit.
  await world.admin.createBranch({ deploymentId: id, body: { name: 'live' } });
  await world.admin.createBranch({ deploymentId: id, body: { name: 'same-as-live' } });
  await world.admin.updateDeployment({ deploymentId: id, body: { deployBranchName: 'live' } });
  await one.save({ 'after.yml': '' }, 'after');
  await world.admin.mergeToDefaultBranch({ deploymentId: id, body: { branchName: 'feature/one' } });
  await world.admin.startDevMode({ deploymentId: id, body: {} });

  const git = await createRealGit();
  try {
    const response = await fetch(`${world.url}/build/api/v1/deployments/${id}/data-model/export.bundle`, {
      headers: { authorization: `Api-Key ${ADMIN_KEY}` },
    });
    expect(response.headers.get('content-type')).toBe('application/x-git-bundle');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="deployment-${id}.bundle"`,
    );
    const bundle = join(git.dir, 'export.bundle');
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(bundle));
    await git.run(['clone', '--quiet', bundle, 'clone']);
    const inClone = (...args: string[]) => git.run(['-C', 'clone', '-c', 'core.quotePath=false', ...args]);
    expect(await inClone('fsck', '--full', '--strict', '--no-dangling')).toBe('');
    expect((await inClone('branch', '--show-current')).trim()).toBe('live');
    for (const { name, lastHash } of (await world.admin.listBranches({ deploymentId: id })).items) {
      expect((await inClone('rev-parse', `origin/${name}`)).trim()).toBe(lastHash);
      const log = (await inClone('log', '--format=%H', `origin/${name}`)).trim().split('\n');
      const { items } = await world.admin.listCommits({ deploymentId: id, name });
      expect(items.map(({ hash }) => hash).sort()).toEqual(log.sort());
      const reader = await world.person({ roles: ['Explorer'] });
      const files = await readFiles(reader.client, id, name);
      await inClone('checkout', '--quiet', '--detach', `origin/${name}`);
      const paths = (await inClone('ls-files')).trim().split('\n');
      expect(paths.sort()).toEqual(Object.keys(files).sort());
      for (const path of paths)
        expect(await readFile(join(git.dir, 'clone', path), 'utf8')).toBe(files[path]);
    }
  } finally {
    await git.remove();
  }
});

describe('an export whose objects disappear meanwhile is cut off', () => {
  /** Runs the statement, whose `$1` is the deployment, after the head of the bundle was sent. */
  async function exportWhile(statement: string) {
    const { id } = await world.deployment();
    // Its first build would wait for the lock below, while it holds the branch.
    await expect.poll(async () => (await world.admin.buildStatus({ deploymentId: id })).status).toBe('built');
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query('begin; lock table git_objects in access exclusive mode');
    const address = `${world.url}/build/api/v1/deployments/${id}/data-model/export.bundle`;
    const response = await fetch(address, { headers: { authorization: `Api-Key ${ADMIN_KEY}` } });
    expect(response.status).toBe(200);
    await client.query('delete from git_objects where deployment_id = $1', [id]);
    await client.query(statement, [id]);
    await client.query('commit');
    await client.end();
    await expect(response.arrayBuffer()).rejects.toThrow();
  }

  test('without an error in the log if its deployment or a branch was deleted', async () => {
    await exportWhile('delete from deployments where id = $1');
    await exportWhile('delete from branches where deployment_id = $1');
    expect(serverErrors()).toEqual([]);
  });

  test('with an error in the log otherwise', async () => {
    await exportWhile('select $1::int');
    expect(serverErrors()).toEqual([expect.stringContaining('a reply was cut off')]);
  });
});
