import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let explorer: Person;
beforeAll(async () => {
  world = await createWorld();
  explorer = await world.person({ roles: ['Explorer'] });
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'workbook_not_found' };
const FORBIDDEN = { status: 403, code: 'forbidden' };
const SLUG_TAKEN = { status: 409, code: 'slug_taken' };

type Client = World['admin'];
type Body = Parameters<Client['createWorkbook']>[0]['body'];
type Update = Parameters<Client['updateWorkbook']>[0]['body'];
const create = (body: Body = {}, by = world.admin) => by.createWorkbook({ deploymentId, body });
const get = (workbookId: number, by = world.admin) => by.getWorkbook({ deploymentId, workbookId });
const update = (workbookId: number, body: Update, by = world.admin) =>
  by.updateWorkbook({ deploymentId, workbookId, body });
const remove = (workbookId: number, by = world.admin) => by.deleteWorkbook({ deploymentId, workbookId });
const upsert = (slug: string, body: Body = {}, by = world.admin) =>
  by.upsertWorkbookBySlug({ deploymentId, slug, body });
const duplicate = (workbookId: number, body: { shared?: boolean | null } = {}, by = world.admin) =>
  by.duplicateWorkbook({ deploymentId, workbookId, body });
const draw = (workbookId: number, dashboardDraft: unknown, by = world.admin) =>
  by.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } as never });
const folder = async (name: string, parentId?: number) =>
  (await world.admin.createFolder({ deploymentId, body: { name, parentId } })).id;
const report = (body: Parameters<Client['createReport']>[0]['body'], by = world.admin) =>
  by.createReport({ deploymentId, body });
const list = async (query: object = {}, by = world.admin) =>
  (await by.getWorkbooks({ deploymentId, first: 1000, ...query })).items.map(({ name }) => name);
const reportNames = async (query: object = {}, by = world.admin) =>
  (await by.getReports({ deploymentId, sortBy: 'name', ...query })).items.map(({ name }) => name);

test('the audit log has one entry for the saves of an editing session, and one for each save without it', async () => {
  const { id: workbookId } = await create({ name: 'Edited' });
  const other = await world.person({ roles: ['Admin'] });
  let title = 0;
  const save = (editingSession?: string, by = world.admin) =>
    by.updateWorkbookDashboard({
      ...{ deploymentId, workbookId },
      body: { dashboardDraft: { title: `Title ${++title}` }, editingSession },
    });
  const entries = async () => {
    const { items } = await world.admin.listAuditLog({ operation: 'updateWorkbookDashboard', deploymentId });
    return items.map(({ after }) => (after as { dashboardDraft: { title: string } }).dashboardDraft.title);
  };
  for (const session of ['one', 'one', 'two', 'one', undefined, undefined]) await save(session);
  await save('one', other.client);
  await save('one');
  expect(await entries()).toEqual(['Title 7', 'Title 6', 'Title 5', 'Title 3', 'Title 1']);
  expect((await get(workbookId)).dashboardDraft).toEqual({ title: 'Title 8' });
});

/** Gives the explorer an action on a resource. */
const share = (resourceType: 'Folder' | 'Workbook' | 'Report', resourceId: number, level: string) =>
  world.admin.setUserPolicy({
    body: {
      resourceType,
      resourceId,
      userId: explorer.userId,
      action: `${resourceType}${level}` as 'FolderRead',
    },
  });

test('a new workbook has the fields that are given, and defaults for the others', async () => {
  const folderId = await folder('Sales');
  const me = await world.admin.getMe();
  const workbook = await create({ name: 'Pipeline', folderId, meta: { color: 'red', n: [1, { a: null }] } });
  expect(workbook).toEqual({
    id: workbook.id,
    deploymentId,
    name: 'Pipeline',
    slug: null,
    type: 'WORKBOOK',
    userId: me.id,
    user: { id: me.id, email: me.email, firstName: null, picture: null },
    createdBy: me.id,
    folderId,
    folderPath: [{ id: folderId, name: 'Sales' }],
    calculatedFields: {},
    meta: { color: 'red', n: [1, { a: null }] },
    dashboardDraft: null,
    dashboardPublished: null,
    dashboardOutline: null,
    createdAt: workbook.createdAt,
    updatedAt: workbook.createdAt,
  });
  expect(await get(workbook.id)).toEqual(workbook);
  const empty = { name: 'Untitled workbook', folderId: null, folderPath: [], meta: {} };
  expect(await create()).toMatchObject(empty);
  expect(await create({ name: null, folderId: null, meta: null })).toMatchObject(empty);
});

test('an update changes the fields that are given, clears those that are null, and keeps the others', async () => {
  const folderId = await folder('f');
  const { id } = await create({ name: 'a', folderId, meta: { x: 1 } });
  expect(await update(id, { slug: 's' })).toMatchObject({ name: 'a', slug: 's', folderId, meta: { x: 1 } });
  expect(await update(id, { name: 'b' })).toMatchObject({ name: 'b', slug: 's', folderId, meta: { x: 1 } });
  expect(await update(id, {})).toMatchObject({ name: 'b', slug: 's', folderId, meta: { x: 1 } });
  expect(await update(id, { meta: null, slug: null })).toMatchObject({ name: 'b', slug: null, meta: {} });
  expect(await update(id, { name: null, folderId: null })).toMatchObject({
    name: 'Untitled workbook',
    folderId: null,
    folderPath: [],
  });
});

test.each([
  ['a blank name', { name: ' ' }],
  ['256 characters', { name: 'x'.repeat(256) }],
  ['a control character', { name: 'a\tb' }],
  ['a list as meta', { meta: [] }],
  ['a text as folder', { folderId: '1' }],
  ['folder 0', { folderId: 0 }],
  ['a slug, which only updates take', { slug: 'x' }],
  ['an unknown field', { owner: 1 }],
])('bad input is refused: %s', async (_, body) => {
  await expect(create(body as never)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await list()).toEqual([]);
});

describe('the list', () => {
  test('is newest first, in pages that hold every workbook once, and `data` is the same as `items`', async () => {
    for (let i = 0; i < 9; i++) await create({ name: `n${i}` });
    const whole = (await world.admin.getWorkbooks({ deploymentId })).items;
    expect(whole.map(({ name }) => name)).toEqual(Array.from({ length: 9 }, (_, i) => `n${8 - i}`));
    const paged = [];
    for await (const item of world.admin.iterate.getWorkbooks({ deploymentId, first: 4 })) paged.push(item);
    expect(paged).toEqual(whole);
    const page = await world.admin.getWorkbooks({ deploymentId, first: 4 });
    expect(page).toMatchObject({ count: 9, pageInfo: { hasNextPage: true } });
    expect(page.data).toEqual(page.items);
  });

  test('orders workbooks of the same moment by id', async () => {
    for (let i = 0; i < 7; i++) await create({ name: `n${i}` });
    await world.server.db.pool.query('update workbooks set created_at = now() where deployment_id = $1', [
      deploymentId,
    ]);
    const paged = [];
    for await (const { name } of world.admin.iterate.getWorkbooks({ deploymentId, first: 2 }))
      paged.push(name);
    expect(paged).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
  });

  test('shows the workbooks directly in folderId, those at the root for 0, and all without it', async () => {
    const top = await folder('top');
    const inner = await folder('inner', top);
    await create({ name: 'root' });
    await create({ name: 'top', folderId: top });
    await create({ name: 'inner', folderId: inner });
    expect(await list({ folderId: 0 })).toEqual(['root']);
    expect(await list({ folderId: top })).toEqual(['top']);
    expect(await list()).toEqual(['inner', 'top', 'root']);
    expect(await list({ folderId: UNKNOWN })).toEqual([]);
    expect(await world.admin.getWorkbooks({ deploymentId, folderId: top })).toMatchObject({ count: 1 });
  });

  test('holds and counts only the workbooks that the caller can read', async () => {
    const top = await folder('top');
    await create({ name: 'by folder', folderId: await folder('inner', top) });
    const direct = await create({ name: 'direct' });
    await create({ name: 'hidden' });
    await create({ name: 'own' }, explorer.client);
    expect(await list({}, explorer.client)).toEqual(['own']);
    await share('Folder', top, 'Read');
    await share('Workbook', direct.id, 'Read');
    expect(await list({}, explorer.client)).toEqual(['own', 'direct', 'by folder']);
    expect((await explorer.client.getWorkbooks({ deploymentId, first: 1 })).count).toBe(3);
  });

  test.each(['first=0', 'after=x', 'folderId=-1', 'folderId=x', 'folderId=99999999999999999999'])(
    'a bad parameter is a 400: %s',
    async (query) => {
      const reply = await world.raw('GET', `/api/v1/deployments/${deploymentId}/workbooks?${query}`);
      expect(reply.status).toBe(400);
    },
  );

  test('shows content of an embed tenant to admins who name it', async () => {
    const { id } = await create({ name: 'theirs' });
    await create({ name: 'ours' });
    await world.server.db.pool.query("update workbooks set embed_tenant = 'acme' where id = $1", [id]);
    expect(await list()).toEqual(['ours']);
    expect(await list({ embedTenantName: 'acme' })).toEqual(['theirs']);
    await expect(list({ embedTenantName: 'acme' }, explorer.client)).rejects.toMatchObject(FORBIDDEN);
  });
});

describe('a slug', () => {
  test.each(['a', '0', 'a-b', '7-', `a${'-'.repeat(99)}`, 'z'.repeat(100)])('can be %s', async (slug) => {
    const { id } = await create();
    expect(await update(id, { slug })).toMatchObject({ slug });
  });

  test.each(['', '-a', 'A', 'a b', 'a_b', 'ä', 'a/b', 'a.b', 'a\n', 'z'.repeat(101)])(
    'cannot be %j',
    async (slug) => {
      const { id } = await create();
      await expect(update(id, { slug })).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
    },
  );

  test('is unique in a deployment, and can be used in any other', async () => {
    const [a, b] = [await create(), await create()];
    await update(a.id, { slug: 'sales' });
    expect(await update(a.id, { slug: 'sales' })).toMatchObject({ slug: 'sales' });
    await expect(update(b.id, { slug: 'sales', name: 'renamed' })).rejects.toMatchObject(SLUG_TAKEN);
    expect(await get(b.id)).toMatchObject({ slug: null, name: 'Untitled workbook' });
    const elsewhere = (await world.deployment()).id;
    const other = await world.admin.upsertWorkbookBySlug({
      deploymentId: elsewhere,
      slug: 'sales',
      body: {},
    });
    expect(other.slug).toBe('sales');
    await update(a.id, { slug: null });
    expect(await update(b.id, { slug: 'sales' })).toMatchObject({ slug: 'sales' });
  });

  test('can be used again after its workbook is deleted', async () => {
    const { id } = await upsert('sales');
    await remove(id);
    expect((await upsert('sales')).id).not.toBe(id);
  });

  test('is taken over from its holder if the caller asks for it', async () => {
    const holder = await upsert('sales', { name: 'holder' });
    const { id } = await create();
    await expect(update(id, { slug: 'sales', slugTakeover: false })).rejects.toMatchObject(SLUG_TAKEN);
    await expect(update(id, { slug: 'sales', slugTakeover: null })).rejects.toMatchObject(SLUG_TAKEN);
    expect(await update(id, { slug: 'sales', slugTakeover: true })).toMatchObject({ slug: 'sales' });
    expect(await get(holder.id)).toMatchObject({ name: 'holder', slug: null });
    expect(await update(id, { slug: 'sales', slugTakeover: true })).toMatchObject({ slug: 'sales' });
    expect(await update(id, { slug: 'free', slugTakeover: true })).toMatchObject({ slug: 'free' });
  });

  test('can be taken over only by a caller who manages both workbooks', async () => {
    const holder = await upsert('sales');
    const taker = await create();
    const attempt = () => update(taker.id, { slug: 'sales', slugTakeover: true }, explorer.client);
    await share('Workbook', taker.id, 'Manage');
    await expect(attempt()).rejects.toMatchObject(SLUG_TAKEN);
    await share('Workbook', holder.id, 'Edit');
    await expect(attempt()).rejects.toMatchObject(SLUG_TAKEN);
    await share('Workbook', holder.id, 'Manage');
    await share('Workbook', taker.id, 'Edit');
    await expect(attempt()).rejects.toMatchObject(SLUG_TAKEN);
    expect(await get(holder.id)).toMatchObject({ slug: 'sales' });
    await share('Workbook', taker.id, 'Manage');
    expect(await attempt()).toMatchObject({ slug: 'sales' });
    expect(await get(holder.id)).toMatchObject({ slug: null });
  });

  test('that many workbooks take over at once belongs to one of them in the end', async () => {
    await upsert('sales');
    const takers = await Promise.all(Array.from({ length: 8 }, () => create()));
    await Promise.all(takers.map(({ id }) => update(id, { slug: 'sales', slugTakeover: true })));
    const { items } = await world.admin.getWorkbooks({ deploymentId });
    expect(items.filter(({ slug }) => slug === 'sales')).toHaveLength(1);
  });

  test('that many workbooks ask for at once is given to one, and the others get an error', async () => {
    const workbooks = await Promise.all(Array.from({ length: 8 }, () => create()));
    const settled = await Promise.allSettled(workbooks.map(({ id }) => update(id, { slug: 'sales' })));
    const failed = settled.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(failed.map(({ code }) => code)).toEqual(Array(7).fill('slug_taken'));
  });
});

describe('an upsert by slug', () => {
  test('creates, and then changes the fields that are given', async () => {
    const folderId = await folder('f');
    const created = await upsert('sales', { name: 'a', folderId, meta: { x: 1 } });
    expect(created).toMatchObject({ slug: 'sales', name: 'a', folderId, meta: { x: 1 } });
    expect(await upsert('sales', { name: 'b' })).toMatchObject({ id: created.id, name: 'b', folderId });
    expect(await upsert('sales', { folderId: null, meta: null })).toMatchObject({ folderId: null, meta: {} });
    expect(await upsert('other')).toMatchObject({ name: 'Untitled workbook', slug: 'other' });
    expect(await list()).toHaveLength(2);
  });

  test('merges `meta` key by key, while an update replaces it', async () => {
    const { id: workbookId } = await upsert('sales', { meta: { a: 1, b: { x: 1 } } });
    expect(await upsert('sales', { meta: { b: { y: 2 }, c: null } })).toMatchObject({
      meta: { a: 1, b: { y: 2 }, c: null },
    });
    const replaced = await world.admin.updateWorkbook({ deploymentId, workbookId, body: { meta: { d: 4 } } });
    expect(replaced.meta).toEqual({ d: 4 });
    await upsert('sales', { meta: { big: 'x'.repeat(40_000) } });
    const tooLarge = upsert('sales', { meta: { more: 'x'.repeat(40_000) } });
    await expect(tooLarge).rejects.toMatchObject({ status: 400, issues: [{ path: 'meta' }] });
  });

  test('many times at once always returns the same workbook', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => upsert('sales', { name: `v${i}` })),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await list()).toHaveLength(1);
    expect(answers.map(({ name }) => name)).toEqual(Array.from({ length: 16 }, (_, i) => `v${i}`));
  });

  test('is refused as taken if the caller cannot see the workbook, and as forbidden if they can only read it', async () => {
    const { id } = await upsert('sales', { name: 'theirs' });
    const attempt = () => upsert('sales', { name: 'mine' }, explorer.client);
    await expect(attempt()).rejects.toMatchObject(SLUG_TAKEN);
    await share('Workbook', id, 'Read');
    await expect(attempt()).rejects.toMatchObject(FORBIDDEN);
    await share('Workbook', id, 'Edit');
    expect(await attempt()).toMatchObject({ id, name: 'mine' });
  });

  test.each(['A', '-a', 'a_b', 'z'.repeat(101)])('refuses the slug %s', async (slug) => {
    await expect(upsert(slug)).rejects.toMatchObject({ status: 400 });
  });
});

test('an update with a stale If-Match is refused and changes nothing', async () => {
  const { id } = await create({ name: 'a' });
  const path = `/api/v1/deployments/${deploymentId}/workbooks/${id}`;
  const put = (to: string, body: object, etag: string) =>
    world.raw('PUT', to, {
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify(body),
    });
  const etag = (await world.raw('GET', path)).headers.get('etag')!;
  const changed = await put(path, { name: 'b' }, etag);
  expect(changed.status).toBe(200);
  expect((await put(path, { name: 'c' }, etag)).status).toBe(412);
  expect((await put(`${path}/dashboard`, { dashboardDraft: { title: 'x' } }, etag)).status).toBe(412);
  expect(await get(id)).toMatchObject({ name: 'b', dashboardDraft: null });

  const current = changed.headers.get('etag')!;
  expect((await world.raw('GET', path)).headers.get('etag')).toBe(current);
  const drawn = await put(`${path}/dashboard`, { dashboardDraft: { title: 'x' } }, `"other", ${current}`);
  expect(drawn.status).toBe(200);
  expect((await put(path, { name: 'd' }, current)).status).toBe(412);
  expect((await put(path, { name: 'd' }, drawn.headers.get('etag')!)).status).toBe(200);
  expect((await put(path, { name: 'e' }, '*')).status).toBe(200);
});

test('of many updates with the same If-Match one succeeds', async () => {
  const { id } = await create();
  const path = `/api/v1/deployments/${deploymentId}/workbooks/${id}`;
  const etag = (await world.raw('GET', path)).headers.get('etag')!;
  const headers = { 'content-type': 'application/json', 'if-match': etag };
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      world.raw('PUT', path, { headers, body: JSON.stringify({ name: `v${i}` }) }),
    ),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)]);
});

describe('a duplicate', () => {
  test('has everything of the workbook and its reports except the slug and a draft that the caller may not edit, and belongs to the caller', async () => {
    const folderId = await folder('f');
    const original = await upsert('sales', { name: 'Sales', folderId, meta: { x: 1 } });
    await draw(original.id, { title: 'Board' });
    const source = await report({
      workbookId: original.id,
      name: 'Revenue',
      title: 't',
      description: 'd',
      sqlQuery: 'select 1',
      pivotItems: { columns: ['a'], measures: [], rows: [], filters: [] },
      meta: { chart: 'bar' },
    });
    await share('Workbook', original.id, 'Read');
    const copy = await duplicate(original.id, {}, explorer.client);
    expect(copy).toMatchObject({
      name: 'Sales (copy)',
      slug: null,
      userId: explorer.userId,
      createdBy: explorer.userId,
      meta: { x: 1 },
      dashboardDraft: null,
      dashboardPublished: null,
    });
    expect((await duplicate(original.id)).dashboardDraft).toEqual({ title: 'Board' });
    const { items } = await explorer.client.getReports({ deploymentId, workbookId: copy.id });
    const { name, title, description, sqlQuery, pivotItems, meta } = source;
    expect(items).toMatchObject([
      { name, title, description, sqlQuery, pivotItems, meta, userId: explorer.userId, canManage: true },
    ]);
    expect(items[0]!.publicId).not.toBe(source.publicId);
    expect(await get(original.id)).toMatchObject({ name: 'Sales', slug: 'sales' });
    expect(await reportNames({ workbookId: original.id })).toEqual(['Revenue']);

    await update(copy.id, { name: 'changed' }, explorer.client);
    await explorer.client.deleteReport({ deploymentId, reportId: items[0]!.id });
    expect(await reportNames({ workbookId: original.id })).toEqual(['Revenue']);
  });

  test('lies beside the original if the caller may put things there, and otherwise at the root', async () => {
    const folderId = await folder('f');
    const { id } = await create({ folderId });
    await report({ workbookId: id, name: 'r' });
    expect(await duplicate(id)).toMatchObject({ folderId });
    await share('Folder', folderId, 'Read');
    const outside = await duplicate(id, {}, explorer.client);
    expect(outside).toMatchObject({ folderId: null, folderPath: [] });
    await share('Folder', folderId, 'Edit');
    expect(await duplicate(id, {}, explorer.client)).toMatchObject({ folderId });
    // The policy on the folder does not reach the copy at the root.
    const reader = await world.person();
    await world.admin.setUserPolicy({
      body: { resourceType: 'Folder', resourceId: folderId, userId: reader.userId, action: 'FolderRead' },
    });
    expect(await reader.client.getReports({ deploymentId })).toMatchObject({ count: 3 });
    expect(await reportNames({ workbookId: outside.id }, reader.client)).toEqual([]);
  });

  test('accepts no body, an empty body, or shared as null', async () => {
    const { id } = await create({ name: 'a' });
    const path = `/api/v1/deployments/${deploymentId}/workbooks/${id}/duplicate`;
    expect((await world.raw('POST', path)).status).toBe(200);
    const headers = { 'content-type': 'application/json' };
    for (const [body, status] of [
      ['{}', 200],
      ['{"shared":null}', 200],
      ['{"shared":1}', 400],
      ['{"deep":true}', 400],
      ['[]', 400],
    ] as const) {
      expect((await world.raw('POST', path, { headers, body })).status).toBe(status);
    }
    expect(await list()).toHaveLength(4);
  });

  test('with shared can be made only of workbooks of others, and lies at the root', async () => {
    const folderId = await folder('f');
    const theirs = await create({ folderId });
    const own = await create({}, explorer.client);
    await expect(duplicate(theirs.id, { shared: true }, explorer.client)).rejects.toMatchObject(MISSING);
    await share('Folder', folderId, 'Edit');
    const copy = await duplicate(theirs.id, { shared: true }, explorer.client);
    expect(copy).toMatchObject({ userId: explorer.userId, folderId: null });
    await expect(duplicate(own.id, { shared: true }, explorer.client)).rejects.toMatchObject(MISSING);
    expect(await duplicate(own.id, { shared: false }, explorer.client)).toMatchObject({ folderId: null });
  });

  test('needs read on the original, and AIBIExplore', async () => {
    const { id } = await create();
    await expect(duplicate(id, {}, explorer.client)).rejects.toMatchObject(MISSING);
    const viewer = await world.person();
    await world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: id, userId: viewer.userId, action: 'WorkbookManage' },
    });
    await expect(duplicate(id, {}, viewer.client)).rejects.toMatchObject(FORBIDDEN);
  });

  test('of a workbook with the longest name has a valid name', async () => {
    const { id } = await create({ name: '名'.repeat(255) });
    const copy = await duplicate(id);
    expect(copy.name).toMatch(/^名+ \(copy\)$/);
    expect(await update(copy.id, { name: copy.name })).toMatchObject({ name: copy.name });
  });

  test('of a workbook that is deleted at the same time is complete, or a 404', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await create();
      await report({ workbookId: id });
      const settled = await Promise.allSettled([duplicate(id), remove(id), duplicate(id), duplicate(id)]);
      for (const outcome of settled) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(MISSING);
      }
    }
    const { items } = await world.admin.getWorkbooks({ deploymentId, first: 1000 });
    for (const { id } of items) expect(await reportNames({ workbookId: id })).toHaveLength(1);
  });
});

describe('the draft of the dashboard', () => {
  const position = { x: 0, y: 0, w: 6, h: 4 };
  const widget = { id: 'w1', type: 'CHART', position };

  test('is stored unchanged, and null clears it', async () => {
    const { id } = await create({ name: 'a' });
    const classic = {
      kind: 'CLASSIC',
      title: 'Board',
      description: 'All of it',
      layout: { cols: { lg: 12, xs: null }, margin: [8, 8], rowHeight: 40 },
      widgets: [
        { ...widget, responsiveLayouts: { sm: position }, config: { reportId: 1 }, style: { a: 'b' } },
        { id: 'w2', type: 'DIVIDER', position: { x: -1, y: 5, w: 0, h: 0 } },
      ],
      settings: { refresh: 60 },
      theme: { primaryColor: '#fff', widgets: { border: { radius: '4px' } } },
    };
    expect(await draw(id, classic)).toEqual({ dashboardDraft: classic, dashboardPublished: null });
    expect(await get(id)).toMatchObject({ name: 'a', dashboardDraft: classic });
    const app = {
      kind: 'APP',
      app: { entry: 'main.ts', files: { 'main.ts': 'x' }, manifest: { version: 1 } },
    };
    expect(await draw(id, app)).toEqual({ dashboardDraft: app, dashboardPublished: null });
    expect(await draw(id, undefined)).toMatchObject({ dashboardDraft: app });
    expect(await draw(id, {})).toMatchObject({ dashboardDraft: {} });
    expect(await draw(id, null)).toEqual({ dashboardDraft: null, dashboardPublished: null });
    expect(await get(id)).toMatchObject({ dashboardDraft: null });
  });

  test.each([
    ['an unknown kind', { kind: 'FAX' }],
    ['an unknown field', { colour: 'red' }],
    ['a title of 256', { title: 'x'.repeat(256) }],
    ['widgets that are not a list', { widgets: {} }],
    ['a widget without id', { widgets: [{ type: 'TEXT', position }] }],
    ['a widget with an empty id', { widgets: [{ ...widget, id: '' }] }],
    ['a widget without position', { widgets: [{ id: 'a', type: 'TEXT' }] }],
    ['a widget of an unknown type', { widgets: [{ ...widget, type: 'MAP' }] }],
    ['a widget with an unknown field', { widgets: [{ ...widget, hidden: true }] }],
    ['half a position', { widgets: [{ ...widget, position: { x: 0, y: 0 } }] }],
    ['a position of fractions', { widgets: [{ ...widget, position: { ...position, x: 0.5 } }] }],
    ['a layout for an unknown size', { widgets: [{ ...widget, responsiveLayouts: { xl: position } }] }],
    ['a margin of texts', { layout: { margin: ['8'] } }],
    ['files that are not texts', { kind: 'APP', app: { files: { 'a.ts': 1 } } }],
    ['an unknown part of a theme', { theme: { header: {} } }],
    ['1001 widgets', { widgets: Array.from({ length: 1001 }, () => widget) }],
    ['a text', 'x'],
  ])('refuses %s', async (_, dashboardDraft) => {
    const { id } = await create();
    await expect(draw(id, dashboardDraft)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await get(id)).toMatchObject({ dashboardDraft: null });
  });

  test('needs edit on the workbook to be changed', async () => {
    const { id } = await create();
    await expect(draw(id, {}, explorer.client)).rejects.toMatchObject(MISSING);
    await share('Workbook', id, 'Read');
    await expect(draw(id, {}, explorer.client)).rejects.toMatchObject(FORBIDDEN);
    await share('Workbook', id, 'Edit');
    expect(await draw(id, {}, explorer.client)).toMatchObject({ dashboardDraft: {} });
  });
});

test('deleting a workbook deletes its reports and the policies on them, and needs manage', async () => {
  const { id } = await create();
  const inside = await report({ workbookId: id, name: 'inside' });
  await report({ name: 'outside' });
  await share('Report', inside.id, 'Read');
  await expect(remove(id, explorer.client)).rejects.toMatchObject(MISSING);
  await share('Workbook', id, 'Edit');
  await expect(remove(id, explorer.client)).rejects.toMatchObject(FORBIDDEN);
  await share('Workbook', id, 'Manage');
  expect(await remove(id, explorer.client)).toBeUndefined();
  await expect(get(id)).rejects.toMatchObject(MISSING);
  await expect(remove(id)).rejects.toMatchObject(MISSING);
  expect(await reportNames()).toEqual(['outside']);
  expect((await world.admin.getReports({ deploymentId })).count).toBe(1);
  const policies = await world.server.db.pool.query(
    'select from resource_policies where deployment_id = $1',
    [deploymentId],
  );
  expect(policies.rowCount).toBe(0);
});

test('the folder of a workbook decides who can read its reports', async () => {
  const [shared, hidden] = [await folder('shared'), await folder('hidden')];
  await share('Folder', shared, 'Edit');
  const workbook = await create({ folderId: hidden });
  const { id: reportId } = await report({ workbookId: workbook.id, name: 'r' });
  const seen = async () => {
    const { items, count } = await explorer.client.getReports({ deploymentId });
    const found = await explorer.client.getReport({ deploymentId, reportId }).then(
      (one) => [one.name, one.canEdit],
      ({ status }) => status,
    );
    return [items.map(({ name }) => name), count, found];
  };
  const nothing = [[], 0, 404];
  const something = [['r'], 1, ['r', true]];
  expect(await seen()).toEqual(nothing);
  await update(workbook.id, { folderId: shared });
  expect(await seen()).toEqual(something);
  await update(workbook.id, { folderId: null });
  expect(await seen()).toEqual(nothing);
  const move = (folderId: number | null) =>
    world.admin.moveWorkspaceObject({ deploymentId, body: { type: 'WORKBOOK', id: workbook.id, folderId } });
  await move(shared);
  expect(await seen()).toEqual(something);
  await move(hidden);
  expect(await seen()).toEqual(nothing);
  await upsert('s');
  await update(workbook.id, { slug: 's', slugTakeover: true });
  await upsert('s', { folderId: shared });
  expect(await seen()).toEqual(something);
});

test('reports that are added while the workbook moves end up in the folder of the workbook', async () => {
  const folders = await Promise.all(Array.from({ length: 3 }, (_, i) => folder(`f${i}`)));
  const { id } = await create();
  await Promise.all(
    Array.from({ length: 9 }, (_, i) => [
      update(id, { folderId: folders[i % 3]! }),
      report({ workbookId: id, name: `r${i}` }),
    ]).flat(),
  );
  const { rows } = await world.server.db.pool.query(
    `select r.id from reports r join workbooks w on w.id = r.workbook_id
     where w.id = $1 and r.scope_folder_id is not distinct from w.folder_id`,
    [id],
  );
  expect(rows).toHaveLength(9);
});

test('a workbook cannot be put into a folder that does not exist or that the caller may not edit', async () => {
  const elsewhere = (await world.deployment()).id;
  const foreign = (await world.admin.createFolder({ deploymentId: elsewhere, body: { name: 'x' } })).id;
  const { id } = await create();
  const missing = { status: 404, code: 'folder_not_found' };
  for (const folderId of [UNKNOWN, foreign]) {
    await expect(create({ folderId })).rejects.toMatchObject(missing);
    await expect(update(id, { folderId })).rejects.toMatchObject(missing);
    await expect(upsert('new', { folderId })).rejects.toMatchObject(missing);
  }
  const folderId = await folder('theirs');
  const own = await create({}, explorer.client);
  await expect(update(own.id, { folderId }, explorer.client)).rejects.toMatchObject(missing);
  await share('Folder', folderId, 'Read');
  await expect(update(own.id, { folderId }, explorer.client)).rejects.toMatchObject(FORBIDDEN);
  await expect(create({ folderId }, explorer.client)).rejects.toMatchObject(FORBIDDEN);
  await share('Folder', folderId, 'Edit');
  expect(await update(own.id, { folderId }, explorer.client)).toMatchObject({ folderId });
});

test('a workbook that the caller cannot read, or of another deployment, is a 404', async () => {
  const { id } = await create();
  const elsewhere = (await world.deployment()).id;
  for (const [client, where, workbookId] of [
    [explorer.client, deploymentId, id],
    [explorer.client, deploymentId, UNKNOWN],
    [world.admin, elsewhere, id],
  ] as const) {
    const one = { deploymentId: where, workbookId };
    for (const call of [
      () => client.getWorkbook(one),
      () => client.updateWorkbook({ ...one, body: { name: 'x' } }),
      () => client.deleteWorkbook(one),
      () => client.duplicateWorkbook({ ...one, body: {} }),
      () => client.updateWorkbookDashboard({ ...one, body: {} }),
    ]) {
      await expect(call()).rejects.toMatchObject(MISSING);
    }
  }
});
