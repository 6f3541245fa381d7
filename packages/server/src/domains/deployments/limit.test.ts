/** The number of deployments. The file has its own world, because it fills the whole installation. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { DEPLOYMENTS_MAX } from './rules.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('of creations that come at once at the limit, as many succeed as there is room for', async () => {
  const room = 2;
  await world.server.db.pool.query(
    `insert into deployments (name, region, cloud_provider, creation_step, is_managed, target_platform)
     select 'd' || n, 'local', 'managed', 'ready', true, 'embedded'
     from generate_series((select count(*) from deployments) + 1, $1) n`,
    [DEPLOYMENTS_MAX - room],
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => world.deployment()));
  const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(made).toHaveLength(room);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ status: 409, code: 'deployment_limit_reached' });
  }
  await world.admin.deleteDeployment({ deploymentId: made[0]!.id });
  await expect(world.deployment()).resolves.toBeDefined();
});
