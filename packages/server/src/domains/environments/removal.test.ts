/** The tokens of a deleted deployment. The file has its own world, because it changes the schema. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limitStatements } from '../../../test/hold.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { BATCH_ROWS } from '../../platform/jobs/batches.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('the tokens of a deleted deployment are removed in batches', async () => {
  const { id: deploymentId } = await world.deployment();
  await world.admin.deploymentToken({ deploymentId });
  await world.server.db.pool.query(
    `insert into environment_tokens (token_hash, ending, deployment_id, branch_id, user_id, purpose, scopes,
                                     security_context, expires_at)
     select sha256(n::text::bytea), ending, deployment_id, branch_id, user_id, purpose, scopes, security_context,
            expires_at
     from environment_tokens, generate_series(1, $1::int) n`,
    [3 * BATCH_ROWS],
  );
  await limitStatements(world, 'environment_tokens', BATCH_ROWS);
  await world.admin.deleteDeployment({ deploymentId });
  const left = async () => (await world.server.db.pool.query('select from environment_tokens')).rowCount;
  await expect.poll(left).toBe(0);
});
