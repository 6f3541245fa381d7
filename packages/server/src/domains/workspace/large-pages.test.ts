/** Every page of a list has a limited size, and a page that ends early leaves nothing out. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { PAGE_BYTES_MAX } from '../../platform/http/pages.ts';

const KB = 1024;
/** The size of the largest item in bytes. A page can be larger than the limit by one item. */
const REPORT_MAX = 700 * KB;
const WORKBOOK_MAX = 2200 * KB;

let world: World;
let deploymentId: number;
let userId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  userId = (await world.admin.getMe()).id;
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);

/** Inserts reports. By default, they have the largest size that is allowed. */
const insertReports = (count: number, from = 0, queryKb = 256) =>
  run(
    `insert into reports (deployment_id, public_id, name, name_key, search_text, sql_query, json_query, meta, user_id, created_at)
     select $1::bigint, lpad($1::bigint || 'r' || n, 12, '0'), 'report ' || n, 'report ' || n, 'report ' || n, repeat('x', $5::int * 1024),
            repeat('y', $5::int * 1024), jsonb_build_object('text', repeat('z', $5::int * 250)), $2, now() - n * interval '1 second'
     from generate_series($3::int, $3::int + $4::int - 1) n`,
    [deploymentId, userId, from, count, queryKb],
  );

async function page(path: string) {
  const response = await world.raw('GET', `/api/v1/deployments/${deploymentId}/${path}`);
  expect(response.status).toBe(200);
  const text = await response.text();
  return { bytes: Buffer.byteLength(text), ...JSON.parse(text) };
}

/** Reads a list page by page, and returns all items and the number of items on each page. */
async function walk(path: string, largestBytes: number, repeats = 2) {
  const items: { id: number; type: string; name: string }[] = [];
  const sizes: number[] = [];
  for (let after: string | undefined; ; ) {
    const found = await page(`${path}${after ? `&after=${after}` : ''}`);
    expect(found.bytes).toBeLessThan(repeats * (PAGE_BYTES_MAX + largestBytes) + 1000);
    items.push(...found.items);
    sizes.push(found.items.length);
    if (!found.pageInfo.hasNextPage) return { items, sizes };
    expect(found.items.length).toBeGreaterThan(0);
    after = found.pageInfo.endCursor;
  }
}

const numbered = (items: { name: string }[]) => items.map(({ name }) => Number(name.split(' ')[1]));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('a list of reports of the largest size', () => {
  test.each(['reports?first=10', 'reports?', 'reports?first=1000&search=report'])('%s', async (path) => {
    await insertReports(10);
    const { items, sizes } = await walk(path, REPORT_MAX);
    expect(numbered(items)).toEqual(upTo(10));
    expect(sizes).toEqual([4, 4, 2]);
  });

  test('with a thousand reports on one page', async () => {
    // The largest ones come first. All others would only take time: a page without a limit is too large in any case.
    await insertReports(20);
    await insertReports(980, 20, 1);
    const first = await page('reports?first=1000');
    expect(first.bytes).toBeLessThan(2 * (PAGE_BYTES_MAX + REPORT_MAX) + 1000);
    expect(numbered(first.items)).toEqual([0, 1, 2, 3]);
    expect(first).toMatchObject({ count: 1000, pageInfo: { hasNextPage: true } });
    const next = await page(`reports?first=1000&after=${first.pageInfo.endCursor}`);
    expect(numbered(next.items)).toEqual([4, 5, 6, 7]);
  });

  test('a page by number holds all of its reports, the later ones without their larger fields', async () => {
    await insertReports(24);
    const seen: number[] = [];
    for (const number of [1, 2]) {
      const found = await page(`reports?limit=12&page=${number}`);
      expect(found.bytes).toBeLessThan(2 * (PAGE_BYTES_MAX + REPORT_MAX) + 50 * KB);
      expect(found.items).toHaveLength(12);
      expect(found.items[3]).toMatchObject({ sqlQuery: 'x'.repeat(256 * KB), folderPath: [] });
      const last = found.items.at(-1);
      expect(last).toMatchObject({ type: 'REPORT', canManage: true, user: { id: userId } });
      for (const field of ['sqlQuery', 'jsonQuery', 'meta', 'pivotItems', 'description', 'folderPath']) {
        expect(last).not.toHaveProperty(field);
      }
      seen.push(...numbered(found.items));
    }
    expect(seen).toEqual(upTo(24));
    const viewed = await page('reports?sortBy=lastViewedAt&limit=1000');
    expect(viewed.items).toHaveLength(24);
    expect(viewed.bytes).toBeLessThan(2 * (PAGE_BYTES_MAX + REPORT_MAX) + 150 * KB);
  });
});

test('placements, paths and characters that JSON escapes count too', async () => {
  let parentId: number | undefined;
  for (let depth = 0; depth < 31; depth++) {
    const folder = { name: '😀'.repeat(127), parentId };
    parentId = (await world.admin.createFolder({ deploymentId, body: folder })).id;
  }
  await insertReports(30, 0, 1);
  await run(
    `update reports set folder_id = $2, scope_folder_id = $2, sql_query = repeat(chr(1), 5000), json_query = null, meta = null
     where deployment_id = $1`,
    [deploymentId, parentId],
  );
  await run(
    `insert into report_placements (report_id, external_workbook_id, result_location)
     select r.id, 'sheet ' || n, repeat(chr(1), 500) from reports r, generate_series(1, 50) n where deployment_id = $1`,
    [deploymentId],
  );
  const { items, sizes } = await walk('reports?first=1000', 210 * KB);
  expect(numbered(items)).toEqual(upTo(30));
  expect(Math.max(...sizes)).toBeLessThan(15);
});

const insertLargeWorkbooks = (count: number, kind: 'CLASSIC' | 'APP') =>
  run(
    `insert into workbooks (deployment_id, name, name_key, user_id, created_at, meta, dashboard_draft, dashboard_published)
     select $1, 'workbook ' || n, 'workbook ' || n, $2, now() - n * interval '1 second', jsonb_build_object('text', repeat('z', 65000)),
            draft, draft
     from generate_series(0, $3::int - 1) n, (select jsonb_build_object('kind', $4::text, 'settings', jsonb_build_object('text',
            repeat('x', case $4 when 'APP' then 5000000 else 1000000 end))) as draft) d`,
    [deploymentId, userId, count, kind],
  );

test('a list of workbooks ends early, and leaves out the dashboards of apps', async () => {
  await insertLargeWorkbooks(6, 'CLASSIC');
  const { items, sizes } = await walk('workbooks?first=1000', WORKBOOK_MAX);
  expect(numbered(items)).toEqual(upTo(6));
  expect(sizes).toEqual([2, 2, 2]);
  expect(items[0]).toMatchObject({ dashboardDraft: { settings: { text: 'x'.repeat(1_000_000) } } });

  deploymentId = (await world.deployment()).id;
  await insertLargeWorkbooks(6, 'APP');
  const apps = await walk('workbooks?first=1000', WORKBOOK_MAX);
  expect(apps.sizes).toEqual([6]);
  for (const item of apps.items) {
    expect(item).not.toHaveProperty('dashboardDraft');
    expect(item).not.toHaveProperty('dashboardPublished');
  }
  const whole = await world.admin.getWorkbook({ deploymentId, workbookId: apps.items[0]!.id });
  expect(whole).toMatchObject({ dashboardDraft: { kind: 'APP' }, dashboardPublished: { kind: 'APP' } });
});

test('a workspace list of folders, workbooks and reports ends early, and leaves out nothing', async () => {
  await insertReports(10);
  await insertLargeWorkbooks(4, 'CLASSIC');
  for (const name of ['a', 'b']) await world.admin.createFolder({ deploymentId, body: { name } });
  const { items, sizes } = await walk('workspace?first=1000', WORKBOOK_MAX, 1);
  const of = (type: string) => items.filter((item) => item.type === type);
  expect(of('FOLDER')).toHaveLength(2);
  expect(numbered(of('WORKBOOK')).toSorted()).toEqual(upTo(4));
  expect(numbered(of('REPORT')).toSorted()).toEqual(upTo(10));
  expect(sizes.length).toBeGreaterThan(4);
});

test('each report that stays is shown once while others are added and deleted', async () => {
  await insertReports(15);
  const stays = (n: number) => n % 3 > 0;
  let fresh = 1000;
  const seen: number[] = [];
  for (let after: string | undefined, gone = 0; ; gone += 3) {
    const [found] = await Promise.all([
      page(`reports?first=1000${after ? `&after=${after}` : ''}`),
      run('delete from reports where deployment_id = $1 and name = $2', [deploymentId, `report ${gone}`]),
      insertReports(1, ++fresh).then(() =>
        // Half of the new reports come before the current page, and half after it.
        run(
          'update reports set created_at = now() - $3 * interval $$1 second$$ where deployment_id = $1 and name = $2',
          [deploymentId, `report ${fresh}`, fresh % 2 ? 0.5 : 14.5],
        ),
      ),
    ]);
    seen.push(...numbered(found.items));
    if (!found.pageInfo.hasNextPage) break;
    after = found.pageInfo.endCursor;
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((n) => n < 1000 && stays(n))).toEqual(upTo(15).filter(stays));
});

describe('many large things at once', () => {
  const items = (type: 'REPORT' | 'WORKBOOK', ids: number[]) => ids.map((id) => ({ type, id }));
  const idsOf = async (table: string) =>
    (await run(`select id from ${table} where deployment_id = $1`, [deploymentId])).rows.map(({ id }) => id);
  const insertApps = () =>
    run(
      `insert into workbooks (deployment_id, name, name_key, user_id, dashboard_draft)
       select $1, 'w', 'w', $2, jsonb_build_object('kind', 'APP', 'text', repeat('x', 1024 * 1024)) from generate_series(1, 20)`,
      [deploymentId, userId],
    );

  async function post(operation: string, body: object) {
    const path = `/api/v1/deployments/${deploymentId}/workspace/${operation}`;
    const response = await world.raw('POST', path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, bytes: Buffer.byteLength(text), reply: JSON.parse(text) };
  }

  test('that are moved are returned without their large fields', async () => {
    await insertApps();
    await insertReports(20);
    const { id: folderId } = await world.admin.createFolder({ deploymentId, body: { name: 'f' } });
    const moved = [
      ...items('WORKBOOK', await idsOf('workbooks')),
      ...items('REPORT', await idsOf('reports')),
    ];
    const { status, bytes, reply } = await post('bulk-move', { folderId, items: moved });
    expect(status).toBe(200);
    expect(reply.moved).toHaveLength(40);
    expect(reply.moved.every((item: { folderId: number }) => item.folderId === folderId)).toBe(true);
    expect(bytes).toBeLessThan(100 * KB);
  });

  test('that are deleted leave audit entries of a limited size', async () => {
    await insertApps();
    const ids = await idsOf('workbooks');
    expect((await post('bulk-delete', { items: items('WORKBOOK', ids) })).status).toBe(200);
    const { rows } = await run(
      `select octet_length(before::text) as bytes from audit_log where deployment_id = $1 and operation = 'bulkDeleteWorkspaceObjects'`,
      [deploymentId],
    );
    expect(rows).toHaveLength(20);
    for (const { bytes } of rows) expect(bytes).toBeLessThan(70 * KB);
  });
});
