import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

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

type Client = World['admin'];
type ItemType = 'FOLDER' | 'WORKBOOK' | 'REPORT';
interface Item {
  type: ItemType;
  id: number;
}

const UNKNOWN = 999_999_999;
const NOUN = { FOLDER: 'Folder', WORKBOOK: 'Workbook', REPORT: 'Report' } as const;
const TYPES = Object.keys(NOUN) as ItemType[];

/** Creates an item of the type in the folder, or at the root. */
async function create(type: ItemType, name: string, folderId?: number, by = world.admin): Promise<Item> {
  const at = { deploymentId, body: { name, folderId } };
  if (type === 'FOLDER') {
    return { type, id: (await by.createFolder({ deploymentId, body: { name, parentId: folderId } })).id };
  }
  return { type, id: (await (type === 'WORKBOOK' ? by.createWorkbook(at) : by.createReport(at))).id };
}
const folder = async (name: string, folderId?: number) => (await create('FOLDER', name, folderId)).id;

const names = (items: { name: string }[]) => items.map(({ name }) => name);
const list = async (query: object = {}, by = world.admin) =>
  names((await by.workspaceObjects({ deploymentId, first: 1000, ...query })).items);
const shared = async (query: object = {}, by = explorer.client) =>
  names((await by.sharedWorkspaceObjects({ deploymentId, first: 1000, ...query })).items).toSorted();
const byName = { orderByField: 'name' } as const;

type Level = 'Read' | 'Edit' | 'Manage';
const share = ({ type, id }: Item, level: Level, userId = explorer.userId) =>
  world.admin.setUserPolicy({
    body: {
      resourceType: NOUN[type],
      resourceId: id,
      userId,
      action: `${NOUN[type]}${level}` as 'FolderRead',
    },
  });
const move = (item: Item, folderId: number | null, by: Client = world.admin) =>
  by.moveWorkspaceObject({ deploymentId, body: { ...item, folderId } });
const bulkMove = (items: Item[], folderId: number | null, by: Client = world.admin) =>
  by.bulkMoveWorkspaceObjects({ deploymentId, body: { items, folderId } });
const bulkDelete = (items: Item[], by: Client = world.admin) =>
  by.bulkDeleteWorkspaceObjects({ deploymentId, body: { items } });

const keys = (items: Item[]) => items.map(({ type, id }) => `${type} ${id}`).toSorted();
const reasons = (failed: (Item & { error: { status: number } })[]) =>
  Object.fromEntries(failed.map(({ type, id, error }) => [`${type} ${id}`, error.status]));

describe('the list', () => {
  test('holds each kind in its own shape, with its type', async () => {
    const created = [];
    for (const type of TYPES) created.push(await create(type, type));
    const { items } = await world.admin.workspaceObjects({ deploymentId, ...byName });
    expect(items).toMatchObject([
      { type: 'FOLDER', position: 0, parentId: null, folderPath: [] },
      { type: 'REPORT', publicId: expect.any(String), canManage: true, version: 1 },
      { type: 'WORKBOOK', slug: null, meta: {}, dashboardDraft: null },
    ]);
    expect(keys(items as Item[])).toEqual(keys(created));
    const [aFolder, aReport, aWorkbook] = items;
    expect((await world.admin.getFolders({ deploymentId })).items).toEqual([aFolder]);
    expect((await world.admin.getReports({ deploymentId })).items).toEqual([aReport]);
    expect((await world.admin.getWorkbooks({ deploymentId })).items).toEqual([aWorkbook]);
  });

  test('begins by default with the item that changed last', async () => {
    const oldest = await create('FOLDER', 'a');
    await create('REPORT', 'b');
    await create('WORKBOOK', 'c');
    expect(await list()).toEqual(['c', 'b', 'a']);
    await world.admin.updateFolder({ deploymentId, folderId: oldest.id, body: { name: 'a2' } });
    expect(await list()).toEqual(['a2', 'c', 'b']);
    expect(await list({ orderByField: 'created_at' })).toEqual(['c', 'b', 'a2']);
    expect(await list({ orderByField: 'created_at', orderByDirection: 'ASC' })).toEqual(['a2', 'b', 'c']);
    expect(await list(byName)).toEqual(['a2', 'b', 'c']);
  });

  test('sorts names in code point order of the lower-cased name, across the kinds', async () => {
    for (const [i, name] of ['b', 'A', 'ä', 'a2', 'Z', '1'].entries()) await create(TYPES[i % 3]!, name);
    expect(await list(byName)).toEqual(['1', 'A', 'a2', 'b', 'Z', 'ä']);
    expect(await list({ ...byName, orderByDirection: 'DESC' })).toEqual(['ä', 'Z', 'b', 'a2', 'A', '1']);
  });

  test.each(
    (['name', 'created_at', 'updated_at', 'viewer_last_viewed_at'] as const).flatMap((field) =>
      (['ASC', 'DESC'] as const).map((direction) => [field, direction] as const),
    ),
  )('pages by %s %s hold every item once, even if keys are equal', async (orderByField, orderByDirection) => {
    const all: Item[] = [];
    for (let i = 0; i < 12; i++) all.push(await create(TYPES[i % 3]!, `n${Math.floor(i / 6)}`));
    for (const table of ['folders', 'workbooks', 'reports']) {
      await world.server.db.pool.query(
        `update ${table} set created_at = date_trunc('hour', now()) + (id % 2) * interval '1 second',
           updated_at = date_trunc('hour', now()) + (id % 2) * interval '1 microsecond'
         where deployment_id = $1`,
        [deploymentId],
      );
    }
    const viewed = all.filter(({ type }) => type === 'REPORT').slice(1, 3);
    for (const { id } of viewed) await world.admin.getReport({ deploymentId, reportId: id });
    const order = { deploymentId, orderByField, orderByDirection };
    const whole = (await world.admin.workspaceObjects(order)).items;
    expect(keys(whole as Item[])).toEqual(keys(all));
    for (const first of [1, 2, 5, 12]) {
      const paged = [];
      for await (const item of world.admin.iterate.workspaceObjects({ ...order, first })) paged.push(item);
      expect(paged).toEqual(whole);
    }
    const opposite = orderByDirection === 'ASC' ? 'DESC' : 'ASC';
    const reversed = await world.admin.workspaceObjects({ ...order, orderByDirection: opposite });
    expect(reversed.items).toEqual(whole.toReversed());
  });

  test('by last view begins with the item that the caller opened last, not with what others opened', async () => {
    const items = [];
    for (const name of ['a', 'b', 'c']) items.push(await create('REPORT', name));
    const workbook = await create('WORKBOOK', 'w');
    for (const item of [...items, workbook]) await share(item, 'Read');
    const open = (reportId: number, by: Client) => by.getReport({ deploymentId, reportId });
    await open(items[1]!.id, explorer.client);
    await open(items[0]!.id, explorer.client);
    await open(items[2]!.id, world.admin);
    const view = (by: Client) => list({ orderByField: 'viewer_last_viewed_at', types: ['REPORT'] }, by);
    expect((await view(explorer.client)).slice(0, 2)).toEqual(['a', 'b']);
    expect((await view(world.admin))[0]).toBe('c');
  });

  test('the next page continues after the last one when items are added and deleted', async () => {
    const all: Item[] = [];
    for (let i = 0; i < 9; i++) all.push(await create(TYPES[i % 3]!, `n${i}`));
    const { pageInfo } = await world.admin.workspaceObjects({ deploymentId, ...byName, first: 4 });
    await bulkDelete([all[0]!, all[3]!, all[5]!]);
    await create('REPORT', 'm');
    await create('REPORT', 'n9');
    const rest = { ...byName, after: pageInfo.endCursor! };
    expect(await list(rest)).toEqual(['n4', 'n6', 'n7', 'n8', 'n9']);
  });

  test('shows the root or the items directly in a folder; a report in a workbook shows in neither', async () => {
    const top = await folder('top');
    const inner = await folder('inner', top);
    await create('REPORT', 'root report');
    await create('REPORT', 'top report', top);
    const workbook = await create('WORKBOOK', 'top workbook', top);
    await world.admin.createReport({ deploymentId, body: { name: 'inside', workbookId: workbook.id } });
    await create('REPORT', 'inner report', inner);
    expect(await list(byName)).toEqual(['root report', 'top']);
    expect(await list({ ...byName, folderId: top })).toEqual(['inner', 'top report', 'top workbook']);
    expect(await list({ folderId: inner })).toEqual(['inner report']);
    expect(await list({ folderId: UNKNOWN })).toEqual([]);
    const elsewhere = (await world.deployment()).id;
    const foreign = await world.admin.workspaceObjects({ deploymentId: elsewhere, folderId: top });
    expect(foreign.items).toEqual([]);
  });

  test('holds only the kinds that the caller asks for', async () => {
    for (const type of TYPES) await create(type, type);
    expect(await list({ ...byName, types: ['FOLDER'] })).toEqual(['FOLDER']);
    expect(await list({ ...byName, types: ['REPORT', 'FOLDER'] })).toEqual(['FOLDER', 'REPORT']);
    expect(await list({ ...byName, types: ['REPORT', 'REPORT'] })).toEqual(['REPORT']);
    expect(await list({ ...byName, types: [] })).toEqual(['FOLDER', 'REPORT', 'WORKBOOK']);
    expect(await list({ ...byName, types: null })).toHaveLength(3);
  });

  test.each(['types=', 'types=null', 'types=&types=null'])('%s means all kinds', async (types) => {
    for (const type of TYPES) await share(await create(type, type), 'Read');
    for (const path of ['workspace', 'shared-workspace']) {
      const url = `/api/v1/deployments/${deploymentId}/${path}?orderByField=name&${types}`;
      const reply = await world.raw('GET', url, { apiKey: explorer.apiKey });
      expect(reply.status).toBe(200);
      const { items } = (await reply.json()) as { items: Item[] };
      expect(items.map(({ type }) => type)).toEqual(['FOLDER', 'REPORT', 'WORKBOOK']);
    }
  });

  test('a search looks everywhere, or in a folder if one is given, and ignores upper and lower case', async () => {
    const top = await folder('Alpha top');
    const workbook = await create('WORKBOOK', 'ALPHA book', top);
    await world.admin.createReport({
      deploymentId,
      body: { name: 'inside', description: 'the alpha of it', workbookId: workbook.id },
    });
    await create('REPORT', '100%_alphabet', top);
    await create('REPORT', 'beta');
    const found = (search: string, query: object = {}) => list({ ...byName, search, ...query });
    expect(await found('alpha')).toEqual(['100%_alphabet', 'ALPHA book', 'Alpha top', 'inside']);
    expect(await found('LPHA', { types: ['FOLDER', 'WORKBOOK'] })).toEqual(['ALPHA book', 'Alpha top']);
    expect(await found('alpha', { folderId: top })).toEqual(['100%_alphabet', 'ALPHA book']);
    expect(await found('%_a')).toEqual(['100%_alphabet']);
    expect(await found('a_p')).toEqual([]);
    const paged = [];
    const query = { deploymentId, ...byName, search: 'alpha', first: 1 };
    for await (const { name } of world.admin.iterate.workspaceObjects(query)) paged.push(name);
    expect(paged).toEqual(['100%_alphabet', 'ALPHA book', 'Alpha top', 'inside']);
  });

  test('holds only what the caller can read', async () => {
    const top = await folder('top');
    for (const type of TYPES) await create(type, `hidden ${type}`);
    for (const type of TYPES) await create(type, `in top ${type}`, top);
    await create('REPORT', 'own', undefined, explorer.client);
    expect(await list({}, explorer.client)).toEqual(['own']);
    expect(await list({ folderId: top }, explorer.client)).toEqual([]);
    await share({ type: 'FOLDER', id: top }, 'Read');
    expect(await list(byName, explorer.client)).toEqual(['own', 'top']);
    expect(await list({ folderId: top }, explorer.client)).toHaveLength(3);
    expect(await list({ search: 'hidden' }, explorer.client)).toEqual([]);
  });

  test.each(TYPES)('does not hold at the root a %s that was shared in a folder', async (type) => {
    const folderId = await folder('closed');
    const item = await create(type, unique('inside'), folderId);
    await share(item, 'Read');
    const atRoot = await create(type, unique('root'));
    await share(atRoot, 'Read');
    const { items } = await explorer.client.workspaceObjects({ deploymentId, first: 1000 });
    expect(items.map(({ id }) => id)).toEqual([atRoot.id]);
  });

  test('does not hold content of an embed tenant, unless an admin names the tenant', async () => {
    for (const type of TYPES) {
      const { id } = await create(type, `theirs ${type}`);
      await create(type, `ours ${type}`);
      await world.server.db.pool.query(
        `update ${NOUN[type].toLowerCase()}s set embed_tenant = 'acme' where id = $1`,
        [id],
      );
      await share({ type, id }, 'Read');
    }
    expect(await list(byName)).toEqual(['ours FOLDER', 'ours REPORT', 'ours WORKBOOK']);
    expect(await list({ search: 'theirs' })).toEqual([]);
    expect(await shared()).toEqual([]);
    expect(await list({ ...byName, embedTenantName: 'acme' })).toEqual([
      'theirs FOLDER',
      'theirs REPORT',
      'theirs WORKBOOK',
    ]);
    expect(await list({ embedTenantName: 'other' })).toEqual([]);
    await expect(list({ embedTenantName: 'acme' }, explorer.client)).rejects.toMatchObject({ status: 403 });
  });

  test.each([
    'first=0',
    'first=x',
    'after=x',
    'folderId=0',
    'folderId=x',
    'types=DASHBOARD',
    'types=FOLDER&types=FOLDER&types=FOLDER&types=FOLDER',
    'orderByField=size',
    'orderByDirection=UP',
    'search=a&search=b',
    'search=%00',
    `search=${'x'.repeat(256)}`,
  ])('a bad parameter is a 400: %s', async (query) => {
    for (const path of ['workspace', 'shared-workspace']) {
      const reply = await world.raw('GET', `/api/v1/deployments/${deploymentId}/${path}?${query}`);
      expect(reply.status).toBe(400);
    }
  });

  test('a cursor of another order, direction or list is refused', async () => {
    await create('FOLDER', 'a');
    await create('FOLDER', 'b');
    const { pageInfo } = await world.admin.workspaceObjects({ deploymentId, ...byName, first: 1 });
    const after = pageInfo.endCursor!;
    for (const query of [{}, { orderByField: 'created_at' }, { ...byName, orderByDirection: 'DESC' }]) {
      await expect(list({ ...query, after })).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
    }
    const attempt = world.admin.sharedWorkspaceObjects({ deploymentId, ...byName, after });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_cursor' });
  });
});

describe('the shared workspace', () => {
  test.each(TYPES)(
    'holds each %s that was shared with the caller or with one of their groups or roles',
    async (type) => {
      const role = await world.admin.createRole({
        body: { name: unique('role'), actions: ['DeploymentRead'] },
      });
      const person = await world.person({ roles: [role.name] });
      const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
      await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
      const [direct, byGroup, byRole] = [
        await create(type, 'direct'),
        await create(type, 'by group'),
        await create(type, 'by role'),
      ];
      await create(type, 'not shared');
      const other = await create(type, 'with somebody else');
      await share(other, 'Manage');
      const policy = ({ id }: Item) =>
        ({ resourceType: NOUN[type], resourceId: id, action: `${NOUN[type]}Read` }) as const;
      await world.admin.setUserPolicy({ body: { ...policy(direct), userId: person.userId } });
      await world.admin.setGroupPolicy({ body: { ...policy(byGroup), groupId: group.id } });
      await world.admin.setRolePolicy({ body: { ...policy(byRole), roleId: role.id } });
      expect(await shared({}, person.client)).toEqual(['by group', 'by role', 'direct']);
      await world.admin.removeUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
      await world.admin.setUserPolicy({ body: { ...policy(direct), userId: person.userId, action: null } });
      expect(await shared({}, person.client)).toEqual(['by role']);
    },
  );

  test('holds nothing that the caller owns', async () => {
    for (const type of TYPES) await share(await create(type, 'own', undefined, explorer.client), 'Manage');
    expect(await shared()).toEqual([]);
    expect(await list({}, explorer.client)).toEqual(['own', 'own', 'own']);
  });

  test('holds nothing that the caller sees only because of a role', async () => {
    const developer = await world.person({ roles: ['Developer'] });
    const given = await create('REPORT', 'given');
    await create('REPORT', 'by role only');
    await share(given, 'Read', developer.userId);
    expect(await shared({}, developer.client)).toEqual(['given']);
    expect(await shared({}, world.admin)).toEqual([]);
    const { items } = await developer.client.sharedWorkspaceObjects({ deploymentId });
    expect(items).toMatchObject([{ canManage: true }]);
  });

  test('shows the items that were shared, and their content by folder', async () => {
    const top = await folder('top');
    const inner = await folder('inner', top);
    await create('REPORT', 'deep', inner);
    await create('WORKBOOK', 'book', top);
    const own = await create('REPORT', 'own', undefined, explorer.client);
    await move(own, top);
    await share({ type: 'FOLDER', id: top }, 'Read');
    expect(await shared()).toEqual(['top']);
    expect(await shared({ folderId: top })).toEqual(['book', 'inner']);
    expect(await shared({ folderId: inner })).toEqual(['deep']);
    expect(await shared({ search: 'e' })).toEqual(['deep', 'inner']);
    expect(await shared({ search: 'own' })).toEqual([]);
    expect(await shared({ types: ['REPORT'] })).toEqual([]);
  });

  test('shows a report in a workbook if the report itself was shared', async () => {
    const workbook = await create('WORKBOOK', 'book');
    const { id } = await world.admin.createReport({
      deploymentId,
      body: { name: 'inside', workbookId: workbook.id },
    });
    await share({ type: 'REPORT', id }, 'Read');
    expect(await shared()).toEqual(['inside']);
  });

  test('pages hold every item once, in each order', async () => {
    for (let i = 0; i < 9; i++) await share(await create(TYPES[i % 3]!, `n${i % 2}`), 'Read');
    for (const orderByField of ['name', 'created_at', 'updated_at', 'viewer_last_viewed_at'] as const) {
      const order = { deploymentId, orderByField };
      const whole = (await explorer.client.sharedWorkspaceObjects(order)).items;
      const paged = [];
      for await (const item of explorer.client.iterate.sharedWorkspaceObjects({ ...order, first: 2 }))
        paged.push(item);
      expect(paged).toEqual(whole);
      expect(paged).toHaveLength(9);
    }
  });
});

describe('a move', () => {
  test.each(TYPES)('moves a %s into a folder and back to the root', async (type) => {
    const target = await folder('target');
    const item = await create(type, 'item');
    const place = type === 'FOLDER' ? 'parentId' : 'folderId';
    const path = [{ id: target, name: 'target' }];
    expect(await move(item, target)).toMatchObject({ ...item, [place]: target, folderPath: path });
    expect(await list()).toEqual(['target']);
    expect(await list({ folderId: target })).toEqual(['item']);
    expect(await move(item, null)).toMatchObject({ ...item, [place]: null, folderPath: [] });
    await move(item, target);
    const headers = { 'content-type': 'application/json' };
    const url = `/api/v1/deployments/${deploymentId}/workspace/move`;
    const reply = await world.raw('POST', url, { headers, body: JSON.stringify(item) });
    expect([reply.status, await list({ folderId: target })]).toEqual([200, []]);
  });

  test('moves a report out of its workbook, into a folder or to the root', async () => {
    const target = await folder('target');
    for (const folderId of [target, null]) {
      const workbook = await create('WORKBOOK', 'book');
      const { id } = await world.admin.createReport({ deploymentId, body: { workbookId: workbook.id } });
      expect(await move({ type: 'REPORT', id }, folderId)).toMatchObject({ folderId, workbookId: null });
    }
  });

  test.each(TYPES)('of a %s needs manage on it, and edit on the folder', async (type) => {
    const target = { type: 'FOLDER', id: await folder('target') } as const;
    const item = await create(type, 'item');
    const attempt = () => move(item, target.id, explorer.client);
    const missing = { status: 404, code: `${type.toLowerCase()}_not_found` };
    const forbidden = { status: 403, code: 'forbidden' };
    await expect(attempt()).rejects.toMatchObject(missing);
    await share(item, 'Read');
    await expect(attempt()).rejects.toMatchObject(forbidden);
    await share(item, 'Edit');
    await expect(attempt()).rejects.toMatchObject(forbidden);
    await share(item, 'Manage');
    await expect(attempt()).rejects.toMatchObject({ status: 404, code: 'folder_not_found' });
    await share(target, 'Read');
    await expect(attempt()).rejects.toMatchObject(forbidden);
    await share(target, 'Edit');
    expect(await attempt()).toMatchObject(item);
    await expect(move({ type, id: UNKNOWN }, null)).rejects.toMatchObject(missing);
    await expect(move(item, UNKNOWN)).rejects.toMatchObject({ code: 'folder_not_found' });
    const elsewhere = (await world.deployment()).id;
    const foreign = world.admin.moveWorkspaceObject({ deploymentId: elsewhere, body: item });
    await expect(foreign).rejects.toMatchObject(missing);
  });

  test.each([
    ['no id', { type: 'FOLDER' }],
    ['no type', { id: 1 }],
    ['an unknown type', { id: 1, type: 'DASHBOARD' }],
    ['folder 0', { id: 1, type: 'FOLDER', folderId: 0 }],
    ['an unknown field', { id: 1, type: 'FOLDER', parentId: 1 }],
  ])('with %s is refused', async (_, body) => {
    const attempt = world.admin.moveWorkspaceObject({ deploymentId, body: body as never });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('in bulk', () => {
  const hundred = async () => {
    const ids = [];
    for (let i = 0; i < 10; i++) {
      const some = Array.from({ length: 10 }, (_, j) => create(TYPES[(i + j) % 3]!, `n${i * 10 + j}`));
      ids.push(...(await Promise.all(some)));
    }
    return ids;
  };

  test('one item is moved and deleted', async () => {
    const target = await folder('target');
    const item = await create('REPORT', 'r');
    const { moved, failed } = await bulkMove([item], target);
    expect([moved, failed]).toMatchObject([[{ ...item, folderId: target }], []]);
    expect(await bulkDelete([item])).toEqual({ deleted: [item], failed: [] });
    expect(await list()).toEqual(['target']);
  });

  test('a hundred items are moved and deleted', async () => {
    const items = await hundred();
    const target = await folder('target');
    const { moved, failed } = await bulkMove(items, target);
    expect(failed).toEqual([]);
    expect(moved.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    expect(await list({ folderId: target })).toHaveLength(100);
    expect(await bulkDelete(items)).toEqual({ deleted: items, failed: [] });
    expect(await list({ folderId: target })).toEqual([]);
  });

  test.each([0, 101])('%i items are refused', async (count) => {
    const items = Array.from({ length: count }, (_, i) => ({ type: 'REPORT' as const, id: i + 1 }));
    const refused = { status: 400, code: 'invalid_request' };
    await expect(bulkMove(items, null)).rejects.toMatchObject(refused);
    await expect(bulkDelete(items)).rejects.toMatchObject(refused);
  });

  test('moves continue after a failure, and each failure has its reason', async () => {
    const target = await folder('target');
    await share({ type: 'FOLDER', id: target }, 'Edit');
    const mine = await create('FOLDER', 'mine');
    const inner = await create('FOLDER', 'inner', mine.id);
    await share(mine, 'Manage');
    const good = [await create('REPORT', 'r'), await create('WORKBOOK', 'w'), await create('FOLDER', 'f')];
    for (const item of good) await share(item, 'Manage');
    const readable = await create('REPORT', 'readable');
    await share(readable, 'Edit');
    await share({ type: 'FOLDER', id: target }, 'Manage');
    const hidden = await create('WORKBOOK', 'hidden');
    const missing: Item = { type: 'FOLDER', id: UNKNOWN };
    const itself: Item = { type: 'FOLDER', id: target };

    const items = [good[0]!, readable, good[1]!, hidden, missing, itself, good[2]!];
    const { moved, failed } = await bulkMove(items, target, explorer.client);
    expect(keys(moved as Item[])).toEqual(keys(good));
    expect(reasons(failed)).toEqual({
      [`REPORT ${readable.id}`]: 403,
      [`WORKBOOK ${hidden.id}`]: 404,
      [`FOLDER ${UNKNOWN}`]: 404,
      [`FOLDER ${target}`]: 409,
    });
    for (const { error } of failed) expect(error.message).toMatch(/\w+ .*\.$/);
    expect(await list({ folderId: target, ...byName })).toEqual(['f', 'r', 'w']);
    expect(await list(byName)).toEqual(['hidden', 'mine', 'readable', 'target']);

    const cycle = await bulkMove([mine, good[0]!], inner.id, explorer.client);
    expect(reasons(cycle.failed)).toEqual({ [`FOLDER ${mine.id}`]: 409 });
    expect(keys(cycle.moved as Item[])).toEqual(keys([good[0]!]));
  });

  test('a move into a folder that does not exist or that the caller may not edit is refused as a whole', async () => {
    const item = await create('REPORT', 'r', undefined, explorer.client);
    await expect(bulkMove([item], UNKNOWN)).rejects.toMatchObject({ status: 404, code: 'folder_not_found' });
    const target = await create('FOLDER', 'target');
    await expect(bulkMove([item], target.id, explorer.client)).rejects.toMatchObject({ status: 404 });
    await share(target, 'Read');
    await expect(bulkMove([item], target.id, explorer.client)).rejects.toMatchObject({ status: 403 });
    expect(await list({ folderId: target.id })).toEqual([]);
  });

  test('deletions continue after a failure, and each failure has its reason', async () => {
    const good = [await create('REPORT', 'r'), await create('WORKBOOK', 'w'), await create('FOLDER', 'f')];
    for (const item of good) await share(item, 'Manage');
    const inside = await create('REPORT', 'inside', good[2]!.id);
    const editable = [
      await create('REPORT', 'e1'),
      await create('WORKBOOK', 'e2'),
      await create('FOLDER', 'e3'),
    ];
    for (const item of editable) await share(item, 'Edit');
    const hidden = await create('FOLDER', 'hidden');
    const items = [...good, inside, ...editable, hidden, good[0]!];
    const { deleted, failed } = await bulkDelete(items, explorer.client);
    expect(deleted).toEqual(good);
    // The report that returned to the root is no longer shared through its folder. The item that is named twice is gone.
    expect(reasons(failed)).toEqual({
      ...Object.fromEntries(editable.map(({ type, id }) => [`${type} ${id}`, 403])),
      [`REPORT ${inside.id}`]: 404,
      [`FOLDER ${hidden.id}`]: 404,
      [`REPORT ${good[0]!.id}`]: 404,
    });
    expect(await list(byName)).toEqual(['e1', 'e2', 'e3', 'hidden', 'inside']);
  });

  test('items of another deployment are a 404', async () => {
    const items = [];
    for (const type of TYPES) items.push(await create(type, type));
    const elsewhere = (await world.deployment()).id;
    const moved = await world.admin.bulkMoveWorkspaceObjects({ deploymentId: elsewhere, body: { items } });
    const deleted = await world.admin.bulkDeleteWorkspaceObjects({
      deploymentId: elsewhere,
      body: { items },
    });
    for (const failed of [moved.failed, deleted.failed]) {
      expect(Object.values(reasons(failed))).toEqual([404, 404, 404]);
    }
    expect(await list()).toHaveLength(3);
  });

  test('the reports of a workbook move only if the workbook moves', async () => {
    const target = await create('FOLDER', 'target');
    const [good, bad] = [await create('WORKBOOK', 'good'), await create('WORKBOOK', 'bad')];
    for (const { id } of [good, bad]) {
      await world.admin.createReport({ deploymentId, body: { name: `r${id}`, workbookId: id } });
    }
    const editor = await world.person();
    await share(target, 'Edit', editor.userId);
    await share(good, 'Manage', editor.userId);
    await share(bad, 'Edit', editor.userId);
    const { failed } = await bulkMove([bad, good], target.id, editor.client);
    expect(reasons(failed)).toEqual({ [`WORKBOOK ${bad.id}`]: 403 });
    await share(target, 'Read');
    const { items } = await explorer.client.getReports({ deploymentId });
    expect(names(items)).toEqual([`r${good.id}`]);
    const { rows } = await world.server.db.pool.query(
      `select from reports r join workbooks w on w.id = r.workbook_id
       where r.deployment_id = $1 and r.scope_folder_id is not distinct from w.folder_id`,
      [deploymentId],
    );
    expect(rows).toHaveLength(2);
  });

  test('many calls at once with the same items all succeed, and nothing is lost or only partly moved', async () => {
    const [left, right] = [await folder('left'), await folder('right')];
    const items: Item[] = [];
    for (let i = 0; i < 9; i++) items.push(await create(TYPES[i % 3]!, `n${i}`));
    for (const { type, id } of items) {
      if (type === 'WORKBOOK') await world.admin.createReport({ deploymentId, body: { workbookId: id } });
    }
    const calls = Array.from({ length: 8 }, (_, i) =>
      bulkMove(i % 4 < 2 ? items : items.toReversed(), i % 2 ? left : right),
    );
    const replies = await Promise.all(calls);
    for (const { moved, failed } of replies) expect([moved.length, failed]).toEqual([9, []]);
    const found = [await list({ folderId: left }), await list({ folderId: right })];
    expect(found.flat().toSorted()).toEqual(items.map((_, i) => `n${i}`));
    const { rows } = await world.server.db.pool.query(
      `select from reports r join workbooks w on w.id = r.workbook_id
       where r.deployment_id = $1 and r.scope_folder_id is distinct from w.folder_id`,
      [deploymentId],
    );
    expect(rows).toEqual([]);
  });
});

test('a caller can move an item to a place where they can no longer read it', async () => {
  const deployment = await world.deployment();
  const shared = await world.admin.createFolder({ deploymentId: deployment.id, body: { name: 'shared' } });
  const report = await world.admin.createReport({
    deploymentId: deployment.id,
    body: { folderId: shared.id },
  });
  const editor = await world.person({ roles: ['Explorer'] });
  await world.admin.setUserPolicy({
    body: { resourceType: 'Folder', resourceId: shared.id, userId: editor.userId, action: 'FolderManage' },
  });
  const body = { type: 'REPORT' as const, id: report.id, folderId: null };
  const moved = await editor.client.moveWorkspaceObject({ deploymentId: deployment.id, body });
  expect(moved).toMatchObject({ id: report.id, folderId: null, canEdit: false });
  const lost = editor.client.getReport({ deploymentId: deployment.id, reportId: report.id });
  await expect(lost).rejects.toMatchObject({ status: 404 });
});

test('nothing can be moved into or out of an embed tenant', async () => {
  const { id: deploymentId } = await world.deployment();
  const folder = async (name: string) =>
    (await world.admin.createFolder({ deploymentId, body: { name } })).id;
  const [ours, theirs] = [await folder('ours'), await folder('theirs')];
  await world.server.db.pool.query("update folders set embed_tenant = 'acme-corp' where id = $1", [theirs]);
  const { id } = await world.admin.createReport({ deploymentId, body: { folderId: theirs } });
  const mine = (await world.admin.createWorkbook({ deploymentId, body: {} })).id;
  const move = (type: 'REPORT' | 'WORKBOOK' | 'FOLDER', item: number, folderId: number) =>
    world.admin.moveWorkspaceObject({ deploymentId, body: { type, id: item, folderId } });
  const refused = { status: 409, code: 'embed_tenant_mismatch' };
  await expect(move('REPORT', id, ours)).rejects.toMatchObject(refused);
  await expect(move('WORKBOOK', mine, theirs)).rejects.toMatchObject(refused);
  await expect(move('FOLDER', ours, theirs)).rejects.toMatchObject(refused);
});

test('a caller lists what they own in all folders and workbooks, and nothing else', async () => {
  const by = explorer.client;
  const top = await create('FOLDER', 'mine on top', undefined, by);
  const workbook = await create('WORKBOOK', 'mine within', top.id, by);
  const inside = { name: 'mine in the workbook', workbookId: workbook.id };
  await by.createReport({ deploymentId, body: inside });
  await create('REPORT', 'of the admin', top.id);
  await create('FOLDER', 'of the admin too');
  const own = (query: object = {}) => list({ owned: true, orderByField: 'name', ...query }, by);
  expect(await own()).toEqual(['mine in the workbook', 'mine on top', 'mine within']);
  expect(await own({ types: ['REPORT'] })).toEqual(['mine in the workbook']);
  expect(await own({ search: 'within' })).toEqual(['mine within']);
  expect(await own({ folderId: top.id })).toEqual(['mine within']);
  const first = await by.workspaceObjects({ deploymentId, owned: true, orderByField: 'name', first: 2 });
  const after = first.pageInfo.endCursor!;
  expect(await own({ first: 2, after })).toEqual(['mine within']);
  expect(await list({ owned: true })).toEqual(['of the admin too', 'of the admin']);
});
