import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';

const KB = 1024;
const MB = 1024 * KB;

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

type Report = Parameters<World['admin']['createReport']>[0]['body'];
const create = (body: Report) => world.admin.createReport({ deploymentId, body });

/** An object whose JSON has this many bytes. */
const objectOf = (bytes: number, character = 'x') => {
  const rest = bytes - '{"text":""}'.length;
  return { text: character.repeat(Math.floor(rest / Buffer.byteLength(character))) };
};
const refusedAt = (path: string, limit: string) => ({
  status: 400,
  code: 'invalid_request',
  message: `${path}: is larger than ${limit}`,
  issues: [{ path, message: `is larger than ${limit}` }],
});

test('a report can be as large as the limits allow, and is returned unchanged', async () => {
  const pivotItems = {
    columns: Array.from({ length: 60 }, () => 'x'.repeat(1000)),
    measures: [],
    rows: [],
    filters: [],
  };
  const body = {
    meta: objectOf(64 * KB),
    sqlQuery: 'x'.repeat(256 * KB),
    jsonQuery: 'ä'.repeat(128 * KB),
    pivotItems,
  };
  const { id: reportId } = await create(body);
  expect(await world.admin.getReport({ deploymentId, reportId })).toMatchObject(body);
});

describe('a field that is too large is a 400 that names the field and its limit', () => {
  const pivots = (text: string) => ({
    columns: Array(70).fill(text),
    measures: [],
    rows: [],
    filters: [],
  });
  const cases: [string, Report, string, string][] = [
    ['meta', { meta: objectOf(64 * KB + 1) }, 'meta', '64 KB'],
    ['meta of characters that take two bytes', { meta: objectOf(65 * KB, 'ä') }, 'meta', '64 KB'],
    [
      'meta of numbers that are longer when written out',
      { meta: { numbers: Array(1000).fill(1e-300) } },
      'meta',
      '128 KB as it is stored',
    ],
    ['sqlQuery in bytes', { sqlQuery: 'ä'.repeat(128 * KB + 1) }, 'sqlQuery', '256 KB'],
    ['jsonQuery in bytes', { jsonQuery: 'ä'.repeat(128 * KB + 1) }, 'jsonQuery', '256 KB'],
    ['pivotItems', { pivotItems: pivots('x'.repeat(1000)) }, 'pivotItems', '64 KB'],
    ['a spreadsheet', { externalWorkbookId: '😀'.repeat(600) }, 'externalWorkbookId', '2 KB as it is stored'],
  ];

  test.each(cases)('%s, in a new report', async (_what, body, path, limit) => {
    await expect(create(body)).rejects.toMatchObject(refusedAt(path, limit));
  });

  test.each(cases)('%s, in a change and in an upsert', async (_what, body, path, limit) => {
    const { id: reportId, publicId } = await create({ name: 'small' });
    const change = world.admin.updateReport({ deploymentId, reportId, body });
    await expect(change).rejects.toMatchObject(refusedAt(path, limit));
    const upsert = world.admin.upsertReportByPublicId({ deploymentId, publicId, body });
    await expect(upsert).rejects.toMatchObject(refusedAt(path, limit));
    expect(await world.admin.getReport({ deploymentId, reportId })).toMatchObject({ version: 1 });
  });

  test('a query that is longer than the contract allows', async () => {
    const refusal = { status: 400, issues: [{ path: 'sqlQuery' }] };
    await expect(create({ sqlQuery: 'x'.repeat(256 * KB + 1) })).rejects.toMatchObject(refusal);
  });
});

test('a report can be placed in at most 50 spreadsheets', async () => {
  const { id: reportId } = await create({});
  const place = (externalWorkbookId: string, resultLocation = 'A1') =>
    world.admin.connectReportToWorkbook({
      deploymentId,
      reportId,
      body: { externalWorkbookId, resultLocation },
    });
  for (let i = 0; i < 50; i++) await place(`sheet-${i}`);
  await expect(place('one more')).rejects.toMatchObject({ status: 409, code: 'too_many_placements' });
  const { externalWorkbookPlacements } = await place('sheet-7', 'B2');
  expect(externalWorkbookPlacements).toHaveLength(50);
  await expect(place('😀'.repeat(300))).rejects.toMatchObject(
    refusedAt('externalWorkbookId', '1 KB as it is stored'),
  );
});

describe('in a workbook', () => {
  const workbook = async () => (await world.admin.createWorkbook({ deploymentId, body: {} })).id;
  const draft = async (dashboardDraft: object) =>
    world.admin.updateWorkbookDashboard({
      deploymentId,
      workbookId: await workbook(),
      body: { dashboardDraft },
    });

  test('meta can have 64 KB', async () => {
    for (const [meta, limit] of [
      [objectOf(64 * KB + 1), '64 KB'],
      [{ numbers: Array(1000).fill(1e-300) }, '128 KB as it is stored'],
    ] as const) {
      const body = { meta };
      const refused = refusedAt('meta', limit);
      await expect(world.admin.createWorkbook({ deploymentId, body })).rejects.toMatchObject(refused);
      const change = world.admin.updateWorkbook({ deploymentId, workbookId: await workbook(), body });
      await expect(change).rejects.toMatchObject(refused);
    }
    const { meta } = await world.admin.createWorkbook({ deploymentId, body: { meta: objectOf(64 * KB) } });
    expect(meta).toEqual(objectOf(64 * KB));
  });

  test('a dashboard can have 1 MB, and the dashboard of an app 5 MB', async () => {
    const settings = objectOf(1 * MB);
    await expect(draft({ settings })).rejects.toMatchObject(refusedAt('dashboardDraft', '1 MB'));
    const app = { kind: 'APP', settings };
    expect(await draft(app)).toMatchObject({ dashboardDraft: app });
    const larger = { kind: 'APP', settings: objectOf(5 * MB) };
    await expect(draft(larger)).rejects.toMatchObject(refusedAt('dashboardDraft', '5 MB'));
    const numbers = { settings: { numbers: Array(10_000).fill(1e-300) } };
    await expect(draft(numbers)).rejects.toMatchObject(refusedAt('dashboardDraft', '2 MB as it is stored'));
  });

  test('a theme can have 64 KB', async () => {
    const text = '😀'.repeat(1000);
    const border = { color: text, radius: text, style: text, width: text };
    const title = { color: text, fontFamily: text, fontSize: text, fontWeight: text };
    const section = { backgroundColor: text, border, padding: text, title };
    const theme = { controls: section, widgets: section };
    await expect(draft({ theme })).rejects.toMatchObject(refusedAt('dashboardDraft.theme', '64 KB'));
    expect(await draft({ theme: { controls: section } })).toMatchObject({
      dashboardDraft: { theme: { controls: section } },
    });
  });
});

test('the settings of a user can have 64 KB', async () => {
  const { userId } = await world.person();
  const change = (body: object) => world.admin.updateUser({ id: userId, body });
  for (const field of ['settings', 'tosAccepted']) {
    await expect(change({ [field]: objectOf(64 * KB + 1) })).rejects.toMatchObject(refusedAt(field, '64 KB'));
    expect(await change({ [field]: objectOf(64 * KB) })).toMatchObject({ [field]: objectOf(64 * KB) });
  }
});

test('a report that is larger than the limits, from before they existed, is shown and can be made smaller', async () => {
  const { id: reportId } = await create({ meta: { x: 1 } });
  const { pool } = world.server.db;
  await pool.query('alter table reports drop constraint reports_meta_max_128_kb');
  await pool.query('update reports set meta = $2 where id = $1', [reportId, objectOf(3 * MB)]);
  await pool.query(
    'alter table reports add constraint reports_meta_max_128_kb check (octet_length(meta::text) <= 128 * 1024) not valid',
  );
  const { items } = await world.admin.getReports({ deploymentId, search: 'untitled', first: 1000 });
  expect(items.length).toBeGreaterThan(0);
  const update = (body: Report) => world.admin.updateReport({ deploymentId, reportId, body });
  await expect(update({ name: 'renamed' })).rejects.toMatchObject(
    refusedAt('meta', '128 KB as it is stored'),
  );
  expect(await update({ name: 'renamed', meta: {} })).toMatchObject({ name: 'renamed', meta: {} });
});
