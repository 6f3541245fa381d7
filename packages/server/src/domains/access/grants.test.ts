/** What a policy opens: its own thing and what lies in it, to its own people, and nothing with the same number. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type Person, unique, type World } from '../../../test/world.ts';

let world: World;
let here: number;
let there: number;
beforeAll(async () => {
  world = await createOwnWorld();
  here = (await world.deployment()).id;
  there = (await world.deployment()).id;
  // The ids of each table begin elsewhere, so that no workbook or report has the id of a folder by chance.
  for (const [table, first] of Object.entries({
    workbooks: 1_000_000,
    reports: 2_000_000,
    dashboards: 3_000_000,
  }))
    await world.server.db.pool.query(`select setval(pg_get_serial_sequence('${table}', 'id'), ${first})`);
});
afterAll(() => world.stop());

/** A folder with a workbook and a report in it, and a workbook with a report that lies beside it. */
async function content(deploymentId: number) {
  const { admin } = world;
  const folder = await admin.createFolder({ deploymentId, body: { name: 'folder' } });
  const inside = { folderId: folder.id };
  const workbook = await admin.createWorkbook({ deploymentId, body: { name: 'inside', ...inside } });
  const report = await admin.createReport({ deploymentId, body: { name: 'inside', ...inside } });
  const beside = await admin.createWorkbook({ deploymentId, body: { name: 'beside' } });
  const inBeside = await admin.createReport({
    deploymentId,
    body: { name: 'in beside', workbookId: beside.id },
  });
  return { folder, workbook, report, beside, inBeside };
}

const ids = (items: readonly { id: number }[]) => items.map(({ id }) => id).toSorted((a, b) => a - b);

async function seenBy({ client }: Person, deploymentId = here) {
  const folders = await client.getFolders({ deploymentId, recursive: true });
  const workbooks = await client.getWorkbooks({ deploymentId });
  const reports = await client.getReports({ deploymentId });
  const atRoot = await client.workspaceObjects({ deploymentId });
  for (const { items, count } of [folders, workbooks, reports]) expect(count).toBe(items.length);
  const [inFolders, inWorkbooks, inReports] = [folders.items, workbooks.items, reports.items].map(ids);
  return { inFolders, inWorkbooks, inReports, atRoot: ids(atRoot.items as { id: number }[]) };
}

const NOTHING = { inFolders: [], inWorkbooks: [], inReports: [], atRoot: [] };

test.each(['user', 'group', 'role'] as const)(
  'a policy of a %s opens nothing of another kind with its number, and nothing in another deployment',
  async (kind) => {
    const role = await world.admin.createRole({
      body: { name: unique('role'), actions: ['DeploymentRead', 'AIBIExplore'] },
    });
    const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
    const person = await world.person({ roles: [role.name] });
    await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
    const otherRole = await world.admin.createRole({
      body: { name: unique('role'), actions: ['DeploymentRead', 'AIBIExplore'] },
    });
    const stranger = await world.person({ roles: [otherRole.name] });
    const principal = { user: person.userId, group: group.id, role: role.id }[kind];
    const share = (deploymentId: number, type: string, id: number) =>
      world.server.db.pool.query(
        `insert into resource_policies (deployment_id, resource_type, resource_id, ${kind}_id, action, level)
         values ($1, $2, $3, $4, $2 || 'Read', 1)`,
        [deploymentId, type, id, principal],
      );

    const [closed, elsewhere] = [await content(here), await content(there)];
    for (const id of [closed.folder.id, closed.report.id, closed.inBeside.id])
      for (const type of ['Workbook', 'Dashboard']) await share(here, type, id);
    for (const id of [closed.workbook.id, closed.beside.id, closed.folder.id])
      await share(here, 'Report', id);
    for (const id of [closed.workbook.id, closed.beside.id, closed.report.id])
      await share(here, 'Folder', id);
    await share(there, 'Folder', elsewhere.folder.id);
    await share(there, 'Workbook', elsewhere.beside.id);
    expect(await seenBy(person)).toEqual(NOTHING);
    const { client } = person;
    const asked = [
      () => client.createFolder({ deploymentId: here, body: { name: 'below', parentId: closed.folder.id } }),
      () => client.getWorkbook({ deploymentId: here, workbookId: closed.workbook.id }),
      () => client.getReport({ deploymentId: here, reportId: closed.report.id }),
      () => client.getReport({ deploymentId: here, reportId: closed.inBeside.id }),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ status: 404 });

    const { folder, workbook, report, beside, inBeside } = elsewhere;
    expect(await seenBy(person, there)).toEqual({
      inFolders: [folder.id],
      inWorkbooks: [workbook.id, beside.id],
      inReports: [report.id, inBeside.id],
      atRoot: [folder.id, beside.id],
    });
    expect(await seenBy(stranger, there)).toEqual(NOTHING);
    const reading = (by: Person) => by.client.getReport({ deploymentId: there, reportId: report.id });
    expect((await reading(person)).id).toBe(report.id);
    await expect(reading(stranger)).rejects.toMatchObject({ status: 404 });
  },
);

test('what somebody owns in one deployment shows nothing of it in another', async () => {
  const person = await world.person({ roles: ['Viewer'] });
  const { folder, workbook, report, beside, inBeside } = await content(there);
  for (const [table, id] of [
    ['folders', folder.id],
    ['workbooks', beside.id],
  ] as const)
    await world.server.db.pool.query(`update ${table} set user_id = $1 where id = $2`, [person.userId, id]);
  expect(await seenBy(person, there)).toEqual({
    inFolders: [folder.id],
    inWorkbooks: [workbook.id, beside.id],
    inReports: [report.id, inBeside.id],
    atRoot: [folder.id, beside.id],
  });
  expect(await seenBy(person)).toEqual(NOTHING);
});

test('in a folder that was not shared, a list shows what was shared of its content, and nothing else', async () => {
  const person = await world.person({ roles: ['Viewer'] });
  const { folder, workbook } = await content(here);
  const inside = { folderId: folder.id };
  const below = await world.admin.createFolder({
    deploymentId: here,
    body: { name: 'below', parentId: folder.id },
  });
  const report = await world.admin.createReport({ deploymentId: here, body: { name: 'shared', ...inside } });
  const listed = async () => {
    const { client } = person;
    const reports = await client.getReports({ deploymentId: here, ...inside });
    const workbooks = await client.getWorkbooks({ deploymentId: here, ...inside });
    const folders = await client.getFolders({ deploymentId: here, parentId: folder.id });
    return [reports, workbooks, folders].map(({ items, count }) => [ids(items), count]);
  };
  const share = (resourceType: 'Report' | 'Workbook' | 'Folder', resourceId: number) =>
    world.admin.setUserPolicy({
      body: { resourceType, resourceId, userId: person.userId, action: `${resourceType}Read` },
    });
  await share('Report', report.id);
  expect(await listed()).toEqual([
    [[report.id], 1],
    [[], 0],
    [[], 0],
  ]);
  await share('Workbook', workbook.id);
  await share('Folder', below.id);
  expect(await listed()).toEqual([
    [[report.id], 1],
    [[workbook.id], 1],
    [[below.id], 1],
  ]);
});

test('a dashboard is seen by policies on it, its workbook and its folder, and by none with their numbers', async () => {
  const person = await world.person({ roles: ['Viewer'] });
  const { folder, workbook, beside } = await content(here);
  const publish = (workbookId: number) =>
    world.admin.publishDashboard({ deploymentId: here, workbookId, body: { config: {} } });
  const [shown, other] = [await publish(workbook.id), await publish(beside.id)];
  const share = (type: string, id: number) =>
    world.server.db.pool.query(
      `insert into resource_policies (deployment_id, resource_type, resource_id, user_id, action, level)
       values ($1, $2, $3, $4, 'WorkbookRead', 1)`,
      [here, type, id, person.userId],
    );
  const sees = () =>
    person.client.getDashboard({ publicId: shown.publicId }).then(
      () => true,
      () => false,
    );
  const own: Record<string, number> = { Dashboard: shown.id, Workbook: workbook.id, Folder: folder.id };
  await share('Dashboard', other.id);
  await share('Workbook', beside.id);
  for (const type of ['Dashboard', 'Workbook', 'Folder', 'Report'])
    for (const [its, id] of Object.entries(own)) if (its !== type) await share(type, id);
  expect(await sees()).toBe(false);
  for (const [type, id] of Object.entries(own)) {
    await share(type, id);
    expect(await sees(), type).toBe(true);
    const policy = 'resource_type = $1 and resource_id = $2 and user_id = $3';
    await world.server.db.pool.query(`delete from resource_policies where ${policy}`, [
      type,
      id,
      person.userId,
    ]);
  }
  expect(await sees()).toBe(false);
});
