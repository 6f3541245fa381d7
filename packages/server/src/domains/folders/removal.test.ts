import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { holdRows, limitStatements } from '../../../test/hold.ts';
import { createOwnWorld, type Person, unique, type World } from '../../../test/world.ts';

const MANY = 2500;
const NOT_EMPTY = { status: 409, code: 'folder_not_empty' };
const FORBIDDEN = { status: 403, code: 'forbidden' };

let world: World;
let deploymentId: number;
let owner: Person;
let other: Person;
beforeAll(async () => {
  world = await createOwnWorld();
  owner = await world.person({ roles: ['Explorer'] });
  other = await world.person({ roles: ['Explorer'] });
  for (const table of ['reports', 'workbooks', 'folders']) await limitStatements(world, table, 1000);
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;
const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error) => error.status,
  );

const folder = async (by: Person | null, parentId?: number) =>
  (await (by?.client ?? world.admin).createFolder({ deploymentId, body: { name: 'f', parentId } })).id;
const report = async (by: Person | null, body: { folderId?: number; workbookId?: number }) =>
  (await (by?.client ?? world.admin).createReport({ deploymentId, body })).id;
const workbook = async (by: Person | null, folderId?: number) =>
  (await (by?.client ?? world.admin).createWorkbook({ deploymentId, body: { folderId } })).id;
const share = (
  resourceType: 'Folder' | 'Workbook' | 'Report',
  resourceId: number,
  person: Person,
  level: 'Read' | 'Edit' | 'Manage',
) =>
  world.admin.setUserPolicy({
    body: { resourceType, resourceId, userId: person.userId, action: `${resourceType}${level}` },
  });
const remove = (folderId: number, by: Person | null = null, recursive?: boolean) =>
  (by?.client ?? world.admin).deleteFolder({ deploymentId, folderId, recursive });
const totals = async () => ({
  folders: (await world.admin.getFolders({ deploymentId, recursive: true })).count,
  workbooks: (await world.admin.getWorkbooks({ deploymentId })).count,
  reports: (await world.admin.getReports({ deploymentId })).count,
});

/** Inserts many reports of the admin into the folder. */
const fill = async (folderId: number, n = MANY) =>
  (
    await run(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id, folder_id, scope_folder_id)
       select $1, substr(md5(random()::text), 1, 12), 'r', 'r', 'needle', $2, $3, $3 from generate_series(1, $4::int)
       returning id, public_id`,
      [deploymentId, (await world.admin.getMe()).id, folderId, n],
    )
  ).map(({ id, public_id }) => ({ id, publicId: public_id }));

describe('without recursive', () => {
  test('a folder that contains folders cannot be deleted', async () => {
    const top = await folder(null);
    const inner = await folder(null, top);
    const inside = await report(null, { folderId: top });
    await expect(remove(top)).rejects.toMatchObject(NOT_EMPTY);
    const body = { items: [{ type: 'FOLDER', id: top } as const] };
    const { deleted, failed } = await world.admin.bulkDeleteWorkspaceObjects({ deploymentId, body });
    expect(deleted).toEqual([]);
    expect(failed).toMatchObject([{ id: top, error: { status: 409 } }]);
    expect(await totals()).toEqual({ folders: 2, workbooks: 0, reports: 1 });
    expect(await world.admin.getReport({ deploymentId, reportId: inside })).toMatchObject({ folderId: top });
    await remove(inner);
    await remove(top);
    expect(await totals()).toEqual({ folders: 0, workbooks: 0, reports: 1 });
  });

  test('the content of the folder returns to the root, with its owner and its own policies', async () => {
    const top = await folder(null);
    const id = await folder(null, top);
    await share('Folder', id, owner, 'Edit');
    await share('Folder', top, other, 'Read');
    const mine = await report(owner, { folderId: id });
    const shared = await report(null, { folderId: id });
    await share('Report', shared, other, 'Read');
    const book = await workbook(null, id);
    const inBook = await report(null, { workbookId: book });
    await remove(id);
    const at = { deploymentId };
    const root = { folderId: null, folderPath: [] };
    expect(await owner.client.getReport({ ...at, reportId: mine })).toMatchObject({
      ...root,
      userId: owner.userId,
      version: 2,
    });
    expect(await other.client.getReport({ ...at, reportId: shared })).toMatchObject(root);
    expect(await world.admin.getWorkbook({ ...at, workbookId: book })).toMatchObject(root);
    expect(await world.admin.getReport({ ...at, reportId: inBook })).toMatchObject({
      ...root,
      workbookId: book,
      version: 1,
    });
    // Policies on the folder, or on a folder above it, no longer reach the content.
    expect(await statusOf(owner.client.getReport({ ...at, reportId: shared }))).toBe(404);
    expect(await statusOf(other.client.getReport({ ...at, reportId: mine }))).toBe(404);
    expect(await statusOf(other.client.getWorkbook({ ...at, workbookId: book }))).toBe(404);
    const { items } = await world.admin.workspaceObjects({ ...at, types: ['REPORT', 'WORKBOOK'] });
    expect(items.map((item) => item.id).toSorted()).toEqual([mine, shared, book].toSorted());
  });

  test('a folder with very much content is gone at once, and all of its content returns to the root', async () => {
    const top = await folder(null);
    const id = await folder(null, top);
    const reports = await fill(id);
    await share('Folder', top, other, 'Read');
    expect((await other.client.getReports({ deploymentId })).count).toBe(MANY);
    const hold = await holdRows(world, 'reports', [reports.at(-1)!.id]);
    await remove(id);
    await hold.waiting();
    expect(await statusOf(remove(id))).toBe(404);
    expect(await statusOf(report(null, { folderId: id }))).toBe(404);
    expect(await totals()).toEqual({ folders: 1, workbooks: 0, reports: MANY });
    expect((await other.client.getReports({ deploymentId })).count).toBe(0);
    const last = { deploymentId, reportId: reports.at(-2)!.id };
    expect(await statusOf(other.client.getReport(last))).toBe(404);
    expect(await world.admin.getReport(last)).toMatchObject({ folderPath: [] });
    await hold.release();
    await expect.poll(() => run('select from folders where id = $1', [id])).toEqual([]);
    const left = await run(
      'select from reports where deployment_id = $1 and (folder_id is not null or scope_folder_id is not null)',
      [deploymentId],
    );
    expect(left).toEqual([]);
    expect(await totals()).toEqual({ folders: 1, workbooks: 0, reports: MANY });
  });

  test('the owner of the folder manages nothing in it any more, though it still lies there', async () => {
    const id = await folder(owner);
    const reports = await fill(id);
    // The call itself handles some, and the job waits before it comes to these.
    const [moved, left] = reports.slice(-2).map((one) => one.id) as [number, number];
    expect(await statusOf(owner.client.getReport({ deploymentId, reportId: left }))).toBe(200);
    const hold = await holdRows(world, 'reports', [reports[1000]!.id]);
    await remove(id);
    await hold.waiting();
    expect(await statusOf(owner.client.getReport({ deploymentId, reportId: left }))).toBe(404);
    const body = { type: 'REPORT', id: moved, folderId: await folder(owner) } as const;
    const { alsoManagedBy } = (await world.admin.moveWorkspaceObject({ deploymentId, body })) as {
      alsoManagedBy: object[];
    };
    expect(alsoManagedBy).toMatchObject([{ id: owner.userId }]);
    await hold.release();
    await expect.poll(() => run('select from folders where id = $1', [id])).toEqual([]);
  });

  test('all of a list of folders is deleted, even if the call may not move all of their content itself', async () => {
    const folders = [await folder(null), await folder(null), await folder(null)];
    for (const id of folders) await fill(id, 600);
    const items = folders.map((id) => ({ type: 'FOLDER', id }) as const);
    const { deleted } = await world.admin.bulkDeleteWorkspaceObjects({ deploymentId, body: { items } });
    expect(deleted).toEqual(items);
    expect(await totals()).toEqual({ folders: 0, workbooks: 0, reports: 1800 });
    await expect.poll(() => run('select from folders where deployment_id = $1', [deploymentId])).toEqual([]);
    const [moved] = await run(
      'select count(*)::int as n from reports where deployment_id = $1 and folder_id is null',
      [deploymentId],
    );
    expect(moved.n).toBe(1800);
  });
});

describe('with recursive', () => {
  test('everything below is gone at once, and removed in batches', async () => {
    const [top, beside] = [await folder(null), await folder(null)];
    const inner = await folder(null, top);
    const slug = unique('slug');
    await world.admin.upsertWorkbookBySlug({ deploymentId, slug, body: { folderId: inner } });
    const book = await workbook(null, inner);
    await report(null, { workbookId: book });
    const kept = await report(null, { folderId: beside });
    const reports = await fill(inner);
    await share('Folder', inner, other, 'Read');
    const hold = await holdRows(world, 'reports', [reports[0]!.id]);
    await remove(top, null, true);
    await hold.waiting();

    expect(await totals()).toEqual({ folders: 1, workbooks: 0, reports: 1 });
    const at = { deploymentId };
    const found = async (query: object) => (await world.admin.getReports({ ...at, ...query })).items.length;
    expect(await found({ search: 'needle' })).toBe(0);
    expect(await found({ folderId: inner })).toBe(0);
    expect(await found({ sortBy: 'lastViewedAt' })).toBe(1);
    expect(await found({ first: 10 })).toBe(1);
    expect((await other.client.getReports(at)).count).toBe(0);
    expect((await world.admin.workspaceObjects({ ...at, search: 'needle' })).items).toEqual([]);
    expect((await other.client.sharedWorkspaceObjects(at)).items).toEqual([]);
    const calls = [
      () => world.admin.getReport({ ...at, reportId: reports[9]!.id }),
      () => world.admin.getWorkbook({ ...at, workbookId: book }),
      () => world.admin.getFolderAncestors({ ...at, folderId: inner }),
      () => world.admin.createFolder({ ...at, body: { name: 'late', parentId: inner } }),
      () => world.admin.createReport({ ...at, body: { workbookId: book } }),
      () => world.admin.getResourcePolicies({ resourceType: 'Folder', resourceId: inner }),
      () => remove(inner),
    ];
    for (const call of calls) expect(await statusOf(call())).toBe(404);
    // The slugs and public ids can be used again.
    const [{ publicId }] = await run(
      // A report that is not in the batch that waits.
      `select public_id as "publicId" from reports where folder_id = $1 limit 1 for update skip locked`,
      [inner],
    );
    await world.admin.upsertReportByPublicId({ ...at, publicId, body: { name: 'again' } });
    await world.admin.upsertWorkbookBySlug({ ...at, slug, body: { name: 'again' } });
    expect(await totals()).toEqual({ folders: 1, workbooks: 1, reports: 2 });

    await hold.release();
    await expect.poll(() => run('select from removed_folders')).toEqual([]);
    const left = await run('select id from reports where deployment_id = $1 order by id', [deploymentId]);
    expect(left.map(({ id }) => id)).toEqual([kept, expect.any(Number)]);
    expect(await totals()).toEqual({ folders: 1, workbooks: 1, reports: 2 });
  });

  test('the owner of a folder deletes it with what others put into it', async () => {
    const top = await folder(owner);
    const inner = await folder(owner, top);
    await share('Folder', inner, other, 'Edit');
    await report(other, { folderId: inner });
    await report(other, { workbookId: await workbook(other, inner) });
    await folder(other, inner);
    await expect(remove(inner, other, true)).rejects.toMatchObject(FORBIDDEN);
    expect(await totals()).toEqual({ folders: 3, workbooks: 1, reports: 2 });
    await remove(top, owner, true);
    expect(await totals()).toEqual({ folders: 0, workbooks: 0, reports: 0 });
  });

  test('a policy to manage the folder is enough for everything below it', async () => {
    const top = await folder(null);
    const inner = await folder(null, top);
    await report(null, { workbookId: await workbook(null, inner) });
    await share('Folder', top, owner, 'Manage');
    await remove(top, owner, true);
    expect(await totals()).toEqual({ folders: 0, workbooks: 0, reports: 0 });
  });

  test('a folder can be deleted while folders below it are still being removed', async () => {
    const top = await folder(null);
    const inner = await folder(null, top);
    const reports = await fill(inner);
    const hold = await holdRows(world, 'reports', [reports[0]!.id]);
    await remove(inner, null, true);
    await hold.waiting();
    await remove(top);
    expect(await totals()).toEqual({ folders: 0, workbooks: 0, reports: 0 });
    await hold.release();
    await expect.poll(() => run('select from reports where deployment_id = $1', [deploymentId])).toEqual([]);
    await expect.poll(() => run('select from folders where deployment_id = $1', [deploymentId])).toEqual([]);
  });
});
