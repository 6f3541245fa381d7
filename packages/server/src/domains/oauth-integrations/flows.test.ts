/** How people connect and disconnect, with a real provider, and with one that breaks each step. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { browse } from '../../../test/browsing.ts';
import {
  allow,
  type ConnectingUser,
  connect,
  connectingPerson,
  connectingRole,
  integrationOf,
  isActive,
  storedTokens,
} from '../../../test/oauth.ts';
import { PASSWORD } from '../../../test/sign-in.ts';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { errorOf } from '../../../test/sign-in-provider/visits.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { REQUEST } from '../../platform/outbound/oauth-fetch.ts';

const MB = 1024 * 1024;

let provider: SignInProvider;
let world: World;
let integrationId: number;
let role: string;
beforeAll(async () => {
  provider = await startProvider();
  world = await createWorld({ ORIEL_ALLOW_PRIVATE_REMOTES: 'true' });
  await provider.serve(world.url);
  ({ id: integrationId } = await world.admin.createOAuthIntegration({
    body: integrationOf(world, provider.issuer),
  }));
  role = await connectingRole(world);
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop()]);
});
afterEach(async () => {
  vi.useRealTimers();
  await provider.reset();
});

const newPerson = () => connectingPerson(world, [role]);
const begin = async (person: ConnectingUser) => {
  const { authorizationUrl } = await person.client.initiateOAuthFlow({ integrationId });
  return authorizationUrl;
};
const beginInApp = async ({ browser }: ConnectingUser, csrf: string) => {
  const response = await browser.call('POST', `/api/v1/user-oauth-tokens/${integrationId}/initiate`, csrf);
  return ((await response.json()) as { authorizationUrl: string }).authorizationUrl;
};
const begun = async (person: ConnectingUser) => allow(world, provider, await begin(person));
const isConnected = async ({ client }: ConnectingUser) => (await client.listUserOAuthTokens()).length > 0;

test('a person connects: the address has a challenge and a state, and nobody sees the tokens', async () => {
  const person = await newPerson();
  const url = new URL(await begin(person));
  const other = new URL(await begin(person));
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    redirect_uri: `${world.url}/oauth/callback`,
    scope: 'openid offline_access',
    code_challenge_method: 'S256',
  });
  for (const name of ['state', 'code_challenge']) {
    expect(url.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    expect(other.searchParams.get(name)).not.toBe(url.searchParams.get(name));
  }
  const response = await person.browser.get(await allow(world, provider, url.href));
  expect([response.status, response.headers.get('location')]).toEqual([303, '/account?notice=connected']);

  const token = await person.client.getUserOAuthToken({ integrationId });
  expect(token).toMatchObject({ integrationId, userId: person.id, status: 'active', lastError: null });
  expect(Date.parse(token.accessTokenExpiresAt!)).toBeGreaterThan(Date.now() + 3_000_000);
  expect(await person.client.listUserOAuthTokens()).toEqual([token]);
  const [stored] = await storedTokens(world, person.id);
  expect(await isActive(provider, stored!.accessToken!)).toBe(true);
  const replies = JSON.stringify([token, await world.admin.listAuditLog({ actorId: person.id })]);
  for (const secret of [stored!.accessToken!, stored!.refreshToken!]) {
    expect(replies).not.toContain(secret);
    expect(stored!.row.access_token.toString('latin1')).not.toContain(secret);
  }
  const { items } = await world.admin.listAuditLog({ actorId: person.id, resourceType: 'oauthToken' });
  expect(items).toMatchObject([{ operation: 'finishOAuthFlow', resourceId: String(token.id) }]);
});

test('the tokens of one person cannot be opened as those of another', async () => {
  const [ada, eve] = [await newPerson(), await newPerson()];
  for (const person of [ada, eve]) await connect(world, provider, person, integrationId);
  await world.server.db.pool.query(
    'update oauth_tokens set access_token = (select access_token from oauth_tokens where user_id = $1) where user_id = $2',
    [ada.id, eve.id],
  );
  await expect(storedTokens(world, eve.id)).rejects.toThrow('altered');
  await world.server.db.pool.query('delete from oauth_tokens where user_id = $1', [eve.id]);
});

test('in the app: connect, disconnect, and the provider takes the tokens no more', async () => {
  const person = await newPerson();
  const csrf = await person.browser.csrf();
  const callback = await allow(world, provider, await beginInApp(person, csrf));
  expect((await person.browser.get(callback)).status).toBe(303);
  const [stored] = await storedTokens(world, person.id);

  const end = (token: string) =>
    person.browser.call('DELETE', `/api/v1/user-oauth-tokens/${integrationId}`, token);
  expect((await end('wrong')).status).toBe(403);
  expect(await isConnected(person)).toBe(true);
  expect((await end(csrf)).status).toBe(204);
  expect(await isConnected(person)).toBe(false);
  await expect.poll(() => isActive(provider, stored!.refreshToken!)).toBe(false);
  expect(await isActive(provider, stored!.accessToken!)).toBe(false);
  await expect.poll(() => storedTokens(world, person.id)).toEqual([]);
});

test('what a browser began ends in the same session only, and what a program began in any session of the person', async () => {
  const person = await newPerson();
  const { browser: elsewhere } = await newPerson();
  // A second browser of the same person.
  const second = browse(world);
  await second.post('/sign-in', { username: person.email, password: PASSWORD });

  const authorizationUrl = await beginInApp(person, await person.browser.csrf());
  const callback = await allow(world, provider, authorizationUrl);
  expect(errorOf(await second.get(callback))).toEqual([400, 'oauth_flow_not_begun']);
  expect(errorOf(await elsewhere.get(callback))).toEqual([400, 'oauth_flow_not_begun']);
  expect(await isConnected(person)).toBe(false);
  // Others could not use it up.
  expect((await person.browser.get(callback)).status).toBe(303);

  const byProgram = await begun(person);
  expect(errorOf(await elsewhere.get(byProgram))).toEqual([400, 'oauth_flow_not_begun']);
  expect((await second.get(byProgram)).status).toBe(303);
});

test('whoever is not signed in signs in at the callback, and comes back to it', async () => {
  const person = await newPerson();
  const callback = await begun(person);
  const stranger = browse(world);
  const response = await stranger.get(callback);
  expect(response.status).toBe(401);
  const state = new URL(callback, world.url).searchParams.get('state')!;
  expect(await response.text()).toContain(`state=${state}`);
  expect(await isConnected(person)).toBe(false);
});

describe('a callback is refused with a page, and stores nothing', () => {
  async function refused(meddle: (callback: URL, person: ConnectingUser) => unknown) {
    const person = await newPerson();
    const callback = new URL(await begun(person), world.url);
    await meddle(callback, person);
    const response = await person.browser.get(callback.pathname + callback.search);
    expect(await isConnected(person)).toBe(false);
    expect(await storedTokens(world, person.id)).toEqual([]);
    const text = await response.clone().text();
    expect(text).not.toContain(callback.searchParams.get('code') ?? 'no code');
    return [...errorOf(response), text] as const;
  }
  const set = (name: string, value: string) => (callback: URL) => callback.searchParams.set(name, value);

  test.each([
    ['a wrong state', set('state', randomBytes(32).toString('base64url'))],
    ['a missing state', (callback: URL) => callback.searchParams.delete('state')],
    ['an empty state', set('state', '')],
  ])('%s', async (_, meddle) => {
    expect((await refused(meddle)).slice(0, 2)).toEqual([400, 'oauth_flow_not_begun']);
  });

  test('a state of somebody else', async () => {
    const state = new URL(await begun(await newPerson()), world.url).searchParams.get('state')!;
    expect((await refused(set('state', state))).slice(0, 2)).toEqual([400, 'oauth_flow_not_begun']);
  });

  test('a state of ten minutes ago', async () => {
    const answer = await refused((_, person) =>
      world.server.db.pool.query(
        "update oauth_flows set expires_at = expires_at - interval '10 minutes' where user_id = $1",
        [person.id],
      ),
    );
    expect(answer.slice(0, 2)).toEqual([400, 'oauth_flow_not_begun']);
  });

  test('an integration that has changed since', async () => {
    const own = integrationOf(world, provider.issuer);
    const { id } = await world.admin.createOAuthIntegration({ body: own });
    const person = await newPerson();
    const { authorizationUrl } = await person.client.initiateOAuthFlow({ integrationId: id });
    const callback = await allow(world, provider, authorizationUrl);
    const { clientSecret: _kept, ...shown } = own;
    await world.admin.updateOAuthIntegration({ id, body: { ...shown, scopes: ['openid'] } });
    expect(errorOf(await person.browser.get(callback))).toEqual([400, 'oauth_flow_not_begun']);
    expect(await isConnected(person)).toBe(false);
  });

  test('the answer of one service at the address of another, and what was begun is over', async () => {
    const redirectUri = `${world.url}/oauth/callback/warehouse`;
    const { id } = await world.admin.createOAuthIntegration({
      body: integrationOf(world, provider.issuer, { redirectUri }),
    });
    const person = await newPerson();
    const start = async (integrationId: number) =>
      allow(world, provider, (await person.client.initiateOAuthFlow({ integrationId })).authorizationUrl);
    const named = await start(id);
    expect(named).toMatch(/^\/oauth\/callback\/warehouse\?/);
    const mixedUp = named.replace('/warehouse?', '?');
    expect(errorOf(await person.browser.get(mixedUp))).toEqual([400, 'oauth_flow_not_begun']);
    expect(errorOf(await person.browser.get(named))).toEqual([400, 'oauth_flow_not_begun']);
    const other = (await start(integrationId)).replace('?', '/warehouse?');
    expect(errorOf(await person.browser.get(other))).toEqual([400, 'oauth_flow_not_begun']);
    expect(await isConnected(person)).toBe(false);
    expect((await person.browser.get(await start(id))).status).toBe(303);
    expect(await isConnected(person)).toBe(true);
  });

  test('an error of the provider, whose words are not repeated', async () => {
    const [status, code, text] = await refused((callback) => {
      callback.searchParams.delete('code');
      callback.searchParams.set('error', 'access_denied');
      callback.searchParams.set('error_description', 'Call 0900-EVIL');
    });
    expect([status, code]).toEqual([400, 'oauth_provider_refused']);
    expect(text).toContain('You did not allow the access');
    expect(text).not.toContain('EVIL');
  });

  test.each([
    ['a wrong code', set('code', randomBytes(32).toString('base64url'))],
    ['a missing code', (callback: URL) => callback.searchParams.delete('code')],
    ['an `iss` of another provider', set('iss', 'https://evil.example')],
  ])('%s', async (_, meddle) => {
    expect((await refused(meddle)).slice(0, 2)).toEqual([400, 'oauth_provider_refused']);
  });

  test('the second time, and the connection stays', async () => {
    const person = await newPerson();
    const callback = await begun(person);
    expect((await person.browser.get(callback)).status).toBe(303);
    expect(errorOf(await person.browser.get(callback))).toEqual([400, 'oauth_flow_not_begun']);
    expect(await isConnected(person)).toBe(true);
  });

  test('the code of another flow, which was made with another challenge', async () => {
    const other = new URL(await begun(await newPerson()), world.url).searchParams.get('code')!;
    expect((await refused(set('code', other))).slice(0, 2)).toEqual([400, 'oauth_provider_refused']);
  });

  const tokens = (more: object) => ({
    body: JSON.stringify({ access_token: 'x', token_type: 'Bearer', expires_in: 60, ...more }),
  });
  test.each([
    ['is not JSON', { body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['says that it is JSON and is not', { body: '{"access_token":' }],
    ['has 10 MB', { bytes: 10 * MB }],
    ['never comes', { silence: 'for ever' as const }],
    ['is cut off', { silence: 'closed' as const }],
    ['is a redirect to this machine', { status: 307, headers: { location: '/token/introspection' } }],
    ['is an error of its server', { status: 500, body: '{}' }],
    ['has a token with a line break', tokens({ access_token: 'a\r\nb' })],
    ['has a token of 100 KB', tokens({ access_token: 'x'.repeat(100_000) })],
    ['has a token of another type', tokens({ token_type: 'mac' })],
  ])('a token reply that %s', async (name, answer) => {
    const { timeoutMs } = REQUEST;
    try {
      const meddle = () => {
        // As if the provider had not answered for seconds.
        if (name === 'never comes') REQUEST.timeoutMs = 300;
        return provider.answer('/token', answer);
      };
      expect((await refused(meddle)).slice(0, 2)).toEqual([502, 'oauth_provider_unavailable']);
    } finally {
      REQUEST.timeoutMs = timeoutMs;
    }
  });

  test('a provider that does not know our client says who can mend it', async () => {
    const [status, , text] = await refused(() =>
      provider.answer('/token', { status: 401, body: '{"error":"invalid_client"}' }),
    );
    expect(status).toBe(502);
    expect(text).toContain('An admin must mend it');
  });
});

test('deleting an integration ends all of its connections, also at the provider', async () => {
  const { id } = await world.admin.createOAuthIntegration({ body: integrationOf(world, provider.issuer) });
  const people = [await newPerson(), await newPerson()];
  for (const person of people) expect((await connect(world, provider, person, id)).status).toBe(303);
  const stored = await Promise.all(people.map((person) => storedTokens(world, person.id)));
  await world.admin.deleteOAuthIntegration({ id });
  for (const person of people) expect(await isConnected(person)).toBe(false);
  for (const [token] of stored) await expect.poll(() => isActive(provider, token!.refreshToken!)).toBe(false);
  await expect
    .poll(
      async () =>
        (await world.server.db.pool.query('select from oauth_integrations where id = $1', [id])).rowCount,
    )
    .toBe(0);
});

test('an integration that becomes another one forgets the tokens, and tells people to connect again', async () => {
  const { clientSecret, ...shown } = integrationOf(world, provider.issuer);
  const { id } = await world.admin.createOAuthIntegration({ body: { ...shown, clientSecret } });
  const person = await newPerson();
  await connect(world, provider, person, id);
  await world.admin.updateOAuthIntegration({ id, body: { ...shown, name: `${shown.name}-renamed` } });
  expect(await person.client.getUserOAuthToken({ integrationId: id })).toMatchObject({ status: 'active' });
  await world.admin.updateOAuthIntegration({
    id,
    body: { ...shown, tokenUrl: 'https://evil.example.com/', clientSecret: 'x' },
  });
  expect(await person.client.getUserOAuthToken({ integrationId: id })).toMatchObject({
    status: 'revoked',
    lastError: 'The integration was changed. Connect again.',
  });
  expect(await storedTokens(world, person.id)).toMatchObject([{ accessToken: null, refreshToken: null }]);
});

test('a user who is deleted has no tokens, also at the provider', async () => {
  const person = await newPerson();
  await connect(world, provider, person, integrationId);
  const [stored] = await storedTokens(world, person.id);
  await world.admin.deleteUser({ id: person.id });
  // Ending another connection is what begins the job here. Otherwise its schedule does, within minutes.
  const other = await newPerson();
  await connect(world, provider, other, integrationId);
  await other.client.revokeUserOAuthToken({ integrationId });
  await expect.poll(() => isActive(provider, stored!.refreshToken!)).toBe(false);
});
