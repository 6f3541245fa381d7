import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';
import { newPlace, searchPattern } from './rules.ts';

let world: World;
let deploymentId: number;
let author: Person;
beforeAll(async () => {
  world = await createWorld();
  author = await world.person({ roles: ['Explorer'] });
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const create = (body: Parameters<World['admin']['createReport']>[0]['body'] = {}, by = world.admin) =>
  by.createReport({ deploymentId, body });
const folder = async (name: string, parentId?: number, by = world.admin) =>
  (await by.createFolder({ deploymentId, body: { name, parentId } })).id;
const list = async (query: object = {}, by = world.admin) => {
  const page = await by.getReports({ deploymentId, first: 1000, ...query });
  return page.items.map(({ name }) => name);
};

test('a new report has the fields that are given, and defaults for the others', async () => {
  const body = {
    name: 'Revenue',
    title: 'Revenue by month',
    description: 'All of it',
    source: 'PLAYGROUND' as const,
    sqlQuery: 'select 1',
    jsonQuery: '{}',
    pivotItems: { columns: ['a'], measures: ['b'], rows: [], filters: [] },
    meta: { chart: { kind: 'vega' } },
    externalWorkbookId: 'sheet-1',
    resultLocation: 'A1',
    endResultCell: 'B2',
    publicId: 'AbCdEf123456',
  };
  const report = await create(body);
  const me = await world.admin.getMe();
  const owner = { id: me.id, email: me.email, firstName: null, picture: null };
  expect(report).toMatchObject({
    ...body,
    type: 'REPORT',
    deploymentId,
    userId: me.id,
    createdBy: me.id,
    user: owner,
    refreshedBy: null,
    refreshedByUser: owner,
    folderId: null,
    folderPath: [],
    workbookId: null,
    externalWorkbookPlacements: [],
    rolesWithAccess: [],
    version: 1,
    canEdit: true,
    canManage: true,
  });
  expect(await world.admin.getReport({ deploymentId, reportId: report.id })).toEqual(report);
  expect(await create()).toMatchObject({
    name: 'Untitled report',
    publicId: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
  });
});

test('an update changes the fields that are given, clears those that are null, and keeps the others', async () => {
  const { id } = await create({ name: 'a', title: 't', meta: { x: 1 } });
  const update = (body: object) => world.admin.updateReport({ deploymentId, reportId: id, body });
  expect(await update({ name: 'b' })).toMatchObject({ name: 'b', title: 't', meta: { x: 1 }, version: 2 });
  expect(await update({ title: null, meta: null })).toMatchObject({ name: 'b', title: null, meta: null });
  expect(await update({ name: null })).toMatchObject({ name: 'Untitled report' });
});

test('an update with a stale If-Match is refused and changes nothing', async () => {
  const { id } = await create({ name: 'a' });
  const path = `/api/v1/deployments/${deploymentId}/reports/${id}`;
  const put = (name: string, etag: string) =>
    world.raw('PUT', path, {
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify({ name }),
    });
  const etag = (await world.raw('GET', path)).headers.get('etag')!;
  expect((await put('b', etag)).status).toBe(200);
  expect((await put('c', etag)).status).toBe(412);
  expect((await put('d', '*')).status).toBe(200);
  expect(await list()).toEqual(['d']);
});

test('folderPath goes from the root to the folder of the report, or to the folder of its workbook', async () => {
  const top = await folder('top');
  const inner = await folder('inner', top);
  const path = [
    { id: top, name: 'top' },
    { id: inner, name: 'inner' },
  ];
  expect(await create({ folderId: inner })).toMatchObject({ folderId: inner, folderPath: path });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: inner } });
  expect(await create({ workbookId: workbook.id })).toMatchObject({
    folderId: null,
    workbookId: workbook.id,
    folderPath: path,
  });
});

test('a chosen public id that is taken is a 409, anywhere in the installation', async () => {
  await create({ publicId: 'taken0000001' });
  const other = (await world.deployment()).id;
  const attempt = world.admin.createReport({ deploymentId: other, body: { publicId: 'taken0000001' } });
  await expect(attempt).rejects.toMatchObject({ status: 409, code: 'public_id_taken' });
});

test('a public id never changes', async () => {
  const { id: reportId, publicId } = await create({ publicId: 'given0000001' });
  const change = (body: object) => world.admin.updateReport({ deploymentId, reportId, body });
  const upsert = (body: object) => world.admin.upsertReportByPublicId({ deploymentId, publicId, body });
  const refused = { status: 400, issues: [{ path: 'publicId' }] };
  await expect(change({ publicId: 'other0000001' })).rejects.toMatchObject(refused);
  await expect(upsert({ publicId: 'other0000001' })).rejects.toMatchObject(refused);
  const unknown = world.admin.upsertReportByPublicId({
    deploymentId,
    publicId: 'fresh0000001',
    body: { publicId: 'other0000001' },
  });
  await expect(unknown).rejects.toMatchObject(refused);
  expect(await change({ publicId, name: 'b' })).toMatchObject({ publicId, name: 'b' });
  expect(await change({ publicId: null, name: 'c' })).toMatchObject({ publicId, name: 'c' });
  expect(await upsert({ publicId, name: 'd' })).toMatchObject({ id: reportId, publicId, name: 'd' });
});

test('an upsert merges `meta` key by key, and an update replaces it', async () => {
  const publicId = 'upsertmeta01';
  const upsert = (meta: object | null) =>
    world.admin.upsertReportByPublicId({ deploymentId, publicId, body: { meta } });
  const { id: reportId } = await upsert({ a: 1, b: { x: 1 } });
  expect((await upsert({ b: { y: 2 } })).meta).toEqual({ a: 1, b: { y: 2 } });
  const replaced = await world.admin.updateReport({ deploymentId, reportId, body: { meta: { c: 3 } } });
  expect(replaced.meta).toEqual({ c: 3 });
  expect((await upsert(null)).meta).toBeNull();
});

test('an upsert creates and then changes, and many at once all return the same report', async () => {
  const publicId = 'upsert000001';
  const upsert = (name: string) =>
    world.admin.upsertReportByPublicId({ deploymentId, publicId, body: { name } });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => upsert(`v${i}`)));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(await list()).toHaveLength(1);
  expect((await upsert('last')).name).toBe('last');
  const stranger = await world.person({ roles: ['Explorer'] });
  const attempt = stranger.client.upsertReportByPublicId({ deploymentId, publicId, body: { name: 'mine' } });
  await expect(attempt).rejects.toMatchObject({ status: 409, code: 'public_id_taken' });
});

test('a viewer who can read a report can place it in spreadsheets, once in each', async () => {
  const report = await create({ externalWorkbookId: 'own', resultLocation: 'A1' });
  const reader = await world.person({ roles: ['Viewer'] });
  const policy = { resourceType: 'Report' as const, resourceId: report.id, userId: reader.userId };
  await world.admin.setUserPolicy({ body: { ...policy, action: 'ReportRead' } });
  const connect = (externalWorkbookId: string, resultLocation: string) =>
    reader.client.connectReportToWorkbook({
      deploymentId,
      reportId: report.id,
      body: { externalWorkbookId, resultLocation },
    });
  await connect('sheet', 'A1');
  await connect('other', 'B2');
  const connected = await connect('sheet', 'C3');
  expect(connected.externalWorkbookPlacements).toEqual([
    { workbookId: 'sheet', resultLocation: 'C3', endResultCell: null },
    { workbookId: 'other', resultLocation: 'B2', endResultCell: null },
  ]);
  expect(connected).toMatchObject({
    externalWorkbookId: 'own',
    resultLocation: 'A1',
    version: 1,
    canEdit: false,
  });
  expect(await list({ externalWorkbookId: 'sheet' })).toHaveLength(1);
  expect(await list({ externalWorkbookId: 'own' }, reader.client)).toHaveLength(1);
  expect(await list({ externalWorkbookId: 'none' })).toEqual([]);
});

describe('the list', () => {
  test('sorts by name in code point order of the lower-cased name, by times, and in both directions', async () => {
    for (const name of ['b', 'A', 'ä', 'a', 'Z', '1']) await create({ name });
    expect(await list({ sortBy: 'name' })).toEqual(['1', 'A', 'a', 'b', 'Z', 'ä']);
    expect(await list({ sortBy: 'name', sortDirection: 'DESC' })).toEqual(['ä', 'Z', 'b', 'a', 'A', '1']);
    expect(await list()).toEqual(['1', 'Z', 'a', 'ä', 'A', 'b']);
    expect(await list({ sortBy: 'createdAt', sortDirection: 'ASC' })).toEqual(['b', 'A', 'ä', 'a', 'Z', '1']);
    const first = (
      await world.admin.getReports({ deploymentId, sortBy: 'createdAt', sortDirection: 'ASC', first: 1 })
    ).items[0]!;
    await world.admin.updateReport({ deploymentId, reportId: first.id, body: { title: 'new' } });
    expect((await list({ sortBy: 'updatedAt' }))[0]).toBe('b');
  });

  test.each(['name', 'createdAt', 'updatedAt'] as const)(
    'pages by %s hold every report once',
    async (sortBy) => {
      for (let i = 0; i < 11; i++) await create({ name: `n${i % 3}` });
      for (const sortDirection of ['ASC', 'DESC'] as const) {
        const whole = (await world.admin.getReports({ deploymentId, sortBy, sortDirection })).items.map(
          ({ id }) => id,
        );
        const paged: number[] = [];
        for await (const { id } of world.admin.iterate.getReports({
          deploymentId,
          sortBy,
          sortDirection,
          first: 4,
        }))
          paged.push(id);
        expect(paged).toEqual(whole);
        expect(paged).toHaveLength(11);
      }
    },
  );

  test('pages can also be read by limit and page', async () => {
    for (let i = 0; i < 5; i++) await create({ name: `n${i}` });
    const page = await world.admin.getReports({ deploymentId, sortBy: 'name', limit: 2, page: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(['n2', 'n3']);
    expect(page).toMatchObject({ count: 5, pageInfo: null });
    expect(page.data).toEqual(page.items);
    expect((await world.admin.getReports({ deploymentId, page: 99, limit: 2 })).items).toEqual([]);
  });

  test('a page has the length that was asked for, at lengths close to the default', async () => {
    for (let i = 0; i < 53; i++) await create({ name: `n${String(i).padStart(2, '0')}` });
    const names = async (query: object) =>
      (await world.admin.getReports({ deploymentId, sortBy: 'name', ...query })).items.map(
        ({ name }) => name,
      );
    const all = await names({ first: 1000 });
    expect(all).toHaveLength(53);
    for (const size of [49, 50, 51, 52]) {
      expect(await names({ first: size })).toEqual(all.slice(0, size));
      expect(await names({ limit: size })).toEqual(all.slice(0, size));
      expect(await names({ limit: size, page: 2 })).toEqual(all.slice(size));
    }
    expect(await names({})).toEqual(all.slice(0, 50));
  });

  test('lastViewedAt begins with the report that the caller opened last, and ends with those never opened', async () => {
    const [a, b, c] = [await create({ name: 'a' }), await create({ name: 'b' }), await create({ name: 'c' })];
    for (const { id } of [b, a]) await world.admin.getReport({ deploymentId, reportId: id });
    const view = async (query: object) =>
      (await world.admin.getReports({ deploymentId, sortBy: 'lastViewedAt', ...query })).items.map(
        ({ name }) => name,
      );
    expect(await view({})).toEqual(['a', 'b', 'c']);
    expect(await view({ limit: 1, page: 2 })).toEqual(['b']);
    expect(await view({ limit: 2, page: 2 })).toEqual(['c']);
    await world.admin.getReport({ deploymentId, reportId: c.id });
    expect((await view({}))[0]).toBe('c');
    expect((await world.admin.getReports({ deploymentId, sortBy: 'lastViewedAt' })).pageInfo).toBeNull();
  });

  test('filters: folder directly, workbook, search in name, title and description', async () => {
    const top = await folder('top');
    const inner = await folder('inner', top);
    const workbook = (await world.admin.createWorkbook({ deploymentId, body: { folderId: top } })).id;
    await create({ name: 'direct', folderId: top });
    await create({ name: 'deeper', folderId: inner });
    await create({ name: 'in workbook', workbookId: workbook });
    await create({ name: 'ÜBERSICHT', title: '100%_sicher', description: 'Back\\slash' });
    expect(await list({ folderId: top })).toEqual(['direct']);
    expect(await list({ workbookId: workbook })).toEqual(['in workbook']);
    expect(await list({ folderId: top, workbookId: workbook })).toEqual([]);
    for (const search of ['übersicht', 'SICHT', '100%', '%_s', 'k\\s', 'si', 's']) {
      expect(await list({ search })).toContain('ÜBERSICHT');
    }
    for (const search of ['xyz', '100_', 'sicht100']) expect(await list({ search })).toEqual([]);
    expect((await world.admin.getReports({ deploymentId, search: 'dee' })).count).toBe(1);
    expect((await world.admin.getReports({ deploymentId, folderId: top })).count).toBe(1);
    expect((await world.admin.getReports({ deploymentId, includeCount: false })).count).toBeNull();
  });

  test('the count stays correct after creating, moving and deleting', async () => {
    const top = await folder('top');
    const inner = await folder('inner', top);
    for (let i = 0; i < 3; i++) await create({ folderId: inner });
    const { id } = await create();
    const count = async (by = world.admin) => (await by.getReports({ deploymentId })).count;
    expect(await count()).toBe(4);
    await world.admin.setUserPolicy({
      body: { resourceType: 'Folder', resourceId: top, userId: author.userId, action: 'FolderRead' },
    });
    expect(await count(author.client)).toBe(3);
    await world.admin.moveWorkspaceObject({ deploymentId, body: { type: 'REPORT', id, folderId: inner } });
    expect([await count(), await count(author.client)]).toEqual([4, 4]);
    await world.admin.deleteFolder({ deploymentId, folderId: inner, recursive: true });
    expect([await count(), await count(author.client)]).toEqual([0, 0]);
  });

  test.each([
    'first=0',
    'first=-1',
    'first=x',
    'first=1&first=1',
    'first=',
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=x',
    'page=0',
    'page=-1',
    'page=1.5',
    'sortBy=size',
    'sortDirection=UP',
    'after=x',
    'first=1&limit=1',
    'after=x&page=1',
    'sortBy=lastViewedAt&first=1',
    'sortBy=lastViewedAt&after=x',
    'workbookId=x',
    'folderId=-1',
    'folderId=1&folderId=2',
    'search=a&search=b',
    'includeCount=maybe',
    'includeCount=',
    'search=%00',
  ])('a bad parameter is a 400: %s', async (query) => {
    expect((await world.raw('GET', `/api/v1/deployments/${deploymentId}/reports?${query}`)).status).toBe(400);
  });

  test.each([
    'first=100000',
    'limit=&page=',
    'sortBy=null&search=null',
    'folderId=',
    'folderId=999999',
    'page=999999999',
  ])('a parameter that is empty, unknown or too large is accepted: %s', async (query) => {
    expect((await world.raw('GET', `/api/v1/deployments/${deploymentId}/reports?${query}`)).status).toBe(200);
  });

  test('a cursor of another sort, direction or list is refused', async () => {
    await create();
    await create();
    const { endCursor } = (await world.admin.getReports({ deploymentId, first: 1, sortBy: 'name' }))
      .pageInfo!;
    const folders = await folder('x').then(() => world.admin.getFolders({ deploymentId }));
    for (const query of [{ sortBy: 'createdAt' }, { sortBy: 'name', sortDirection: 'DESC' }] as const) {
      await expect(
        world.admin.getReports({ deploymentId, after: endCursor!, ...query }),
      ).rejects.toMatchObject({
        code: 'invalid_cursor',
      });
    }
    const attempt = world.admin.getReports({ deploymentId, after: folders.pageInfo!.endCursor! });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  test('content of an embed tenant is not in the main list, and admins see it if they name the tenant', async () => {
    const { id } = await create({ name: 'theirs' });
    await world.server.db.pool.query("update reports set embed_tenant = 'acme-corp' where id = $1", [id]);
    await create({ name: 'ours' });
    expect(await list()).toEqual(['ours']);
    expect((await world.admin.getReports({ deploymentId })).count).toBe(1);
    expect(await list({ embedTenantName: 'acme-corp' })).toEqual(['theirs']);
    await expect(
      author.client.getReports({ deploymentId, embedTenantName: 'acme-corp' }),
    ).rejects.toMatchObject({ status: 403 });
  });
});

test.each([
  ['a blank name', { name: ' ' }],
  ['256 characters', { name: 'x'.repeat(256) }],
  ['a control character', { name: 'a\nb' }],
  ['a public id of 11', { publicId: 'x'.repeat(11) }],
  ['a public id with a dash', { publicId: 'abc-ef123456' }],
  ['half a pivot', { pivotItems: { columns: [] } }],
  ['an unknown source', { source: 'FAX' }],
  ['an unknown field', { type: 'REPORT' }],
])('bad input is refused: %s', async (_, body) => {
  await expect(create(body as never)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
});

test('a report cannot be put into a place that does not exist or is in another deployment', async () => {
  const elsewhere = (await world.deployment()).id;
  const foreign = (await world.admin.createFolder({ deploymentId: elsewhere, body: { name: 'x' } })).id;
  await expect(create({ folderId: foreign })).rejects.toMatchObject({
    status: 404,
    code: 'folder_not_found',
  });
  await expect(create({ workbookId: 999_999 })).rejects.toMatchObject({
    status: 404,
    code: 'workbook_not_found',
  });
  const here = await folder('here');
  const book = (await world.admin.createWorkbook({ deploymentId, body: {} })).id;
  await expect(create({ folderId: here, workbookId: book })).rejects.toMatchObject({ status: 400 });
  const { id } = await create();
  await expect(world.admin.getReport({ deploymentId: elsewhere, reportId: id })).rejects.toMatchObject({
    status: 404,
  });
});

test.each([
  [{ folderId: 1, workbookId: null }, {}, { folderId: 1, workbookId: null }],
  [{ folderId: 1, workbookId: null }, { folderId: null }, { folderId: null, workbookId: null }],
  [{ folderId: 1, workbookId: null }, { workbookId: 5 }, { folderId: null, workbookId: 5 }],
  [{ folderId: null, workbookId: 5 }, { folderId: 1 }, { folderId: 1, workbookId: null }],
  [{ folderId: null, workbookId: 5 }, { workbookId: null }, { folderId: null, workbookId: null }],
  [{ folderId: null, workbookId: 5 }, { folderId: null }, { folderId: null, workbookId: 5 }],
])('a report at %j that is given %j is then at %j', (before, given, after) => {
  expect(newPlace(before, given)).toEqual(after);
});

test('a search has no special characters', () => {
  expect(searchPattern('50%_\\ÄB')).toBe('%50\\%\\_\\\\äb%');
});
