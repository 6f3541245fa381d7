/** Many wrong access tokens are slowed down, but valid tokens are not. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn } from '../../../test/sign-in.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

const ALLOWED = 300;
const SUSPECT = '203.0.113.9';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_TRUST_PROXY: 'loopback' } });
});
afterAll(() => world.stop());

const statusOf = async (token: string, address = SUSPECT) => {
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address };
  return (await world.raw('GET', '/api/v1/regions/', { apiKey: null, headers })).status;
};

test('too many wrong tokens from one address are a 429, but valid tokens from that address work', async () => {
  const [known, unseen] = [await signedIn(world), await signedIn(world)];
  expect(await statusOf(known.accessToken)).toBe(200);
  const guess = () => `oriel_access_${randomBytes(32).toString('base64url')}`;
  const statuses = await Promise.all(Array.from({ length: ALLOWED + 50 }, () => statusOf(guess())));
  expect(statuses.filter((status) => status === 401)).toHaveLength(ALLOWED);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  // One valid token is in memory, and the other must be looked up.
  expect(await statusOf(known.accessToken)).toBe(200);
  expect(await statusOf(unseen.accessToken)).toBe(200);
  expect(await statusOf(guess(), '203.0.113.10')).toBe(401);
});
