import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';

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

test('a caller who deletes a workbook must manage every report in it', async () => {
  const { workbookId, reportId } = await sharedWorkbook();
  const remove = () => owner.client.deleteWorkbook({ deploymentId, workbookId });
  await expect(remove()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  const body = { items: [{ type: 'WORKBOOK' as const, id: workbookId }] };
  const { deleted, failed } = await owner.client.bulkDeleteWorkspaceObjects({ deploymentId, body });
  expect([deleted, failed]).toMatchObject([[], [{ id: workbookId, error: { status: 403 } }]]);
  expect(await guest.client.getReport({ deploymentId, reportId })).toMatchObject({ workbookId });

  await guest.client.deleteReport({ deploymentId, reportId });
  await owner.client.createReport({ deploymentId, body: { workbookId } });
  await remove();
});

test('a caller who manages all reports by a role, or by a policy on the workbook, can delete reports of others with it', async () => {
  const one = await sharedWorkbook();
  await world.admin.deleteWorkbook({ deploymentId, workbookId: one.workbookId });
  const two = await sharedWorkbook();
  const body = { resourceType: 'Workbook', resourceId: two.workbookId, action: 'WorkbookManage' } as const;
  await world.admin.setUserPolicy({ body: { ...body, userId: owner.userId } });
  await owner.client.deleteWorkbook({ deploymentId, workbookId: two.workbookId });
  await expect(guest.client.getReport({ deploymentId, reportId: two.reportId })).rejects.toMatchObject({
    status: 404,
  });
});
