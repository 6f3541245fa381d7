/** Whoever acts for somebody who is not there, such as a schedule for its owner, reads here what they may do now. */
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
