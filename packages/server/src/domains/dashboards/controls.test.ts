/** Controls of dashboards: what they may hold, and what each viewer begins with. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

const REGION = unique('region');
const TENANT = unique('tenant');
let world: World;
let deploymentId: number;
let workbookId: number;
let reportId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Shop' } })).id;
  const jsonQuery = JSON.stringify({ dimensions: ['customers.name'] });
  const report = { workbookId, name: 'Names', jsonQuery };
  reportId = (await world.admin.createReport({ deploymentId, body: report })).id;
  await world.admin.createUserAttribute({ body: { name: REGION, type: 'string' } });
});
afterAll(() => world.stop());

const position = { x: 0, y: 0, w: 3, h: 1 };
const configWith = (config: object) => ({
  widgets: [
    { id: 'region', type: 'FILTER' as const, position, config: { member: 'customers.region', ...config } },
    { id: 'names', type: 'CHART' as const, position: { ...position, y: 1 }, config: { reportId } },
  ],
});
const publish = (config: object) =>
  world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: configWith(config), allowEmbed: true },
  });

/** The default of the first widget. */
const defaultOf = ({ widgets }: { widgets?: readonly { config?: object | null }[] | null }) =>
  (widgets![0]!.config as { default?: unknown }).default;

test('a filter begins with the attribute of whoever looks, and with everything for those without it', async () => {
  const preset = { operator: 'equals', userAttribute: REGION };
  const { publicId } = await publish({ default: preset, visibility: 'hidden' });
  const body = { allEmbedUsers: true, allowEmbed: true, action: 'read' as const };
  await world.admin.updateEmbedAccess({ deploymentId, workbookId, body });
  const begins = async (externalId: string, value?: string) => {
    const { client } = await world.embedded({
      ...{ deploymentId, embedTenantName: TENANT, externalId },
      ...(value === undefined ? {} : { userAttributes: [{ name: REGION, value }] }),
    });
    const { body, etag } = await client.withHeaders.getDashboard({ publicId });
    return { preset: defaultOf(body.config), etag };
  };
  const [ann, bob, cleo] = [await begins('ann', 'EMEA'), await begins('bob', 'AMER'), await begins('cleo')];
  expect(ann.preset).toEqual({ ...preset, value: 'EMEA' });
  expect(bob.preset).toEqual({ ...preset, value: 'AMER' });
  expect(cleo.preset).toEqual({ ...preset, value: null });
  // Without an ETag, no cache keeps a reply for one viewer and shows it to another one.
  expect([ann.etag, bob.etag, cleo.etag].filter(Boolean)).toEqual([]);
  // Authors go on with what they wrote.
  const { config } = await world.admin.getDashboardVersion({ deploymentId, workbookId, versionNumber: 1 });
  expect(defaultOf(config)).toEqual(preset);
});

test.each([
  [{ visibility: 'secret' }, 'visibility'],
  [{ operators: ['contains'] }, 'operators'],
  [{ faceted: 'yes' }, 'faceted'],
  [{ default: { operator: 'equals', userAttribute: 7 } }, 'default.userAttribute'],
  [{ mapping: { nobody: 'customers.name' } }, 'mapping.nobody'],
  [{ mapping: { names: 'customers.nothing' } }, 'mapping.names'],
  [{ mapping: { names: 'a b' } }, 'mapping.names'],
])('a control with %j is refused', async (config, field) => {
  await expect(publish(config)).rejects.toMatchObject({
    status: 400,
    issues: [{ path: `config.widgets[0].config.${field}` }],
  });
});

test('a control may filter a chart by another field, or leave it out', async () => {
  await publish({ mapping: { names: 'customers.name' }, operators: ['equals', 'not_equals'] });
  await publish({ mapping: { names: null } });
});

test('a picture is part of the dashboard, and nothing that pages would load or run', async () => {
  const withImage = (image: string) => ({
    widgets: [{ id: 'logo', type: 'TEXT' as const, position, config: { image, alt: 'Our logo' } }],
  });
  const put = (image: string) =>
    world.admin.publishDashboard({ deploymentId, workbookId, body: { config: withImage(image) } });
  const png = (side: number) => {
    const head = Buffer.from('89504e470d0a1a0a0000000d4948445200000000000000000806', 'hex');
    head.writeUInt32BE(side, 16);
    head.writeUInt32BE(side, 20);
    return `data:image/png;base64,${head.toString('base64')}`;
  };
  await put(png(100));
  const five = Array.from({ length: 5 }, (_, i) => ({ ...withImage(png(2000)).widgets[0]!, id: `logo${i}` }));
  await expect(
    world.admin.publishDashboard({ deploymentId, workbookId, body: { config: { widgets: five } } }),
  ).rejects.toMatchObject({ status: 400, issues: [{ path: 'config.widgets[4]' }] });
  const tooLarge = `data:image/png;base64,${'A'.repeat(300_000)}`;
  for (const image of [
    'https://example.com/a.png',
    'data:image/svg+xml;base64,PHN2Zz4=',
    tooLarge,
    png(8000),
  ])
    await expect(put(image)).rejects.toMatchObject({
      status: 400,
      issues: [{ path: 'config.widgets[0].config.image' }],
    });
});
