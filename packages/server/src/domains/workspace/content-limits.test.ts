/** How much a creator can store, and how many reports a workbook can hold. */
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { newPublicId } from '../../platform/public-id.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const FULL = { status: 403, code: 'embed_content_limit_reached' };
const setLimit = (embedContentLimit: number) =>
  world.admin.updateTenantSettings({ body: { embedContentLimit } });

async function creatorOf(embedTenantName: string): Promise<OrielClient> {
  const request = { deploymentId, embedTenantName, externalId: unique('ann'), creatorMode: true };
  return (await world.embedded(request)).client;
}

/** The number of rows that there are, and the number that is kept beside them. */
async function amounts(tenant: string): Promise<[rows: number, counted: number]> {
  const { rows } = await world.server.db.pool.query(
    `select (select count(*) from folders where embed_tenant = $1) + (select count(*) from workbooks where embed_tenant = $1)
            + (select count(*) from reports where embed_tenant = $1) as rows,
       (select coalesce(sum(count), 0) from embed_content_counts where content_key = $1) as counted`,
    [tenant],
  );
  return [Number(rows[0].rows), Number(rows[0].counted)];
}

test('a new installation allows 100,000 items for each embed tenant', async () => {
  expect(await world.admin.getTenantSettings()).toMatchObject({ embedContentLimit: 100_000 });
});

test('an embed tenant has at most so many folders, workbooks and reports together, by every way to make them', async () => {
  const tenant = unique('acme');
  const creator = await creatorOf(tenant);
  const at = { deploymentId };
  await setLimit(5);
  const folder = await creator.createFolder({ ...at, body: { name: 'one' } });
  const workbook = await creator.createWorkbook({ ...at, body: {} });
  const { id: reportId } = await creator.createReport({ ...at, body: { workbookId: workbook.id } });
  const ways: [string, () => Promise<unknown>][] = [
    ['createFolder', () => creator.createFolder({ ...at, body: { name: 'more', parentId: folder.id } })],
    ['createWorkbook', () => creator.createWorkbook({ ...at, body: {} })],
    ['upsertWorkbookBySlug', () => creator.upsertWorkbookBySlug({ ...at, slug: unique('slug'), body: {} })],
    ['createReport', () => creator.createReport({ ...at, body: {} })],
    [
      'upsertReportByPublicId',
      () => creator.upsertReportByPublicId({ ...at, publicId: newPublicId(), body: {} }),
    ],
    // An admin who puts something into the folder of the embed tenant.
    ['createReport by an admin', () => world.admin.createReport({ ...at, body: { folderId: folder.id } })],
  ];
  // Two more have room: the workbook and its report.
  const copy = await creator.duplicateWorkbook({ ...at, workbookId: workbook.id, body: {} });
  for (const [way, make] of ways) await expect(make(), way).rejects.toMatchObject(FULL);
  await creator.deleteReport({ ...at, reportId });
  await expect(creator.duplicateWorkbook({ ...at, workbookId: copy.id, body: {} })).rejects.toMatchObject(
    FULL,
  );
  expect(await amounts(tenant)).toEqual([4, 4]);
  for (const [, make] of ways) {
    await setLimit((await amounts(tenant))[0] + 1);
    await make();
  }
  expect(await amounts(tenant)).toEqual([10, 10]);
  // Changes, and the main workspace, have no such limit.
  await setLimit(0);
  await creator.updateFolder({ ...at, folderId: folder.id, body: { name: 'other' } });
  await world.admin.createReport({ ...at, body: {} });
  // A creator who deletes has room again; what is deleted with its workbook counts too.
  await creator.deleteWorkbook({ ...at, workbookId: copy.id });
  expect(await amounts(tenant)).toEqual([8, 8]);
  await setLimit(100_000);
});

test('of many parallel calls, as many succeed as have room, and other embed tenants have room of their own', async () => {
  const [tenant, other] = [unique('acme'), unique('other')];
  const [creator, stranger] = [await creatorOf(tenant), await creatorOf(other)];
  await setLimit(6);
  const attempts = Array.from({ length: 12 }, (_, i) =>
    (i % 2
      ? creator.createReport({ deploymentId, body: {} })
      : creator.createWorkbook({ deploymentId, body: {} })
    ).then(
      () => 'made',
      ({ code }) => code as string,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual([...Array(6).fill(FULL.code), ...Array(6).fill('made')]);
  expect(await amounts(tenant)).toEqual([6, 6]);
  await stranger.createReport({ deploymentId, body: {} });
  await setLimit(100_000);
});

test('the counts go with the embed tenant', async () => {
  const tenant = unique('gone');
  const creator = await creatorOf(tenant);
  await creator.createReport({ deploymentId, body: {} });
  await world.admin.deleteEmbedTenant({ embedTenantName: tenant });
  const left = async () =>
    (await world.server.db.pool.query('select from embed_content_counts where content_key = $1', [tenant]))
      .rowCount;
  await expect.poll(left).toBe(0);
});

test('a workbook has at most 10,000 reports, by every way into it', async () => {
  const at = { deploymentId };
  const { id: workbookId } = await world.admin.createWorkbook({ ...at, body: {} });
  await world.server.db.pool.query(
    `insert into reports (deployment_id, public_id, workbook_id, name, name_key, search_text, user_id)
     select $1, $2 || n, $3, 'x', 'x', 'x', (select min(id) from users) from generate_series(1, 9999) n`,
    [deploymentId, unique('full'), workbookId],
  );
  const outside = await world.admin.createReport({ ...at, body: {} });
  const full = { status: 409, code: 'workbook_full' };
  const ways = [
    () => world.admin.createReport({ ...at, body: { workbookId } }),
    () => world.admin.updateReport({ ...at, reportId: outside.id, body: { workbookId } }),
    () => world.admin.upsertReportByPublicId({ ...at, publicId: newPublicId(), body: { workbookId } }),
    () => world.admin.upsertReportByPublicId({ ...at, publicId: outside.publicId, body: { workbookId } }),
  ];
  const outcomes = await Promise.all(
    ways.slice(0, 3).map((way) =>
      way().then(
        () => 'made',
        ({ code }) => code as string,
      ),
    ),
  );
  expect(outcomes.sort()).toEqual(['made', full.code, full.code]);
  for (const way of [ways[0]!, ways[2]!]) await expect(way()).rejects.toMatchObject(full);
  const { rows } = await world.server.db.pool.query('select count(*) from reports where workbook_id = $1', [
    workbookId,
  ]);
  expect(Number(rows[0].count)).toBe(10_000);
});
