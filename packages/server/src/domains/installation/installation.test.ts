import { afterEach, expect, test } from 'vitest';
import { ADMIN_KEY, createWorld, type World } from '../../../test/world.ts';

const worlds: World[] = [];
async function world(env?: Record<string, string>) {
  const made = await createWorld({ env });
  worlds.push(made);
  return made;
}
afterEach(async () => {
  for (const made of worlds.splice(0)) await made.stop();
});

test('the demo is seeded once, with deployment 1, the same everywhere', async () => {
  const [a, b] = [await world({ ORIEL_DEMO: 'true' }), await world({ ORIEL_DEMO: 'true' })];
  const deploymentsOf = async ({ admin }: World) =>
    (await admin.getDeployments()).items.map(({ id, name }) => ({ id, name }));
  expect(await deploymentsOf(a)).toEqual([{ id: 1, name: 'Acme Commerce' }]);
  const contentOf = async ({ admin }: World) => {
    const reports = await admin.getReports({ deploymentId: 1, first: 1000, sortBy: 'name' });
    return reports.items.map(({ publicId, name, folderPath }) => ({ publicId, name, folderPath }));
  };
  expect((await contentOf(a)).length).toBeGreaterThan(200);
  expect(await contentOf(b)).toEqual(await contentOf(a));
  await a.anotherServer();
  expect(await deploymentsOf(a)).toHaveLength(1);
});

test('the demo brings attributes of users and creator mode', async () => {
  const { admin } = await world({ ORIEL_DEMO: 'true' });
  const { data } = await admin.getUserAttributes();
  expect(data.map(({ name, type }) => [name, type])).toEqual([
    ['region', 'string'],
    ['tier', 'number'],
    ['regions', 'string_array'],
    ['thresholds', 'number_array'],
    ['is_partner', 'boolean'],
  ]);
  for (const { displayName, description } of data) {
    expect(displayName).toBeTruthy();
    expect(description).toBeTruthy();
  }
  expect(await admin.getTenantSettings()).toMatchObject({ useCreatorMode: true });
});

test('without the demo there are no attributes and no creator mode', async () => {
  const { admin } = await world();
  expect(await admin.getUserAttributes()).toMatchObject({ count: 0, items: [] });
  expect(await admin.getTenantSettings()).toMatchObject({ useCreatorMode: false });
});

test('what was deleted of the demo stays deleted', async () => {
  const { admin, anotherServer } = await world({ ORIEL_DEMO: 'true' });
  await admin.deleteDeployment({ deploymentId: 1 });
  await anotherServer();
  expect((await admin.getDeployments()).items).toEqual([]);
});

test('the settings of the first admin count only while there is no user', async () => {
  const made = await world();
  expect(made.server.firstAdmin).toEqual({
    email: 'admin@example.com',
    generatedPassword: expect.stringMatching(/^.{20}$/),
    generatedApiKey: undefined,
  });
  const second = await made.anotherServer();
  expect(second.firstAdmin).toBeUndefined();
  expect((await made.client(ADMIN_KEY).listApiKeys()).items).toHaveLength(1);
});
