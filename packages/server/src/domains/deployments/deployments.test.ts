import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const input = (changes: object = {}) => ({
  name: unique('deployment'),
  cloudProvider: 'managed' as const,
  creationStep: 'project' as const,
  isManaged: true,
  region: 'local',
  targetPlatform: 'embedded',
  ...changes,
});

test('a deployment is created, found, listed and deleted', async () => {
  const created = await world.admin.createDeployment({ body: input() });
  expect(created.deploymentUrl).toBe(`${world.url}/query/api/v1/deployments/${created.id}`);
  const { actions, ...found } = await world.admin.getDeployment({ deploymentId: created.id });
  expect(found).toEqual(created);
  expect(actions).toEqual(expect.arrayContaining(['DeploymentRead', 'DownloadData', 'SchemaUpdate']));
  expect((await world.admin.getDeployments({ first: 1000 })).items).toContainEqual(created);

  expect(await world.admin.deleteDeployment({ deploymentId: created.id })).toEqual({ success: true });
  const gone = { status: 404, code: 'deployment_not_found' };
  await expect(world.admin.getDeployment({ deploymentId: created.id })).rejects.toMatchObject(gone);
  await expect(world.admin.deleteDeployment({ deploymentId: created.id })).rejects.toMatchObject(gone);
});

test('cursor pages hold every deployment once, even while others are added and deleted', async () => {
  const mine = [];
  for (let i = 0; i < 7; i++) mine.push(await world.deployment());
  const seen: number[] = [];
  let after: string | undefined;
  do {
    const page = await world.admin.getDeployments({ first: 3, after });
    expect(page.data).toEqual(page.items);
    expect(page.pageInfo?.hasPreviousPage).toBe(after !== undefined);
    expect(page.pagination).toMatchObject({ limit: 3, offset: 0, total: page.totalCount });
    seen.push(...page.items.map(({ id }) => id));
    if (seen.length === 3)
      await world.admin.deleteDeployment({ deploymentId: (await world.deployment()).id });
    after = page.pageInfo?.hasNextPage ? page.pageInfo.endCursor! : undefined;
  } while (after);
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  expect(seen).toEqual(expect.arrayContaining(mine.map(({ id }) => id)));
});

test('pages can also be read by offset and limit, without cursors', async () => {
  for (let i = 0; i < 4; i++) await world.deployment();
  const all = await world.admin.getDeployments({ limit: 1000 });
  expect(all.pageInfo).toBeNull();
  const page = await world.admin.getDeployments({ offset: 1, limit: 2 });
  expect(page.items).toEqual(all.items.slice(1, 3));
  expect(page.pagination).toEqual({ offset: 1, limit: 2, total: all.count });
  expect((await world.admin.getDeployments({ limit: 0 })).items).toEqual([]);
  expect((await world.admin.getDeployments({ offset: 1_000_000 })).items).toEqual([]);
});

test('creationStep filters, and may be repeated', async () => {
  const demo = await world.admin.createDeployment({ body: input({ creationStep: 'demo' }) });
  const ssh = await world.admin.createDeployment({ body: input({ creationStep: 'ssh' }) });
  const idsOf = async (creationStep: ('demo' | 'ssh')[]) =>
    (await world.admin.getDeployments({ creationStep })).items.map(({ id }) => id);
  expect(await idsOf(['demo'])).toEqual([demo.id]);
  expect(await idsOf(['demo', 'ssh'])).toEqual([demo.id, ssh.id]);
});

test.each([
  ['first=0', 'invalid_request'],
  ['first=-1', 'invalid_request'],
  ['first=ten', 'invalid_request'],
  ['first=', 'invalid_request'],
  ['first=1.5', 'invalid_request'],
  ['first=1&first=2', 'invalid_request'],
  ['offset=-1', 'invalid_request'],
  ['limit=x', 'invalid_request'],
  ['creationStep=finished', 'invalid_request'],
  ['after=', 'invalid_request'],
  ['after=abc', 'invalid_cursor'],
  ['first=1&limit=1', 'mixed_pagination'],
  ['offset=1&after=abc', 'mixed_pagination'],
])('a bad list parameter is a 400: %s', async (query, code) => {
  const response = await world.raw('GET', `/api/v1/deployments?${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code });
});

test.each(['first=5000', 'first=9007199254740991', 'limit=null', 'offset=&limit=', 'unknown=1'])(
  'a list parameter that is empty, unknown or too large is accepted: %s',
  async (query) => {
    expect((await world.raw('GET', `/api/v1/deployments?${query}`)).status).toBe(200);
  },
);

test('cursors that are cut, altered or of another list are refused', async () => {
  await world.deployment();
  const { endCursor } = (await world.admin.getDeployments({ first: 1 })).pageInfo!;
  const ofKeys = (await world.admin.listApiKeys({ first: 1 })).pageInfo.endCursor!;
  const altered = endCursor!.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const after of [endCursor!.slice(0, -2), altered, `${endCursor}=`, ofKeys]) {
    await expect(world.admin.getDeployments({ after })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_cursor',
    });
  }
});

test.each([
  ['a name of only spaces', { name: '   ' }],
  ['a name of 256 characters', { name: 'x'.repeat(256) }],
  ['a name with a control character', { name: 'a\u0000b' }],
  ['a step that does not exist', { creationStep: 'finished' }],
  ['a region that does not exist', { region: 'mars-1' }],
  ['text for a boolean', { isManaged: 'true' }],
  ['a number for text', { name: 5 }],
])('bad input is refused: %s', async (_, changes) => {
  const attempt = world.admin.createDeployment({ body: input(changes) as never });
  await expect(attempt).rejects.toMatchObject({ status: 400 });
});

test('names may contain any text that people write', async () => {
  for (const name of [
    'Übersicht 📈',
    '\u200fتقارير',
    "Robert'); drop table deployments;--",
    'x'.repeat(255),
  ]) {
    expect((await world.deployment(name)).name).toBe(name);
  }
});

test('viewers read deployments, developers do not delete them, and people without a role see none', async () => {
  const { id } = await world.deployment();
  const [viewer, developer, nobody] = await Promise.all(
    [['Viewer'], ['Developer'], []].map(async (roles) => (await world.person({ roles })).client),
  );
  expect(await viewer!.getDeployment({ deploymentId: id })).toMatchObject({
    id,
    actions: expect.not.arrayContaining(['DownloadData']),
  });
  await expect(viewer!.createDeployment({ body: input() })).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  });
  await expect(developer!.deleteDeployment({ deploymentId: id })).rejects.toMatchObject({ status: 403 });
  await expect(nobody!.getDeployments()).rejects.toMatchObject({ status: 403 });
  const notThere = await nobody!.getDeployment({ deploymentId: 999_999_999 }).catch((error) => error);
  const notMine = await nobody!.getDeployment({ deploymentId: id }).catch((error) => error);
  expect([notMine.status, notMine.code, notMine.message]).toEqual([
    notThere.status,
    notThere.code,
    notThere.message,
  ]);
  expect(notMine.status).toBe(404);
});
