/** How an embedded page hears that its token has ended. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const viewer = () => world.embedded({ deploymentId, externalId: unique('viewer') });
const watch = (token: string) =>
  fetch(`${world.url}/api/v1/embed/session/events`, { headers: { authorization: `Bearer ${token}` } });

test('the stream ends with the reason when the session is revoked', async () => {
  const { token } = await viewer();
  const response = await watch(token);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await world.admin.revokeEmbedSessions({ body: { deploymentId } });
  expect(await response.text()).toContain('event: ended\ndata: {"reason":"revoked"}\n\n');
  expect((await watch(token)).status).toBe(401);
});

test('a viewer may hold a few streams, and requests are counted apart from them', async () => {
  const { token, client } = await viewer();
  const open = await Promise.all(Array.from({ length: 4 }, () => watch(token)));
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await watch(token)).status).toBe(429);
  expect((await client.getEmbedSession()).deploymentId).toBe(deploymentId);
  for (const { body } of open) await body!.cancel();
  await expect
    .poll(async () => {
      const again = await watch(token);
      await again.body!.cancel();
      return again.status;
    })
    .toBe(200);
});
