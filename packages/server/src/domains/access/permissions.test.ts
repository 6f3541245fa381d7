/** The rights that a person has now, as they are read for work on their behalf, such as a schedule of theirs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { findPermissions } from './index.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

test('only people who are active have permissions, and embed users are not people', async () => {
  const { db } = world.server;
  const { userId } = await world.person({ roles: ['Viewer'] });
  const { id: deploymentId } = await world.deployment();
  expect((await findPermissions(db, userId))!.actions).toContain('DeploymentRead');
  const externalId = unique('viewer');
  await world.embedded({ deploymentId, externalId });
  const { rows } = await db.pool.query('select id::int from users where external_id = $1', [externalId]);
  expect(await findPermissions(db, rows[0].id)).toBeUndefined();
  await world.admin.updateUser({ id: userId, body: { isDeactivated: true } });
  expect(await findPermissions(db, userId)).toBeUndefined();
});

test('policies give actions on their own deployment, to their user, the members of their group and those with their role', async () => {
  const { db } = world.server;
  const role = await world.admin.createRole({ body: { name: unique('role'), actions: [] } });
  const [ann, bob] = [await world.person({ roles: [role.name] }), await world.person({ roles: [] })];
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [ann.userId] } });
  const onNew = async () =>
    ({ resourceType: 'Deployment', resourceId: (await world.deployment()).id }) as const;
  const [own, ofGroup, ofRole] = [await onNew(), await onNew(), await onNew()];
  const action = 'DeploymentRead';
  await world.admin.setUserPolicy({ body: { ...own, userId: ann.userId, action } });
  await world.admin.setGroupPolicy({ body: { ...ofGroup, groupId: group.id, action } });
  await world.admin.setRolePolicy({ body: { ...ofRole, roleId: role.id, action } });
  const folder = await world.admin.createFolder({ deploymentId: own.resourceId, body: { name: 'folder' } });
  const onFolder = { resourceType: 'Folder', resourceId: folder.id, action: 'FolderRead' } as const;
  await world.admin.setUserPolicy({ body: { ...onFolder, userId: ann.userId } });

  const given = (await findPermissions(db, ann.userId))!.deploymentActions;
  const byDeployment = given.toSorted((a, b) => a.deploymentId - b.deploymentId);
  expect(byDeployment).toEqual(
    [own, ofGroup, ofRole].map(({ resourceId }) => ({ deploymentId: resourceId, action })),
  );
  expect((await findPermissions(db, bob.userId))!.deploymentActions).toEqual([]);
});
