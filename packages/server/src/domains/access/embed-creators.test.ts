/** The content of creators in their embed tenant, and what internal users and admins can do with it. */
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

const TENANT = 'acme-corp';

let world: World;
let deploymentId: number;
/** Two creators of the same tenant. */
let ann: OrielClient;
let bob: OrielClient;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
  ann = await creator({ externalId: 'ann' });
  bob = await creator({ externalId: 'bob' });
});
afterAll(() => world.stop());

type SessionRequest = Parameters<World['embedded']>[0];
const creator = async (who: Partial<SessionRequest>) =>
  (await world.embedded({ deploymentId, embedTenantName: TENANT, creatorMode: true, ...who })).client;

/** A person of the account, and the same person embedded in the tenant. */
async function internal(roles: string[]): Promise<{ person: Person; client: OrielClient }> {
  const person = await world.person({ roles });
  const { username } = await person.client.getMe();
  return { person, client: await creator({ internalId: username }) };
}

async function tenantsOf(table: 'folders' | 'workbooks' | 'reports') {
  const { rows } = await world.server.db.pool.query(
    `select distinct embed_tenant from ${table} where deployment_id = $1`,
    [deploymentId],
  );
  return rows.map((row) => row.embed_tenant);
}

/** Creates one of each kind, in the folder or at the root, and a report in the workbook. */
async function fill(client: OrielClient, folderId?: number) {
  const folder = await client.createFolder({ deploymentId, body: { name: 'folder', parentId: folderId } });
  const workbook = await client.createWorkbook({ deploymentId, body: { name: 'workbook', folderId } });
  const report = await client.createReport({ deploymentId, body: { name: 'report', folderId } });
  const inside = await client.createReport({
    deploymentId,
    body: { name: 'inside', workbookId: workbook.id },
  });
  return { folder, workbook, report, inside };
}

const names = ({ items }: { items: unknown[] }) =>
  (items as { name: string }[]).map(({ name }) => name).toSorted();
const workspace = async (client: OrielClient, query: object = {}) =>
  names(await client.workspaceObjects({ deploymentId, ...query }));
const shared = async (client: OrielClient, query: object = {}) =>
  names(await client.sharedWorkspaceObjects({ deploymentId, ...query }));

describe('the content that a creator makes', () => {
  test('belongs to their embed tenant in every place', async () => {
    const { folder, workbook } = await fill(ann);
    await fill(ann, folder.id);
    await fill(bob, folder.id);
    await ann.duplicateWorkbook({ deploymentId, workbookId: workbook.id, body: {} });
    await bob.duplicateWorkbook({ deploymentId, workbookId: workbook.id, body: { shared: true } });
    await ann.upsertWorkbookBySlug({ deploymentId, slug: unique('slug'), body: {} });
    await ann.upsertReportByPublicId({ deploymentId, publicId: 'madeByAnn001', body: {} });
    for (const table of ['folders', 'workbooks', 'reports'] as const) {
      expect(await tenantsOf(table)).toEqual([TENANT]);
    }
    expect(await workspace(world.admin)).toEqual([]);
  });

  test('stays in the embed tenant when it is moved to the root and back', async () => {
    const { folder, ...rest } = await fill(ann);
    const inner = await fill(ann, folder.id);
    const items = [
      { type: 'FOLDER' as const, id: inner.folder.id },
      { type: 'WORKBOOK' as const, id: inner.workbook.id },
      { type: 'REPORT' as const, id: inner.report.id },
      { type: 'REPORT' as const, id: rest.inside.id },
    ];
    for (const client of [bob, world.admin]) {
      for (const folderId of [null, folder.id]) {
        const { moved } = await client.bulkMoveWorkspaceObjects({ deploymentId, body: { items, folderId } });
        expect(moved).toHaveLength(items.length);
      }
    }
    for (const table of ['folders', 'workbooks', 'reports'] as const) {
      expect(await tenantsOf(table)).toEqual([TENANT]);
    }
  });

  test('can be managed by every creator of the tenant', async () => {
    const { folder, workbook, report, inside } = await fill(ann);
    expect(await bob.getReport({ deploymentId, reportId: report.id })).toMatchObject({
      canEdit: true,
      canManage: true,
    });
    await bob.updateFolder({ deploymentId, folderId: folder.id, body: { name: 'renamed' } });
    await bob.updateWorkbookDashboard({
      deploymentId,
      workbookId: workbook.id,
      body: { dashboardDraft: {} },
    });
    const placement = { externalWorkbookId: 'sheet', resultLocation: 'A1' };
    await bob.connectReportToWorkbook({ deploymentId, reportId: inside.id, body: placement });
    await bob.deleteReport({ deploymentId, reportId: report.id });
    await bob.deleteWorkbook({ deploymentId, workbookId: workbook.id });
    await bob.deleteFolder({ deploymentId, folderId: folder.id });
    expect(await workspace(ann)).toEqual([]);
  });

  test('shows its owner by email, or by external id and tenant', async () => {
    const withEmail = await creator({ externalId: 'cleo', email: 'cleo@customer.example' });
    const mine = await fill(withEmail);
    expect(mine.report.user).toMatchObject({ email: 'cleo@customer.example' });
    expect(mine.workbook.user).toMatchObject({ email: 'cleo@customer.example' });
    const { report, workbook } = await fill(ann);
    const email = `ann@${TENANT}.embed.invalid`;
    expect(report).toMatchObject({ user: { email }, refreshedByUser: { email } });
    expect(workbook).toMatchObject({ user: { email } });
    const seen = await world.admin.getReport({ deploymentId, reportId: report.id });
    expect(seen.user).toEqual(report.user);
  });

  test('gets a position after the folders of the same tenant only', async () => {
    for (let i = 0; i < 3; i++) await fill(world.admin);
    const stranger = await creator({ embedTenantName: 'globex-inc', externalId: 'gus' });
    await fill(stranger);
    expect((await fill(ann)).folder.position).toBe(0);
    expect((await fill(bob)).folder.position).toBe(1);
    expect((await fill(world.admin)).folder.position).toBe(3);
  });

  test('exists in one deployment only', async () => {
    await fill(ann);
    const elsewhere = deploymentId;
    deploymentId = (await world.deployment()).id;
    const there = await creator({ externalId: 'ann' });
    expect(await workspace(there)).toEqual([]);
    await expect(there.workspaceObjects({ deploymentId: elsewhere })).rejects.toMatchObject({ status: 403 });
  });

  test('a workbook can take over a slug from another workbook of the tenant', async () => {
    const slug = unique('slug');
    const { id } = await ann.upsertWorkbookBySlug({ deploymentId, slug, body: {} });
    const taker = await bob.createWorkbook({ deploymentId, body: {} });
    const take = (slugTakeover: boolean) =>
      bob.updateWorkbook({ deploymentId, workbookId: taker.id, body: { slug, slugTakeover } });
    await expect(take(false)).rejects.toMatchObject({ status: 409, code: 'slug_taken' });
    expect(await take(true)).toMatchObject({ slug });
    expect(await ann.getWorkbook({ deploymentId, workbookId: id })).toMatchObject({ slug: null });
  });
});

describe('the shared workspace of a creator', () => {
  test('holds what others own in the tenant', async () => {
    await fill(ann);
    expect(await shared(ann)).toEqual([]);
    expect(await shared(bob)).toEqual(['folder', 'report', 'workbook']);
    expect(await shared(bob, { search: 'INSIDE' })).toEqual(['inside']);
    expect(await shared(bob, { types: 'FOLDER' })).toEqual(['folder']);
  });

  test('shows content in a folder of others inside that folder, and content in their own folder at the top', async () => {
    const theirs = await fill(ann);
    await fill(ann, theirs.folder.id);
    expect(await shared(bob)).toEqual(['folder', 'report', 'workbook']);
    expect(await shared(bob, { folderId: theirs.folder.id })).toEqual(['folder', 'report', 'workbook']);

    const mine = await fill(bob);
    const guest = await ann.createReport({
      deploymentId,
      body: { name: 'guest', workbookId: mine.workbook.id },
    });
    await ann.createWorkbook({ deploymentId, body: { name: 'visitor', folderId: mine.folder.id } });
    expect(await shared(bob)).toEqual(['folder', 'guest', 'report', 'visitor', 'workbook']);
    await ann.deleteReport({ deploymentId, reportId: guest.id });
    expect(await shared(bob, { folderId: mine.folder.id })).toEqual(['visitor']);
  });

  test('pages without gaps', async () => {
    for (let i = 0; i < 3; i++) await fill(ann);
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await bob.sharedWorkspaceObjects({ deploymentId, first: 2, after });
      seen.push(...names(page));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor!;
    }
    expect(seen).toHaveLength(9);
  });
});

describe('the account in an embed tenant', () => {
  test('content that an admin puts into a folder of the tenant belongs to the tenant', async () => {
    const { folder, workbook } = await fill(ann);
    const { report } = await fill(world.admin, folder.id);
    const inside = await world.admin.createReport({
      deploymentId,
      body: { name: 'from us', workbookId: workbook.id },
    });
    expect(await workspace(ann, { folderId: folder.id })).toEqual(['folder', 'report', 'workbook']);
    expect(await ann.getReport({ deploymentId, reportId: inside.id })).toMatchObject({ canManage: true });
    expect(await shared(ann, { folderId: folder.id })).toEqual(['folder', 'report', 'workbook']);
    await ann.deleteReport({ deploymentId, reportId: report.id });
    expect(await workspace(world.admin)).toEqual([]);
  });

  test('content that people make at the root belongs to the main workspace', async () => {
    await fill(world.admin);
    expect(await tenantsOf('reports')).toEqual([null]);
    expect(await workspace(ann)).toEqual([]);
    expect(await workspace(ann, { search: 'report' })).toEqual([]);
  });

  test('nothing can be moved from one workspace to another', async () => {
    const { folder } = await fill(ann);
    const mine = await fill(world.admin);
    const refused = { status: 409, code: 'embed_tenant_mismatch' };
    for (const [type, { id }] of [
      ['FOLDER', mine.folder],
      ['WORKBOOK', mine.workbook],
      ['REPORT', mine.report],
    ] as const) {
      const move = world.admin.moveWorkspaceObject({ deploymentId, body: { type, id, folderId: folder.id } });
      await expect(move).rejects.toMatchObject(refused);
    }
  });

  test('external viewers do not see the roles of the account', async () => {
    const { folder, report } = await fill(ann);
    const role = await world.admin.createRole({
      body: { name: unique('role'), actions: ['DeploymentRead'] },
    });
    const resource = { resourceType: 'Report', resourceId: report.id } as const;
    await world.admin.setRolePolicy({ body: { ...resource, roleId: role.id, action: 'ReportRead' } });
    const one = { deploymentId, reportId: report.id };
    const developer = await internal(['Developer']);
    for (const client of [world.admin, developer.client]) {
      expect((await client.getReport(one)).rolesWithAccess).toMatchObject([{ name: role.name }]);
    }
    const { items } = await ann.getReports({ deploymentId });
    const objects = (await ann.workspaceObjects({ deploymentId, types: ['REPORT'] })).items;
    const moved = await ann.moveWorkspaceObject({
      deploymentId,
      body: { type: 'REPORT', id: report.id, folderId: folder.id },
    });
    for (const seen of [await ann.getReport(one), ...items, ...objects, moved]) {
      expect(seen).toMatchObject({ rolesWithAccess: [] });
    }
  });
});

describe('an internal user in an embed session', () => {
  test('keeps their own levels: a viewer sees only the content of the tenant that was shared with them', async () => {
    const { folder, report } = await fill(ann);
    await fill(ann, folder.id);
    const { person, client } = await internal(['Viewer']);
    expect(await workspace(client)).toEqual([]);
    await expect(client.getReport({ deploymentId, reportId: report.id })).rejects.toMatchObject({
      status: 404,
    });
    const body = { userId: person.userId, action: 'FolderRead' } as const;
    await world.admin.setUserPolicy({ body: { ...body, resourceType: 'Folder', resourceId: folder.id } });
    expect(await workspace(client)).toEqual(['folder']);
    expect(await workspace(client, { folderId: folder.id })).toEqual(['folder', 'report', 'workbook']);
    expect(await shared(client)).toEqual(['folder']);
    const { items, count } = await client.getReports({ deploymentId });
    expect([names({ items }), count]).toEqual([['inside', 'report'], 2]);
    const rename = { deploymentId, folderId: folder.id, body: { name: 'mine' } };
    await expect(client.updateFolder(rename)).rejects.toMatchObject({ status: 403 });
    await expect(client.createFolder({ deploymentId, body: rename.body })).rejects.toMatchObject({
      status: 403,
    });
  });

  test('does not find their content of the main workspace', async () => {
    const { person, client } = await internal(['Explorer']);
    const mine = await fill(person.client);
    const given = await fill(world.admin);
    const policy = { userId: person.userId, resourceType: 'Folder', action: 'FolderManage' } as const;
    await world.admin.setUserPolicy({ body: { ...policy, resourceId: given.folder.id } });
    expect(await shared(person.client)).toEqual(['folder']);
    expect(await workspace(client)).toEqual([]);
    expect(await workspace(client, { search: 'o' })).toEqual([]);
    expect(await shared(client)).toEqual([]);
    expect(await client.getReports({ deploymentId })).toMatchObject({ items: [], count: 0 });
    const missing = { status: 404 };
    await expect(client.getReport({ deploymentId, reportId: mine.report.id })).rejects.toMatchObject(missing);
    const folderId = given.folder.id;
    await expect(client.createReport({ deploymentId, body: { folderId } })).rejects.toMatchObject(missing);
  });

  test('owns what they make, and it belongs to the tenant', async () => {
    const { person, client } = await internal(['Explorer']);
    const { report } = await fill(client);
    expect(await tenantsOf('reports')).toEqual([TENANT]);
    expect(await workspace(client)).toEqual(['folder', 'report', 'workbook']);
    expect(await shared(ann)).toEqual(['folder', 'report', 'workbook']);
    expect(await workspace(person.client)).toEqual([]);
    expect(report).toMatchObject({ userId: person.userId, canManage: true });
  });
});

test('the views of one viewer do not change the lists of another', async () => {
  const first = await fill(ann);
  const second = await fill(ann);
  const order = async (client: OrielClient) =>
    (await client.getReports({ deploymentId, sortBy: 'lastViewedAt' })).items.map(({ id }) => id);
  await bob.getReport({ deploymentId, reportId: first.report.id });
  await bob.getReport({ deploymentId, reportId: first.inside.id });
  expect((await order(bob)).slice(0, 2)).toEqual([first.inside.id, first.report.id]);
  expect((await order(ann))[0]).toBe(second.inside.id);
});
