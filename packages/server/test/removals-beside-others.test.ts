/** Removals while other requests work on the same rows: nothing is lost, and nothing is left. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { holdRows } from './hold.ts';
import { createWorld, unique, type World } from './world.ts';

const GONE = { status: 404, code: 'embed_tenant_not_found' };

let world: World;
let deploymentId: number;
let adminId: number;
beforeAll(async () => {
  world = await createWorld();
  adminId = (await world.admin.getMe()).id;
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const fill = async (folderId: number | null, n: number): Promise<number[]> =>
  (
    await run(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id, folder_id, scope_folder_id)
       select $1, substr(md5(random()::text), 1, 12), 'r', 'r', 'r', $2, $3, $3 from generate_series(1, $4::int)
       returning id`,
      [deploymentId, adminId, folderId, n],
    )
  ).map(({ id }) => id);

const countReports = async () =>
  (await run('select count(*)::int as n from reports where deployment_id = $1', [deploymentId]))[0].n;
const isRemoved = (folderId: number) =>
  expect.poll(() => run('select from folders where id = $1', [folderId])).toEqual([]);
const newFolder = async () => (await world.admin.createFolder({ deploymentId, body: { name: 'folder' } })).id;

describe('a folder whose reports return to the root', () => {
  test('loses none of them if somebody moves one out meanwhile', async () => {
    const folderId = await newFolder();
    const [first] = await fill(folderId, 1600);
    const hold = await holdRows(world, 'reports', [first!]);
    const deleted = world.admin.deleteFolder({ deploymentId, folderId });
    await hold.waiting();
    await hold.release('update reports set folder_id = null, scope_folder_id = null where id = any($1)');
    await deleted;
    await isRemoved(folderId);
    expect(await countReports()).toBe(1600);
  });

  test('loses none of the others if somebody deletes one while the job runs', async () => {
    const folderId = await newFolder();
    const ids = await fill(folderId, 4000);
    const hold = await holdRows(world, 'reports', [ids[1200]!]);
    await world.admin.deleteFolder({ deploymentId, folderId });
    await hold.waiting();
    await hold.release('delete from reports where id = any($1)');
    await isRemoved(folderId);
    expect(await countReports()).toBe(3999);
  });
});

test('a folder that is deleted with its content leaves the reports that somebody moves out meanwhile', async () => {
  const folderId = await newFolder();
  const ids = await fill(folderId, 1200);
  const hold = await holdRows(world, 'reports', [ids[0]!]);
  await world.admin.deleteFolder({ deploymentId, folderId, recursive: true });
  await hold.waiting();
  await hold.release('update reports set folder_id = null, scope_folder_id = null where id = any($1)');
  await isRemoved(folderId);
  expect(await run('select id from reports where deployment_id = $1', [deploymentId])).toEqual([
    { id: ids[0] },
  ]);
});

test('a deleted deployment leaves nothing, even if others delete some of its reports meanwhile', async () => {
  const ids = await fill(null, 2500);
  const hold = await holdRows(world, 'reports', ids.slice(0, 500));
  await world.admin.deleteDeployment({ deploymentId });
  await hold.waiting();
  await hold.release('delete from reports where id = any($1)');
  await expect.poll(countReports).toBe(0);
});

describe('an embed tenant that is being removed', () => {
  async function removing() {
    const embedTenantName = unique('tenant');
    const request = { deploymentId, embedTenantName, externalId: 'ada', creatorMode: true };
    const { client } = await world.embedded(request);
    const { id } = await client.createReport({ deploymentId, body: {} });
    const hold = await holdRows(world, 'reports', [id]);
    await world.admin.deleteEmbedTenant({ embedTenantName });
    await hold.waiting();
    return { embedTenantName, request, hold };
  }

  test('cannot be found by the name under which it is stored', async () => {
    const { hold } = await removing();
    const [{ name }] = await run('select name from embed_tenants where deleted_at is not null');
    const counted = await run('select count from external_user_count');
    await expect(world.admin.listEmbedUsers({ embedTenantName: name })).rejects.toMatchObject(GONE);
    await expect(world.admin.getGroups({ embedTenantName: name })).rejects.toMatchObject(GONE);
    await expect(world.admin.deleteEmbedTenant({ embedTenantName: name })).rejects.toMatchObject(GONE);
    expect(await run('select count from external_user_count')).toEqual(counted);
    await hold.release();
  });

  test('does not conflict with slugs of a new tenant that has its name, during the removal and afterwards', async () => {
    const { embedTenantName, request, hold } = await removing();
    const { client } = await world.embedded(request);
    const at = { deploymentId, slug: 'sales' };
    const first = await client.upsertWorkbookBySlug({ ...at, body: { name: 'first' } });
    const again = await client.upsertWorkbookBySlug({ ...at, body: { name: 'again' } });
    expect(again).toMatchObject({ id: first.id, name: 'again' });
    await hold.release();
    await expect
      .poll(() => run(`select from reports where embed_tenant = $1`, [embedTenantName]))
      .toEqual([]);
    const taker = await client.createWorkbook({ deploymentId, body: {} });
    const body = { slug: 'sales', slugTakeover: true };
    await client.updateWorkbook({ deploymentId, workbookId: taker.id, body });
    expect(await client.getWorkbook({ deploymentId, workbookId: taker.id })).toMatchObject({ slug: 'sales' });
    expect(await client.getWorkbook({ deploymentId, workbookId: first.id })).toMatchObject({ slug: null });
  });
});
