/** Syncs whose project is in a repository on a real git server. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readFiles } from '../../../test/data-models.ts';
import { createGitHttp, type GitHttp } from '../../../test/git-http.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const ARTIFACTS = join(import.meta.dirname, '../../../test/dbt/artifacts');
const artifact = (name: string) => readFile(join(ARTIFACTS, `${name}.json`), 'utf8');
const PATIENTLY = { timeout: 60_000, interval: 100 };
const ORDERS = 'model/cubes/dbt/orders.yml';

let world: World;
let host: GitHttp;
let installationId: number;
beforeAll(async () => {
  host = await createGitHttp();
  world = await createOwnWorld({
    env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true', ORIEL_DBT_PYTHON: '/nowhere/python' },
  });
  const { user: username, token } = host.credentials;
  const made = await world.admin.createGitHostInstallation({
    body: { name: 'host', kind: 'git', url: host.url, username, token },
  });
  installationId = Number(made.installationId);
});
afterAll(async () => {
  await world.stop();
  await host.stop();
});

/** A repository with a clone of the git program, whose commits are pushed at once. */
async function repository(files: Record<string, string>) {
  const name = unique('dbt');
  const url = await host.createRepository(name);
  await host.git.run(['-c', 'init.defaultBranch=main', 'clone', '--quiet', `served/${name}.git`, name]);
  const run = (...args: string[]) => host.git.run(['-C', name, ...args]);
  const commit = async (changes: Record<string, string>) => {
    for (const [path, text] of Object.entries(changes)) {
      const target = join(host.git.dir, name, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
    await run('add', '--all', '--force');
    await run('commit', '--quiet', '-m', 'of the data team');
    await run('push', '--quiet', 'origin', 'HEAD');
    return (await run('rev-parse', 'HEAD')).trim();
  };
  return { name: `${name}.git`, url, run, commit, first: await commit(files) };
}

async function synced(deploymentId: number, body: { branchName?: string; ref?: string } = {}) {
  const { syncJobId } = await world.admin.startModelSync({ deploymentId, body });
  const status = await vi.waitFor(async () => {
    const now = await world.admin.getModelSyncStatus({ deploymentId, syncJobId });
    expect(now.status).not.toBe('RUNNING');
    return now;
  }, PATIENTLY);
  return { syncJobId, status: status.status, error: status.error };
}

const source = (deploymentId: number, repository: object, more: object = {}) =>
  world.admin.updateModelSyncSource({ deploymentId, body: { kind: 'repository', repository, ...more } });

test('a sync reads the manifest of a branch, tag or commit of a repository, with what its connection or a token may read', async () => {
  const shop = await artifact('shop.manifest');
  const repo = await repository({
    'warehouse/target/manifest.json': shop,
    'warehouse/target/catalog.json': await artifact('shop.catalog'),
    'README.md': 'not of dbt',
  });
  // A link is no reason to read nothing.
  await repo.run(
    '-c',
    'core.symlinks=true',
    'update-index',
    '--add',
    '--cacheinfo',
    `120000,${(await repo.run('rev-parse', 'HEAD:README.md')).trim()},link`,
  );
  await repo.run('commit', '--quiet', '-m', 'a link');
  await repo.run('tag', '-a', 'v1', '-m', 'first');
  await repo.run('push', '--quiet', 'origin', 'HEAD', 'v1');
  const tagged = (await repo.run('rev-parse', 'HEAD')).trim();
  const { id: deploymentId } = await world.deployment();
  const set = await source(
    deploymentId,
    { installationId, name: repo.name, projectPath: 'warehouse/', branch: 'main' },
    { select: ['tag:mart'] },
  );
  expect(set.repository).toEqual({
    ...{ installationId, name: repo.name, url: null, username: null, branch: 'main' },
    ...{ projectPath: '/warehouse', hasCredential: false },
  });
  const { id: webhookId } = await world.admin.createWebhook({
    body: {
      url: 'http://127.0.0.1:9/nobody',
      events: ['branch.updated', 'model_sync.completed', 'model_sync.failed'],
    },
  });
  const { syncJobId } = await synced(deploymentId);
  // Webhooks of events are told what the job changed.
  const told = async () =>
    (await world.admin.listWebhookDeliveries({ id: webhookId })).items.map(({ event, payload }) => [
      event,
      JSON.parse(payload!).data.id,
    ]);
  expect((await told()).toSorted()).toEqual([
    ['branch.updated', expect.any(String)],
    ['model_sync.completed', syncJobId],
  ]);
  const result = await world.admin.getModelSyncResult({ deploymentId, syncJobId });
  expect(result).toMatchObject({ modelCount: 3, sourceCommit: tagged });
  expect((await readFiles(world.admin, deploymentId, 'dbt-sync'))[ORDERS]).toContain('ordered_at');
  // Nothing of the repository but the manifest was needed, and nothing of it is stored.
  await expect(
    world.admin
      .listCommits({ deploymentId, name: 'dbt-sync' })
      .then(({ items }) => items.map(({ hash }) => hash)),
  ).resolves.not.toContain(tagged);

  // Another commit of the branch has another project.
  const newest = await repo.commit({
    'warehouse/target/manifest.json': shop.replaceAll('What was ordered', 'What people ordered'),
  });
  for (const [ref, commit] of [
    [undefined, newest],
    ['v1', tagged],
    [repo.first, repo.first],
  ] as const) {
    const { syncJobId } = await synced(deploymentId, { branchName: unique('sync'), ...(ref && { ref }) });
    expect(await world.admin.getModelSyncResult({ deploymentId, syncJobId })).toMatchObject({
      sourceCommit: commit,
    });
  }
  const failed = await synced(deploymentId, { branchName: unique('sync'), ref: 'none' });
  expect(failed).toMatchObject({
    status: 'FAILED',
    error: 'The repository has no branch or tag none.',
  });
  expect((await told())[0]).toEqual(['model_sync.failed', failed.syncJobId]);
  await world.admin.deleteWebhook({ id: webhookId });
  await expect(world.admin.startModelSync({ deploymentId, body: { ref: 'a b' } })).rejects.toMatchObject({
    status: 400,
  });

  // By an address of its own, whose token no reply shows, and which goes to no other address.
  const { user: username, token } = host.credentials;
  const address = { url: repo.url, username, projectPath: '/warehouse' };
  const stored = await source(deploymentId, { ...address, token });
  expect(stored.repository).toMatchObject({ url: repo.url, hasCredential: true });
  expect(JSON.stringify([stored, await world.admin.getModelSyncSource({ deploymentId })])).not.toContain(
    token,
  );
  await source(deploymentId, address);
  expect(await synced(deploymentId, { branchName: unique('sync') })).toMatchObject({ status: 'COMPLETED' });
  await expect(source(deploymentId, { ...address, url: `${host.url}/other.git` })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('repository.token'),
  });
  await source(deploymentId, { ...address, token: 'a-wrong-token' });
  const refused = await synced(deploymentId, { branchName: unique('sync') });
  expect(refused).toMatchObject({ status: 'FAILED', error: expect.stringContaining('credentials') });
  expect(refused.error).not.toContain('a-wrong-token');
});

test('a source is checked, and only who may manage deployments may name a repository of a connection', async () => {
  const { id: deploymentId } = await world.deployment();
  for (const wrong of [
    {},
    { installationId },
    { url: `${host.url}/x.git`, installationId, name: 'x' },
    { url: `http://a:b@127.0.0.1/x.git` },
    { url: 'ssh://git@127.0.0.1/x.git' },
    { installationId, name: '../x' },
    { installationId, name: 'x', token: 'of nothing' },
    { installationId, name: 'x', projectPath: '../..' },
    { installationId, name: 'x', branch: 'a..b' },
  ])
    await expect(source(deploymentId, wrong), JSON.stringify(wrong)).rejects.toMatchObject({ status: 400 });
  await expect(
    world.admin.updateModelSyncSource({ deploymentId, body: { kind: 'repository' } }),
  ).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  await expect(source(deploymentId, { installationId: 999_999, name: 'x' })).rejects.toMatchObject({
    status: 404,
    code: 'git_installation_not_found',
  });
  const developer = await world.person({ roles: ['Developer'] });
  const body = { kind: 'repository' as const, repository: { installationId, name: 'secret.git' } };
  await expect(developer.client.updateModelSyncSource({ deploymentId, body })).rejects.toMatchObject({
    status: 403,
  });
  const repo = await repository({ 'target/manifest.json': await artifact('events.manifest') });
  await source(deploymentId, { installationId, name: repo.name });
  // A repository that an admin chose may stay.
  const mine = {
    kind: 'repository' as const,
    repository: { installationId, name: repo.name, branch: 'main' },
  };
  await developer.client.updateModelSyncSource({ deploymentId, body: mine });
  await expect(world.admin.deleteGitHostInstallation({ installationId })).rejects.toMatchObject({
    code: 'git_installation_in_use',
  });
});

test('without a manifest, the status says what is wrong and what to do', async () => {
  const { id: deploymentId } = await world.deployment();
  const empty = await repository({ 'README.md': 'nothing of dbt' });
  await source(deploymentId, { installationId, name: empty.name });
  expect(await synced(deploymentId, { branchName: 'a' })).toMatchObject({
    status: 'FAILED',
    error: expect.stringContaining('`projectPath`'),
  });
  await source(deploymentId, { installationId, name: empty.name, projectPath: '/warehouse' });
  expect(await synced(deploymentId, { branchName: 'b' })).toMatchObject({
    status: 'FAILED',
    error: 'The repository has no folder warehouse/.',
  });
  const project = await repository({ 'dbt_project.yml': 'name: shop\nprofile: shop\n' });
  await source(deploymentId, { installationId, name: project.name });
  expect(await synced(deploymentId, { branchName: 'c' })).toMatchObject({
    status: 'FAILED',
    error: expect.stringMatching(/no target\/manifest\.json.*Commit the files that dbt makes/),
  });
});

/** Stands before the git server and keeps every answer back until it is let through. */
async function heldHost() {
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = vi.fn();
  const server = createServer(async (request, response) => {
    asked();
    await released;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(host.url + request.url, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(chunks.length && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    release();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, release, stop };
}

test('what is taken from a person while their sync runs is not there for its commit', async () => {
  const repo = await repository({ 'target/manifest.json': await artifact('events.manifest') });
  const { user: username, token } = host.credentials;
  const actions = ['DeploymentRead', 'SchemaRead', 'SchemaUpdateDevBranches'] as const;
  const takes: [string, RegExp, (deploymentId: number, roleId: number, keyId: number) => Promise<unknown>][] =
    [
      [
        'the branch became a staging environment',
        /SchemaUpdate\b/,
        (deploymentId) =>
          world.admin.setBranchStagingEnvironment({
            deploymentId,
            body: { branchName: 'mine', enabled: true },
          }),
      ],
      [
        'the role lost the action',
        /SchemaUpdateDevBranches/,
        (_, id) => world.admin.updateRole({ id, body: { actions: ['DeploymentRead'] } }),
      ],
      ['the key was deleted', /API key/, (_, _role, apiKeyId) => world.admin.deleteApiKey({ id: apiKeyId })],
    ];
  for (const [what, error, take] of takes) {
    const gate = await heldHost();
    const { id: deploymentId } = await world.deployment();
    const role = await world.admin.createRole({ body: { name: unique('role'), actions: [...actions] } });
    const person = await world.person({ roles: [role.name] });
    await source(deploymentId, { url: `${gate.url}/${repo.name}`, username, token });
    const { syncJobId } = await person.client.startModelSync({ deploymentId, body: { branchName: 'mine' } });
    const before = await readFiles(world.admin, deploymentId, 'mine');
    await vi.waitFor(() => expect(gate.asked).toHaveBeenCalled(), PATIENTLY);
    await take(deploymentId, role.id, person.apiKeyId);
    gate.release();
    await vi.waitFor(async () => {
      const { status, error: reason } = await world.admin.getModelSyncStatus({ deploymentId, syncJobId });
      expect({ status, reason }, what).toEqual({ status: 'FAILED', reason: expect.stringMatching(error) });
    }, PATIENTLY);
    expect(await readFiles(world.admin, deploymentId, 'mine'), what).toEqual(before);
    gate.stop();
  }
});
