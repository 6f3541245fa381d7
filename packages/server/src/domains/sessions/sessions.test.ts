import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, logIn, PASSWORD, signedIn, statusWith } from '../../../test/sign-in.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const refused = (code: string, status: number) => expect.objectContaining({ code, status });
const login = (body: object) => world.client().login({ body: body as never });
const refresh = async (refreshToken: string) =>
  (await world.client().refreshTokens({ body: { refreshToken } })) as {
    accessToken: string;
    refreshToken: string;
  };

describe('signing in', () => {
  test('works with the email and with the username, in any case, and shows the time', async () => {
    const { id, email, username } = await createSignable(world);
    const before = await world.bearer((await logIn(world, { email })).accessToken).getMe();
    expect(before).toMatchObject({ id });
    expect(Date.parse(before.lastLogin!)).toBeGreaterThan(Date.parse(before.createdAt!));
    const names = [
      { email: email.toUpperCase() },
      { email: username },
      { username },
      { username: ` ${email} ` },
    ];
    for (const name of names) {
      const { accessToken } = await login({ ...name, password: PASSWORD });
      expect(await world.bearer(accessToken).getMe()).toMatchObject({ id });
    }
  });

  test('a wrong password, an unknown user, one without a password and a deactivated one get the same answer', async () => {
    const { email } = await createSignable(world);
    const { userId } = await world.person();
    const without = await world.admin.updateUser({ id: userId, body: {} });
    const gone = await createSignable(world);
    await world.admin.updateUser({ id: gone.id, body: { isDeactivated: true } });
    const answers = [];
    for (const name of [email, unique('nobody'), without.email, gone.email]) {
      const password = name === email ? 'wrong password' : PASSWORD;
      const response = await world.raw('POST', '/auth/login', {
        apiKey: null,
        headers: { 'content-type': 'application/json', 'x-request-id': 'the-same-id' },
        body: JSON.stringify({ email: name, password }),
      });
      answers.push([response.status, await response.text()]);
    }
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]).toEqual([401, expect.stringContaining('"sign_in_failed"')]);
  });

  test('an external viewer cannot sign in', async () => {
    const { id: deploymentId } = await world.deployment();
    const externalId = unique('viewer');
    await world.embedded({ deploymentId, externalId });
    const { rows } = await world.server.db.pool.query(
      `update users set password_hash = (select password_hash from users where id = $1)
       where external_id = $2 returning id`,
      [(await createSignable(world)).id, externalId],
    );
    expect(rows).toHaveLength(1);
    await expect(login({ username: externalId, password: PASSWORD })).rejects.toEqual(
      refused('sign_in_failed', 401),
    );
  });

  test('a password is the same in every Unicode form', async () => {
    const password = 'Caf\u00e9 \u212bngstr\u00f6m';
    const { email } = await createSignable(world, { password: password.normalize('NFD') });
    await expect(logIn(world, { email }, password.normalize('NFC'))).resolves.toBeTruthy();
    await expect(logIn(world, { email }, password.normalize('NFD'))).resolves.toBeTruthy();
  });

  test.each([
    ['nothing', {}, 400],
    ['no name', { password: PASSWORD }, 400],
    ['two names', { email: 'a', username: 'a', password: PASSWORD }, 400],
    ['no password', { email: 'a' }, 400],
    ['a password that is not text', { email: 'a', password: 5 }, 400],
    ['a password that is too long', { email: 'a', password: 'x'.repeat(1025) }, 400],
    ['a NUL', { email: 'a', password: 'a\u0000b' }, 400],
    ['half a character', { email: 'a', password: '\ud800' }, 400],
    ['10 MB', { email: 'a', password: 'x'.repeat(10_000_000) }, 413],
    ['a long name', { email: 'x'.repeat(256), password: PASSWORD }, 400],
    ['an empty name', { email: '', password: PASSWORD }, 401],
    ['an empty password', { email: 'a', password: '' }, 401],
    ['a name with quotes', { email: `a'"--;\\`, password: PASSWORD }, 401],
  ])('with %s is refused', async (_, body, status) => {
    await expect(login(body)).rejects.toMatchObject({ status });
  });

  test('the longest password works, in the widest characters', async () => {
    const password = `some words ${'\u{1f511}'.repeat(1013)}`;
    const { email } = await createSignable(world, { password });
    await expect(logIn(world, { email }, password)).resolves.toBeTruthy();
    await expect(logIn(world, { email }, `${password.slice(0, -2)}\u{1f512}`)).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe('an access token', () => {
  test('has the rights of its user, and no others', async () => {
    const viewer = await signedIn(world, { roles: ['Viewer'] });
    await expect(viewer.client.listApiKeys()).rejects.toEqual(refused('forbidden', 403));
    const admin = await signedIn(world, { roles: ['Admin'] });
    await expect(admin.client.listApiKeys()).resolves.toBeTruthy();
  });

  test('loses the rights of its user within a second', async () => {
    const { id, client } = await signedIn(world, { roles: ['Admin'] });
    await client.listApiKeys();
    await world.admin.updateUser({ id, body: { roles: ['Viewer'] } });
    const status = () =>
      client.listApiKeys().then(
        () => 200,
        (error) => error.status,
      );
    await expectWithinASecond(status, 403);
  });

  test('cannot mint sessions', async () => {
    const { id: deploymentId } = await world.deployment();
    const { client } = await signedIn(world, { roles: ['Admin'] });
    const attempt = client.generateSession({ body: { deploymentId, externalId: 'ada' } });
    await expect(attempt).rejects.toEqual(refused('unauthenticated', 401));
  });

  test.each([
    ['as an API key', (token: string) => `Api-Key ${token}`],
    [
      'with another letter',
      (token: string) => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    ],
    ['cut', (token: string) => `Bearer ${token.slice(0, -1)}`],
    ['without its prefix', (token: string) => `Bearer ${token.split('_').at(-1)}`],
    ['of a refresh', (_: string, refreshToken: string) => `Bearer ${refreshToken}`],
  ])('%s is a 401', async (_, header) => {
    const { accessToken, refreshToken } = await signedIn(world);
    const authorization = header(accessToken, refreshToken);
    expect((await world.raw('GET', '/api/v1/users/me', { headers: { authorization } })).status).toBe(401);
  });
});

describe('a session ends on every server within a second', () => {
  let other: Awaited<ReturnType<World['anotherServer']>>;
  beforeAll(async () => {
    other = await world.anotherServer();
  });

  const ways: [string, (person: Awaited<ReturnType<typeof signedIn>>) => Promise<unknown>][] = [
    ['when the person signs out', ({ client }) => client.logout({ body: {} })],
    [
      'when they sign out everywhere',
      async (person) => (await logIn(world, person)).client.logout({ body: { everywhere: true } }),
    ],
    ['when they are deactivated', ({ id }) => world.admin.updateUser({ id, body: { isDeactivated: true } })],
    ['when they are deleted', ({ id }) => world.admin.deleteUser({ id })],
    [
      'when an admin sets their password',
      ({ id }) => world.admin.updateUser({ id, body: { password: 'another password' } }),
    ],
    [
      'when they change their password',
      ({ client }) =>
        client.changeMyPassword({ body: { currentPassword: PASSWORD, newPassword: 'another password' } }),
    ],
    [
      'when they end it in the list',
      async (person) => {
        const [session] = (await person.client.listMySessions()).items;
        await (await logIn(world, person)).client.endMySession({ id: session!.id });
      },
    ],
    [
      'when an admin ends it',
      async ({ id }) => {
        const { items } = await world.admin.listUserSessions({ id });
        expect(items).toMatchObject([{ kind: 'login', userAgent: expect.anything() }]);
        await world.admin.endUserSession({ id, sessionId: items[0]!.id });
        expect((await world.admin.listUserSessions({ id })).items).toEqual([]);
        const again = world.admin.endUserSession({ id, sessionId: items[0]!.id });
        await expect(again).rejects.toMatchObject({ status: 404, code: 'session_not_found' });
        const { items: entries } = await world.admin.listAuditLog({ operation: 'endUserSession' });
        expect(entries[0]).toMatchObject({ resourceType: 'session', resourceId: String(items[0]!.id) });
      },
    ],
    [
      'when an admin ends all sessions of the user',
      async ({ id, client }) => {
        await expect(client.endUserSessions({ id })).rejects.toMatchObject({ status: 403 });
        await world.admin.endUserSessions({ id });
      },
    ],
    [
      'when its refresh token is used twice',
      async ({ refreshToken }) => {
        await refresh(refreshToken);
        await refresh(refreshToken).catch(() => {});
      },
    ],
  ];
  test.each(ways)('%s', async (_, end) => {
    const person = await signedIn(world);
    for (const url of [world.url, other.url]) expect(await statusWith(url, person.accessToken)).toBe(200);
    await end(person);
    for (const url of [world.url, other.url]) {
      await expectWithinASecond(() => statusWith(url, person.accessToken), 401);
    }
    await expect(refresh(person.refreshToken)).rejects.toEqual(refused('invalid_grant', 400));
  });

  test('and other changes of the user end nothing', async () => {
    const person = await signedIn(world);
    await world.admin.updateUser({
      id: person.id,
      body: { firstName: 'Ada', isDeactivated: false, isAdmin: true },
    });
    expect(await person.client.getMe()).toMatchObject({ firstName: 'Ada', isAdmin: true });
  });

  test('and signing out ends only the own session', async () => {
    const person = await signedIn(world);
    const other = await logIn(world, person);
    await other.client.logout({ body: {} });
    await expectWithinASecond(() => statusWith(world.url, other.accessToken), 401);
    expect(await statusWith(world.url, person.accessToken)).toBe(200);
  });
});
