/** A deployment and a repository on a real Gitea. See `npm run test:gitea`. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { modeller } from './data-models.ts';
import { createRealGit, type RealGit } from './real-git.ts';
import { createSourceDatabase, type SourceDatabase } from './source-database.ts';
import { createOwnWorld, unique, type World } from './world.ts';

const PROGRAM = process.env.ORIEL_TEST_GITEA!;
/** Gitea reads its templates and texts from there. */
const SOURCE = process.env.ORIEL_TEST_GITEA_SOURCE ?? join(dirname(PROGRAM), 'source');
const PATIENTLY = { timeout: 120_000, interval: 250 };
const USER = 'oriel';

interface Gitea {
  url: string;
  token: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of another program
  call(method: string, path: string, body?: object): Promise<any>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function startGitea({ source }: SourceDatabase): Promise<Gitea> {
  const folder = mkdtempSync(join(tmpdir(), 'oriel-gitea-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, 'app.ini');
  mkdirSync(join(folder, 'home'));
  writeFileSync(
    config,
    `RUN_USER = ${userInfo().username}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
DISABLE_SSH = true
STATIC_ROOT_PATH = ${SOURCE}
OFFLINE_MODE = true
[database]
DB_TYPE = postgres
HOST = ${source.host}:${source.port}
NAME = ${source.database}
USER = ${source.user}
PASSWD = ${source.password}
SSL_MODE = disable
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = *
[log]
LEVEL = Warn
`,
  );
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), GITEA_WORK_DIR: folder };
  // Not synchronous: its way to the database leads through this process.
  const run = async (...args: string[]) =>
    (await promisify(execFile)(PROGRAM, ['--config', config, ...args], { env, cwd: folder })).stdout.trim();
  await run('migrate');
  const password = unique('Password-1');
  await run(
    'admin',
    'user',
    'create',
    '--admin',
    '--username',
    USER,
    '--password',
    password,
    '--email',
    'oriel@example.com',
    '--must-change-password=false',
  );
  const token = (
    await run('admin', 'user', 'generate-access-token', '--username', USER, '--scopes', 'all', '--raw')
  )
    .split('\n')
    .at(-1)!;
  const child = spawn(PROGRAM, ['--config', config, 'web'], { env, cwd: folder, stdio: 'inherit' });
  const ended = once(child, 'exit');
  const call: Gitea['call'] = async (method, path, body) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
    return answer.json();
  };
  await vi.waitFor(() => call('GET', '/version'), PATIENTLY);
  return {
    url,
    token,
    call,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let world: World;
let database: SourceDatabase;
let gitea: Gitea;
let git: RealGit;
beforeAll(async () => {
  database = await createSourceDatabase('select 1');
  const { database: name, user } = database.source;
  await database.administer(`alter database "${name}" owner to ${user}`);
  await database.administer(`alter schema public owner to ${user}`);
  gitea = await startGitea(database);
  git = await createRealGit();
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
});
afterAll(async () => {
  await world?.stop();
  await git?.remove();
  await gitea?.stop();
  await database?.stop();
});

test('a new repository, commits both ways, a webhook that is tried, and statuses on commits', async () => {
  const { admin } = world;
  const made = await admin.createGitHostInstallation({
    body: { name: 'gitea', kind: 'gitea', url: gitea.url, token: gitea.token },
  });
  const installationId = Number(made.installationId);
  const tried = (body: object = {}) => admin.testGitHostInstallation({ installationId, body });
  expect(await tried()).toMatchObject({ works: true });

  // A new repository gets the model.
  const { id: deploymentId } = await world.deployment();
  const repository = `${USER}/model`;
  await admin.connect({ deploymentId, body: { installationId, name: repository, isNewRepo: true } });
  const headThere = async () =>
    (await gitea.call('GET', `/repos/${repository}/branches/main`)).commit.id as string;
  const headHere = async () =>
    (await admin.listBranches({ deploymentId })).items.find(({ name }) => name === 'main')?.lastHash;
  await vi.waitFor(async () => expect(await headThere()).toBe(await headHere()), PATIENTLY);
  expect((await admin.repositories({ installationId })).data).toMatchObject([{ name: repository }]);
  expect((await admin.branches({ owner: USER, repo: 'model', installationId })).data).toEqual([
    { name: 'main', isDefault: true },
  ]);
  const statusOf = (commit: string) =>
    vi.waitFor(async () => {
      const { statuses } = await gitea.call('GET', `/repos/${repository}/commits/${commit}/status`);
      expect(statuses).toHaveLength(1);
      expect(statuses[0].status).not.toBe('pending');
      expect(statuses[0].context).toBe(`oriel/deployment-${deploymentId}`);
      return statuses[0] as { status: string; description: string };
    }, PATIENTLY);
  expect(await statusOf(await headThere())).toMatchObject({ status: 'success' });

  // The webhook, as somebody sets it up there, is tried from here.
  const { webhookUrl, secret } = await admin.rotateGitHostWebhookSecret({ deploymentId });
  expect(await tried({ deploymentId, waitSeconds: 1 })).toMatchObject({ works: false });
  await gitea.call('POST', `/repos/${repository}/hooks`, {
    type: 'gitea',
    active: true,
    events: ['push'],
    config: { url: webhookUrl, content_type: 'json', secret },
  });
  expect(await tried({ deploymentId, waitSeconds: 30 })).toMatchObject({ works: true });

  // What somebody pushes with git arrives by the webhook, and its status says that it does not build.
  const address = new URL(`${gitea.url}/${repository}.git`);
  Object.assign(address, { username: USER, password: gitea.token });
  await git.run(['clone', '--quiet', address.href, 'clone']);
  mkdirSync(join(git.dir, 'clone', 'model'), { recursive: true });
  writeFileSync(join(git.dir, 'clone', 'model', 'broken.yml'), 'cubes: [');
  await git.run(['-C', 'clone', 'add', '--all']);
  await git.run(['-C', 'clone', 'commit', '--quiet', '-m', 'broken']);
  await git.run(['-C', 'clone', 'push', '--quiet', 'origin', 'HEAD:main']);
  const pushed = (await git.run(['-C', 'clone', 'rev-parse', 'HEAD'])).trim();
  await vi.waitFor(async () => expect(await headHere()).toBe(pushed), PATIENTLY);
  expect(await statusOf(pushed)).toMatchObject({
    status: 'failure',
    description: expect.stringContaining('does not build'),
  });
}, 600_000);

test('an existing private repository: its history, a wrong token, branches, divergence, and a history that was replaced', async () => {
  const { admin } = world;
  const name = 'existing';
  const repository = `${USER}/${name}`;
  await gitea.call('POST', '/user/repos', { name, private: true, auto_init: true, default_branch: 'main' });
  const address = new URL(`${gitea.url}/${repository}.git`);
  Object.assign(address, { username: USER, password: gitea.token });
  await git.run(['clone', '--quiet', address.href, name]);
  const run = (...args: string[]) => git.run(['-C', name, ...args]);
  const push = async (branch: string, files: Record<string, string>, ...options: string[]) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(git.dir, name, path), text);
    await run('add', '--all');
    await run('commit', '--quiet', '-m', `of ${branch}`);
    await run('push', '--quiet', ...options, 'origin', `HEAD:${branch}`);
    return (await run('rev-parse', 'HEAD')).trim();
  };
  const first = await push('main', { 'shared.yml': 'cubes: []\n# 1\n' });

  const installed = async (token: string) => {
    const body = { name: unique('gitea'), kind: 'gitea' as const, url: gitea.url, token };
    return Number((await admin.createGitHostInstallation({ body })).installationId);
  };
  const wrong = await installed('0123456789abcdef0123456789abcdef01234567');
  expect(await admin.testGitHostInstallation({ installationId: wrong })).toMatchObject({ works: false });
  const installationId = await installed(gitea.token);
  const { id: deploymentId } = await world.deployment();
  const connect = (id: number, more: object = {}) =>
    admin.connect({ deploymentId, body: { installationId: id, name: repository, ...more } });
  await expect(connect(wrong)).rejects.toMatchObject({ status: 409, code: 'git_host_refused' });
  await connect(installationId);
  const headHere = async (branch = 'main') =>
    (await admin.listBranches({ deploymentId })).items.find((each) => each.name === branch)?.lastHash;
  expect(await headHere()).toBe(first);
  const { items } = await admin.listCommits({ deploymentId, name: 'main' });
  expect(items.map(({ message }) => message.trim())).toEqual(['of main', 'Initial commit']);

  // A branch that only the host has gets a status. It comes with a pull, and is removed on both sides.
  await admin.pull({ deploymentId });
  await vi.waitFor(async () => {
    const { rows } = await world.server.db.pool.query(
      'select knows_branches from git_connections where deployment_id = $1 and requested_at is null',
      [deploymentId],
    );
    expect(rows).toEqual([{ knows_branches: true }]);
  }, PATIENTLY);
  const theirs = await push('theirs', { 'theirs.yml': 'cubes: []\n' });
  await world.server.db.pool.query(
    "update git_connections set checked_at = now() - interval '1 hour' where deployment_id = $1",
    [deploymentId],
  );
  await vi.waitFor(async () => {
    const { statuses } = await gitea.call('GET', `/repos/${repository}/commits/${theirs}/status`);
    expect(statuses?.[0]).toMatchObject({ status: 'success' });
  }, PATIENTLY);
  expect(await headHere('theirs')).toBeUndefined();
  await admin.pull({ deploymentId, body: { branchName: 'theirs' } });
  expect(await headHere('theirs')).toBe(theirs);
  await admin.deleteBranch({ deploymentId, branchName: 'theirs', removeOnUpstream: true });
  const there = async () =>
    (await gitea.call('GET', `/repos/${repository}/branches`)).map((branch: { name: string }) => branch.name);
  expect(await there()).toEqual(['main']);

  // Both change the same line.
  const mine = await modeller(world, deploymentId, { client: admin });
  await mine.save({ 'shared.yml': 'cubes: []\n# here\n' }, 'here');
  await run('checkout', '--quiet', '-B', 'main', first);
  await push('main', { 'shared.yml': 'cubes: []\n# there\n' });
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  const here = await headHere();
  await expect(admin.pull({ deploymentId })).rejects.toMatchObject({
    status: 409,
    code: 'merge_conflict',
    message: expect.stringContaining('shared.yml'),
  });
  expect(await headHere()).toBe(here);

  // The data team replaces its history, and somebody here takes it.
  await run('checkout', '--quiet', '--orphan', 'fresh');
  const fresh = await push('main', { 'shared.yml': 'cubes: []\n# anew\n' }, '--force');
  await expect(admin.pull({ deploymentId })).rejects.toMatchObject({
    code: 'git_history_rewritten',
    message: expect.stringContaining(fresh),
  });
  await admin.pull({ deploymentId, body: { acceptRewritten: fresh } });
  expect(await headHere()).toBe(fresh);
  expect(await admin.getGitHostConnection({ deploymentId })).toMatchObject({ state: 'synced' });
}, 600_000);
