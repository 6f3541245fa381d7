/** A deployment and a repository on a real git server are one: what is committed on either side is on both. */
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller, readFiles } from '../../../test/data-models.ts';
import { createGitHttp, type GitHttp } from '../../../test/git-http.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let host: GitHttp;
let installationId: number;
beforeAll(async () => {
  host = await createGitHttp();
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  installationId = await installed({ kind: 'git', url: host.url, ...userAndToken() });
});
afterAll(async () => {
  await world.stop();
  await host.stop();
});

const userAndToken = () => ({ username: host.credentials.user, token: host.credentials.token });
type Installation = Parameters<World['admin']['createGitHostInstallation']>[0]['body'];
async function installed(body: Omit<Installation, 'name'>): Promise<number> {
  const made = await world.admin.createGitHostInstallation({ body: { name: unique('host'), ...body } });
  return Number(made.installationId);
}

/** A repository with a clone of the git program, whose commits are pushed at once. */
async function repository(files: Record<string, string>, branch = 'main') {
  const name = unique('repository');
  await host.createRepository(name);
  await host.git.run(['-c', `init.defaultBranch=${branch}`, 'clone', '--quiet', `served/${name}.git`, name]);
  const run = (...args: string[]) => host.git.run(['-C', name, ...args]);
  const bare = (...args: string[]) => host.git.run(['-C', `served/${name}.git`, ...args]);
  await run('checkout', '--quiet', '-B', branch);
  const push = async (changes: Record<string, string>, message: string) => {
    for (const [path, text] of Object.entries(changes)) await writeFile(join(host.git.dir, name, path), text);
    await run('add', '--all');
    await run('commit', '--quiet', '-m', message);
    await run('push', '--quiet', 'origin', 'HEAD');
    return (await run('rev-parse', 'HEAD')).trim();
  };
  if (Object.keys(files).length) {
    await push(files, 'of the data team');
    await bare('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
  }
  const headOf = async (of = branch) => (await bare('rev-parse', of)).trim();
  return { name: `${name}.git`, run, bare, push, headOf };
}

const connect = (deploymentId: number, name: string, more: object = {}) =>
  world.admin.connect({ deploymentId, body: { installationId, name, ...more } });
/** Jobs look at the repository after it was connected, and after changes. What is pushed when they have ended is brought by a pull only. */
async function settled(deploymentId: number) {
  const open = () =>
    world.server.db.pool.query(
      "select from jobs where kind like 'git-hosts.%' and (payload ->> 'deploymentId')::bigint = $1 and finished_at is null",
      [deploymentId],
    );
  await expect.poll(async () => (await open()).rowCount, { timeout: 30_000 }).toBe(0);
}
const headHere = async (deploymentId: number, name: string) =>
  (await world.admin.listBranches({ deploymentId })).items.find((branch) => branch.name === name)?.lastHash;
const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );
const LINES = Array.from({ length: 20 }, (_, i) => `# line ${i}`);
const withLine = (n: number, text: string) => LINES.map((line, i) => (i === n ? text : line)).join('\n');

test('an existing repository becomes the data model, and what is new on either side comes to the other', async () => {
  const repo = await repository({ 'shared.yml': withLine(-1, ''), 'README.md': 'ours' }, 'trunk');
  const { id: deploymentId } = await world.deployment();
  const deployment = await connect(deploymentId, repo.name);
  expect(deployment.id).toBe(deploymentId);
  expect(await headHere(deploymentId, 'trunk')).toBe(await repo.headOf());
  expect(await readFiles(world.admin, deploymentId, 'trunk')).toMatchObject({ 'README.md': 'ours' });
  expect((await world.admin.getDeploymentSettings({ deploymentId })).deployBranchName).toBe('trunk');
  const [first] = (await world.admin.listCommits({ deploymentId, name: 'trunk' })).items;
  expect(first).toMatchObject({
    message: 'of the data team',
    author: { name: 'Ada', email: 'ada@example.com' },
  });

  // What is merged here arrives there, by the job.
  const mine = await modeller(world, deploymentId, { branch: 'feature', from: 'trunk', client: world.admin });
  await mine.save({ 'shared.yml': withLine(2, 'changed here') }, 'from here');
  await world.admin.mergeToDefaultBranch({
    deploymentId,
    body: { branchName: 'feature', message: 'merged here' },
  });
  await expect
    .poll(async () => repo.bare('log', '--format=%s', 'trunk'), { timeout: 30_000 })
    .toBe('merged here\nfrom here\nof the data team\n');
  expect(await repo.bare('fsck', '--full', '--strict')).toBe('');
  await expect
    .poll(() => repo.headOf('feature'), { timeout: 30_000 })
    .toBe(await headHere(deploymentId, 'feature'));

  // What others push arrives here, merged with what is new here.
  await settled(deploymentId);
  await repo.run('pull', '--quiet', 'origin', 'trunk');
  const theirs = await repo.push(
    { 'shared.yml': withLine(2, 'changed here').replace('# line 18', 'changed there') },
    'there',
  );
  expect(await world.admin.pull({ deploymentId, body: {} })).toEqual({ buildTriggered: true });
  expect(await headHere(deploymentId, 'trunk')).toBe(theirs);
  expect(await world.admin.pull({ deploymentId })).toEqual({ buildTriggered: false });
  // A name that was mistyped says nothing about the connection.
  expect(await codeOf(world.admin.pull({ deploymentId, body: { branchName: 'none' } }))).toBe(
    'branch_not_found',
  );
  expect(await world.admin.getGitHostConnection({ deploymentId })).toMatchObject({ state: 'synced' });
});

test('both sides changed the same lines: a 409 names the file, and what is deployed stays', async () => {
  const repo = await repository({ 'shared.yml': withLine(-1, '') });
  const { id: deploymentId } = await world.deployment();
  const { id: webhookId } = await world.admin.createWebhook({
    body: {
      url: 'http://127.0.0.1:9/nobody',
      events: ['git_connection.created', 'git_connection.diverged', 'git_connection.rewritten'],
    },
  });
  await connect(deploymentId, repo.name);
  await settled(deploymentId);
  const deployed = await headHere(deploymentId, 'main');
  await repo.push({ 'shared.yml': withLine(3, 'there') }, 'there');
  const mine = await modeller(world, deploymentId, { client: world.admin });
  await mine.save({ 'shared.yml': withLine(3, 'here') }, 'here');
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  const here = await headHere(deploymentId, 'main');
  expect(here).not.toBe(deployed);
  const error = await world.admin.pull({ deploymentId }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'merge_conflict', message: expect.stringContaining('shared.yml') });
  expect(await headHere(deploymentId, 'main')).toBe(here);
  const state = await world.admin.getGitHostConnection({ deploymentId });
  expect(state).toMatchObject({ state: 'failed', message: expect.stringContaining('shared.yml') });

  // Webhooks of events are told, once for each reason.
  await world.admin.pull({ deploymentId }).catch(() => {});
  await repo.run('commit', '--quiet', '--amend', '-m', 'there, again');
  await repo.run('push', '--quiet', '--force', 'origin', 'HEAD');
  await repo.run('reset', '--quiet', '--hard', 'HEAD~1');
  await repo.run('commit', '--quiet', '--amend', '-m', 'another beginning');
  await repo.run('push', '--quiet', '--force', 'origin', 'HEAD');
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('git_history_rewritten');
  const told = (await world.admin.listWebhookDeliveries({ id: webhookId })).items
    .map(({ payload }) => JSON.parse(payload!))
    .filter(({ data }) => data.deploymentId === deploymentId);
  expect(told.map(({ type, data }) => [type, data.code])).toEqual([
    ['git_connection.rewritten', 'git_history_rewritten'],
    ['git_connection.diverged', 'merge_conflict'],
    ['git_connection.created', undefined],
  ]);
  await world.admin.deleteWebhook({ id: webhookId });
});

test('a history that somebody replaced there is named, and never followed nor pushed over', async () => {
  const repo = await repository({ a: '1' });
  const { id: deploymentId } = await world.deployment();
  await connect(deploymentId, repo.name);
  const here = await headHere(deploymentId, 'main');
  await repo.run('checkout', '--quiet', '--orphan', 'fresh');
  await repo.run('commit', '--quiet', '-m', 'another beginning');
  await repo.run('push', '--quiet', '--force', 'origin', 'fresh:main');
  const theirs = await repo.headOf();
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('git_history_rewritten');
  const mine = await modeller(world, deploymentId, { client: world.admin });
  await mine.save({ b: '2' }, 'here');
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  const refused = await world.admin.pull({ deploymentId }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'git_history_rewritten',
    message: expect.stringMatching(new RegExp(`${here}.*acceptRewritten.*${theirs}`)),
  });
  expect(await repo.headOf()).toBe(theirs);
  const local = await headHere(deploymentId, 'main');
  expect(local).not.toBe(here);

  // A user who manages deployments takes it by naming its commit, and no other one. The audit log has an entry.
  const take = (client: World['admin'], acceptRewritten: string) =>
    codeOf(client.pull({ deploymentId, body: { acceptRewritten } }));
  const developer = await world.person({ roles: ['Developer'] });
  expect(await take(developer.client, theirs)).toBe('forbidden');
  expect(await take(world.admin, here!)).toBe('git_history_rewritten');
  expect(await headHere(deploymentId, 'main')).toBe(local);
  expect(await take(world.admin, theirs)).toBe('done');
  expect(await headHere(deploymentId, 'main')).toBe(theirs);
  expect(await repo.headOf()).toBe(theirs);
  const { items } = await world.admin.listAuditLog({ operation: 'pull', deploymentId });
  expect(items[0]).toMatchObject({ resourceType: 'branch', after: { head: theirs } });
  expect(JSON.stringify(items[0]!.before)).toContain(local);
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('done');
});

test('connecting again after a rollback pushes nothing back that was removed there', async () => {
  const repo = await repository({ a: '1' });
  const { id: deploymentId } = await world.deployment();
  const kept = await repo.headOf();
  await repo.push({ a: 'a secret by mistake' }, 'to be removed');
  await repo.run('push', '--quiet', 'origin', 'HEAD:side');
  await connect(deploymentId, repo.name);
  await world.admin.pull({ deploymentId, body: { branchName: 'side' } });
  await repo.run('push', '--quiet', '--force', 'origin', `${kept}:main`, ':side');
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('git_history_rewritten');
  await world.admin.deleteGitHostConnection({ deploymentId });
  expect(await codeOf(connect(deploymentId, repo.name))).toBe('git_history_rewritten');
  expect(await codeOf(world.admin.getGitHostConnection({ deploymentId }))).toBe('not_connected');
  await connect(deploymentId, repo.name, { acceptRewritten: kept });
  expect(await headHere(deploymentId, 'main')).toBe(kept);
  const mine = await modeller(world, deploymentId, { client: world.admin });
  await mine.save({ b: '2' }, 'after the rollback');
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  await expect
    .poll(() => repo.bare('log', '--format=%s', '--all'), { timeout: 30_000 })
    .toBe('after the rollback\nof the data team\n');
});

test('an empty repository gets the data model; a model of its own is not lost to a foreign history', async () => {
  const empty = await repository({});
  const { id: deploymentId } = await world.deployment();
  const mine = await modeller(world, deploymentId, { client: world.admin });
  await mine.save({ 'own.yml': 'cubes: []\n' }, 'own work');
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  const head = await headHere(deploymentId, 'main');

  const foreign = await repository({ a: '1' });
  expect(await codeOf(connect(deploymentId, foreign.name))).toBe('git_repository_unrelated');
  expect(await codeOf(world.admin.getGitHostConnection({ deploymentId }))).toBe('not_connected');
  expect(await headHere(deploymentId, 'main')).toBe(head);

  await connect(deploymentId, empty.name);
  await expect
    .poll(() => empty.bare('for-each-ref', '--format=%(refname)'), { timeout: 30_000 })
    .toBe('refs/heads/main\n');
  expect(await empty.headOf()).toBe(head);
  expect(await codeOf(connect(deploymentId, empty.name))).toBe('already_connected');
  expect(await codeOf(world.admin.deleteGitHostInstallation({ installationId }))).toBe(
    'git_installation_in_use',
  );

  // A branch that only the repository has is made by a pull, and removed on both sides.
  await empty.run('fetch', '--quiet');
  await empty.run('checkout', '--quiet', '-B', 'theirs', 'origin/main');
  await empty.push({ 'theirs.yml': 'cubes: []\n' }, 'theirs');
  await world.admin.pull({ deploymentId, body: { branchName: 'theirs' } });
  expect(await headHere(deploymentId, 'theirs')).toBe(await empty.headOf('theirs'));
  await world.admin.deleteBranch({ deploymentId, branchName: 'theirs', removeOnUpstream: true });
  expect(await empty.bare('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');

  await world.admin.deleteGitHostConnection({ deploymentId });
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('no_remote');
});

test('connecting again loses no commit of either side', async () => {
  const repo = await repository({ a: '1' });
  const { id: deploymentId } = await world.deployment();
  await connect(deploymentId, repo.name);
  await world.admin.deleteGitHostConnection({ deploymentId });
  const mine = await modeller(world, deploymentId, { client: world.admin });
  await mine.save({ here: 'x' }, 'here, while disconnected');
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: mine.branchName } });
  await repo.push({ there: 'y' }, 'there, meanwhile');
  await connect(deploymentId, repo.name);
  await expect
    .poll(() => repo.bare('ls-tree', '--name-only', 'main'), { timeout: 30_000 })
    .toBe('a\nhere\nthere\n');
  expect(await readFiles(world.admin, deploymentId, 'main')).toMatchObject({ a: '1', here: 'x', there: 'y' });
});

test('a branch of another deployment, or one that did not come from here, is neither pushed to nor deleted', async () => {
  const repo = await repository({ a: '1' });
  await repo.run('checkout', '--quiet', '-b', 'develop');
  await repo.push({ b: '2' }, 'ahead of main');
  await repo.run('checkout', '--quiet', '-b', 'other', 'main');
  await repo.push({ c: '3' }, 'of somebody else');
  const [production, staging] = [await world.deployment(), await world.deployment()];
  await connect(production.id, repo.name, { deployBranchName: 'main' });
  await connect(staging.id, repo.name, { branch: 'develop' });
  const before = await repo.bare('for-each-ref', '--format=%(refname) %(objectname)');
  const { id: deploymentId } = staging;
  expect(await codeOf(world.admin.pull({ deploymentId, body: { branchName: 'main' } }))).toBe(
    'branch_name_taken',
  );
  for (const name of ['main', 'other']) {
    await world.admin.createBranch({ deploymentId, body: { name } });
    expect(await codeOf(world.admin.pull({ deploymentId, body: { branchName: name } })), name).toBe(
      'branch_name_taken',
    );
    const removed = world.admin.deleteBranch({ deploymentId, branchName: name, removeOnUpstream: true });
    expect(['branch_name_taken', 'branch_changed'], name).toContain(await codeOf(removed));
    await world.admin.deleteBranch({ deploymentId, branchName: name });
  }
  // One that came by a pull is deleted only with the commits that were seen.
  await world.admin.pull({ deploymentId, body: { branchName: 'other' } });
  await repo.push({ c: '4' }, 'after the pull');
  const late = world.admin.deleteBranch({ deploymentId, branchName: 'other', removeOnUpstream: true });
  expect(await codeOf(late)).toBe('branch_changed');
  expect((await repo.bare('for-each-ref', '--format=%(refname) %(objectname)')).split('\n').length).toBe(
    before.split('\n').length,
  );
  expect(await repo.headOf('main')).toBe(await headHere(production.id, 'main'));
});

test('a commit that has a known folder in thousands of places is refused, and the model serves on', async () => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, `${i}`]));
  const repo = await repository(files);
  const { id: deploymentId } = await world.deployment();
  await connect(deploymentId, repo.name);
  const head = await repo.headOf();
  const folder = (await repo.bare('rev-parse', 'main^{tree}')).trim();
  const lines = Array.from(
    { length: 2000 },
    (_, i) => `040000 tree ${folder}\td${String(i).padStart(5, '0')}`,
  );
  const tree = (
    await host.git.run(['-C', `served/${repo.name}`, 'mktree'], { input: `${lines.join('\n')}\n` })
  ).trim();
  const bomb = (await repo.bare('commit-tree', tree, '-p', head, '-m', 'a bomb')).trim();
  await repo.bare('update-ref', 'refs/heads/main', bomb);
  expect(await codeOf(world.admin.pull({ deploymentId }))).toBe('git_repository_too_large');
  expect(await headHere(deploymentId, 'main')).toBe(head);
});

test('a repository with something that cannot be stored is refused, and leaves nothing in any table', async () => {
  const { id: deploymentId } = await world.deployment();
  const tables = ['git_objects', 'git_connections', 'git_remote_heads', 'builds', 'branches', 'jobs'];
  const stored = async () => {
    const counts: Record<string, unknown> = {};
    for (const table of tables) {
      const mine = table === 'jobs' ? `payload ->> 'deploymentId'` : 'deployment_id::text';
      const { rows } = await world.server.db.pool.query(
        `select count(*)::int as n from ${table} where ${mine} = $1`,
        [String(deploymentId)],
      );
      counts[table] = rows[0].n;
    }
    return { counts, settings: await world.admin.getDeploymentSettings({ deploymentId }) };
  };
  await whenBuilt(world, deploymentId);
  const before = await stored();
  const repo = await repository({ a: '1' });
  const file = (await repo.bare('rev-parse', 'main:a')).trim();
  const commit = (await repo.bare('rev-parse', 'main')).trim();
  for (const [what, ...lines] of [
    ['a symbolic link', `120000 blob ${file}\tlink`],
    ['a submodule', `160000 commit ${commit}\tmodule`],
    ['names that differ in case', `100644 blob ${file}\tA`, `100644 blob ${file}\ta`],
  ]) {
    const input = `${lines.join('\n')}\n`;
    const tree = (await host.git.run(['-C', `served/${repo.name}`, 'mktree', '--missing'], { input })).trim();
    // The bad commit is on top of good ones, and those are not stored either.
    const hostile = (await repo.bare('commit-tree', tree, '-p', commit, '-m', 'hostile')).trim();
    await repo.bare('update-ref', 'refs/heads/main', hostile);
    expect(await codeOf(connect(deploymentId, repo.name)), what).toBe('git_repository_unacceptable');
    expect(await stored(), what).toEqual(before);
  }
});

test('a key that is scoped to one deployment cannot connect it to a repository', async () => {
  const repo = await repository({ a: '1' });
  const { id: deploymentId } = await world.deployment();
  const { key } = await world.admin.createApiKey({ body: { name: 'scoped', deploymentIds: [deploymentId] } });
  const body = { installationId, name: repo.name };
  expect(await codeOf(world.client(key).connect({ deploymentId, body }))).toBe('outside_key_scope');
});

const bodyOf = JSON.stringify({ ref: 'refs/heads/main' });
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text);
const SIGNATURES: [string, (secret: string) => Record<string, string>][] = [
  [
    'GitHub',
    (secret) => ({
      'x-hub-signature-256': `sha256=${hmac(secret, bodyOf).digest('hex')}`,
      'x-github-delivery': unique('d'),
    }),
  ],
  [
    'Gitea',
    (secret) => ({
      'x-gitea-signature': hmac(secret, bodyOf).digest('hex'),
      'x-gitea-delivery': unique('d'),
    }),
  ],
  ['GitLab with a token', (secret) => ({ 'x-gitlab-token': secret })],
  [
    'Standard Webhooks',
    (secret) => {
      const [id, timestamp] = [unique('d'), String(Math.floor(Date.now() / 1000))];
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${bodyOf}`).digest('base64');
      return {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,old v1,${signature}`,
      };
    },
  ],
];

test('a signed webhook of each host brings what was pushed, once, and any other is refused', async () => {
  const repo = await repository({ a: '1' });
  const { id: deploymentId } = await world.deployment();
  await connect(deploymentId, repo.name);
  const { webhookUrl } = await world.admin.getGitHostConnection({ deploymentId });
  const send = (headers: Record<string, string>) =>
    world.raw('POST', new URL(webhookUrl).pathname, {
      apiKey: null,
      body: bodyOf,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const forged = SIGNATURES[0]![1]('a guess');
  // Before a secret is made, nothing is accepted.
  expect((await send(forged)).status).toBe(401);
  const { secret } = await world.admin.rotateGitHostWebhookSecret({ deploymentId });
  // What jobs change is told to webhooks of events too.
  const { id: webhookId } = await world.admin.createWebhook({
    body: { url: 'http://127.0.0.1:9/nobody', events: ['branch.updated'] },
  });
  for (const [who, sign] of SIGNATURES) {
    expect((await send(sign('a guess'))).status, who).toBe(401);
    const pushed = await repo.push({ a: who }, who);
    expect((await send(sign(secret))).status, who).toBe(204);
    await expect.poll(() => headHere(deploymentId, 'main'), { timeout: 30_000 }).toBe(pushed);
  }
  const { items } = await world.admin.listWebhookDeliveries({ id: webhookId });
  expect(items.map(({ event }) => event)).toEqual(SIGNATURES.map(() => 'branch.updated'));
  await world.admin.deleteWebhook({ id: webhookId });
  expect((await send({})).status).toBe(401);
  const old = SIGNATURES[3]![1](secret);
  expect((await send({ ...old, 'webhook-timestamp': '1700000000' })).status).toBe(401);

  // Each delivery makes the server look once, and a look is two requests, if nothing is new.
  const asked = () => host.requests.filter((request) => request.includes(repo.name)).length;
  const checkedAt = async () => (await world.admin.getGitHostConnection({ deploymentId })).checkedAt;
  const lookedAfter = async (headers: Record<string, string>) => {
    const before = await checkedAt();
    expect((await send(headers)).status).toBe(204);
    await expect.poll(checkedAt, { timeout: 30_000 }).not.toBe(before);
  };
  const first = SIGNATURES[0]![1](secret);
  await lookedAfter(first);
  const count = asked();
  expect((await send(first)).status).toBe(204);
  await lookedAfter(SIGNATURES[0]![1](secret));
  expect(asked() - count).toBe(2);
  expect(
    (
      await world.raw('POST', '/api/v1/git-host/webhooks/aaaaaaaaaaaa', {
        apiKey: null,
        body: bodyOf,
        headers: { 'content-type': 'application/json' },
      })
    ).status,
  ).toBe(404);
});

test('a wrong token, a missing repository and addresses with secrets get clear errors that show no secret', async () => {
  const wrong = await installed({
    kind: 'git',
    url: host.url,
    username: 'oriel',
    token: 'a-wrong-secret-token',
  });
  const tried = await world.admin.testGitHostInstallation({
    installationId: wrong,
    body: { repository: 'none.git' },
  });
  expect(tried.works).toBe(false);
  expect(JSON.stringify(tried)).not.toContain('a-wrong-secret-token');
  const { id: deploymentId } = await world.deployment();
  const with_ = (name: string, id = installationId) =>
    codeOf(world.admin.connect({ deploymentId, body: { installationId: id, name } }));
  expect(await with_('none.git')).toBe('git_repository_not_found');
  expect(await with_('none.git', wrong)).toBe('git_host_refused');
  expect(await with_('../etc')).toBe('invalid_request');
  expect(await with_('a.git', 999_999)).toBe('git_installation_not_found');
  const made = (url: string) =>
    codeOf(world.admin.createGitHostInstallation({ body: { name: 'x', kind: 'git', url, token: 't' } }));
  expect(await made('https://ada:secret@git.example.com')).toBe('invalid_request');
  expect(await made('ftp://git.example.com')).toBe('invalid_request');
  const listed = await world.admin.installations();
  expect(JSON.stringify(listed)).not.toContain(host.credentials.token);
  const { rows } = await world.server.db.pool.query(
    `select after from audit_log where resource_type = 'gitHostInstallation'`,
  );
  expect(JSON.stringify(rows)).not.toContain(host.credentials.token);
});

/** What is no address of a public server over TLS, by what is wrong with it. */
const REFUSED_ADDRESSES: [string, string][] = [
  ['another scheme', 'ftp://git.example.com/acme'],
  ['SSH', 'ssh://git@git.example.com/acme'],
  ['a file', 'file:///etc/passwd'],
  ['no scheme', 'git.example.com'],
  ['no TLS', 'http://git.example.com'],
  ['a password', 'https://ada:secret@git.example.com'],
  ['a user', 'https://ada@git.example.com'],
  ['a query', 'https://git.example.com/?token=secret'],
  ['a part behind #', 'https://git.example.com/#x'],
  ['loopback', 'https://127.0.0.1'],
  ['loopback as a number', 'https://2130706433'],
  ['loopback in hexadecimal', 'https://0x7f.1'],
  ['loopback in octal', 'https://0177.0.0.1'],
  ['loopback with a dot', 'https://127.0.0.1./'],
  ['loopback of IPv6', 'https://[::1]:3000'],
  ['loopback in IPv6', 'https://[::ffff:127.0.0.1]'],
  ['localhost', 'https://localhost'],
  ['localhost with a dot', 'https://git.LOCALHOST.'],
  ['a private network', 'https://10.1.2.3'],
  ['secrets of a cloud', 'https://169.254.169.254/latest'],
  ['unspecified', 'https://0.0.0.0'],
  ['a private network of IPv6', 'https://[fd00::1]'],
  ['a line break', 'https://git.example.com/\nx'],
  ['a tab in the host', 'https://git\t.example.com'],
  ['a null', 'https://git.example.com/\u0000'],
  ['a backslash', 'https:\\\\git.example.com'],
  ['100 KB', `https://git.example.com/${'x'.repeat(100_000)}`],
];

test('without the setting, addresses that are not public are refused and not stored, and none is asked', async () => {
  const careful = await createOwnWorld();
  const run = (text: string) => careful.server.db.pool.query(text);
  const refusal = { status: 400, code: expect.stringMatching(/^invalid_/) };
  try {
    const { id: deploymentId } = await careful.deployment();
    for (const [what, url] of REFUSED_ADDRESSES) {
      const host = { name: 'refused', kind: 'git' as const, url, token: 't' };
      const made = careful.admin.createGitHostInstallation({ body: host });
      await expect(made, what).rejects.toMatchObject(refusal);
      const repository = { url, token: 't' };
      const set = careful.admin.updateModelSyncSource({
        deploymentId,
        body: { kind: 'repository', repository },
      });
      await expect(set, what).rejects.toMatchObject(refusal);
    }
    expect((await careful.admin.installations()).data).toEqual([]);
    const guide = `${careful.url}/docs#/GitHost`;
    expect(await careful.admin.status()).toEqual({ connected: false, linkUrl: guide, settingsUrl: guide });
    expect((await run('select * from model_sync_sources')).rows).toEqual([]);
    const audited = `select from audit_log where resource_type in ('gitHostInstallation', 'modelSyncSource')`;
    expect((await run(audited)).rowCount).toBe(0);

    // A name may lead to a private address later, which the connection itself finds.
    const { installationId: id } = await careful.admin.createGitHostInstallation({
      body: { name: 'local', kind: 'git', url: 'https://git.example.com', token: 't' },
    });
    await run(`update git_installations set url = '${host.url.replace('http:', 'https:')}'`);
    const asked = host.requests.length;
    const body = { installationId: Number(id), name: 'a.git' };
    expect(await codeOf(careful.admin.connect({ deploymentId, body }))).toBe('git_host_unreachable');
    expect(host.requests.length).toBe(asked);
  } finally {
    await careful.stop();
  }
});

test('a host that sends the server elsewhere is not followed, and nothing is stored', async () => {
  const redirecting = createServer((request, response) => {
    response.writeHead(302, { location: `${host.url}${request.url}` }).end();
  });
  await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
  try {
    const repo = await repository({ a: '1' });
    const { port } = redirecting.address() as AddressInfo;
    const id = await installed({ kind: 'git', url: `http://127.0.0.1:${port}`, ...userAndToken() });
    const { id: deploymentId } = await world.deployment();
    const asked = host.requests.length;
    const body = { installationId: id, name: repo.name };
    expect(await codeOf(world.admin.connect({ deploymentId, body }))).toBe('git_repository_not_found');
    expect(host.requests.length).toBe(asked);
    expect(await codeOf(world.admin.getGitHostConnection({ deploymentId }))).toBe('not_connected');
  } finally {
    redirecting.close();
  }
});

test('repositories are listed and made by calls like those of GitHub, GitLab, Gitea and Bitbucket (a small double of their APIs)', async () => {
  const calls: string[] = [];
  const api: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push(
        `${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`,
      );
      const isFirst = /[?&]page=1\b/.test(request.url!);
      const answer = request.url!.startsWith('/api/v4/namespaces')
        ? { id: 7 }
        : request.method === 'POST'
          ? { id: 2, full_name: 'acme/new', path_with_namespace: 'acme/new' }
          : request.url!.startsWith('/2.0')
            ? {
                values: [
                  {
                    uuid: '{0000-01}',
                    full_name: 'acme/model',
                    links: { html: { href: 'https://x/acme/model' } },
                  },
                ],
              }
            : isFirst
              ? [
                  {
                    id: 1,
                    full_name: 'acme/model',
                    path_with_namespace: 'acme/model',
                    html_url: 'https://x/acme/model',
                    web_url: 'https://x/acme/model',
                  },
                ]
              : [];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  try {
    for (const kind of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
      const id = await installed({ kind, url, token: 'tok' });
      const { data } = await world.admin.repositories({ installationId: id });
      expect(data, kind).toEqual([
        { id: expect.any(Number), name: 'acme/model', htmlUrl: 'https://x/acme/model' },
      ]);
      const { id: deploymentId } = await world.deployment();
      // The double makes the repository, and then serves no git.
      const made = world.admin.connect({
        deploymentId,
        body: { installationId: id, name: 'acme/new', isNewRepo: true },
      });
      expect(await codeOf(made), kind).toBe('git_host_failed');
    }
    expect(calls.filter((call) => call.startsWith('POST'))).toEqual([
      'POST /api/v3/orgs/acme/repos Bearer tok {"name":"new","private":true}',
      'POST /api/v4/projects Bearer tok {"name":"new","path":"new","visibility":"private","namespace_id":7}',
      'POST /api/v1/orgs/acme/repos token tok {"name":"new","private":true}',
      'POST /2.0/repositories/acme/new Bearer tok {"scm":"git","is_private":true}',
    ]);
  } finally {
    api.close();
  }
});
