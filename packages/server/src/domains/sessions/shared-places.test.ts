/** How callers who are not known share the connections of the database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectWaiting, holdRows } from '../../../test/hold.ts';
import { signedIn } from '../../../test/sign-in.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({
    env: { ORIEL_TRUST_PROXY: 'loopback', ORIEL_DB_ESSENTIAL_CONNECTIONS: '4' },
  });
});
afterAll(() => world.stop());

const refreshFrom = async (ip: string, refreshToken: string) => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip };
  const body = JSON.stringify({ refreshToken });
  return (await world.raw('POST', '/auth/oauth2/refresh', { apiKey: null, headers, body })).status;
};

test('one IPv6 site, with any number of networks, leaves connections for others', async () => {
  const [slow, other] = [await signedIn(world), await signedIn(world)];
  const { rows } = await world.server.db.pool.query('select id from sessions where user_id = $1', [slow.id]);
  const held = await holdRows(world, 'sessions', [rows[0].id]);
  const calls = Array.from({ length: 10 }, (_, i) => refreshFrom(`2001:db8:7:${i}::1`, slow.refreshToken));
  let ended = 0;
  for (const call of calls) void call.then(() => ended++);
  await expectWaiting(world, 2);
  expect(await refreshFrom('203.0.113.7', other.refreshToken)).toBe(200);
  expect(ended, 'no call of the site had to give up first').toBe(0);
  await held.release();
  await Promise.all(calls);
});
