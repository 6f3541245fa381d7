/**
 * What is asked of the APIs of git hosts. They are played by a small double, recorded from their documentation, in front of
 * git's own server: GitHub and GitLab cannot run here, and `npm run test:gitea` asks a real Gitea.
 */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { createGitHttp, type GitHttp } from '../../../test/git-http.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import { requestSync } from './connections.ts';
import { clearGitSecrets, listRemoteHeads, listUnchecked, noteRemoteHead } from './store.ts';
import { packOf } from './sync.ts';

const PATIENTLY = { timeout: 60_000, interval: 100 };
const APP_KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });

interface SentRequest {
  method: string;
  path: string;
  authorization: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of three APIs
  body: any;
}
let asked: SentRequest[] = [];
/** What the double answers, beside what it always does. */
let answers: (request: SentRequest) => [status: number, body?: unknown] | undefined = () => undefined;

async function api(request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  const text = Buffer.concat(chunks).toString();
  const seen = {
    method: method!,
    path: url!,
    authorization: headers.authorization ?? '',
    body: text && JSON.parse(text),
  };
  asked.push(seen);
  const [status, body] = answers(seen) ?? (url!.includes('/statuses/') ? [201, { id: 1 }] : [200, []]);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

let world: World;
let host: GitHttp;
beforeAll(async () => {
  host = await createGitHttp({ api });
  world = await createOwnWorld({
    env: {
      ORIEL_ALLOW_PRIVATE_REMOTES: 'true',
      ORIEL_GITHUB_APP_ID: '4711',
      ORIEL_GITHUB_APP_SLUG: 'oriel-of-acme',
      ORIEL_GITHUB_APP_PRIVATE_KEY: APP_KEYS.privateKey
        .export({ type: 'pkcs1', format: 'pem' })
        .toString()
        .replaceAll('\n', '\\n'),
      ORIEL_GITHUB_APP_URL: host.url,
    },
  });
});
afterAll(async () => {
  await world.stop();
  await host.stop();
});
beforeEach(() => {
  asked = [];
  answers = () => undefined;
});

type Installation = Parameters<World['admin']['createGitHostInstallation']>[0]['body'];
async function installed(kind: Installation['kind']): Promise<number> {
  const { token } = host.credentials;
  const body = { name: unique('host'), kind, url: host.url, token };
  return Number((await world.admin.createGitHostInstallation({ body })).installationId);
}

const cube = (measure: string) =>
  `cubes:\n  - name: orders\n    sql_table: orders\n    measures:\n      - name: ${measure}\n        type: count\n`;

/** A repository of an owner, with a clone whose commits are pushed at once. */
async function repository(branch = 'main') {
  const name = `acme/${unique('model')}`;
  await host.createRepository(name);
  await host.git.run(['-c', `init.defaultBranch=${branch}`, 'clone', '--quiet', `served/${name}.git`, name]);
  const run = (...args: string[]) => host.git.run(['-C', name, ...args]);
  const push = async (changes: Record<string, string>) => {
    for (const [path, text] of Object.entries(changes)) {
      const target = join(host.git.dir, name, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
    await run('add', '--all');
    await run('commit', '--quiet', '-m', 'of the data team');
    await run('push', '--quiet', 'origin', `HEAD:${branch}`);
    return (await run('rev-parse', 'HEAD')).trim();
  };
  await push({ 'model/orders.yml': cube('count') });
  return { name, push };
}

const statusOf = (commit: string) =>
  vi.waitFor(() => {
    const [first, found] = asked.filter(({ path }) => path.includes('/statuses') && path.includes(commit));
    expect(found).toBeDefined();
    // While it is built, the host shows that.
    expect(first!.body.state).toMatch(/^(pending|running|INPROGRESS)$/);
    return found!;
  }, PATIENTLY);

test('a commit status says whether a pushed model builds, and which reports it breaks (a small double of the APIs of GitHub, GitLab, Gitea and Bitbucket)', async () => {
  for (const [kind, path, nameField, good, bad, authorization] of [
    ['github', '/api/v3/repos/NAME/statuses/COMMIT', 'context', 'success', 'failure', /^Bearer /],
    ['gitea', '/api/v1/repos/NAME/statuses/COMMIT', 'context', 'success', 'failure', /^token /],
    ['gitlab', '/api/v4/projects/ENCODED/statuses/COMMIT', 'name', 'success', 'failed', /^Bearer /],
    [
      'bitbucket',
      '/2.0/repositories/NAME/commit/COMMIT/statuses/build',
      'key',
      'SUCCESSFUL',
      'FAILED',
      /^Bearer /,
    ],
  ] as const) {
    const repo = await repository();
    const { id: deploymentId } = await world.deployment();
    const installationId = await installed(kind);
    await world.admin.connect({ deploymentId, body: { installationId, name: repo.name } });
    const told = async (commit: string) => {
      const status = await statusOf(commit);
      const names = { NAME: repo.name, ENCODED: encodeURIComponent(repo.name), COMMIT: commit };
      expect(status.path).toBe(path.replace(/[A-Z]+/g, (key) => names[key as keyof typeof names]));
      expect(status.authorization).toMatch(authorization);
      expect(status.body[nameField]).toBe(`oriel/deployment-${deploymentId}`);
      expect(status.body.description.length).toBeLessThanOrEqual(140);
      return status.body;
    };
    const query = {
      measures: ['orders.count'],
      filters: [{ or: [{ member: 'orders.count', operator: 'gt', values: ['1'] }] }],
    };
    const report = (name: string) =>
      world.admin.createReport({ deploymentId, body: { name, jsonQuery: JSON.stringify(query) } });
    await report('Orders of today');
    const renamed = await repo.push({ 'model/orders.yml': cube('total') });
    await world.admin.pull({ deploymentId });
    expect(await told(renamed)).toMatchObject({
      state: bad,
      description: 'It builds, but breaks 1 report: Orders of today',
    });
    const both = await repo.push({
      'model/other.yml': cube('count').replace('orders\n    sql', 'others\n    sql'),
      'model/orders.yml': cube('count'),
    });
    await world.admin.pull({ deploymentId });
    expect(await told(both)).toMatchObject({ state: good });
    const broken = await repo.push({ 'model/orders.yml': 'cubes: [' });
    await world.admin.pull({ deploymentId });
    expect(await told(broken)).toMatchObject({
      state: bad,
      description: expect.stringContaining('does not build'),
    });
  }
});

test('a new commit of a branch that only the host has gets a status, and no branch here (a small double of the API of GitHub)', async () => {
  const repo = await repository();
  const bare = (...args: string[]) => host.git.run(['-C', `served/${repo.name}.git`, ...args]);
  await bare('branch', 'old', 'main');
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('github');
  await world.admin.connect({ deploymentId, body: { installationId, name: repo.name } });
  const query = (text: string) => world.server.db.pool.query(text, [deploymentId]);
  const look = async () => {
    await query("update git_connections set checked_at = now() - interval '1 hour' where deployment_id = $1");
    await world.server.db.transaction((tx) => requestSync(tx, deploymentId, true));
    await settled(deploymentId);
  };
  await look();
  // From now on, what is pushed to the branch of a pull request gets a status.
  const before = await repo.push({ 'model/orders.yml': 'cubes: [' });
  await bare('update-ref', 'refs/heads/main', `${before}~1`);
  await bare('update-ref', 'refs/heads/pull-request', before);
  await look();
  expect((await statusOf(before)).body).toMatchObject({ state: 'failure' });
  const count = () => asked.filter(({ path }) => path.includes('/statuses')).length;
  const told = count();
  const { items } = await world.admin.listBranches({ deploymentId });
  expect(items.map(({ name }) => name)).toEqual(['main']);
  await look();
  expect(count()).toBe(told);

  // A branch that is deleted here only does not come back, and gets statuses as others there do.
  await world.admin.pull({ deploymentId, body: { branchName: 'pull-request' } });
  await world.admin.deleteBranch({ deploymentId, branchName: 'pull-request' });
  await look();
  expect((await world.admin.listBranches({ deploymentId })).items.map(({ name }) => name)).toEqual(['main']);
  expect((await bare('rev-parse', 'pull-request')).trim()).toBe(before);
});

test('a push that meets another one at the same moment is merged with it, and a host that refuses is named', async () => {
  const repo = await repository();
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('git');
  await world.admin.connect({ deploymentId, body: { installationId, name: `${repo.name}.git` } });
  // Its first look must not see the commit that is taken back below: to it, that would be a history that was replaced.
  await settled(deploymentId);
  const bare = (...args: string[]) => host.git.run(['-C', `served/${repo.name}.git`, ...args]);
  const before = (await bare('rev-parse', 'main')).trim();
  const theirs = await repo.push({ theirs: '2' });
  await bare('update-ref', 'refs/heads/main', before);
  const hook = join(host.git.dir, `served/${repo.name}.git/hooks/pre-receive`);
  const writeHook = (script: string) => writeFile(hook, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // The first push finds that main was moved while it was on its way.
  const race = `touch raced; git update-ref refs/heads/main ${theirs} ${before}`;
  await writeHook(`unset GIT_QUARANTINE_PATH\ntest -e raced || { ${race}; }`);
  const mine = await modeller(world, deploymentId, { client: world.admin });
  const merged = async (files: Record<string, string>) => {
    await mine.save(files, 'here');
    await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  };
  await merged({ mine: '3' });
  await world.admin.pull({ deploymentId });
  expect(await bare('ls-tree', '--name-only', 'main')).toBe('mine\nmodel\ntheirs\n');
  expect(await world.admin.getGitHostConnection({ deploymentId })).toMatchObject({ state: 'synced' });

  await writeHook('exit 1');
  await merged({ mine: '4' });
  await expect(world.admin.pull({ deploymentId })).rejects.toMatchObject({ code: 'git_push_rejected' });
});

test('what another process has seen on the host meanwhile is not written over by what was seen before', async () => {
  const repo = await repository();
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('git');
  await world.admin.connect({ deploymentId, body: { installationId, name: `${repo.name}.git` } });
  await settled(deploymentId);
  const { db } = world.server;
  const seen = async () => (await listRemoteHeads(db, deploymentId)).get('main')!;
  const note = (head: string, before: string | undefined) =>
    db.transaction((tx) => noteRemoteHead(tx, deploymentId, 'main', { head, before }));
  const [first, newer, older] = [await seen(), 'b'.repeat(40), 'a'.repeat(40)];
  await note(newer, first);
  for (const before of [first, undefined]) await note(older, before);
  expect(await seen()).toBe(newer);
});

test('a branch that is deleted on both sides while another process looks does not come back', async () => {
  const repo = await repository();
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('git');
  await world.admin.connect({ deploymentId, body: { installationId, name: `${repo.name}.git` } });
  const bare = (...args: string[]) => host.git.run(['-C', `served/${repo.name}.git`, ...args]);
  const refs = async () => (await bare('for-each-ref', '--format=%(refname:short)')).trim().split('\n');
  await world.admin.createBranch({ deploymentId, body: { name: 'gone' } });
  await world.admin.pull({ deploymentId, body: { branchName: 'gone' } });
  expect(await refs()).toEqual(['gone', 'main']);
  const count = async (rows: string) => (await world.server.db.pool.query(`select ${rows}`)).rowCount;
  // No other job may wait for the lock below.
  const jobs = "from jobs where lane = 'remotes' and state in ('waiting', 'running') and run_at <= now()";
  await vi.waitFor(async () => expect(await count(jobs)).toBe(0), PATIENTLY);
  const other = await world.server.db.pool.connect();
  await other.query('begin; lock table git_remote_heads');
  // It knows the branch, and waits for what was seen on the host.
  const looking = world.admin.pull({ deploymentId, body: { branchName: 'gone' } });
  looking.catch(() => {});
  const waiting =
    "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'git_remote_heads'";
  await vi.waitFor(async () => expect(await count(waiting)).toBe(1), PATIENTLY);
  await world.admin.deleteBranch({ deploymentId, branchName: 'gone' });
  await bare('update-ref', '-d', 'refs/heads/gone');
  await other.query(
    `delete from git_remote_heads where branch_name = 'gone' and deployment_id = ${deploymentId}; commit`,
  );
  other.release();
  await looking;
  expect(await refs()).toEqual(['main']);
});

const WEBHOOK_TESTS = [
  {
    kind: 'github',
    list: (name: string) => `/api/v3/repos/${name}/hooks?per_page=100`,
    test: (name: string) => `/api/v3/repos/${name}/hooks/7/pings`,
    isFlat: false,
    sign: (secret: string, body: string) => ({
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-github-delivery': unique('d'),
    }),
  },
  {
    kind: 'gitea',
    list: (name: string) => `/api/v1/repos/${name}/hooks?limit=100`,
    test: (name: string) => `/api/v1/repos/${name}/hooks/7/tests`,
    isFlat: false,
    sign: (secret: string, body: string) => ({
      'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
      'x-gitea-delivery': unique('d'),
    }),
  },
  {
    kind: 'gitlab',
    list: (name: string) => `/api/v4/projects/${encodeURIComponent(name)}/hooks?per_page=100`,
    test: (name: string) => `/api/v4/projects/${encodeURIComponent(name)}/hooks/7/test/push_events`,
    isFlat: true,
    sign: (secret: string) => ({ 'x-gitlab-token': secret, 'x-gitlab-event-uuid': unique('d') }),
  },
] as const;

test.each(WEBHOOK_TESTS)(
  'a test of a connection has the host send its webhook, and waits for it (a small double of the API of $kind)',
  async ({ kind, list, test: testPath, isFlat, sign }) => {
    const repo = await repository();
    const { id: deploymentId } = await world.deployment();
    const installationId = await installed(kind);
    const tried = (waitSeconds = 1) =>
      world.admin.testGitHostInstallation({ installationId, body: { deploymentId, waitSeconds } });
    await expect(tried()).rejects.toMatchObject({ code: 'not_connected' });
    await world.admin.connect({ deploymentId, body: { installationId, name: repo.name } });
    expect(await tried()).toMatchObject({ works: false, message: expect.stringContaining('no secret') });
    const { webhookUrl, secret } = await world.admin.rotateGitHostWebhookSecret({ deploymentId });
    // The webhook is not set up on the host. The wait does not depend on the kind of host, so one kind is enough.
    if (kind === WEBHOOK_TESTS[0].kind)
      expect(await tried()).toMatchObject({ works: false, message: expect.stringContaining('set it up') });
    let signedWith = 'another secret';
    const hook = (id: number, url: string) => (isFlat ? { id, url } : { id, config: { url } });
    answers = ({ method, path }) => {
      if (path === list(repo.name)) return [200, [hook(3, 'https://x.example'), hook(7, webhookUrl)]];
      if (method !== 'POST' || path !== testPath(repo.name)) return undefined;
      const body = '{}';
      void world.raw('POST', new URL(webhookUrl).pathname, {
        apiKey: null,
        body,
        headers: { 'content-type': 'application/json', ...sign(signedWith, body) },
      });
      return [204];
    };
    expect(await tried()).toMatchObject({
      works: false,
      message: expect.stringContaining('right signature'),
    });
    signedWith = secret;
    expect(await tried(30)).toMatchObject({
      works: true,
      message: expect.stringContaining('webhook was received'),
    });
  },
);

test('accounts that installed the GitHub App of the server are connections without a token (a small double of the API of GitHub)', async () => {
  const repo = await repository();
  expect(await world.admin.status()).toMatchObject({
    linkUrl: `${host.url}/apps/oriel-of-acme/installations/new`,
    settingsUrl: `${host.url}/settings/installations`,
  });
  const jwts: string[] = [];
  let isInstalled = true;
  answers = ({ path, authorization }) => {
    if (path.startsWith('/api/v3/app/')) jwts.push(authorization.replace('Bearer ', ''));
    if (path.startsWith('/api/v3/app/installations?'))
      return [200, isInstalled ? [{ id: 99_000_001, account: { login: 'acme' } }] : []];
    if (path === '/api/v3/app/installations/99000001/access_tokens') {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      return [201, { token: host.credentials.token, expires_at }];
    }
    if (path.startsWith('/api/v3/installation/repositories')) {
      const isFirst = path.endsWith('page=1');
      const repositories = [{ id: 5, full_name: repo.name, html_url: `${host.url}/${repo.name}` }];
      return [200, { repositories: isFirst ? repositories : [] }];
    }
    return undefined;
  };
  const list = async () =>
    (await world.admin.installations()).data.filter(({ kind }) => kind === 'github_app');
  const [app] = await list();
  expect(app).toMatchObject({ login: 'acme', kind: 'github_app', url: host.url });
  expect(await list()).toEqual([app]);
  const installationId = Number(app!.installationId);
  expect((await world.admin.repositories({ installationId })).data).toMatchObject([{ name: repo.name }]);
  const { id: deploymentId } = await world.deployment();
  await world.admin.connect({ deploymentId, body: { installationId, name: repo.name } });
  const pushed = await repo.push({ 'README.md': 'new' });
  await world.admin.pull({ deploymentId });
  expect(await statusOf(pushed)).toMatchObject({ authorization: `Bearer ${host.credentials.token}` });
  // Each request of the app itself is signed by it, and a token is used until shortly before its end.
  for (const jwt of jwts) {
    const { payload } = await jwtVerify(jwt, APP_KEYS.publicKey, { algorithms: ['RS256'], issuer: '4711' });
    expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(600);
  }
  expect(asked.filter(({ path }) => path.endsWith('/access_tokens'))).toHaveLength(1);

  // Where it was uninstalled, the connection stays as long as something needs it.
  isInstalled = false;
  expect(await list()).toEqual([app]);
  await expect(
    world.admin.updateGitHostInstallation({ installationId, body: { token: 'x' } }),
  ).rejects.toMatchObject({ code: 'git_installation_of_app' });
  await world.admin.deleteGitHostConnection({ deploymentId });
  expect(await list()).toEqual([]);
  // GitHub that does not answer is no reason to show nothing.
  answers = () => [500];
  expect((await world.admin.installations()).data.length).toBeGreaterThan(0);
});

test('a connection that fails is polled less and less often, and as before when it works again', async () => {
  const repo = await repository();
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('git');
  await world.admin.connect({ deploymentId, body: { installationId, name: `${repo.name}.git` } });
  await settled(deploymentId);
  const isDueAfter = async (minutes: number) => {
    await world.server.db.pool.query(
      "update git_connections set checked_at = now() - $2 * interval '1 minute' where deployment_id = $1",
      [deploymentId, minutes],
    );
    const due = await listUnchecked(world.server.db, 300, 1000);
    return due.some((each) => each.deploymentId === deploymentId);
  };
  expect([await isDueAfter(4), await isDueAfter(6)]).toEqual([false, true]);
  const update = (body: Parameters<World['admin']['updateGitHostInstallation']>[0]['body']) =>
    world.admin.updateGitHostInstallation({ installationId, body });
  const { token } = host.credentials;
  const failThrice = async () => {
    await update({ token: 'a-token-that-has-ended' });
    for (const failures of [1, 2, 3]) {
      await expect(world.admin.pull({ deploymentId })).rejects.toMatchObject({ code: 'git_host_refused' });
      expect((await rows(deploymentId))[0]).toMatchObject({ failures });
    }
  };
  await failThrice();
  expect([await isDueAfter(19), await isDueAfter(21)]).toEqual([false, true]);
  // A new name does not end the backoff.
  const name = unique('renamed');
  expect(await update({ name, username: 'anybody' })).toMatchObject({
    login: name,
    url: host.url,
    username: 'anybody',
  });
  expect(await isDueAfter(19)).toBe(false);
  await update({ token });
  expect([await isDueAfter(4), await isDueAfter(6)]).toEqual([false, true]);
  await failThrice();
  await update({ token });
  await world.admin.pull({ deploymentId });
  expect((await rows(deploymentId))[0]).toMatchObject({ failures: 0 });
  const { items } = await world.admin.listAuditLog({
    resourceType: 'gitHostInstallation',
    resourceId: String(installationId),
  });
  expect(items.filter(({ operation }) => operation === 'updateGitHostInstallation')).toHaveLength(5);
  expect(JSON.stringify(items)).not.toContain('a-token-that-has-ended');
});

/** Waits for the job that makes both sides one. */
const settled = (deploymentId: number) =>
  vi.waitFor(async () => expect((await rows(deploymentId))[0].requested_at).toBeNull(), PATIENTLY);

const rows = async (deploymentId: number) =>
  (await world.server.db.pool.query('select * from git_connections where deployment_id = $1', [deploymentId]))
    .rows;

test('a branch of the repository whose name is a folder of a branch here is refused', async () => {
  const repo = await repository('feature/x');
  const { id: deploymentId } = await world.deployment();
  await world.admin.createBranch({ deploymentId, body: { name: 'feature' } });
  const body = {
    installationId: await installed('git'),
    name: `${repo.name}.git`,
    deployBranchName: 'feature/x',
  };
  await expect(world.admin.connect({ deploymentId, body })).rejects.toMatchObject({
    status: 409,
    code: 'branch_name_taken',
    message: expect.stringContaining('a folder of the other'),
  });
  await expect(world.admin.getGitHostConnection({ deploymentId })).rejects.toMatchObject({ status: 404 });
});

test('a new repository whose name is taken says what to do (a small double of the API of GitHub)', async () => {
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('github');
  answers = ({ method, path }) => {
    if (path === '/api/v3/user') return [200, { login: 'acme' }];
    return method === 'POST' && path === '/api/v3/user/repos' ? [422, { message: 'x' }] : undefined;
  };
  const body = { installationId, name: 'acme/taken', isNewRepo: true };
  await expect(world.admin.connect({ deploymentId, body })).rejects.toMatchObject({
    code: 'git_host_failed',
    message: expect.stringContaining('connect it without `isNewRepo`'),
  });
});

test('no more of a history is packed for a push than is allowed', async () => {
  let made = 0;
  async function* parts() {
    for (;;) {
      made++;
      yield Buffer.alloc(1000);
    }
  }
  const refused = await packOf(parts(), 10_000).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RemoteError);
  expect(refused).toMatchObject({ failure: 'too_large' });
  expect(made).toBe(11);
});

test('after the secret key was lost, connections say so, and no webhook is taken', async () => {
  const repo = await repository();
  const { id: deploymentId } = await world.deployment();
  const installationId = await installed('gitea');
  await world.admin.connect({ deploymentId, body: { installationId, name: repo.name } });
  const { webhookUrl, secret } = await world.admin.rotateGitHostWebhookSecret({ deploymentId });
  await world.server.db.transaction(clearGitSecrets);
  expect(await world.admin.testGitHostInstallation({ installationId })).toMatchObject({
    works: false,
    message: expect.stringContaining('lost with the secret key'),
  });
  await expect(world.admin.pull({ deploymentId })).rejects.toMatchObject({ code: 'git_host_refused' });
  const { status } = await world.raw('POST', new URL(webhookUrl).pathname, {
    apiKey: null,
    body: '{}',
    headers: {
      'content-type': 'application/json',
      'x-gitea-signature': createHmac('sha256', secret).update('{}').digest('hex'),
    },
  });
  expect(status).toBe(401);
  // A new token mends it.
  await world.admin.updateGitHostInstallation({ installationId, body: { token: host.credentials.token } });
  await world.admin.pull({ deploymentId });
});
