/** Sessions of browsers: the cookie, and what it takes to change something with it. */
import type { AddressInfo } from 'node:net';
import { Form, Html, operation } from '@oriel/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createServerLog } from '../../../test/server-log.ts';
import { createSignable, logIn, PASSWORD } from '../../../test/sign-in.ts';
import { createWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { createAuthenticator } from '../../platform/auth/authenticate.ts';
import { createCsrf } from '../../platform/auth/csrf.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { createMetrics } from '../../platform/http/metrics.ts';
import { handle, registerRoutes } from '../../platform/http/routes.ts';
import { createHttpServer } from '../../platform/http/server.ts';
import type { Platform } from '../../platform/module.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createSessionCredentials } from './credential.ts';
import { createPeopleSessions, type PeopleSessions, signOut } from './index.ts';
import { prepareOwnPassword } from './own-password.ts';

const ORIGIN = { operation: 'test', ip: '127.0.0.1', requestId: 'test', userAgent: 'a browser' };

let world: World;
let people: PeopleSessions;
let listener: Listener;
let page: Awaited<ReturnType<typeof startPage>>;
beforeAll(async () => {
  world = await createWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
  people = peopleAt(world.url);
  page = await startPage();
});
afterAll(async () => {
  await page.stop();
  await listener.end();
  await world.stop();
});

const peopleAt = (publicUrl: string) => {
  const { keysFor } = createKeyring([SECRET_KEY]);
  return createPeopleSessions({
    essential: world.server.essential,
    attempts: { record: () => {}, stop: async () => {} },
    csrf: createCsrf(keysFor('csrf'), publicUrl),
    keysFor,
    publicUrl,
  } as Partial<Platform> as Platform);
};

/** A page with a form, as a contract describes it. */
async function startPage() {
  const common = {
    tag: 'Users',
    summary: 'A page',
    path: '/page',
    permission: 'none',
    audit: 'none',
  } as const;
  const show = operation({ ...common, id: 'showPage', method: 'GET', auth: 'console', reply: Html });
  const send = operation({
    ...common,
    id: 'sendPage',
    method: 'POST',
    auth: 'console',
    body: Form(Type.Object({ csrf: Type.Optional(Type.String()), choice: Type.String() })),
    reply: Html,
  });
  const log = createServerLog();
  const app = createHttpServer({ log, metrics: createMetrics() });
  const { console, ...rest } = people;
  const credentials = createSessionCredentials(
    {
      essential: world.server.essential,
      createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
      log,
    },
    console,
  );
  const routes = [
    handle(show, ({ actor }) => `user ${actor.userId}`),
    handle(send, ({ actor }) => `done by ${actor.userId}`),
  ];
  registerRoutes(app, routes, {
    ...rest,
    authenticator: createAuthenticator(credentials.kinds),
    csrf: console.csrf,
    db: world.server.db,
    attempts: { record: () => {} },
    log,
  } as never);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/page`,
    async stop() {
      await app.close();
      await credentials.stop();
    },
  };
}

async function signIn() {
  const person = await createSignable(world);
  const opened = await people.console.signIn(person.email, PASSWORD, ORIGIN, {});
  const cookie = opened.setCookie.split(';')[0]!;
  return { ...person, ...opened, cookie, csrf: people.console.csrf.tokenOf(opened.sessionId) };
}

describe('the cookie', () => {
  test('is hidden from scripts and other sites, and bound to the host where there is TLS', async () => {
    const { setCookie } = await signIn();
    expect(setCookie).toMatch(
      /^oriel=oriel_console_[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    const { cookie } = peopleAt('https://oriel.example.com/a').console;
    expect(cookie.set('x', 60)).toBe('__Host-oriel=x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure');
    expect(cookie.clear()).toBe('__Host-oriel=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure');
    expect(cookie.read({ cookie: 'oriel=a; x__Host-oriel=b; __Host-oriel=c=d' })).toBe('c=d');
  });

  test('reads as its user, is in the list of sessions, and ends with the others', async () => {
    const { id, cookie, sessionId } = await signIn();
    const read = (path: string) => world.raw('GET', path, { apiKey: null, headers: { cookie } });
    expect(await (await read('/api/v1/users/me')).json()).toMatchObject({ id });
    const { items } = (await (await read('/api/v1/users/me/sessions')).json()) as { items: object[] };
    expect(items).toMatchObject([
      { id: sessionId, kind: 'console', userAgent: 'a browser', isCurrent: true },
    ]);
    await world.admin.updateUser({ id, body: { isDeactivated: true } });
    await expect.poll(async () => (await read('/api/v1/users/me')).status).toBe(401);
    const begin = world.server.essential.transaction((tx) => people.console.begin(tx, id, ORIGIN, {}));
    await expect(begin).rejects.toMatchObject({ code: 'sign_in_failed' });
  });

  test('does not work as an access token, and an access token does not work as a cookie', async () => {
    const { cookie, email } = await signIn();
    const authorization = `Bearer ${cookie.split('=')[1]}`;
    const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
    const attempts: Record<string, string>[] = [{ authorization }, { cookie: `oriel=${accessToken}` }];
    for (const headers of attempts) {
      expect((await world.raw('GET', '/api/v1/users/me', { apiKey: null, headers })).status).toBe(401);
    }
  });

  test('is not looked at beside an Authorization header', async () => {
    const { cookie } = await signIn();
    const headers = { cookie, authorization: 'Api-Key sk-this-key-was-never-created' };
    expect((await world.raw('GET', '/api/v1/users/me', { headers })).status).toBe(401);
  });
});

/** What a request with the cookie carries besides it, and whether it may change something. */
const cases: [string, (csrf: string, otherCsrf: string) => { origin?: string; csrf?: string }, number][] = [
  ['the token and our origin', (csrf) => ({ origin: 'ours', csrf }), 200],
  ['no token', () => ({ origin: 'ours' }), 403],
  ['an empty token', () => ({ origin: 'ours', csrf: '' }), 403],
  ['another token', () => ({ origin: 'ours', csrf: 'x'.repeat(43) }), 403],
  ['the token of another session', (_, csrf) => ({ origin: 'ours', csrf }), 403],
  ['no origin', (csrf) => ({ csrf }), 403],
  ['a hidden origin', (csrf) => ({ origin: 'null', csrf }), 403],
  ['another origin', (csrf) => ({ origin: 'https://evil.example.com', csrf }), 403],
  ['an origin that begins like ours', (csrf) => ({ origin: 'ours.evil.example.com', csrf }), 403],
  ['another port', (csrf) => ({ origin: 'http://127.0.0.1:1', csrf }), 403],
  ['another scheme', (csrf) => ({ origin: 'https', csrf }), 403],
];

const originAt = (given: string | undefined, url: string): Record<string, string> => {
  if (given === undefined) return {};
  const { origin, host } = new URL(url);
  return { origin: given === 'https' ? `https://${host}` : given.replace('ours', origin) };
};

test('a refused request with a valid cookie is recorded, and that it did not come from one of our pages', async () => {
  const { id, cookie } = await signIn();
  const send = async (path: string, headers: Record<string, string> = {}) =>
    (await world.raw('DELETE', path, { apiKey: null, headers: { cookie, ...headers } })).status;
  expect(await send('/api/v1/deployments/1')).toBe(403);
  expect(await send('/api/v1/users/1', { origin: 'https://evil.example.com' })).toBe(403);
  expect(await send('/api/v1/deployments/abc')).toBe(400);
  const refusals = async () =>
    (
      await world.server.db.pool.query(
        'select operation, deployment_id, after from audit_log where resource_type = $1 and user_id = $2 order by id',
        ['refusal', id],
      )
    ).rows;
  const after = { code: 'forbidden', isFromOurPage: false };
  await expect.poll(refusals).toEqual([
    { operation: 'deleteDeployment', deployment_id: 1, after },
    { operation: 'deleteUser', deployment_id: null, after },
  ]);
});

test.each(cases)('an API request that changes something, with %s', async (_, make, status) => {
  const [own, other] = [await signIn(), await signIn()];
  const { origin, csrf } = make(own.csrf, other.csrf);
  const headers = {
    cookie: own.cookie,
    ...originAt(origin, world.url),
    ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }),
  };
  const response = await world.raw('POST', '/auth/logout', { apiKey: null, headers });
  expect(response.status).toBe(status === 200 ? 204 : status);
  // The browser forgets the cookie of a session that has ended.
  expect(response.headers.get('set-cookie')).toBe(status === 200 ? people.console.cookie.clear() : null);
  const reading = await world.raw('GET', '/api/v1/users/me', {
    apiKey: null,
    headers: { cookie: own.cookie },
  });
  if (status !== 200) expect(reading.status).toBe(200);
});

test.each(cases)('a form of a page, with %s', async (_, make, status) => {
  const [own, other] = [await signIn(), await signIn()];
  const { origin, csrf } = make(own.csrf, other.csrf);
  const headers = {
    cookie: own.cookie,
    'content-type': 'application/x-www-form-urlencoded',
    ...originAt(origin, page.url),
  };
  const fields = new URLSearchParams({ choice: 'yes', ...(csrf === undefined ? {} : { csrf }) });
  const response = await fetch(page.url, { method: 'POST', headers, body: fields.toString() });
  const text = await response.text();
  expect(response.status).toBe(status);
  if (status === 200) expect(text).toBe(`done by ${own.id}`);
});

test('a page needs the cookie, and takes neither an API key nor an access token', async () => {
  const { cookie, email, id } = await signIn();
  const { apiKey } = await world.person();
  const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
  const status = async (headers: Record<string, string>) => (await fetch(page.url, { headers })).status;
  expect(await (await fetch(page.url, { headers: { cookie } })).text()).toBe(`user ${id}`);
  expect(await status({})).toBe(401);
  expect(await status({ authorization: `Api-Key ${apiKey}` })).toBe(401);
  expect(await status({ authorization: `Bearer ${accessToken}` })).toBe(401);
});

describe('a session that was renewed', () => {
  /** Renews the session as often as this, and returns the ids in their order. */
  async function renew({ id: userId, sessionId }: { id: number; sessionId: number }, times: number) {
    const ids = [sessionId];
    for (let i = 0; i < times; i++) {
      await world.server.essential.transaction((tx) =>
        people.console.renew(tx, { userId, sessionId: ids.at(-1)! }, ORIGIN, () =>
          signOut(tx, { userId, sessionId: null }, { everywhere: true }),
        ),
      );
      const { rows } = await world.server.db.pool.query('select id from sessions where user_id = $1', [
        userId,
      ]);
      ids.push(...rows.map(({ id }) => id));
    }
    return ids;
  }

  test.each([0, 1, 2])(
    'ends if the session is to end that it had before, of three the one at %i',
    async (which) => {
      const person = await signIn();
      const ids = await renew(person, 2);
      const { client } = await logIn(world, person);
      const kinds = async () => (await client.listMySessions({})).items.map(({ kind }) => kind);
      expect(await kinds()).toEqual(['console', 'login']);
      await client.endMySession({ id: ids[which]! });
      expect(await kinds()).toEqual(['login']);
    },
  );

  test('is recorded with the one that it replaced, and knows the last ten only', async () => {
    const person = await signIn();
    const ids = await renew(person, 12);
    const { rows } = await world.server.db.pool.query(
      `select replaces::text[]::int[], (select after -> 'replaced' from audit_log
         where resource_type = 'signIn' and (after ->> 'sessionId')::bigint = s.id) as replaced
       from sessions s where user_id = $1`,
      [person.id],
    );
    const earlier = ids.slice(0, -1).reverse();
    expect(rows).toEqual([
      { replaces: earlier.slice(0, 10), replaced: { sessionId: earlier[0], userId: person.id } },
    ]);
  });
});

describe('the own password is not changed', () => {
  const ways: [string, (id: number) => Promise<unknown>][] = [
    [
      'if it was changed after the current one was verified',
      (id) => world.admin.updateUser({ id, body: { password: 'another password' } }),
    ],
    [
      'if the user was deactivated in the meantime',
      (id) => world.admin.updateUser({ id, body: { isDeactivated: true } }),
    ],
  ];
  test.each(ways)('%s', async (_, change) => {
    const { id } = await createSignable(world);
    const given = { currentPassword: PASSWORD, newPassword: 'a new password' };
    const update = await prepareOwnPassword(world.server.db, people.signIn, id, given, ORIGIN);
    await change(id);
    await expect(world.server.essential.transaction(update)).rejects.toMatchObject({
      code: 'wrong_password',
    });
  });
});

test('no session begins with a password that was changed after it was verified', async () => {
  const { id, email } = await createSignable(world);
  const proven = await people.signIn.prove(email, PASSWORD, ORIGIN);
  await world.admin.updateUser({ id, body: { password: 'another password' } });
  const begun = await world.server.essential.transaction((tx) =>
    people.sessions.beginConsole(tx, proven, ORIGIN),
  );
  expect(begun).toBeUndefined();
});
