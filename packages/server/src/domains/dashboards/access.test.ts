/** Who sees a dashboard. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let workbookId: number;
let publicId: string;
let dashboardId: number;
const tenant = unique('acme').replaceAll('_', '-');
const other = unique('globex').replaceAll('_', '-');
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: {} })).id;
  ({ publicId, id: dashboardId } = await world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: {} },
  }));
});
afterAll(() => world.stop());

type Access = Parameters<World['admin']['updateEmbedAccess']>[0]['body'];
const access = (body: Access) => world.admin.updateEmbedAccess({ deploymentId, workbookId, body });
const viewer = async (embedTenantName: string, given: object = {}) =>
  (await world.embedded({ deploymentId, externalId: unique('ann'), embedTenantName, ...given })).client;
/** Whether the caller sees it; if not, it is the same 404 as for none. */
const sees = async (client: World['admin'], id = publicId) =>
  client.getDashboard({ publicId: id }).then(
    () => true,
    (error: { status: number; code: string }) => {
      expect(error).toMatchObject({ status: 404, code: 'dashboard_not_found' });
      return false;
    },
  );

test('who may not manage the workbook learns nothing of embed tenants', async () => {
  await viewer(tenant);
  const { client } = await world.person({ roles: ['Viewer'] });
  const answers = [tenant, unique('missing')].map((embedTenantName) => {
    const body = { embedTenantName, action: 'read' as const };
    return client.updateEmbedAccess({ deploymentId, workbookId, body }).catch(({ code }) => code);
  });
  expect(await Promise.all(answers)).toEqual(['workbook_not_found', 'workbook_not_found']);
});

describe('a viewer with an embed token', () => {
  test('sees it only if it may be embedded and access is given', async () => {
    const [ann, bob] = [await viewer(tenant), await viewer(other)];
    expect(await sees(ann)).toBe(false);
    await access({ allowEmbed: true });
    expect(await sees(ann)).toBe(false);
    await access({ allEmbedUsers: true, action: 'read' });
    expect([await sees(ann), await sees(bob)]).toEqual([true, true]);
    await world.admin.updateDashboardEmbedding({ publicId, body: { allowEmbed: false } });
    expect(await sees(ann)).toBe(false);
  });

  test('the entry of their embed tenant decides, whatever is given to all', async () => {
    const [ann, bob] = [await viewer(tenant), await viewer(other)];
    await access({ allowEmbed: true, embedTenantName: tenant, action: 'read' });
    expect([await sees(ann), await sees(bob)]).toEqual([true, false]);
    await access({ allEmbedUsers: true, action: 'read' });
    await access({ embedTenantName: tenant, action: 'none' });
    expect([await sees(ann), await sees(bob)]).toEqual([false, true]);
    await access({ embedTenantName: tenant });
    expect(await sees(ann)).toBe(true);
    await access({ allEmbedUsers: true });
    expect([await sees(ann), await sees(bob)]).toEqual([false, false]);
  });

  test('gets nothing by the entry of another dashboard', async () => {
    const ann = await viewer(tenant);
    const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
    const beside = await world.admin.publishDashboard({ deploymentId, workbookId: id, body: { config: {} } });
    const allowed = { deploymentId, workbookId: id, body: { allowEmbed: true } };
    await world.admin.updateEmbedAccess(allowed);
    await access({ allowEmbed: true, embedTenantName: tenant, action: 'read' });
    expect([await sees(ann), await sees(ann, beside.publicId)]).toEqual([true, false]);
  });

  test('does not get the SQL of reports', async () => {
    const body = { sqlQuery: 'select count(*) from example_orders' };
    const { id: reportId } = await world.admin.createReport({ deploymentId, body });
    const position = { x: 0, y: 0, w: 1, h: 1 };
    const config = { widgets: [{ id: 'a', type: 'CHART' as const, position, config: { reportId } }] };
    await world.admin.publishDashboard({ deploymentId, workbookId, body: { config } });
    await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
    const snapshotFor = async (client: World['admin']) =>
      (await client.getDashboard({ publicId })).reportSnapshots[0];
    expect(await snapshotFor(world.admin)).toMatchObject({ reportId, ...body });
    const shown = await snapshotFor(await viewer(tenant));
    expect(shown).toMatchObject({ reportId });
    expect(shown).not.toHaveProperty('sqlQuery');
  });

  test('of another deployment sees nothing', async () => {
    await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
    const at = (await world.deployment()).id;
    expect(await sees(await viewer(tenant, { deploymentId: at }))).toBe(false);
  });

  test('who is internal sees no more than others', async () => {
    const internalId = unique('admin');
    const body = { username: internalId, email: `${internalId}@example.com`, roles: ['Admin'] };
    await world.admin.createUser({ body });
    const { client } = await world.embedded({ deploymentId, internalId, embedTenantName: tenant });
    expect(await sees(client)).toBe(false);
    await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
    expect(await sees(client)).toBe(true);
  });

  test('sees nothing that is not published, though access was given before', async () => {
    const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
    const body = { allowEmbed: true, allEmbedUsers: true, action: 'read' as const };
    await world.admin.updateEmbedAccess({ deploymentId, workbookId: id, body });
    const query = 'select public_id from dashboards where workbook_id = $1';
    const { rows } = await world.server.db.pool.query(query, [id]);
    const ann = await viewer(tenant);
    expect(await sees(ann, rows[0].public_id)).toBe(false);
    expect(await sees(world.admin, rows[0].public_id)).toBe(false);
    await world.admin.publishDashboard({ deploymentId, workbookId: id, body: { config: {} } });
    expect(await sees(ann, rows[0].public_id)).toBe(true);
  });

  test('loses it with their embed tenant, and a new one with the same name does not inherit', async () => {
    const name = unique('temp');
    await viewer(name);
    await access({ allowEmbed: true, embedTenantName: name, action: 'read' });
    await world.admin.deleteEmbedTenant({ embedTenantName: name });
    const { tenants } = await world.admin.getEmbedAccess({ deploymentId, workbookId });
    expect(tenants).toEqual([]);
    expect(await sees(await viewer(name))).toBe(false);
    const left = async () =>
      (
        await world.server.db.pool.query('select from dashboard_embed_access where dashboard_id = $1', [
          dashboardId,
        ])
      ).rowCount;
    await expect.poll(left).toBe(0);
  });
});

describe('a creator', () => {
  test('cannot publish an application, whose scripts would run for other viewers', async () => {
    const creator = await viewer(tenant, { creatorMode: true });
    const { id } = await creator.createWorkbook({ deploymentId, body: {} });
    const config = { kind: 'APP' as const, app: { html: '<p>Hello</p>' } };
    const placed = {
      widgets: [
        {
          id: 'app',
          type: 'APP' as const,
          position: { x: 0, y: 0, w: 4, h: 4 },
          config: { publicId },
        },
      ],
    };
    for (const given of [config, placed])
      await expect(
        creator.publishDashboard({ deploymentId, workbookId: id, body: { config: given } }),
      ).rejects.toMatchObject({ status: 403, code: 'forbidden' });
    await creator.publishDashboard({ deploymentId, workbookId: id, body: { config: {} } });
  });

  test('cannot publish Python, which would run for other viewers, by any way that brings it into a dashboard', async () => {
    const creator = await viewer(tenant, { creatorMode: true });
    const at = { deploymentId };
    const book = await creator.createWorkbook({ ...at, body: {} });
    await deployModel(world, deploymentId, SHOP_MODEL);
    const query = { jsonQuery: '{"measures":["orders.count"]}' };
    const python = 'output = 1';
    const draftOf = (reportId: number) => ({
      widgets: [
        { id: 'a', type: 'CHART' as const, position: { x: 0, y: 0, w: 4, h: 4 }, config: { reportId } },
      ],
    });
    const publish = (workbookId: number, config?: ReturnType<typeof draftOf>) =>
      creator.publishDashboard({ ...at, workbookId, body: { config } });
    const plain = await creator.createReport({ ...at, body: { ...query, workbookId: book.id } });
    await creator.updateWorkbookDashboard({
      ...at,
      workbookId: book.id,
      body: { dashboardDraft: draftOf(plain.id) },
    });
    await publish(book.id);
    const changes: [string, () => Promise<unknown>][] = [
      ['update', () => creator.updateReport({ ...at, reportId: plain.id, body: { meta: { python } } })],
      [
        'update of the chart',
        () =>
          creator.updateReport({
            ...at,
            reportId: plain.id,
            body: { meta: { chart: { kind: 'table', python } } },
          }),
      ],
      [
        'upsert',
        () => creator.upsertReportByPublicId({ ...at, publicId: plain.publicId, body: { meta: { python } } }),
      ],
    ];
    for (const [way, change] of changes) {
      await creator.updateReport({ ...at, reportId: plain.id, body: { meta: null } });
      await publish(book.id);
      await change();
      await expect(publish(book.id), way).rejects.toMatchObject({
        status: 403,
        message: expect.stringMatching(/Python/),
      });
    }
    const copy = await creator.duplicateWorkbook({ ...at, workbookId: book.id, body: {} });
    await expect(publish(copy.id), 'duplicate').rejects.toMatchObject({ status: 403 });
    // A report that lies elsewhere, and a report of a person that lies in the embed tenant.
    const elsewhere = await creator.createReport({ ...at, body: { ...query, meta: { python } } });
    await expect(publish(book.id, draftOf(elsewhere.id)), 'elsewhere').rejects.toMatchObject({ status: 403 });
    const theirs = await world.admin.createReport({
      ...at,
      body: { ...query, meta: { python }, workbookId: book.id },
    });
    await expect(publish(book.id, draftOf(theirs.id)), 'of a person').rejects.toMatchObject({ status: 403 });
    // People of the account publish it, also in the embed tenant, and creators cannot publish it again.
    const byPerson = await world.admin.publishDashboard({
      ...at,
      workbookId: book.id,
      body: { config: draftOf(theirs.id) },
    });
    expect(JSON.stringify(byPerson)).toContain('"hasPython":true');
    await expect(publish(book.id), 'again').rejects.toMatchObject({ status: 403 });
  });

  test('publishes what lives in their embed tenant, for the viewers of this embed tenant only', async () => {
    const creator = await viewer(tenant, { creatorMode: true });
    const colleague = await viewer(tenant, { creatorMode: true });
    const [ann, bob] = [await viewer(tenant), await viewer(other)];
    const stranger = await viewer(other, { creatorMode: true });
    const { id } = await creator.createWorkbook({ deploymentId, body: {} });
    const publish = (allowEmbed: boolean) =>
      creator.publishDashboard({ deploymentId, workbookId: id, body: { config: {}, allowEmbed } });
    const made = await publish(false);
    const seen = async () => [
      await sees(creator, made.publicId),
      await sees(colleague, made.publicId),
      await sees(ann, made.publicId),
      await sees(bob, made.publicId),
      await sees(stranger, made.publicId),
    ];
    expect(await seen()).toEqual([true, true, false, false, false]);
    await publish(true);
    expect(await seen()).toEqual([true, true, true, false, false]);
    const all = { allEmbedUsers: true, action: 'read' as const };
    await world.admin.updateEmbedAccess({ deploymentId, workbookId: id, body: all });
    expect(await seen()).toEqual([true, true, true, false, false]);
    const none = { embedTenantName: tenant, action: 'none' as const };
    await world.admin.updateEmbedAccess({ deploymentId, workbookId: id, body: none });
    expect(await seen()).toEqual([true, true, false, false, false]);
  });

  test('does not reach the main workspace', async () => {
    const creator = await viewer(tenant, { creatorMode: true });
    expect(await sees(creator)).toBe(false);
    const body = { config: {} };
    const attempt = creator.publishDashboard({ deploymentId, workbookId, body });
    await expect(attempt).rejects.toMatchObject({ status: 404, code: 'workbook_not_found' });
    await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
    expect(await sees(creator)).toBe(true);
  });
});

describe('a person', () => {
  test('sees what they can read: by the workbook, by a policy on the dashboard alone, or not at all', async () => {
    const person = await world.person({ roles: ['Viewer'] });
    expect(await sees(person.client)).toBe(false);
    const resource = { resourceType: 'Dashboard' as const, resourceId: dashboardId };
    const give = (action: 'WorkbookRead' | 'WorkbookManage' | null, by = world.admin) =>
      by.setUserPolicy({ body: { ...resource, userId: person.userId, action } });
    await expect(give('WorkbookRead', person.client)).rejects.toMatchObject({ code: 'resource_not_found' });
    const { users } = await give('WorkbookRead');
    expect(users).toMatchObject([{ userId: person.userId, action: 'WorkbookRead', inheritedFrom: null }]);
    expect(await sees(person.client)).toBe(true);
    const workbook = person.client.getWorkbook({ deploymentId, workbookId });
    await expect(workbook).rejects.toMatchObject({ code: 'workbook_not_found' });
    const embed = () => person.client.updateDashboardEmbedding({ publicId, body: { allowEmbed: true } });
    await expect(embed()).rejects.toMatchObject({ status: 403 });
    await give('WorkbookManage');
    expect(await embed()).toEqual({ publicId, allowEmbed: true });
    await give(null, person.client);
    expect(await sees(person.client)).toBe(false);
    const report = world.admin.setUserPolicy({
      body: { ...resource, userId: person.userId, action: 'ReportRead' },
    });
    await expect(report).rejects.toMatchObject({ code: 'action_not_applicable' });
  });

  test('policies on the workbook and its folder reach the dashboard, and say where they come from', async () => {
    const person = await world.person({ roles: ['Viewer'] });
    const resource = { resourceType: 'Workbook' as const, resourceId: workbookId };
    const body = { ...resource, userId: person.userId, action: 'WorkbookRead' as const };
    await world.admin.setUserPolicy({ body });
    expect(await sees(person.client)).toBe(true);
    const { users } = await world.admin.getResourcePolicies({
      resourceType: 'Dashboard',
      resourceId: dashboardId,
    });
    expect(users).toMatchObject([{ userId: person.userId, inheritedFrom: resource }]);
    expect(await person.client.getDashboard({ publicId })).toMatchObject({ restrictDataDownload: true });
  });

  test('with a key for another deployment gets the same 404', async () => {
    const at = (await world.deployment()).id;
    const { client } = await world.person({ roles: ['Admin'], deploymentIds: [at] });
    expect(await sees(client)).toBe(false);
    const embed = client.updateDashboardEmbedding({ publicId, body: { allowEmbed: true } });
    await expect(embed).rejects.toMatchObject({ code: 'dashboard_not_found' });
    const { client: inside } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
    expect(await sees(inside)).toBe(true);
  });

  test('sees nothing in a deleted folder', async () => {
    const folder = await world.admin.createFolder({ deploymentId, body: { name: 'gone' } });
    await world.admin.updateWorkbook({ deploymentId, workbookId, body: { folderId: folder.id } });
    await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
    const ann = await viewer(tenant);
    expect(await sees(ann)).toBe(true);
    await world.admin.deleteFolder({ deploymentId, folderId: folder.id, recursive: true });
    expect([await sees(ann), await sees(world.admin)]).toEqual([false, false]);
  });

  test('sees nothing of a deleted deployment', async () => {
    await world.admin.deleteDeployment({ deploymentId });
    expect(await sees(world.admin)).toBe(false);
    const left = async () =>
      (await world.server.db.pool.query('select from dashboards where id = $1', [dashboardId])).rowCount;
    await expect.poll(left).toBe(0);
  });
});

describe('embed access', () => {
  const read = () => world.admin.getEmbedAccess({ deploymentId, workbookId });

  test('begins with nothing, and shows what was set', async () => {
    const closed = { enabled: false, action: 'none', groupId: null };
    expect(await read()).toEqual({ allowEmbed: false, allEmbedUsers: closed, tenants: [] });
    const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
    expect(await world.admin.getEmbedAccess({ deploymentId, workbookId: id })).toEqual(await read());
    await viewer(tenant);
    const entry = { embedTenantName: tenant, action: 'read' as const };
    const after = await access({ ...entry, allowEmbed: true });
    expect(after).toMatchObject({ allowEmbed: true, allEmbedUsers: closed, tenants: [entry] });
    expect(await read()).toEqual(after);
    expect(await access({})).toEqual(after);
  });

  test('for all is closed by `allEmbedUsers: false`, which changes nothing beside an embed tenant', async () => {
    await viewer(tenant);
    await access({ allEmbedUsers: true, action: 'read' });
    const beside = await access({ allEmbedUsers: false, embedTenantName: tenant, action: 'none' });
    expect(beside.allEmbedUsers).toMatchObject({ enabled: true, action: 'read' });
    const closed = await access({ allEmbedUsers: false });
    expect(closed.allEmbedUsers).toMatchObject({ enabled: false, action: 'none' });
  });

  test.each([
    ['an action for nobody', { action: 'read' as const }],
    ['all and one', { action: 'read' as const, allEmbedUsers: true, embedTenantName: 'somebody' }],
    ['an embed tenant that does not exist', { action: 'read' as const, embedTenantName: 'nobody-at-all' }],
  ])('%s is a 400', async (_name, body) => {
    await expect(access(body)).rejects.toMatchObject({ status: 400 });
  });

  test('is for who manages the workbook, and not for embed tokens', async () => {
    const person = await world.person({ roles: ['Viewer'] });
    const policy = { resourceType: 'Workbook' as const, resourceId: workbookId, userId: person.userId };
    await world.admin.setUserPolicy({ body: { ...policy, action: 'WorkbookEdit' } });
    const creator = await viewer(tenant, { creatorMode: true });
    for (const client of [person.client, creator]) {
      const reading = client.getEmbedAccess({ deploymentId, workbookId });
      await expect(reading).rejects.toMatchObject({ status: 403 });
      const changing = client.updateEmbedAccess({ deploymentId, workbookId, body: { allowEmbed: true } });
      await expect(changing).rejects.toMatchObject({ status: 403 });
    }
    const embedding = creator.updateDashboardEmbedding({ publicId, body: { allowEmbed: true } });
    await expect(embedding).rejects.toMatchObject({ status: 403 });
  });
});
