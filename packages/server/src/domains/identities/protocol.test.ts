/** What is checked before the provider is believed, and what happens if it does not answer as it should. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Answer,
  CLIENT_ID,
  CLIENT_SECRET,
  newKey,
  type SignInProvider,
  type SigningKey,
  startProvider,
} from '../../../test/sign-in-provider/index.ts';
import { errorOf, newAccount, PENDING, visitsTo } from '../../../test/sign-in-provider/visits.ts';
import { ADMIN_KEY, createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { REQUEST } from '../../platform/outbound/oauth-fetch.ts';
import { startServer } from '../../start-server.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const MB = 1024 * 1024;

let provider: SignInProvider;
let world: World;
let visits: ReturnType<typeof visitsTo>;
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld({ env: { ...provider.env, ORIEL_OIDC_CREATE_USERS: 'true' } });
  await provider.serve(world.url);
  visits = visitsTo(world, provider);
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop()]);
});
const { timeoutMs } = REQUEST;
afterEach(async () => {
  vi.useRealTimers();
  REQUEST.timeoutMs = timeoutMs;
  await provider.reset();
});

/** As if the provider had not answered for seconds. */
async function answerNever(path: string) {
  REQUEST.timeoutMs = 300;
  await provider.answer(path, { silence: 'for ever' });
}

const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

/** Begins as a new person, does something, and returns the reply to the callback. Nobody may have been created. */
async function refused(meddle: (begun: Awaited<ReturnType<typeof visits.toCallback>>) => Promise<unknown>) {
  const account = newAccount();
  await provider.expect(account);
  const begun = await visits.toCallback();
  const changed = await meddle(begun);
  const response = await begun.browser.get(typeof changed === 'string' ? changed : begun.callback);
  expect(response.headers.get('set-cookie')).toBeNull();
  expect(await visits.whoIs(begun.browser)).toBeUndefined();
  expect(await visits.usersOf(account.email)).toEqual([]);
  return errorOf(response);
}

test('a sign-in begins with a new state, a new nonce and a challenge, and a cookie that scripts cannot read', async () => {
  const begin = async () => {
    const response = await visits.newBrowser().get(`${world.url}/sign-in/provider`);
    return { cookie: response.headers.get('set-cookie')!, url: new URL(response.headers.get('location')!) };
  };
  const [first, second] = [await begin(), await begin()];
  const sent = Object.fromEntries(first.url.searchParams);
  expect(first.url.origin).toBe(provider.issuer);
  expect(sent).toMatchObject({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: `${world.url}/sign-in/provider/callback`,
    code_challenge_method: 'S256',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(sent[name]).toMatch(/^[\w-]{43}$/);
    expect(second.url.searchParams.get(name)).not.toBe(sent[name]);
  }
  expect(first.cookie).toMatch(/^oriel-sign-in=.*; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
});

test('with TLS, the cookie cannot be set or read without it', async () => {
  const behindTls = await createOwnWorld({
    env: { ...provider.env, ORIEL_PUBLIC_URL: 'https://bi.example.com' },
  });
  try {
    const response = await visits.newBrowser().get(`${behindTls.url}/sign-in/provider`);
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-oriel-sign-in=.*; Path=\/; .*; Secure$/);
  } finally {
    await behindTls.stop();
  }
});

test.each([
  ['/device?user_code=BBBB-BBBB', '/device?user_code=BBBB-BBBB'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
])('a person who wanted to go to %s goes to %s', async (next, goes) => {
  const { response } = await visits.signIn(newAccount(), `?next=${encodeURIComponent(next)}`);
  expect([response.status, response.headers.get('location')]).toEqual([303, goes]);
});

describe('a callback is refused', () => {
  test('in another browser, so that nobody is signed in as somebody else', async () => {
    await provider.expect(newAccount());
    const { callback } = await visits.toCallback();
    const without = await visits.newBrowser().get(callback);
    expect(errorOf(without)).toEqual([400, 'sign_in_not_begun']);
    const answer = await refused(async () => callback);
    expect(answer).toEqual([400, 'sign_in_not_begun']);
  });

  test('with the code of another sign-in', async () => {
    await provider.expect(newAccount());
    const other = new URL((await visits.toCallback()).callback);
    const answer = await refused(async ({ callback }) => {
      const mixed = new URL(callback);
      mixed.searchParams.set('code', other.searchParams.get('code')!);
      return mixed.href;
    });
    expect(answer).toEqual([400, 'provider_refused']);
  });

  test('the second time', async () => {
    await provider.expect(newAccount());
    const { browser, callback } = await visits.toCallback();
    const begun = browser.cookies(world.url).get(PENDING)!;
    expect((await browser.get(callback)).status).toBe(303);
    expect(errorOf(await browser.get(callback))).toEqual([400, 'sign_in_not_begun']);
    // Somebody may have kept the cookie, but the provider takes its code once.
    browser.cookies(world.url).set(PENDING, begun);
    expect(errorOf(await browser.get(callback))).toEqual([400, 'provider_refused']);
  });

  test('after the time for signing in', async () => {
    const answer = await refused(async () => later(601_000));
    expect(answer).toEqual([400, 'sign_in_not_begun']);
  });

  test('with a cookie that was changed', async () => {
    const answer = await refused(async ({ browser }) => {
      const jar = browser.cookies(world.url);
      const [text, signature] = jar.get(PENDING)!.split('.') as [string, string];
      const content = JSON.parse(Buffer.from(text, 'base64url').toString());
      const changed = Buffer.from(JSON.stringify({ ...content, next: 'https://evil.example' }));
      jar.set(PENDING, `${changed.toString('base64url')}.${signature}`);
    });
    expect(answer).toEqual([400, 'sign_in_not_begun']);
  });

  test.each([
    ['names another issuer', { iss: 'https://another.example' }],
    ['says that the person refused', { code: '', error: 'access_denied' }],
  ])('if it %s', async (_, change) => {
    const answer = await refused(async ({ callback }) => {
      const said = new URL(callback);
      for (const [name, value] of Object.entries(change)) said.searchParams.set(name, value);
      if (!said.searchParams.get('code')) said.searchParams.delete('code');
      return said.href;
    });
    expect(answer).toEqual([400, 'provider_refused']);
  });
});

describe('an ID token', () => {
  const now = () => Math.floor(Date.now() / 1000);

  async function withToken(change: object, key?: SigningKey | 'none', at = world) {
    const { toCallback, usersOf } = visitsTo(at, provider);
    const account = newAccount();
    await provider.expect(account);
    const { browser, callback } = await toCallback();
    const [text] = browser.cookies(at.url).get(PENDING)!.split('.');
    const { nonce } = JSON.parse(Buffer.from(text!, 'base64url').toString());
    const times = { iat: now(), exp: now() + 60 };
    await provider.issue(
      { iss: provider.issuer, aud: CLIENT_ID, nonce, ...times, ...account, ...change },
      key,
    );
    const response = await browser.get(callback);
    return { response, users: await usersOf(account.email) };
  }

  test('with everything right is accepted', async () => {
    const { response, users } = await withToken({});
    expect([response.status, users.length]).toEqual([303, 1]);
  });

  const wrong: [string, () => object][] = [
    ['another nonce', () => ({ nonce: 'another' })],
    ['no nonce', () => ({ nonce: undefined })],
    ['another issuer', () => ({ iss: 'https://another.example' })],
    ['another audience', () => ({ aud: 'another client' })],
    ['several audiences without us as the party', () => ({ aud: [CLIENT_ID, 'other'], azp: 'other' })],
    ['a time that is over', () => ({ iat: now() - 600, exp: now() - 300 })],
    ['no subject', () => ({ sub: undefined })],
  ];
  test.each(wrong)('with %s is refused, and nothing is made', async (_, change) => {
    const { response, users } = await withToken(change());
    expect([...errorOf(response), users]).toEqual([400, 'provider_refused', []]);
  });

  test('with another key, or without a signature, is refused', async () => {
    for (const key of [await newKey('first'), await newKey('another'), 'none'] as const) {
      const { response, users } = await withToken({}, key);
      expect([...errorOf(response), users]).toEqual([400, 'provider_refused', []]);
    }
  });

  test('with a new key of the provider is accepted', async () => {
    // A world of its own, because its server remembers the new key.
    const own = await createOwnWorld({ env: { ...provider.env, ORIEL_OIDC_CREATE_USERS: 'true' } });
    try {
      await provider.serve(world.url, own.url);
      expect((await withToken({}, undefined, own)).response.status).toBe(303);
      const key = await newKey('next');
      const { d, p, q, dp, dq, qi, ...published } = key.jwk as Record<string, string>;
      await provider.answer('/jwks', { body: JSON.stringify({ keys: [published] }) });
      later(120_000);
      expect((await withToken({}, key, own)).response.status).toBe(303);
    } finally {
      await own.stop();
    }
  });
});

describe('a provider that does not answer as it should is a clear error, and nothing is made:', () => {
  const unavailable = [502, 'provider_unavailable'];
  const answers: [string, Answer][] = [
    ['a closed connection', { silence: 'closed' }],
    ['100 MB', { bytes: 100 * MB, headers: { 'content-length': String(100 * MB) } }],
    ['100 MB without saying so', { bytes: 100 * MB }],
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' }],
    ['a 500', { status: 500 }],
    ['a redirect to another server', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ];

  test.each(answers)('%s in place of the tokens', async (_, answer) => {
    expect(await refused(() => provider.answer('/token', answer))).toEqual(unavailable);
  });

  test('nothing in place of the tokens', async () => {
    expect(await refused(() => answerNever('/token'))).toEqual(unavailable);
  });

  test.each([
    ['100 MB', { bytes: 100 * MB }, unavailable],
    ['somebody else', { body: JSON.stringify({ sub: 'another' }) }, [400, 'provider_refused']],
  ])('%s in place of the person', async (_, answer: Answer, error) => {
    expect(await refused(() => provider.answer('/me', answer))).toEqual(error);
  });

  test('nothing, 100 MB or the settings of another issuer in place of its settings', async () => {
    await answerNever(DISCOVERY);
    const cold = await createOwnWorld({ env: provider.env });
    try {
      const begin = () => visits.newBrowser().get(`${cold.url}/sign-in/provider`);
      expect(errorOf(await begin())).toEqual(unavailable);
      REQUEST.timeoutMs = timeoutMs;
      const another = { body: JSON.stringify({ issuer: 'https://another.example' }) };
      for (const answer of [{ bytes: 100 * MB }, another]) {
        await provider.answer(DISCOVERY, answer);
        expect(errorOf(await begin())).toEqual(unavailable);
      }
      await provider.reset();
      expect((await begin()).status).toBe(303);
    } finally {
      await cold.stop();
    }
  });

  test('100 MB in place of its keys', async () => {
    const cold = await createOwnWorld({ env: { ...provider.env, ORIEL_OIDC_CREATE_USERS: 'true' } });
    try {
      await provider.serve(world.url, cold.url);
      await provider.answer('/jwks', { bytes: 100 * MB });
      const { response } = await visitsTo(cold, provider).signIn(newAccount());
      expect(errorOf(response)).toEqual(unavailable);
    } finally {
      await cold.stop();
    }
  });

  test('but what it said about itself before stays in use', async () => {
    await visits.signIn(newAccount());
    await provider.answer(DISCOVERY, { status: 500 });
    later(2 * 3600_000);
    expect((await visits.newBrowser().get(`${world.url}/sign-in/provider`)).status).toBe(303);
  });
});

describe('the provider is asked by callers who are not known', () => {
  test('three times at most for one sign-in', async () => {
    await provider.expect(newAccount());
    const { browser, callback } = await visits.toCallback();
    await provider.answer('/token', { status: 400, body: '{"error":"invalid_grant"}' });
    const codes: (string | null)[] = [];
    for (let i = 0; i < 5; i++) codes.push(errorOf(await browser.get(callback))[1]);
    const refused = 'provider_refused';
    expect(codes).toEqual([refused, refused, refused, 'sign_in_not_begun', 'sign_in_not_begun']);
  });

  test('by a limited number from one address, which does not keep others out', async () => {
    const proxied = await createOwnWorld({ env: { ...provider.env, ORIEL_TRUST_PROXY: 'loopback' } });
    try {
      await provider.serve(world.url, proxied.url);
      const { toCallback } = visitsTo(proxied, provider);
      await provider.expect(newAccount());
      const begun: Awaited<ReturnType<typeof toCallback>>[] = [];
      for (let i = 0; i < 32; i++) begun.push(await toCallback());
      const other = begun.pop()!;
      await provider.answer('/token', { silence: 'for ever' });
      REQUEST.timeoutMs = 1500;
      const from = (address: string) => ({ 'x-forwarded-for': address });
      const slow = begun.map(({ browser, callback }) => browser.get(callback, from('203.0.113.1')));
      // Ten are asked and twenty wait, so one is refused at once.
      expect(errorOf(await Promise.race(slow))).toEqual([503, 'busy']);
      REQUEST.timeoutMs = timeoutMs;
      await provider.reset();
      expect(errorOf(await other.browser.get(other.callback, from('203.0.113.2')))).toEqual([
        403,
        'identity_unknown',
      ]);
      await Promise.all(slow);
    } finally {
      await proxied.stop();
    }
  });
});

describe('signing out at the provider', () => {
  const signOut = (browser = visits.newBrowser()) =>
    browser.follow(`${world.url}/sign-out/provider`, {
      end: `${provider.issuer}/session/end`,
      headers: { referer: `${world.url}/sign-in?notice=signed-out` },
    });

  test('leads to its page, with a proof of who is signed in there, and back to ours', async () => {
    const { browser } = await visits.signIn(newAccount());
    const { address } = await signOut(browser);
    const { id_token_hint, post_logout_redirect_uri } = Object.fromEntries(new URL(address).searchParams);
    expect(id_token_hint).toMatch(/^ey/);
    expect(post_logout_redirect_uri).toBe(`${world.url}/sign-in`);
    expect((await browser.get(address)).status).toBe(200);
    expect(browser.cookies(world.url).has(PENDING)).toBe(false);
  });

  test('leads back to the sign-in page at once if nobody is signed in there', async () => {
    const { address, response } = await signOut();
    expect([address, response?.status]).toEqual([`${world.url}/sign-in`, 200]);
  });

  test('signs nobody in here', async () => {
    const account = newAccount();
    const { browser } = await visits.signIn(account);
    browser.cookies(world.url).clear();
    await signOut(browser);
    expect(await visits.whoIs(browser)).toBeUndefined();
  });

  test('cannot be done by a link on another site', async () => {
    for (const referer of ['', 'https://evil.example/sign-in', `${world.url}/account`]) {
      const response = await visits.newBrowser().get(`${world.url}/sign-out/provider`, { referer });
      expect(errorOf(response)).toEqual([403, 'forbidden']);
    }
  });
});

test('a server without a provider says so', async () => {
  const plain = await createOwnWorld();
  try {
    for (const path of ['/sign-in/provider', '/sign-in/provider/callback', '/sign-out/provider']) {
      const response = await visits.newBrowser().get(plain.url + path);
      expect(errorOf(response)).toEqual([404, 'provider_not_found']);
    }
  } finally {
    await plain.stop();
  }
});

test('neither the secret nor tokens, codes and links are in logs, answers or the audit log', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const config = readConfig({
    ...provider.env,
    ORIEL_OIDC_CREATE_USERS: 'true',
    ORIEL_PORT: '0',
    ORIEL_DATABASE_URL: world.databaseUrl,
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
  });
  const server = await startServer(config, log);
  try {
    await provider.serve(world.url, server.url);
    const here = visitsTo({ ...world, url: server.url }, provider);
    const { invitationUrl } = await world.admin.createUser({
      body: { username: 'grace', email: 'grace@example.com' },
    });
    const link = new URL(invitationUrl!).searchParams.get('link')!;
    const account = newAccount();
    const right = await here.signIn(account, `?link=${link}`);
    await provider.answer('/token', { status: 400, body: `{"error":"invalid_grant","id_token":"${link}"}` });
    const wrong = await here.signIn(account);
    await provider.answer('/token', { bytes: 100 * MB });
    const broken = await here.signIn(account);
    expect([right, wrong, broken].map(({ response }) => response.status)).toEqual([303, 400, 502]);

    const codes = [right, wrong, broken].map(({ callback }) => new URL(callback).searchParams.get('code')!);
    const cookies = right.browser.cookies(server.url);
    const [pending, session] = [cookies.get(PENDING)!, cookies.get('oriel')!];
    const pages = await Promise.all([right, wrong, broken].map(({ response }) => response.text()));
    const { rows } = await world.server.db.pool.query('select * from audit_log');
    const texts = { lines: lines.join(''), pages: pages.join(''), audit: JSON.stringify(rows) };
    expect(texts.lines).toContain('a sign-in with the provider failed');
    expect(texts.audit).toContain('finishProviderSignIn');
    for (const [where, text] of Object.entries(texts)) {
      for (const secret of [CLIENT_SECRET, link, pending, session, ...codes]) {
        expect([where, text.includes(secret)]).toEqual([where, false]);
      }
    }
  } finally {
    await server.stop();
  }
});
