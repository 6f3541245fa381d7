import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import type { AuditEvent } from '../../platform/audit/events.ts';
import { sql } from '../../platform/db/sql.ts';
import { createAttemptLimit } from '../../platform/http/attempt-limit.ts';
import { createFailureLimit } from '../../platform/http/failure-limit.ts';
import { createGuesses, GUESS_LIMITS, SIGN_IN_LIMIT } from './guesses.ts';
import { createSignIn } from './sign-in.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_TRUST_PROXY: 'loopback' } });
});
afterAll(() => world.stop());

/** Signs in from this address. */
const login = async (email: string, password: string, ip: string) => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip };
  const body = JSON.stringify({ email, password });
  const response = await world.raw('POST', '/auth/login', { apiKey: null, headers, body });
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) };
};
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

test('after 10 wrong passwords for a user, an address must wait, and other addresses need not', async () => {
  const { email } = await createSignable(world);
  for (let i = 0; i < 10; i++) expect((await login(email, 'wrong', '203.0.113.1')).status).toBe(401);
  const refused = await login(email.toUpperCase(), PASSWORD, '203.0.113.1');
  expect(refused.status).toBe(429);
  expect(refused.retryAfter).toBeGreaterThan(0);
  expect(refused.retryAfter).toBeLessThanOrEqual(900);
  expect((await login(email, PASSWORD, '203.0.113.2')).status).toBe(200);
  // Another user at the same address is not affected.
  expect((await login((await createSignable(world)).email, PASSWORD, '203.0.113.1')).status).toBe(200);
});

test('an IPv6 network has 10 wrong passwords for a user, all networks of its site have 50, and other sites have their own', async () => {
  const { email } = await createSignable(world);
  const from = (site: number, network: number) => `2001:db8:${site}:${network}::1`;
  for (const network of [1, 2, 3, 4, 5]) {
    for (let i = 0; i < 10; i++) expect((await login(email, 'wrong', from(1, network))).status).toBe(401);
    expect((await login(email, PASSWORD, from(1, network))).status).toBe(429);
    expect((await login(email, PASSWORD, from(1, 10))).status).toBe(network < 5 ? 200 : 429);
  }
  expect((await login(email, PASSWORD, from(2, 1))).status).toBe(200);
});

test('the port that a proxy adds to the address does not make it another one', async () => {
  const { email } = await createSignable(world);
  for (let i = 0; i < 10; i++)
    expect((await login(email, 'wrong', `203.0.113.30:${5000 + i}`)).status).toBe(401);
  expect((await login(email, PASSWORD, '203.0.113.30:6000')).status).toBe(429);
  expect((await login(email, PASSWORD, '203.0.113.30')).status).toBe(429);
});

test('what a proxy forwards and is no address counts as the proxy', async () => {
  const { email } = await createSignable(world);
  for (let i = 0; i < 10; i++) {
    const ip = i % 2 ? `unknown-${i}` : `${i}`.repeat(3000);
    expect((await login(email, 'wrong', ip)).status).toBe(401);
  }
  expect((await login(email, PASSWORD, '203.0.113.31, unknown')).status).toBe(429);
  const { items } = await world.admin.listAuditLog({ resourceType: 'failedSignIn', resourceId: email });
  expect(items.filter(({ ip }) => ip !== '127.0.0.1')).toEqual([]);
});

test('other spellings of a name give no further attempts, whether somebody has it or not', async () => {
  const { username } = await createSignable(world);
  const wide = (name: string, at: number) =>
    name.slice(0, at) + String.fromCodePoint(name.codePointAt(at)! + 0xfee0) + name.slice(at + 1);
  for (const [i, name] of [username, unique('nobody')].entries()) {
    const ip = `203.0.113.${10 + i}`;
    const ways = [name, name.toUpperCase(), ` ${name} `, ...[0, 1, 2, 3, 4, 5].map((at) => wide(name, at))];
    for (const way of [...ways, name]) expect((await login(way, 'wrong', ip)).status).toBe(401);
    for (const way of [name, wide(name.toUpperCase(), 3)])
      expect((await login(way, PASSWORD, ip)).status).toBe(429);
  }
});

test('the limit does not tell which email and which username belong together', async () => {
  const { email, username } = await createSignable(world);
  for (let i = 0; i < 10; i++) expect((await login(email, 'wrong', '203.0.113.12')).status).toBe(401);
  expect((await login(email, 'wrong', '203.0.113.12')).status).toBe(429);
  expect((await login(username, 'wrong', '203.0.113.12')).status).toBe(401);
});

test('an unknown user is refused in the same way, so that the limit does not tell who exists', async () => {
  const email = `${unique('nobody')}@example.com`;
  for (let i = 0; i < 10; i++) expect((await login(email, 'wrong', '203.0.113.3')).status).toBe(401);
  expect((await login(email, 'wrong', '203.0.113.3')).status).toBe(429);
});

test('attempts that come at once count too', async () => {
  const { email } = await createSignable(world);
  const seen: number[] = [];
  // A busy machine refuses some of them with a 503 before they are looked at, so others follow.
  while (!seen.includes(429)) {
    const outcomes = await times(30, () => login(email, 'wrong', '203.0.113.4'));
    seen.push(...outcomes.map(({ status }) => status));
  }
  expect(seen.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  expect((await login(email, PASSWORD, '203.0.113.4')).status).toBe(429);
});

test('after 100 wrong passwords for any users, an address must wait, with all of its network if it is IPv6', () => {
  const guesses = createGuesses();
  const at = (i: number) => `2001:db8:1:2::${i.toString(16)}`;
  for (let i = 0; i < 100; i++) guesses.begin(at(i)).at(`user ${i}`);
  expect(() => guesses.begin(at(200))).toThrow('Too many wrong passwords');
  expect(() => guesses.begin('2001:db8:1:3::1').at('another user')).not.toThrow();
});

test('an attempt that is refused for one user does not count for the address', () => {
  const guesses = createGuesses();
  const attempt = (who: string) => guesses.begin('203.0.113.9').at(who);
  for (let i = 0; i < 10; i++) attempt('ada');
  for (let i = 0; i < 200; i++) expect(() => attempt('ada')).toThrow();
  expect(() => attempt('grace')).not.toThrow();
});

test('right passwords do not count', async () => {
  const { email } = await createSignable(world);
  for (let i = 0; i < 12; i++) expect((await login(email, PASSWORD, '203.0.113.5')).status).toBe(200);
});

test('a user who signs in again and again must wait, and others need not', async () => {
  const [busy, other] = [await createSignable(world), await createSignable(world)];
  const signIn = createSignIn({
    db: world.server.essential,
    guesses: createGuesses(),
    signIns: createAttemptLimit({ ...SIGN_IN_LIMIT, max: 3 }),
    attempts: { record: () => {}, stop: async () => {} },
  });
  const from = (ip: string, { email }: { email: string }, password = PASSWORD) =>
    signIn.prove(email, password, { operation: 'test', ip, requestId: 'test' });
  for (const ip of ['203.0.113.20', '203.0.113.21', '203.0.113.22']) {
    await expect(from(ip, busy, 'wrong')).rejects.toMatchObject({ statusCode: 401 });
    await from(ip, busy);
  }
  await expect(from('203.0.113.23', busy)).rejects.toMatchObject({ statusCode: 429 });
  await from('203.0.113.23', other);
});

test('a person who changes their password has the same limit', async () => {
  const { email } = await createSignable(world);
  const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
  const change = (currentPassword: string) =>
    world.bearer(accessToken).changeMyPassword({ body: { currentPassword, newPassword: 'a new password' } });
  for (let i = 0; i < 10; i++)
    await expect(change('wrong')).rejects.toMatchObject({ status: 403, code: 'wrong_password' });
  await expect(change(PASSWORD)).rejects.toMatchObject({ status: 429 });
});

test('wrong passwords for a name that looks like the key of a user do not keep that user from changing theirs', async () => {
  const { id, email } = await createSignable(world);
  const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
  for (const name of [`user ${id}`, `name user ${id}`]) {
    for (let i = 0; i < 10; i++) expect((await login(name, 'wrong', '127.0.0.1')).status).toBe(401);
  }
  const body = { currentPassword: PASSWORD, newPassword: 'a new password' };
  await world.bearer(accessToken).changeMyPassword({ body });
});

describe('in the audit log', () => {
  const failuresAt = (id: number) =>
    world.server.db.many<{ ip: string | null; after: { repeats?: number } }>(
      sql`select ip, after from audit_log
          where resource_type = 'failedSignIn' and resource_id = ${String(id)} order by id`,
    );

  test('attempts that the limit refused are counted too', async () => {
    const recorded: AuditEvent[] = [];
    const signIn = createSignIn({
      db: world.server.essential,
      guesses: createFailureLimit({ ...GUESS_LIMITS, perAddress: 12 }),
      attempts: { record: (event) => void recorded.push(event), stop: async () => {} },
    });
    const { id, email } = await createSignable(world);
    const origin = { operation: 'test', ip: '203.0.113.40', requestId: 'test' };
    for (const name of [...Array(12).fill(email), 'nobody', 'nobody', email]) {
      await expect(signIn.prove(name, 'wrong', origin)).rejects.toBeInstanceOf(Error);
    }
    const targets = recorded.map(({ resourceId }) => resourceId);
    // The last one was refused before its name was looked up.
    expect(targets).toEqual([...Array(12).fill(String(id)), 'unknown', 'unknown', 'unknown']);
  });

  test('an attempt at a deactivated user names them', async () => {
    const { id, email } = await createSignable(world);
    await world.admin.updateUser({ id, body: { isDeactivated: true } });
    expect((await login(email, PASSWORD, '203.0.113.41')).status).toBe(401);
    await expect.poll(() => failuresAt(id)).toMatchObject([{ ip: '203.0.113.41' }]);
  });

  test('failures for unknown names from many networks do not hide who is attacked', async () => {
    const { id, email } = await createSignable(world);
    for (let i = 0; i < 105; i++) {
      const status = (await login('nobody@x.test', 'wrong', `2001:db8:7:${i.toString(16)}::1`)).status;
      expect(status).toBe(i < 50 ? 401 : 429);
    }
    expect((await login(email, 'wrong', '203.0.113.99')).status).toBe(401);
    await expect.poll(() => failuresAt(id)).toMatchObject([{ ip: '203.0.113.99' }]);
  });
});

test('a user without a password is told so', async () => {
  const { client } = await world.person();
  const attempt = client.changeMyPassword({ body: { currentPassword: 'x', newPassword: 'a new password' } });
  await expect(attempt).rejects.toMatchObject({ status: 409, code: 'no_password' });
});
