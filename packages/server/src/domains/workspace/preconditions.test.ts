/** ETags of reports and workbooks: no writer overwrites a change that they have not seen. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const newPublicId = () =>
  Array.from({ length: 12 }, () => 'abcdefghij'[Math.floor(Math.random() * 10)]).join('');

const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  world.raw(method, `/api/v1/deployments/${deploymentId}/${path}`, {
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const etagOf = async (path: string) => (await send('GET', path)).headers.get('etag')!;
const statusOf = async (...args: Parameters<typeof send>) => (await send(...args)).status;

const audited = async () =>
  Number((await world.server.db.pool.query('select count(*) from audit_log')).rows[0].count);

/** Creates a report or a workbook, with the operations that change it. */
const nouns = {
  report: async () => {
    const publicId = newPublicId();
    const { id } = await world.admin.upsertReportByPublicId({ deploymentId, publicId, body: { name: 'a' } });
    const path = `reports/${id}`;
    const place = { externalWorkbookId: 'sheet', resultLocation: unique('cell') };
    return {
      path,
      upsert: `reports/by-public-id/${publicId}`,
      fresh: `reports/by-public-id/${newPublicId()}`,
      changes: [
        ['PUT', path, { name: unique('b') }],
        ['PUT', `reports/by-public-id/${publicId}`, { name: unique('c') }],
        ['PUT', `${path}/connect-workbook`, place],
      ] as [string, string, object][],
    };
  },
  workbook: async () => {
    const slug = unique('slug');
    const { id } = await world.admin.upsertWorkbookBySlug({ deploymentId, slug, body: { name: 'a' } });
    const path = `workbooks/${id}`;
    return {
      path,
      upsert: `workbooks/by-slug/${slug}`,
      fresh: `workbooks/by-slug/${unique('fresh')}`,
      changes: [
        ['PUT', path, { name: unique('b') }],
        ['PUT', `workbooks/by-slug/${slug}`, { name: unique('c') }],
        ['PUT', `${path}/dashboard`, { dashboardDraft: { title: unique('d') } }],
      ] as [string, string, object][],
    };
  },
};

describe.each(['report', 'workbook'] as const)('for a %s', (noun) => {
  test('each change checks If-Match, returns the new ETag, and makes the old one stale', async () => {
    const { path, changes } = await nouns[noun]();
    let stale = await etagOf(path);
    for (const [method, to, body] of changes) {
      const changed = await send(method, to, body, { 'if-match': `"other", ${await etagOf(path)}` });
      expect([to, changed.status]).toEqual([to, 200]);
      const current = await etagOf(path);
      expect(changed.headers.get('etag')).toBe(current);
      expect(current).not.toBe(stale);
      for (const [retryMethod, retried, retryBody] of changes) {
        const refused = await send(retryMethod, retried, { ...retryBody }, { 'if-match': stale });
        expect([retried, refused.status]).toEqual([retried, 412]);
      }
      expect(await etagOf(path)).toBe(current);
      stale = current;
    }
  });

  test('a delete checks If-Match', async () => {
    const { path, changes } = await nouns[noun]();
    const stale = await etagOf(path);
    await send(...changes[0]!);
    expect(await statusOf('DELETE', path, undefined, { 'if-match': stale })).toBe(412);
    expect(await statusOf('DELETE', path, undefined, { 'if-match': await etagOf(path) })).toBe(204);
    expect(await statusOf('GET', path)).toBe(404);
  });

  test('a change that changes nothing keeps version, time and ETag, and is not audited', async () => {
    const { path, changes } = await nouns[noun]();
    for (const change of changes) {
      await send(...change);
      const before = await (await send('GET', path)).text();
      const etag = await etagOf(path);
      const entries = await audited();
      expect((await send(...change)).headers.get('etag')).toBe(etag);
      expect(await (await send('GET', path)).text()).toBe(before);
      expect(await audited()).toBe(entries);
    }
    expect(await statusOf('PUT', path, {})).toBe(200);
  });

  test('of many writers with the same ETag exactly one succeeds, with any operation', async () => {
    const { path, changes } = await nouns[noun]();
    const headers = { 'if-match': await etagOf(path) };
    const writers = [...changes, ...changes, ...changes];
    const statuses = await Promise.all(
      writers.map(([method, to], i) =>
        statusOf(
          method,
          to,
          noun === 'report' && i % 3 === 2
            ? { externalWorkbookId: `sheet-${i}`, resultLocation: 'A1' }
            : i % 3 === 2
              ? { dashboardDraft: { title: `draft ${i}` } }
              : { name: `writer ${i}` },
          headers,
        ),
      ),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array(8).fill(412)]);
  });

  test('an upsert with If-None-Match: * only creates', async () => {
    const { path, upsert, fresh } = await nouns[noun]();
    const headers = { 'if-none-match': '*' };
    const etag = await etagOf(path);
    expect(await statusOf('PUT', upsert, { name: 'x' }, headers)).toBe(412);
    expect(await etagOf(path)).toBe(etag);
    expect(await statusOf('PUT', fresh, { name: 'x' }, headers)).toBe(200);
    expect(await statusOf('PUT', fresh, { name: 'y' }, headers)).toBe(412);
  });

  test('only an upsert takes If-None-Match, as the document says', async () => {
    const { path, upsert, changes } = await nouns[noun]();
    const headers = { 'if-none-match': '*' };
    for (const [method, to, body] of changes.filter(([, to]) => to !== upsert)) {
      expect([to, await statusOf(method, to, body, headers)]).toEqual([to, 200]);
    }
    expect(await statusOf('DELETE', path, undefined, headers)).toBe(204);
  });

  test('of parallel upserts with If-None-Match: * one creates', async () => {
    const { fresh } = await nouns[noun]();
    const attempt = (_: unknown, i: number) =>
      statusOf('PUT', fresh, { name: `writer ${i}` }, { 'if-none-match': '*' });
    const statuses = await Promise.all(Array.from({ length: 8 }, attempt));
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(412)]);
  });

  test('an upsert with If-Match only changes', async () => {
    const { path, upsert, fresh } = await nouns[noun]();
    for (const tag of ['*', '"any"']) {
      expect(await statusOf('PUT', fresh, { name: 'x' }, { 'if-match': tag })).toBe(412);
    }
    expect(await statusOf('PUT', upsert, { name: 'x' }, { 'if-match': '*' })).toBe(200);
    expect(await statusOf('PUT', upsert, { name: 'y' }, { 'if-match': await etagOf(path) })).toBe(200);
  });
});

test('the ETag of a report changes with the names of its folders and with the place of its workbook', async () => {
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'a' } });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: folder.id } });
  const report = await world.admin.createReport({ deploymentId, body: { workbookId: workbook.id } });
  const tags = async () => [await etagOf(`workbooks/${workbook.id}`), await etagOf(`reports/${report.id}`)];
  const first = await tags();
  expect(await tags()).toEqual(first);
  await world.admin.updateFolder({ deploymentId, folderId: folder.id, body: { name: 'b' } });
  const renamed = await tags();
  await world.admin.updateWorkbook({ deploymentId, workbookId: workbook.id, body: { folderId: null } });
  const moved = await tags();
  for (const i of [0, 1]) expect(new Set([first[i], renamed[i], moved[i]]).size).toBe(3);
});

test('a placement does not change the fields of the report', async () => {
  const { id: reportId, version, updatedAt } = await world.admin.createReport({ deploymentId, body: {} });
  const placed = await world.admin.connectReportToWorkbook({
    deploymentId,
    reportId,
    body: { externalWorkbookId: 'sheet', resultLocation: 'A1' },
  });
  expect(placed).toMatchObject({ version, updatedAt, externalWorkbookPlacements: [{ workbookId: 'sheet' }] });
});
