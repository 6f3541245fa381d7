/** What clients offer to a caller is what the operations then allow. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world?.stop());

test('each level says what it allows, and what the caller may not read is left out', async () => {
  const person = await world.person({ roles: ['Explorer'] });
  const make = (name: string) => world.admin.createWorkbook({ deploymentId, body: { name } });
  const [read, edit, manage, hidden] = [await make('r'), await make('e'), await make('m'), await make('h')];
  const give = (resourceId: number, action: 'WorkbookRead' | 'WorkbookEdit' | 'WorkbookManage') =>
    world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId, userId: person.userId, action },
    });
  await give(read.id, 'WorkbookRead');
  await give(edit.id, 'WorkbookEdit');
  await give(manage.id, 'WorkbookManage');
  const folder = await person.client.createFolder({ deploymentId, body: { name: 'own' } });
  const rights = await person.client.workspaceRights({
    deploymentId,
    folderIds: [folder.id],
    workbookIds: [read, edit, manage, hidden].map(({ id }) => id),
  });
  const byId = (one: { id: number }, other: { id: number }) => one.id - other.id;
  expect(rights.workbooks.sort(byId)).toEqual([
    { id: read.id, canEdit: false, canManage: false, canMove: false },
    { id: edit.id, canEdit: true, canManage: false, canMove: false },
    { id: manage.id, canEdit: true, canManage: true, canMove: true },
  ]);
  expect(rights.folders).toEqual([{ id: folder.id, canEdit: true, canManage: true, canMove: true }]);
  expect(rights.reports).toEqual([]);
  expect([rights.canCreate, rights.actions.includes('AIBIExplore'), rights.actions.includes('All')]).toEqual([
    true,
    true,
    false,
  ]);
  const viewer = await world.person({ roles: ['Viewer'] });
  expect((await viewer.client.workspaceRights({ deploymentId })).canCreate).toBe(false);
});

test('a role that manages folders and not what is in them moves nothing', async () => {
  const name = unique('role');
  await world.admin.createRole({ body: { name, actions: ['DeploymentRead', 'FolderManage'] } });
  const person = await world.person({ roles: [name] });
  const { id } = await world.admin.createFolder({ deploymentId, body: { name: 'of the admin' } });
  const { folders } = await person.client.workspaceRights({ deploymentId, folderIds: [id] });
  expect(folders).toEqual([{ id, canEdit: true, canManage: true, canMove: false }]);
  const body = { type: 'FOLDER', id, folderId: null } as const;
  await expect(person.client.moveWorkspaceObject({ deploymentId, body })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('a creator learns about content of their own embed tenant only', async () => {
  const creator = (embedTenantName: string) =>
    world.embedded({ deploymentId, externalId: unique('creator'), embedTenantName, creatorMode: true });
  const [one, other] = await Promise.all([unique('t'), unique('t')].map(creator));
  const { id } = await one!.client.createWorkbook({ deploymentId, body: { name: 'mine' } });
  const asked = { deploymentId, workbookIds: [id] };
  expect(await one!.client.workspaceRights(asked)).toMatchObject({
    canCreate: true,
    actions: [],
    workbooks: [{ id, canMove: true }],
  });
  expect((await other!.client.workspaceRights(asked)).workbooks).toEqual([]);
});
