/** Many wrong API keys are slowed down, but valid keys are not. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statementsDuring } from '../../../test/statements.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

const ALLOWED = 300;
const SUSPECT = '203.0.113.9';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_TRUST_PROXY: 'loopback' } });
});
afterAll(() => world.stop());

const ask = (apiKey: string, address: string) =>
  world.raw('GET', '/api/v1/regions/', { apiKey, headers: { 'x-forwarded-for': address } });
const statusOf = async (apiKey: string, address = SUSPECT) => (await ask(apiKey, address)).status;
const guesses = (count: number) => Array.from({ length: count }, (_, i) => `sk-guess-${i}-${'x'.repeat(32)}`);

/** Counts the batch look-ups that run at once, at most (`atOnce`), and the look-ups of a single key (`alone`). */
async function lookUpsDuring(work: () => Promise<unknown>) {
  const seen = { atOnce: 0, alone: 0 };
  let running = 0;
  await statementsDuring(world.server.essential, work, ({ query, result }) => {
    if (query.name === 'find-credential') seen.alone++;
    if (query.name !== 'list-known-hashes') return;
    seen.atOnce = Math.max(seen.atOnce, ++running);
    const end = () => running--;
    result.then(end, end);
  });
  return seen;
}

test('too many wrong keys from one address are a 429, but valid keys from that address work', async () => {
  const known = await world.person();
  expect(await statusOf(known.apiKey)).toBe(200);
  const [unseen, gone] = [await world.person(), await world.person()];
  await world.admin.deleteApiKey({ id: gone.apiKeyId });

  const statuses = await Promise.all(guesses(ALLOWED + 50).map((guess) => statusOf(guess)));
  expect(statuses.filter((status) => status === 401)).toHaveLength(ALLOWED);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);

  const refused = await ask('sk-another-guess', SUSPECT);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(await statusOf(gone.apiKey)).toBe(429);
  // Valid keys still work: one that is in memory, and one that must be looked up.
  expect(await statusOf(known.apiKey)).toBe(200);
  expect(await statusOf(unseen.apiKey)).toBe(200);

  expect(await statusOf('sk-another-guess', '203.0.113.10')).toBe(401);

  const later = await world.person();
  const lookUps = await lookUpsDuring(() =>
    Promise.all([...guesses(100).map((guess) => statusOf(guess)), statusOf(later.apiKey)]),
  );
  // Only the valid key is read with a statement of its own.
  expect(lookUps).toEqual({ atOnce: 1, alone: 1 });
});

test('a text that does not have the form of an API key is refused without a look-up, and is not counted', async () => {
  const address = '203.0.113.11';
  const lookUps = await lookUpsDuring(async () => {
    for (let i = 0; i < ALLOWED + 10; i++) expect(await statusOf('nonsense', address)).toBe(401);
  });
  expect(lookUps).toEqual({ atOnce: 0, alone: 0 });
  expect(await statusOf('sk-another-guess', address)).toBe(401);
});

test('valid keys that are looked up are not counted, even if many arrive at once', async () => {
  const address = '203.0.113.12';
  const { apiKey } = await world.person();
  const statuses = await Promise.all(Array.from({ length: ALLOWED + 50 }, () => statusOf(apiKey, address)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await statusOf('sk-another-guess', address)).toBe(401);
});
