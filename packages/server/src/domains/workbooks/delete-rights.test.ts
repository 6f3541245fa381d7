import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let owner: Person;
let guest: Person;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  [owner, guest] = [await world.person({ roles: ['Explorer'] }), await world.person({ roles: ['Explorer'] })];
});
afterAll(() => world.stop());

/** Creates a workbook of the owner, and in it a report of a guest. */
async function sharedWorkbook() {
  const { id: workbookId } = await owner.client.createWorkbook({ deploymentId, body: {} });
  const action = 'WorkbookEdit';
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId: guest.userId, action },
  });
  const { id: reportId } = await guest.client.createReport({ deploymentId, body: { workbookId } });
  return { workbookId, reportId };
}

test('the owner of a workbook deletes it with the reports of others, who cannot delete it', async () => {
  const { workbookId, reportId } = await sharedWorkbook();
  const remove = (by: Person) => by.client.deleteWorkbook({ deploymentId, workbookId });
  const FORBIDDEN = { status: 403, code: 'forbidden' };
  await expect(remove(guest)).rejects.toMatchObject(FORBIDDEN);
  const role = await world.admin.createRole({
    body: { name: unique('role'), actions: ['DeploymentRead', 'WorkbookManage'] },
  });
  // A role that reaches all workbooks, but no reports.
  const librarian = await world.person({ roles: [role.name] });
  await expect(remove(librarian)).rejects.toMatchObject(FORBIDDEN);
  const body = { items: [{ type: 'WORKBOOK' as const, id: workbookId }] };
  const { deleted, failed } = await librarian.client.bulkDeleteWorkspaceObjects({ deploymentId, body });
  expect([deleted, failed]).toMatchObject([[], [{ id: workbookId, error: { status: 403 } }]]);
  expect(await guest.client.getReport({ deploymentId, reportId })).toMatchObject({ workbookId });
  await remove(owner);
  await expect(guest.client.getReport({ deploymentId, reportId })).rejects.toMatchObject({ status: 404 });
});
