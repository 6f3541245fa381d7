/** Verified credentials are cached in memory, but a revocation takes effect at once on every server. */
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopListening, terminateListeners } from '../../../test/listening.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const clientOf = (baseUrl: string, apiKey: string) => createOrielClient({ baseUrl, apiKey, retries: 0 });
const statusOf = (attempt: Promise<unknown>) =>
  attempt.then(() => 200).catch((error) => error.status as number);

/** Returns how many queries for credentials the server runs during the work. */
const queriesDuring = async (work: () => Promise<unknown>) =>
  (await statementsDuring(world.server.essential, work)).length;

test('a known credential is verified without a query', async () => {
  const { client } = await world.person();
  await expect.poll(() => queriesDuring(() => client.listRegions())).toBe(0);
});

test('a key that is revoked on one server ends on all others within a second', async () => {
  const other = await world.anotherServer();
  for (let i = 0; i < 5; i++) {
    const person = await world.person();
    const elsewhere = clientOf(other.url, person.apiKey);
    expect(await statusOf(elsewhere.getMe())).toBe(200);
    await world.admin.deleteApiKey({ id: person.apiKeyId });
    await expectWithinASecond(() => statusOf(elsewhere.getMe()), 401);
  }
});

test('a change of one person does not cause queries for other people', async () => {
  const [changed, other] = [await world.person(), await world.person({ roles: ['Admin'] })];
  const costOf = ({ client }: typeof other) => queriesDuring(() => client.listRegions());
  const changes = [
    (n: number) => world.admin.updateUser({ id: changed.userId, body: { firstName: `Changed ${n}` } }),
    (n: number) =>
      world.admin.updateUser({ id: changed.userId, body: { roles: [n % 2 ? 'Admin' : 'Developer'] } }),
    (n: number) =>
      world.admin.updateApiKey({ id: changed.apiKeyId, body: { expiresAt: `${2900 + n}-01-01T00:00:00Z` } }),
  ];
  let tries = 0;
  const costAfter = async (change: (n: number) => Promise<unknown>) => {
    await expect.poll(() => costOf(changed)).toBe(0);
    await expect.poll(() => costOf(other)).toBe(0);
    await change(++tries);
    // Their own credential is read again, which shows that the notification has arrived.
    await expect.poll(() => costOf(changed), { interval: 5 }).toBeGreaterThan(0);
    return costOf(other);
  };
  // On a busy machine the listening connection may answer late, and then everybody is verified in the database.
  for (const change of changes) await expect.poll(() => costAfter(change)).toBe(0);
});

test('while notifications cannot be received, every request is verified in the database', async () => {
  const person = await world.person();
  await expect.poll(() => queriesDuring(() => person.client.listRegions())).toBe(0);
  const stopped = await stopListening(world);
  try {
    await expect.poll(() => queriesDuring(() => person.client.listRegions())).toBeGreaterThan(0);
    await world.admin.deleteApiKey({ id: person.apiKeyId });
    expect(await statusOf(person.client.getMe())).toBe(401);
  } finally {
    await stopped.resume();
  }
});

test('values that changed while the server did not listen are not used afterwards', async () => {
  const person = await world.person();
  await person.client.getMe();
  await terminateListeners(world);
  await world.admin.deleteApiKey({ id: person.apiKeyId });
  await expectWithinASecond(() => statusOf(person.client.getMe()), 401);
  await expect.poll(async () => queriesDuring(() => world.admin.listRegions())).toBe(0);
});
