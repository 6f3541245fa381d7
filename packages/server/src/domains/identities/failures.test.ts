/** What an operator can find out about a sign-in with the provider that failed. */
import { createOrielClient } from '@oriel/client';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../../../test/checked-fetch.ts';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { errorOf, newAccount, visitsTo } from '../../../test/sign-in-provider/visits.ts';
import { ADMIN_KEY, createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { type RunningServer, startServer } from '../../start-server.ts';

let provider: SignInProvider;
let world: World;
const servers: RunningServer[] = [];
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld();
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop()]);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await provider.reset();
});

/** Another server on the same database, with these settings, and the lines of its log about sign-ins that failed. */
async function serverWith(env: Record<string, string> = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = readConfig({
    ...provider.env,
    ...env,
    ORIEL_PORT: '0',
    ORIEL_DATABASE_URL: world.databaseUrl,
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
  });
  const server = await startServer(config, log);
  servers.push(server);
  await provider.serve(server.url);
  const failures = () => lines.filter(({ msg }) => msg === 'a sign-in with the provider failed');
  const warnings = () => lines.filter(({ msg }) => msg === 'the sign-in provider cannot be used');
  return { here: visitsTo({ ...world, url: server.url }, provider), url: server.url, failures, warnings };
}

const idOf = (response: Response) => response.headers.get('x-request-id');
const PAGE = 'The sign-in provider cannot be used at present.';

test('the log has the number on the page, the code, and who it was', async () => {
  const { here, failures } = await serverWith();
  const account = newAccount();
  const { response } = await here.signIn(account);
  expect(await response.text()).toContain(idOf(response));
  expect(failures()).toMatchObject([
    { requestId: idOf(response), code: 'identity_unknown', issuer: provider.issuer, subject: account.sub },
  ]);
});

test.each([
  ['another path', () => `${provider.issuer}/nothing`, { status: 404, check: 'ORIEL_OIDC_ISSUER' }],
  ['a closed port', () => 'http://127.0.0.1:1', { check: 'ORIEL_OIDC_ISSUER' }],
])(
  'an issuer with %s: page and log say that the provider cannot be used, and what to check',
  async (_, issuerOf, expected) => {
    const issuer = issuerOf();
    const { here, url, failures } = await serverWith({ ORIEL_OIDC_ISSUER: issuer });
    const response = await here.newBrowser().get(`${url}/sign-in/provider`);
    expect(errorOf(response)).toEqual([502, 'provider_unavailable']);
    expect(await response.text()).toContain(PAGE);
    expect(failures()).toMatchObject([
      { requestId: idOf(response), code: 'provider_unavailable', ...expected },
    ]);
    const { asked, reason } = failures()[0] as { asked?: string; reason: string };
    expect(asked ?? reason).toContain(issuer);
  },
);

test('an admin tests the settings, and is told which of them is wrong', async () => {
  const tested = async (env: Record<string, string> = {}) => {
    const { url } = await serverWith(env);
    return createOrielClient({ baseUrl: url, apiKey: ADMIN_KEY, fetch: checkedFetch }).testSignInProvider();
  };
  expect(await tested()).toMatchObject({
    code: 'works',
    issuer: provider.issuer,
    redirectUri: expect.stringMatching(/\/sign-in\/provider\/callback$/),
    reason: null,
    check: null,
  });
  const cases: [Record<string, string>, string, string][] = [
    [
      { ORIEL_OIDC_CLIENT_SECRET: 'wrong' },
      'client_refused',
      'ORIEL_OIDC_CLIENT_ID, ORIEL_OIDC_CLIENT_SECRET',
    ],
    [{ ORIEL_OIDC_ISSUER: 'http://127.0.0.1:1' }, 'not_reached', 'ORIEL_OIDC_ISSUER'],
    [{ ORIEL_OIDC_ISSUER: `${provider.issuer}/nothing` }, 'wrong_answer', 'ORIEL_OIDC_ISSUER'],
    [
      { ORIEL_OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost') },
      'issuer_differs',
      'ORIEL_OIDC_ISSUER',
    ],
    [
      { ORIEL_OIDC_ISSUER: 'https://10.0.0.1', ORIEL_ALLOW_PRIVATE_REMOTES: 'false' },
      'address_refused',
      'ORIEL_OIDC_ISSUER, ORIEL_ALLOW_PRIVATE_REMOTES',
    ],
  ];
  for (const [env, code, check] of cases) expect(await tested(env)).toMatchObject({ code, check });
  expect(await world.admin.testSignInProvider()).toMatchObject({ code: 'not_configured', issuer: null });
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.testSignInProvider()).rejects.toMatchObject({ status: 403 });
});

test('the log says at the start that the provider cannot be used, and what to check', async () => {
  const { warnings } = await serverWith({ ORIEL_OIDC_ISSUER: 'http://127.0.0.1:1' });
  await expect.poll(warnings).toMatchObject([{ level: 40, check: 'ORIEL_OIDC_ISSUER' }]);
  const working = await serverWith();
  await working.here.signIn(newAccount());
  expect(working.warnings()).toEqual([]);
});

test('a private address is refused, and the log names the setting that allows it', async () => {
  const { here, url, failures } = await serverWith({
    ORIEL_OIDC_ISSUER: 'https://127.0.0.1:1',
    ORIEL_ALLOW_PRIVATE_REMOTES: 'false',
  });
  await here.newBrowser().get(`${url}/sign-in/provider`);
  expect(failures()).toMatchObject([{ check: expect.stringContaining('ORIEL_ALLOW_PRIVATE_REMOTES') }]);
});

test('a wrong client secret: the log names the address, the status and the settings', async () => {
  const { here, failures } = await serverWith({ ORIEL_OIDC_CLIENT_SECRET: 'wrong' });
  const { response } = await here.signIn(newAccount());
  expect(await response.text()).toContain(PAGE);
  expect(failures()).toMatchObject([
    {
      requestId: idOf(response),
      asked: `${provider.issuer}/token`,
      status: 401,
      check: 'ORIEL_OIDC_CLIENT_ID, ORIEL_OIDC_CLIENT_SECRET',
    },
  ]);
});

test('a sign-in that began at another address of the server: the page says where to begin, the log what to check', async () => {
  const { here, url, failures } = await serverWith();
  const response = await here.newBrowser().get(`${url}/sign-in/provider/callback?code=x&state=y`);
  expect(await response.text()).toContain(`Sign in again at ${url}/sign-in.`);
  expect(failures()).toMatchObject([
    {
      requestId: idOf(response),
      code: 'sign_in_not_begun',
      check: expect.stringContaining('ORIEL_PUBLIC_URL'),
    },
  ]);
});

test('a form from another address: the page names the setting of the right address', async () => {
  const { url } = await serverWith();
  const response = await fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { origin: 'https://bi.example.com', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'name=ada&password=wrong-password',
  });
  expect(response.status).toBe(403);
  expect(await response.text()).toMatch(/ORIEL_PUBLIC_URL/);
});
