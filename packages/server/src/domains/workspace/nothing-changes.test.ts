import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const entries = async (operation: string) =>
  (
    await world.server.db.pool.query('select from audit_log where operation = $1 and deployment_id = $2', [
      operation,
      deploymentId,
    ])
  ).rowCount;

test('an update of a folder that changes nothing keeps its time and is not audited', async () => {
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'folder', position: 3 } });
  const update = (body: object) => world.admin.updateFolder({ deploymentId, folderId: folder.id, body });
  for (const body of [{}, { name: 'folder' }, { position: 3 }, { name: 'folder', position: 3 }])
    expect(await update(body)).toEqual(folder);
  expect(await entries('updateFolder')).toBe(0);
  expect(await update({ name: 'other' })).toMatchObject({ name: 'other', position: 3 });
  expect(await update({ position: 4 })).toMatchObject({ name: 'other', position: 4 });
  expect(await entries('updateFolder')).toBe(2);
});

test('a move to the current place is not audited', async () => {
  const workbook = await world.admin.createWorkbook({ deploymentId, body: {} });
  const report = await world.admin.createReport({ deploymentId, body: {} });
  for (const item of [workbook, report]) {
    const body = { type: item.type as 'WORKBOOK' | 'REPORT', id: item.id, folderId: null };
    expect(await world.admin.moveWorkspaceObject({ deploymentId, body })).toMatchObject({
      updatedAt: item.updatedAt,
    });
  }
  expect(await entries('moveWorkspaceObject')).toBe(0);
});
