/** A command-line tool deploys a data model: it compares hashes, sends what differs, and waits for the build. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, cleanUp, type RunningServer, startServer, until, usedDataDir } from './server-process.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(await usedDataDir());
});
afterAll(cleanUp);

/** Speaks HTTP only, as a tool in another language would. */
async function call<Reply>(method: string, path: string, body?: object): Promise<Reply> {
  const isForm = body instanceof FormData;
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
    },
    body: isForm ? body : body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Reply;
}

const sha1 = (content: string) => createHash('sha1').update(content).digest('hex');

type Hashes = Record<string, { hash: string }>;

/** Returns the paths that were sent. */
async function deploy(deploymentId: number, files: Record<string, string>): Promise<string[]> {
  const model = `/build/api/v1/deployments/${deploymentId}/data-model`;
  const branch = 'branchName=main';
  const upstream = await call<Hashes>('GET', `${model}/file-hashes?${branch}`);
  const hashes: Hashes = Object.fromEntries(
    Object.entries(files).map(([path, content]) => [path, { hash: sha1(content) }]),
  );
  const { transaction } = await call<{ transaction: { id: string } }>(
    'POST',
    `${model}/upload/start?${branch}`,
  );
  const different = Object.keys(files).filter((path) => upstream[path]?.hash !== hashes[path]!.hash);
  for (const path of different) {
    const form = new FormData();
    form.append('transaction', JSON.stringify(transaction));
    form.append('fileName', path);
    form.append('file', new Blob([files[path]!]), path.split('/').at(-1));
    await call('POST', `${model}/upload/file?${branch}`, form);
  }
  await call('POST', `${model}/upload/finish?${branch}`, { transaction, files: hashes });
  return different;
}

interface BuildStatus {
  status: string;
  errorText: string | null;
}

/** Waits as the tools do: until the build is neither being made nor warmed up. */
async function buildOf(deploymentId: number): Promise<BuildStatus> {
  let build: BuildStatus = { status: 'none', errorText: null };
  await until('the build ends', async () => {
    build = await call<BuildStatus>(
      'GET',
      `/api/v1/deployments/${deploymentId}/build-status?branchName=main`,
    );
    return !['building', 'warmup', 'none'].includes(build.status);
  });
  return build;
}

const cube = (name: string, table = name) => `cubes:
  - name: ${name}
    sql_table: public.${table}
    measures:
      - name: count
        type: count
`;

test('a tool deploys, sends only what differs the next time, and sees why a build failed', async () => {
  const { id } = await call<{ id: number }>('POST', '/build/api/v1/deployments', {
    name: 'Deployed by a tool',
    cloudProvider: 'managed',
    creationMethod: 'upload',
    creationStep: 'upload',
    deployMode: 'cli',
    isManaged: true,
    region: 'local',
    targetPlatform: 'embedded',
  });
  const files: Record<string, string> = {
    'README.md': '# Our model\n',
    'model/cubes/orders.yml': cube('orders'),
    'model/cubes/users.yml': cube('users'),
  };
  expect(await deploy(id, files)).toEqual(Object.keys(files));
  expect(await buildOf(id)).toMatchObject({ status: 'built' });

  files['model/cubes/orders.yml'] = cube('orders', 'all_orders');
  delete files['model/cubes/users.yml'];
  expect(await deploy(id, files)).toEqual(['model/cubes/orders.yml']);
  expect(await buildOf(id)).toMatchObject({ status: 'built' });

  files['model/cubes/orders.yml'] = 'cubes:\n  - name: orders\n    measures: 7\n';
  await deploy(id, files);
  const failed = await buildOf(id);
  expect(failed.status).toBe('failed');
  expect(failed.errorText).toContain('orders.yml');

  const commits: string[] = [];
  for (let after = '', more = true; more; ) {
    const page = await call<{
      items: { hash: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    }>('GET', `/build/api/v1/deployments/${id}/branches/main/commits?first=2${after && `&after=${after}`}`);
    commits.push(...page.items.map(({ hash }) => hash));
    after = page.pageInfo.endCursor;
    more = page.pageInfo.hasNextPage;
  }
  expect(new Set(commits).size).toBe(4);
  const branches = await call<{ items: object[]; data: object[] }>(
    'GET',
    `/build/api/v1/deployments/${id}/branches/?first=1`,
  );
  expect(branches.items).toMatchObject([{ name: 'main', lastHash: commits[0] }]);
  expect(branches.data).toEqual(branches.items);
});
