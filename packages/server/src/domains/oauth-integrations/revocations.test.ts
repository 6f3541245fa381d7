/** How the job that tells services of revoked tokens shares its time between them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { integrationOf } from '../../../test/oauth.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { JobContext } from '../../platform/jobs/jobs.ts';
import { createRevocations } from './revocations.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('a slow service with many tokens keeps neither the others nor the next job waiting', async () => {
  const { db } = world.server;
  const make = async () =>
    (await world.admin.createOAuthIntegration({ body: integrationOf(world, 'https://login.example.com') }))
      .id;
  const [slow, quick] = [await make(), await make()];
  const add = (integrationId: number, count: number) =>
    db.pool.query(
      `insert into oauth_tokens (integration_id, user_id, status, revoked_at)
       select $1, n, 'revoked', now() from generate_series(1, $2) n`,
      [integrationId, count],
    );
  await add(slow, 200);
  await add(quick, 3);
  const asked: number[] = [];
  const { job } = createRevocations(
    {
      integrations: { openAny: async (_, id) => ({ id }) as never },
      tokens: { open: () => ({ accessToken: 'a', refreshToken: null }) as never },
      provider: {
        async revoke({ id }) {
          asked.push(id);
          if (id === slow) await sleep(30);
        },
      },
    },
    { runMs: 60_000, shareMs: 100 },
  );
  expect(job.lane).toBe('remotes');
  const log = { warn() {} };
  const run = () => job.run({}, { db, log, signal: new AbortController().signal } as unknown as JobContext);
  expect(await run()).toBe('unfinished');
  const slowly = asked.filter((id) => id === slow).length;
  expect(slowly).toBeGreaterThan(0);
  expect(slowly).toBeLessThan(10);
  expect(asked.filter((id) => id === quick)).toHaveLength(3);
  const { rows } = await db.pool.query('select integration_id, count(*)::int from oauth_tokens group by 1');
  expect(rows).toEqual([{ integration_id: slow, count: 200 - slowly }]);
});
