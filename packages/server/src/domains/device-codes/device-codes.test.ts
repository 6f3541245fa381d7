import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, logIn, type Signable, signedIn, statusWith } from '../../../test/sign-in.ts';
import { createWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import type { Platform } from '../../platform/module.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { type Approver, createPeopleSessions, type PeopleSessions } from '../sessions/index.ts';
import { createDeviceCodes, type DeviceCodes } from './index.ts';

let world: World;
let people: PeopleSessions;
/** What the page for approvals uses. */
let page: DeviceCodes;
beforeAll(async () => {
  world = await createWorld();
  const { keysFor } = createKeyring([SECRET_KEY]);
  const { essential } = world.server;
  people = createPeopleSessions({ essential, keysFor, publicUrl: world.url } as Platform);
  page = createDeviceCodes({
    db: essential,
    keys: keysFor('device codes'),
    publicUrl: world.url,
    seconds: 600,
    sessions: people.sessions,
  });
});
afterAll(() => world.stop());

type Json = Record<string, unknown>;
const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows as Json[];

const JSON_TYPE = 'application/json';
async function post(
  path: string,
  fields: Record<string, string>,
  type = 'application/x-www-form-urlencoded',
) {
  const isForm = type !== JSON_TYPE;
  const body = isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
  const headers = { 'content-type': type, 'user-agent': 'a test' };
  const response = await world.raw('POST', path, { apiKey: null, headers, body });
  return { status: response.status, body: (await response.json()) as Json };
}

const CLIENT = { client_id: 'a-tool' };
async function start() {
  const { body } = await post('/auth/device/code', { ...CLIENT, scope: 'everything', audience: 'unknown' });
  return body as { device_code: string; user_code: string };
}
const ask = (device_code: string, more: Record<string, string> = {}) =>
  post('/auth/device/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code,
    ...CLIENT,
    ...more,
  });
const answerFrom = (approver: Approver, userCode: string, isApproved = true) =>
  world.server.essential.transaction((tx) => page.answer(tx, userCode, approver, isApproved));
/** The session of a person at a browser. */
const browse = async (userId: number): Promise<Approver> =>
  world.server.essential.transaction((tx) =>
    people.console.begin(tx, userId, { operation: 'test', ip: '127.0.0.1', requestId: 'test' }, {}),
  );
const answer = async (userCode: string, userId: number, isApproved = true) =>
  answerFrom(await browse(userId), userCode, isApproved);
/** How many connections wait for a lock. */
const waitForLocks = async () =>
  (
    await query(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  )[0]!.n;
/** As if the device had waited. */
const wait = () => query('update device_codes set last_asked_at = null');

test('a device gets the tokens of the person who approved its code, once', async () => {
  const { id } = await createSignable(world);
  const started = await post('/auth/device/code', CLIENT);
  expect(started).toEqual({
    status: 200,
    body: {
      device_code: expect.stringMatching(/^oriel_device_/),
      user_code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
      verification_uri: `${world.url}/device`,
      verification_uri_complete: `${world.url}/device?user_code=${started.body.user_code}`,
      expires_in: 600,
      interval: 5,
    },
  });
  const { device_code, user_code } = started.body as { device_code: string; user_code: string };
  expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
  expect(await page.find(user_code, id)).toMatchObject({ clientId: 'a-tool', userAgent: 'a test' });
  await answer(` ${user_code.toLowerCase().replace('-', ' ')} `, id);
  const granted = await ask(device_code);
  expect(granted).toEqual({
    status: 200,
    body: {
      access_token: expect.stringMatching(/^oriel_access_/),
      refresh_token: expect.stringMatching(/^oriel_refresh_/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
    },
  });
  const client = world.bearer(granted.body.access_token as string);
  expect(await client.getMe()).toMatchObject({ id });
  expect((await client.listMySessions()).items).toMatchObject([
    { kind: 'console' },
    { kind: 'device', clientId: 'a-tool', userAgent: 'a test', isCurrent: true },
  ]);
  expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('JSON is taken and answered in camelCase', async () => {
  const { id } = await createSignable(world);
  const device = (await world.client().createDeviceCode({ body: { clientId: 'a-tool' } })) as {
    deviceCode: string;
    userCode: string;
  };
  const pending = await post(
    '/auth/device/token',
    { deviceCode: device.deviceCode, clientId: 'a-tool' },
    JSON_TYPE,
  );
  expect(pending).toEqual({
    status: 400,
    body: {
      error: 'authorization_pending',
      errorDescription: expect.stringContaining('Nobody has approved'),
    },
  });
  await answer(device.userCode, id);
  const tokens = await world.client().exchangeDeviceCode({
    body: {
      grantType: 'urn:ietf:params:oauth:grant-type:device_code',
      deviceCode: device.deviceCode,
      clientId: 'a-tool',
    },
  });
  expect(tokens).toEqual({
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    expiresAt: expect.any(String),
  });
});

test('of many who approve a code at once exactly one does, and of many who ask for its tokens one gets them', async () => {
  const people = await Promise.all([1, 2, 3].map(() => createSignable(world)));
  const { device_code, user_code } = await start();
  const answers = await Promise.allSettled(people.map(({ id }) => answer(user_code, id)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(answers.filter((one) => one.status === 'rejected')).toMatchObject([
    { reason: { code: 'device_code_not_found' } },
    { reason: { code: 'device_code_not_found' } },
  ]);
  const asked = await Promise.all([1, 2, 3, 4].map(() => ask(device_code)));
  expect(asked.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  const winner = people[answers.findIndex(({ status }) => status === 'fulfilled')]!;
  const { body } = asked.find(({ status }) => status === 200)!;
  expect(await world.bearer(body.access_token as string).getMe()).toMatchObject({ id: winner.id });
});

test('a device that asks too soon must wait longer each time', async () => {
  const { device_code } = await start();
  const intervals = async () =>
    (await query('select interval_seconds from device_codes order by id desc limit 1'))[0]!.interval_seconds;
  expect((await ask(device_code)).body.error).toBe('authorization_pending');
  expect((await ask(device_code)).body.error).toBe('slow_down');
  expect((await ask(device_code)).body.error).toBe('slow_down');
  expect(await intervals()).toBe(15);
  await wait();
  expect((await ask(device_code)).body.error).toBe('authorization_pending');
});

describe('no tokens', () => {
  test('for a code that was refused', async () => {
    const { id } = await createSignable(world);
    const { device_code, user_code } = await start();
    await answer(user_code, id, false);
    await expect(answer(user_code, id)).rejects.toMatchObject({ code: 'device_code_not_found' });
    expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'access_denied' } });
  });

  test('for a code that expired, even if it was approved', async () => {
    const { id } = await createSignable(world);
    for (const isApproved of [true, false]) {
      const { device_code, user_code } = await start();
      if (isApproved) await answer(user_code, id);
      await query("update device_codes set expires_at = now() - interval '1 second'");
      expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'expired_token' } });
      if (!isApproved)
        await expect(answer(user_code, id)).rejects.toMatchObject({ code: 'device_code_not_found' });
    }
  });

  test.each([
    ['was deactivated', ({ id }: Signable) => world.admin.updateUser({ id, body: { isDeactivated: true } })],
    ['was deleted', ({ id }: Signable) => world.admin.deleteUser({ id })],
    [
      'was given another password',
      ({ id }: Signable) => world.admin.updateUser({ id, body: { password: 'another one' } }),
    ],
    [
      'signed out everywhere',
      async (person: Signable) => (await logIn(world, person)).client.logout({ body: { everywhere: true } }),
    ],
  ])('if the person %s after they approved', async (_, change) => {
    const person = await createSignable(world);
    const { device_code, user_code } = await start();
    await answer(user_code, person.id);
    await change(person);
    expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test.each([
    ['changed the password', "update users set password_hash = 'x' where id = $1"],
    ['signed out everywhere', 'select from users where id = $1 for update'],
  ])('if the person %s while they approved, whichever comes first', async (_, lock) => {
    const person = await createSignable(world);
    const approver = await browse(person.id);
    const { device_code, user_code } = await start();
    const client = await world.server.db.pool.connect();
    try {
      await client.query('begin');
      await client.query(lock, [person.id]);
      const approving = answerFrom(approver, user_code).catch((error) => error);
      await expect.poll(waitForLocks).toBe(1);
      await client.query('delete from sessions where user_id = $1', [person.id]);
      await client.query('commit');
      expect(await approving).toMatchObject({ code: 'unauthenticated' });
    } finally {
      client.release();
    }
    expect(await ask(device_code)).toMatchObject({ body: { error: 'authorization_pending' } });
  });

  test('if the person signs out everywhere before an approval is stored completely', async () => {
    const person = await signedIn(world);
    const approver = await browse(person.id);
    const { device_code, user_code } = await start();
    let leaving: Promise<unknown> = Promise.resolve();
    await world.server.essential.transaction(async (tx) => {
      await page.answer(tx, user_code, approver, true);
      leaving = person.client.logout({ body: { everywhere: true } });
      await expect.poll(waitForLocks).toBe(1);
    });
    await leaving;
    expect(await ask(device_code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test.each([
    [
      'another device code',
      (code: string) => ask(`${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}`),
      'invalid_grant',
    ],
    ['something else', () => ask('x'), 'invalid_grant'],
    ['another client', (code: string) => ask(code, { client_id: 'another' }), 'invalid_grant'],
    ['another grant', (code: string) => ask(code, { grant_type: 'password' }), 'unsupported_grant_type'],
    ['no client', (code: string) => post('/auth/device/token', { device_code: code }), 'invalid_request'],
  ])('for %s', async (_, attempt, error) => {
    const { id } = await createSignable(world);
    const { device_code, user_code } = await start();
    await answer(user_code, id);
    const { status, body } = await attempt(device_code);
    expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
    expect((await ask(device_code)).status).toBe(200);
  });
});

test('a person who types wrong codes is refused after a while, and others are not', async () => {
  const [guesser, other] = [await createSignable(world), await createSignable(world)];
  const { user_code } = await start();
  for (let i = 0; i < 20; i++) {
    await expect(page.find('BBBB-BBBB', guesser.id)).rejects.toMatchObject({ code: 'device_code_not_found' });
  }
  await expect(page.find(user_code, guesser.id)).rejects.toMatchObject({ statusCode: 429 });
  await expect(answer(user_code, guesser.id)).rejects.toMatchObject({ statusCode: 429 });
  await expect(page.find(user_code, other.id)).resolves.toMatchObject({ clientId: 'a-tool' });
});

test('a device that asks again and again costs the database little, and is told to slow down', async () => {
  const { device_code } = await start();
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => ask(device_code)));
  expect(new Set(outcomes.map(({ body }) => body.error))).toEqual(
    new Set(['authorization_pending', 'slow_down']),
  );
  const [row] = await query('select interval_seconds from device_codes order by id desc limit 1');
  // It grows by 5 with each attempt that reached the database.
  expect(row!.interval_seconds).toBeLessThanOrEqual(5 + 5 * 20);
});

test('a device that signed in stays signed in when another person is deactivated', async () => {
  const [one, other] = [await signedIn(world), await signedIn(world)];
  await world.admin.updateUser({ id: other.id, body: { isDeactivated: true } });
  expect(await statusWith(world.url, one.accessToken)).toBe(200);
});

describe('the tokens of a device', () => {
  const issued = async () => {
    const { id } = await createSignable(world);
    const { device_code, user_code } = await start();
    await answer(user_code, id);
    return (await ask(device_code)).body as { refresh_token: string };
  };
  const refreshAt = (path: string, refresh_token: string, client: Record<string, string> = CLIENT) =>
    post(path, { grant_type: 'refresh_token', refresh_token, ...client });

  test.each(['/auth/device/token', '/auth/oauth2/refresh'])('are renewed at %s', async (path) => {
    const { refresh_token } = await issued();
    const { status, body } = await refreshAt(path, refresh_token);
    expect(status).toBe(200);
    expect(await statusWith(world.url, body.access_token as string)).toBe(200);
  });

  test('are renewed only for the client that they were issued to', async () => {
    const { refresh_token } = await issued();
    const path = '/auth/oauth2/refresh';
    const refused = { status: 400, body: { error: 'invalid_grant' } };
    expect(await refreshAt(path, refresh_token, { client_id: 'another-program' })).toMatchObject(refused);
    expect(await refreshAt(path, refresh_token, {})).toMatchObject(refused);
    const json = (clientId?: string) =>
      post(path, { refreshToken: refresh_token, ...(clientId ? { clientId } : {}) }, 'application/json');
    expect(await json()).toMatchObject(refused);
    // What another program sends does not end the session.
    expect((await json(CLIENT.client_id)).status).toBe(200);
  });

  test('need a code or a refresh token, as the grant says', async () => {
    for (const [grant_type, error] of [
      ['refresh_token', 'invalid_request'],
      ['urn:ietf:params:oauth:grant-type:device_code', 'invalid_request'],
      ['password', 'unsupported_grant_type'],
    ]) {
      const { status, body } = await post('/auth/device/token', { grant_type: grant_type!, ...CLIENT });
      expect([status, body.error]).toEqual([400, error]);
    }
  });

  test('are described for OAuth libraries', async () => {
    const response = await world.raw('GET', '/.well-known/oauth-authorization-server', { apiKey: null });
    expect(await response.json()).toMatchObject({
      issuer: world.url,
      device_authorization_endpoint: `${world.url}/auth/device/code`,
      token_endpoint: `${world.url}/auth/device/token`,
    });
  });
});
