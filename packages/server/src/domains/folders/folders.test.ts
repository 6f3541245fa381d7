import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';
import { FOLDER_DEPTH_MAX, fits } from './rules.ts';

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
const MISSING = { status: 404, code: 'folder_not_found' };
const TOO_DEEP = { status: 409, code: 'folder_too_deep' };

type Body = Parameters<World['admin']['createFolder']>[0]['body'];
const create = (body: Body, by = world.admin) => by.createFolder({ deploymentId, body });
const folder = async (name: string, parentId?: number | null) => (await create({ name, parentId })).id;
const move = (id: number, folderId: number | null, by = world.admin) =>
  by.moveWorkspaceObject({ deploymentId, body: { type: 'FOLDER', id, folderId } });
const remove = (folderId: number, by = world.admin) =>
  by.deleteFolder({ deploymentId, folderId, recursive: true });
const list = async (query: object = {}, by = world.admin) =>
  (await by.getFolders({ deploymentId, first: 1000, ...query })).items.map(({ name }) => name);
const share = (resourceId: number, action: 'FolderRead' | 'FolderEdit' | 'FolderManage') =>
  world.admin.setUserPolicy({
    body: { resourceType: 'Folder', resourceId, userId: explorer.userId, action },
  });

/** Creates a chain of folders, each inside the one before it, and returns their ids. */
async function chain(length: number, parentId: number | null = null) {
  const ids: number[] = [];
  for (let i = 0; i < length; i++) ids.push(await folder(`level ${i}`, ids.at(-1) ?? parentId));
  return ids;
}

const rows = async <Row>(query: string, ...values: unknown[]) =>
  (await world.server.db.pool.query(query, [deploymentId, ...values])).rows as Row[];

/** Folders whose stored or shown path is not the path of their parent followed by themselves. */
const misplaced = () =>
  rows(`
    select f.id, f.parent_id, f.path, p.path as parent_path, f.name, f.shown_path, p.shown_path as shown_parent_path
    from folders f left join folders p on p.id = f.parent_id
    where f.deployment_id = $1
      and (f.path is distinct from coalesce(p.path, '{}') || f.id
           or trim_array(f.shown_path, 1) is distinct from coalesce(p.shown_path, '{}')
           or f.shown_path[cardinality(f.path)]::jsonb is distinct from jsonb_build_object('id', f.id, 'name', f.name))`);

/** Returns `ok` or the error code for each call. An error of the server (5xx) fails the test. */
async function outcomes(calls: Promise<unknown>[]) {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) => {
    if (outcome.status === 'fulfilled') return 'ok';
    if (!(outcome.reason.status < 500)) throw outcome.reason;
    return outcome.reason.code as string;
  });
}

test('a folder shows its parent, its path, its position and its creator', async () => {
  const me = await world.admin.getMe();
  const top = await create({ name: 'Top 📁' });
  expect(top).toEqual({
    id: top.id,
    deploymentId,
    name: 'Top 📁',
    type: 'FOLDER',
    parentId: null,
    position: 0,
    folderPath: [],
    createdBy: me.id,
    updatedBy: null,
    createdAt: top.createdAt,
    updatedAt: top.createdAt,
  });
  const inner = await create({ name: 'inner', parentId: top.id });
  expect(inner).toMatchObject({
    parentId: top.id,
    position: 0,
    folderPath: [{ id: top.id, name: top.name }],
  });
  expect((await world.admin.getFolders({ deploymentId, recursive: true })).items).toEqual([top, inner]);
});

test('a new folder comes after its siblings, or at the position that is given', async () => {
  const top = await folder('top');
  expect(await create({ name: 'a', parentId: top })).toMatchObject({ position: 0 });
  expect(await create({ name: 'b', parentId: top, position: 7 })).toMatchObject({ position: 7 });
  expect(await create({ name: 'c', parentId: top })).toMatchObject({ position: 8 });
  expect(await create({ name: 'd', parentId: top, position: -3 })).toMatchObject({ position: -3 });
  expect(await create({ name: 'e', parentId: null, position: null })).toMatchObject({ position: 1 });
  expect(await list({ parentId: top })).toEqual(['d', 'a', 'b', 'c']);
});

test('a folder can be created after a folder at the last position', async () => {
  await create({ name: 'last', position: 2_147_483_647 });
  expect(await create({ name: 'behind' })).toMatchObject({ position: 2_147_483_647 });
  expect(await list()).toEqual(['last', 'behind']);
});

test('an update renames or reorders, keeps fields that are not given, and stores who made it', async () => {
  const { id } = await create({ name: 'a', position: 5 });
  const update = (body: object, by = world.admin) => by.updateFolder({ deploymentId, folderId: id, body });
  await share(id, 'FolderEdit');
  expect(await update({ name: 'b' }, explorer.client)).toMatchObject({
    name: 'b',
    position: 5,
    updatedBy: explorer.userId,
  });
  expect(await update({ position: 0 })).toMatchObject({ name: 'b', position: 0 });
  expect(await update({ name: null, position: null })).toMatchObject({ name: 'b', position: 0 });
  expect(await update({})).toMatchObject({ name: 'b', position: 0 });
});

test('the new name of a folder shows in the paths of its content, also after moves', async () => {
  const [top, inner, leaf] = await chain(3);
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { folderId: inner! } });
  const { id: reportId } = await world.admin.createReport({ deploymentId, body: { folderId: leaf! } });
  const rename = (folderId: number, name: string) =>
    world.admin.updateFolder({ deploymentId, folderId, body: { name } });
  const names = async () => {
    const [folders, workbook, report] = await Promise.all([
      world.admin.getFolders({ deploymentId, parentId: inner }),
      world.admin.getWorkbook({ deploymentId, workbookId }),
      world.admin.getReport({ deploymentId, reportId }),
    ]);
    const paths = [folders.items[0]!.folderPath, workbook.folderPath, report.folderPath];
    return paths.map((path) => path!.map(({ name }) => name));
  };

  const odd = 'a "quoted" \\ name, {braces} 🎉';
  await rename(top!, odd);
  const path = [odd, 'level 1'];
  expect(await names()).toEqual([path, path, [...path, 'level 2']]);

  const other = await folder('other');
  await move(inner!, other);
  await rename(inner!, 'moved');
  await rename(other, 'target');
  await rename(top!, 'no longer above');
  const newPath = ['target', 'moved'];
  expect(await names()).toEqual([newPath, newPath, [...newPath, 'level 2']]);
  expect(await misplaced()).toEqual([]);
});

test('the ancestors of a folder are listed from the root down to the folder itself', async () => {
  const ids = await chain(4);
  const ancestors = await world.admin.getFolderAncestors({ deploymentId, folderId: ids[3]! });
  expect(ancestors.map(({ id }) => id)).toEqual(ids);
  expect(ancestors[2]!.folderPath!.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const [top, ...below] = await world.admin.getFolderAncestors({ deploymentId, folderId: ids[0]! });
  expect([top!.id, below]).toEqual([ids[0], []]);
});

describe('the list', () => {
  test('is ordered by position and then by id, for all parents', async () => {
    const top = await create({ name: 'top', position: 2 });
    await create({ name: 'x', position: 1 });
    await create({ name: 'y', position: 1, parentId: top.id });
    await create({ name: 'z', position: 1 });
    await create({ name: 'first', position: -1, parentId: top.id });
    expect(await list({ recursive: true })).toEqual(['first', 'x', 'y', 'z', 'top']);
    expect(await list()).toEqual(['x', 'z', 'top']);
  });

  test('pages hold every folder once, and `data` is the same as `items`', async () => {
    for (let i = 0; i < 11; i++) await create({ name: `n${i}`, position: i % 3 });
    const whole = (await world.admin.getFolders({ deploymentId })).items;
    const paged = [];
    for await (const item of world.admin.iterate.getFolders({ deploymentId, first: 4 })) paged.push(item);
    expect(paged).toEqual(whole);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(11);

    const first = await world.admin.getFolders({ deploymentId, first: 4 });
    expect(first).toMatchObject({ count: 11, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
    expect(first.data).toEqual(first.items);
    const last = await world.admin.getFolders({ deploymentId, first: 7, after: first.pageInfo!.endCursor! });
    expect(last).toMatchObject({ count: 11, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
    expect(last.items).toEqual(whole.slice(4));
  });

  test('the next page continues after the last one when folders are added and deleted', async () => {
    for (let i = 0; i < 6; i++) await create({ name: `n${i}`, position: i });
    const { items, pageInfo } = await world.admin.getFolders({ deploymentId, first: 3 });
    await remove(items[0]!.id);
    await remove(items[2]!.id);
    await create({ name: 'early', position: 0 });
    await create({ name: 'late', position: 9 });
    expect(await list({ after: pageInfo!.endCursor })).toEqual(['n3', 'n4', 'n5', 'late']);
  });

  test('shows the root or one folder, and with recursive every level below', async () => {
    const [top, inner] = await chain(3);
    await folder('beside');
    expect(await list()).toEqual(['level 0', 'beside']);
    expect(await list({ parentId: 0 })).toEqual(['level 0', 'beside']);
    expect(await list({ recursive: false })).toEqual(['level 0', 'beside']);
    expect(await list({ parentId: top })).toEqual(['level 1']);
    expect(await list({ parentId: inner })).toEqual(['level 2']);
    const all = ['beside', 'level 0', 'level 1', 'level 2'];
    expect((await list({ recursive: true })).toSorted()).toEqual(all);
    expect((await list({ recursive: true, parentId: 0 })).toSorted()).toEqual(all);
    expect((await list({ recursive: true, parentId: top })).toSorted()).toEqual(['level 1', 'level 2']);
    expect(await list({ recursive: true, parentId: UNKNOWN })).toEqual([]);
    expect(await list({ parentId: UNKNOWN })).toEqual([]);
    expect(await world.admin.getFolders({ deploymentId, recursive: true })).toMatchObject({ count: 4 });
    const below = await world.admin.getFolders({ deploymentId, recursive: true, parentId: top });
    expect(below).toMatchObject({ count: 2 });
    expect(await world.admin.getFolders({ deploymentId, parentId: 0 })).toMatchObject({ count: 2 });
    expect(await world.admin.getFolders({ deploymentId, parentId: UNKNOWN })).toMatchObject({
      count: 0,
      pageInfo: { hasNextPage: false, startCursor: null, endCursor: null },
    });
    const elsewhere = (await world.deployment()).id;
    for (const recursive of [true, false]) {
      const page = await world.admin.getFolders({ deploymentId: elsewhere, parentId: top, recursive });
      expect(page).toMatchObject({ items: [], count: 0 });
    }
  });

  test('holds and counts only the folders that the caller can read', async () => {
    const [top] = await chain(3);
    await folder('hidden');
    await create({ name: 'own' }, explorer.client);
    expect(await list({}, explorer.client)).toEqual(['own']);
    await share(top!, 'FolderRead');
    const atRoot = await explorer.client.getFolders({ deploymentId });
    expect([atRoot.items.map(({ name }) => name), atRoot.count]).toEqual([['level 0', 'own'], 2]);
    const page = await explorer.client.getFolders({ deploymentId, recursive: true });
    expect(page.items.map(({ name }) => name).toSorted()).toEqual(['level 0', 'level 1', 'level 2', 'own']);
    expect(page.count).toBe(4);
    const below = await explorer.client.getFolders({ deploymentId, recursive: true, parentId: top });
    expect(below).toMatchObject({ items: [{ name: 'level 1' }, { name: 'level 2' }], count: 2 });
  });

  test('admins see the folders of an embed tenant that they name, and folders below them belong to the tenant', async () => {
    const theirs = await folder('theirs');
    await folder('ours');
    await rows("update folders set embed_tenant = 'acme' where deployment_id = $1 and id = $2", theirs);
    await folder('below', theirs);
    expect(await list()).toEqual(['ours']);
    expect(await list({ embedTenantName: 'acme' })).toEqual(['theirs']);
    const all = await list({ embedTenantName: 'acme', recursive: true });
    expect(all.toSorted()).toEqual(['below', 'theirs']);
    const attempt = explorer.client.getFolders({ deploymentId, embedTenantName: 'acme' });
    await expect(attempt).rejects.toMatchObject({ status: 403 });
  });

  test.each([
    'first=0',
    'first=x',
    'after=x',
    'after=',
    'parentId=-1',
    'parentId=x',
    'parentId=1.5',
    'parentId=1&parentId=2',
    'parentId=99999999999999999999',
    'recursive=yes',
    `embedTenantName=${'x'.repeat(37)}`,
  ])('a bad parameter is a 400: %s', async (query) => {
    const reply = await world.raw('GET', `/api/v1/deployments/${deploymentId}/folders?${query}`);
    expect(reply.status).toBe(400);
  });

  test.each(['first=100000', 'parentId=', 'parentId=null', 'recursive=', 'embedTenantName=', 'unknown=1'])(
    'a parameter that is empty, unknown or too large is accepted: %s',
    async (query) => {
      const reply = await world.raw('GET', `/api/v1/deployments/${deploymentId}/folders?${query}`);
      expect(reply.status).toBe(200);
    },
  );
});

test.each([
  ['no name', {}],
  ['null as name', { name: null }],
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' \t' }],
  ['256 characters', { name: 'x'.repeat(256) }],
  ['a line break', { name: 'a\nb' }],
  ['a NUL', { name: 'a\0b' }],
  ['half a surrogate pair', { name: 'a\ud800' }],
  ['a number as name', { name: 7 }],
  ['a fraction as position', { name: 'x', position: 1.5 }],
  ['a position that is too large', { name: 'x', position: 2_147_483_648 }],
  ['0 as parent', { name: 'x', parentId: 0 }],
  ['a text as parent', { name: 'x', parentId: '1' }],
  ['an unknown field', { name: 'x', type: 'FOLDER' }],
])('bad input is refused: %s', async (_, body) => {
  await expect(create(body as never)).rejects.toMatchObject({ status: 400 });
  expect(await list()).toEqual([]);
});

test('a name can have 255 characters of any script', async () => {
  for (const name of ['x'.repeat(255), '名'.repeat(255), '👩'.repeat(255), "Robert'); drop table folders;--"])
    expect(await create({ name })).toMatchObject({ name });
});

describe('depth', () => {
  test('folders nest 32 deep, and no deeper', async () => {
    const ids = await chain(FOLDER_DEPTH_MAX);
    await expect(create({ name: 'x', parentId: ids.at(-1)! })).rejects.toMatchObject(TOO_DEEP);
    await create({ name: 'x', parentId: ids.at(-2)! });
    const ancestors = await world.admin.getFolderAncestors({ deploymentId, folderId: ids.at(-1)! });
    expect(ancestors).toHaveLength(32);
  });

  test('a move counts the levels below the moved folder', async () => {
    const ids = await chain(30);
    const [top, middle, bottom] = await chain(3);
    await expect(move(top!, ids[29]!)).rejects.toMatchObject(TOO_DEEP);
    await move(top!, ids[28]!);
    await expect(move(top!, ids[29]!)).rejects.toMatchObject(TOO_DEEP);
    const ancestors = await world.admin.getFolderAncestors({ deploymentId, folderId: bottom! });
    expect(ancestors.map(({ id }) => id)).toEqual([...ids.slice(0, 29), top, middle, bottom]);
    expect(await misplaced()).toEqual([]);
  });

  test('fits is exact at the limit', () => {
    expect([fits(0, 32), fits(31, 1), fits(32, 1), fits(30, 3)]).toEqual([true, true, false, false]);
  });
});

describe('a move', () => {
  test('also moves everything below the folder, and can go to the root', async () => {
    const [top, inner, leaf] = await chain(3);
    const other = await folder('other');
    const moved = await move(inner!, other);
    expect(moved).toMatchObject({ id: inner, parentId: other, folderPath: [{ id: other, name: 'other' }] });
    const pathOf = async (folderId: number) =>
      (await world.admin.getFolderAncestors({ deploymentId, folderId })).map(({ id }) => id);
    expect(await pathOf(leaf!)).toEqual([other, inner, leaf]);
    expect(await move(inner!, null)).toMatchObject({ parentId: null, folderPath: [] });
    expect(await pathOf(leaf!)).toEqual([inner, leaf]);
    expect(await list({ parentId: top })).toEqual([]);
    expect(await misplaced()).toEqual([]);
  });

  test('to the current place changes nothing', async () => {
    const [top, inner, leaf] = await chain(3);
    await move(inner!, top!);
    await move(top!, null);
    expect(
      (await world.admin.getFolderAncestors({ deploymentId, folderId: leaf! })).map((f) => f.id),
    ).toEqual([top, inner, leaf]);
    expect(await misplaced()).toEqual([]);
  });

  test('of a folder below itself is refused and changes nothing', async () => {
    const ids = await chain(3);
    for (const target of ids) {
      await expect(move(ids[0]!, target)).rejects.toMatchObject({ status: 409, code: 'folder_cycle' });
    }
    expect(await misplaced()).toEqual([]);
    expect(await list({ parentId: 0 })).toEqual(['level 0']);
  });

  test('needs manage on the folder, and edit on the target', async () => {
    const [from, to, hidden] = [await folder('from'), await folder('to'), await folder('hidden')];
    await expect(move(from, null, explorer.client)).rejects.toMatchObject(MISSING);
    await share(from, 'FolderRead');
    await expect(move(from, null, explorer.client)).rejects.toMatchObject({ status: 403 });
    await share(from, 'FolderEdit');
    await share(hidden, 'FolderManage');
    await expect(move(from, hidden, explorer.client)).rejects.toMatchObject({ status: 403 });
    await share(from, 'FolderManage');
    await world.admin.setUserPolicy({
      body: { resourceType: 'Folder', resourceId: hidden, userId: explorer.userId },
    });
    await expect(move(from, hidden, explorer.client)).rejects.toMatchObject(MISSING);
    await share(to, 'FolderRead');
    await expect(move(from, to, explorer.client)).rejects.toMatchObject({ status: 403 });
    await share(to, 'FolderEdit');
    await move(from, to, explorer.client);
    expect(await list({ parentId: to })).toEqual(['from']);
  });

  test('moves at the same time never make a cycle', async () => {
    for (let round = 0; round < 12; round++) {
      const [a, b, c] = [await folder('a'), await folder('b'), await folder('c')];
      const codes = await outcomes([move(a, b), move(b, c), move(c, a), move(a, c), move(c, b), move(b, a)]);
      expect(codes.every((code) => code === 'ok' || code === 'folder_cycle')).toBe(true);
      expect(codes).toContain('ok');
      expect(await misplaced()).toEqual([]);
    }
    const cyclic = await rows(`
      with recursive reached as (
        select id from folders where deployment_id = $1 and parent_id is null
        union all select f.id from folders f join reached on f.parent_id = reached.id)
      select id from folders where deployment_id = $1 and id not in (select id from reached)`);
    expect(cyclic).toEqual([]);
  });

  test('at the same time as a creation never makes a tree that is too deep', async () => {
    const ids = await chain(30);
    for (let round = 0; round < 6; round++) {
      const [top, inner] = await chain(2);
      const calls = [move(top!, ids[29]!), create({ name: 'below', parentId: inner! })];
      const codes = await outcomes(round % 2 ? calls.toReversed() : calls);
      expect(codes.toSorted()).toEqual(['folder_too_deep', 'ok']);
    }
    expect(await rows('select id from folders where deployment_id = $1 and cardinality(path) > 32')).toEqual(
      [],
    );
    expect(await misplaced()).toEqual([]);
  });
});

describe('deleting', () => {
  test('with recursive, a folder deletes everything under it, and the policies on all of it', async () => {
    const [top, inner, leaf] = await chain(3);
    const beside = await folder('beside');
    const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: inner! } });
    const report = await world.admin.createReport({ deploymentId, body: { folderId: leaf! } });
    const inWorkbook = await world.admin.createReport({ deploymentId, body: { workbookId: workbook.id } });
    const kept = await world.admin.createReport({ deploymentId, body: { folderId: beside } });
    const policies = [
      ['Folder', top!],
      ['Folder', leaf!],
      ['Folder', beside],
      ['Workbook', workbook.id],
      ['Report', report.id],
      ['Report', inWorkbook.id],
      ['Report', kept.id],
    ] as const;
    for (const [resourceType, resourceId] of policies) {
      const body = {
        resourceType,
        resourceId,
        userId: explorer.userId,
        action: `${resourceType}Read`,
      } as const;
      await world.admin.setUserPolicy({ body });
    }
    expect(await remove(top!)).toBeUndefined();
    for (const table of ['folders', 'workbooks', 'reports']) {
      await expect
        .poll(() => rows<{ id: number }>(`select id from ${table} where deployment_id = $1`))
        .toEqual({ folders: [beside], workbooks: [], reports: [kept.id] }[table]!.map((id) => ({ id })));
    }
    const left = await rows<{ resource_id: number }>(
      'select resource_id from resource_policies where deployment_id = $1 order by resource_type',
    );
    expect(left.map((policy) => policy.resource_id)).toEqual([beside, kept.id]);
    expect((await world.admin.getReports({ deploymentId })).count).toBe(1);
    await expect(remove(top!)).rejects.toMatchObject(MISSING);
    await expect(remove(leaf!)).rejects.toMatchObject(MISSING);
  });

  test('needs manage', async () => {
    const id = await folder('theirs');
    await expect(remove(id, explorer.client)).rejects.toMatchObject(MISSING);
    await share(id, 'FolderEdit');
    await expect(remove(id, explorer.client)).rejects.toMatchObject({ status: 403, code: 'forbidden' });
    await share(id, 'FolderManage');
    await remove(id, explorer.client);
    expect(await list()).toEqual([]);
  });
});

test('a folder that the caller cannot read is a 404, and a folder that they can only read is a 403', async () => {
  const id = await folder('theirs');
  const calls = (folderId: number) => [
    () => explorer.client.updateFolder({ deploymentId, folderId, body: { name: 'x' } }),
    () => create({ name: 'x', parentId: folderId }, explorer.client),
    () => remove(folderId, explorer.client),
  ];
  const ancestors = (folderId: number) => explorer.client.getFolderAncestors({ deploymentId, folderId });
  for (const folderId of [id, UNKNOWN]) {
    for (const call of calls(folderId)) await expect(call()).rejects.toMatchObject(MISSING);
    await expect(ancestors(folderId)).rejects.toMatchObject(MISSING);
  }
  await share(id, 'FolderRead');
  for (const call of calls(id))
    await expect(call()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  expect(await ancestors(id)).toMatchObject([{ id }]);
});

test('creating needs AIBIExplore, which a viewer does not have', async () => {
  const viewer = await world.person();
  await expect(create({ name: 'x' }, viewer.client)).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  });
});

test('folders of another deployment are a 404', async () => {
  const elsewhere = (await world.deployment()).id;
  const foreign = (await world.admin.createFolder({ deploymentId: elsewhere, body: { name: 'x' } })).id;
  const here = await folder('here');
  for (const attempt of [
    () => create({ name: 'y', parentId: foreign }),
    () => world.admin.updateFolder({ deploymentId, folderId: foreign, body: { name: 'y' } }),
    () => world.admin.getFolderAncestors({ deploymentId, folderId: foreign }),
    () => remove(foreign),
    () => move(foreign, null),
    () => move(here, foreign),
  ]) {
    await expect(attempt()).rejects.toMatchObject(MISSING);
  }
  expect((await world.admin.getFolders({ deploymentId: elsewhere })).items).toMatchObject([{ name: 'x' }]);
  await expect(world.admin.getFolders({ deploymentId: UNKNOWN })).rejects.toMatchObject({
    status: 404,
    code: 'deployment_not_found',
  });
});

describe('calls at the same time', () => {
  test('a folder that is created below a folder that is moved or renamed gets the new path', async () => {
    const [left, right] = [await folder('left'), await folder('right')];
    const [parent, inner] = await chain(2, left);
    for (let i = 0; i < 10; i++) {
      const calls: Promise<unknown>[] = [move(parent!, i % 2 ? left : right)];
      for (const folderId of [left, parent!]) {
        for (const body of [{ name: `renamed ${i}` }, { position: i }]) {
          calls.push(world.admin.updateFolder({ deploymentId, folderId, body }));
        }
      }
      for (const parentId of [parent!, inner!]) calls.push(create({ name: `n${i}`, parentId }));
      expect(new Set(await outcomes(calls))).toEqual(new Set(['ok']));
    }
    expect(await list({ parentId: parent })).toHaveLength(11);
    expect(await misplaced()).toEqual([]);
  });

  test('content that is created below a folder that is deleted is deleted too, or refused', async () => {
    for (let round = 0; round < 8; round++) {
      const [top, inner, leaf] = await chain(3);
      const codes = await outcomes([
        create({ name: 'x', parentId: inner! }),
        create({ name: 'y', parentId: leaf! }),
        world.admin.createReport({ deploymentId, body: { folderId: leaf! } }),
        world.admin.createWorkbook({ deploymentId, body: { folderId: inner! } }),
        remove(top!),
        create({ name: 'z', parentId: leaf! }),
        world.admin.createReport({ deploymentId, body: { folderId: inner! } }),
      ]);
      expect(codes[4]).toBe('ok');
      expect(codes.every((code) => code === 'ok' || code === 'folder_not_found')).toBe(true);
      expect(await list()).toEqual([]);
    }
    expect((await world.admin.getReports({ deploymentId })).count).toBe(0);
    expect((await world.admin.getWorkbooks({ deploymentId })).count).toBe(0);
  });

  test('moves into, out of and within a folder that is deleted leave complete trees', async () => {
    for (let round = 0; round < 10; round++) {
      const [top, inner, leaf] = await chain(3);
      const [guest, below] = await chain(2);
      const codes = await outcomes([
        move(guest!, inner!),
        move(leaf!, null),
        remove(top!),
        move(below!, top!),
        move(inner!, guest!),
      ]);
      const expected = ['ok', 'folder_not_found', 'folder_cycle'];
      expect(codes.filter((code) => !expected.includes(code))).toEqual([]);
      expect(await misplaced()).toEqual([]);
    }
    expect(
      await rows(`
        select id from folders f where deployment_id = $1
          and exists (select from unnest(path) a where not exists (select from folders x where x.id = a))`),
    ).toEqual([]);
  });

  test('renaming, moving and deleting one folder never causes an error of the server', async () => {
    for (let round = 0; round < 6; round++) {
      const [id, other] = [await folder('one'), await folder('other')];
      const rename = (name: string) =>
        world.admin.updateFolder({ deploymentId, folderId: id, body: { name } });
      await outcomes([rename('a'), move(id, other), rename('b'), remove(id), remove(id), rename('c')]);
      expect(await list({ parentId: other })).toEqual([]);
      expect(await misplaced()).toEqual([]);
    }
  });
});

test('ancestors that the caller cannot read are left out', async () => {
  const { id: deploymentId } = await world.deployment();
  const make = async (name: string, parentId?: number) =>
    (await world.admin.createFolder({ deploymentId, body: { name, parentId } })).id;
  const top = await make('top');
  const middle = await make('middle', top);
  const inner = await make('inner', middle);
  const reader = await world.person({ roles: ['Viewer'] });
  await world.admin.setUserPolicy({
    body: { resourceType: 'Folder', resourceId: middle, userId: reader.userId, action: 'FolderRead' },
  });
  const namesFor = async (client: typeof world.admin) =>
    (await client.getFolderAncestors({ deploymentId, folderId: inner })).map(({ name }) => name);
  expect(await namesFor(world.admin)).toEqual(['top', 'middle', 'inner']);
  expect(await namesFor(reader.client)).toEqual(['middle', 'inner']);
});
