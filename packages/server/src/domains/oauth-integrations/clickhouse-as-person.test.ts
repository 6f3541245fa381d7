/**
 * People who query ClickHouse with their own access: a double of ClickHouse, which asks a real OpenID Connect provider
 * about each token. The provider takes each refresh token once, and ends everything if one comes twice.
 */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type FakeClickHouse, failure, rows, startFakeClickHouse } from '../../../test/fake-clickhouse.ts';
import {
  type ConnectingUser,
  connect,
  connectingPerson,
  connectingRole,
  endAccess,
  integrationOf,
  isActive,
  storedTokens,
} from '../../../test/oauth.ts';
import { deployModel } from '../../../test/shops.ts';
import { logIn } from '../../../test/sign-in.ts';
import { CLIENT_SECRET, type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

const MODEL = `cubes:
  - name: who
    sql: "select currentUser() as name"
    dimensions:
      - { name: name, sql: name, type: string }
    access_policy: [{ group: "*" }]
`;

let provider: SignInProvider;
let clickhouse: FakeClickHouse;
let world: World;
let deploymentId: number;
let integrationId: number;
let role: string;
const logged: string[] = [];
const seen = new Set<string>();
beforeAll(async () => {
  provider = await startProvider();
  clickhouse = await startFakeClickHouse({
    async currentUser(response, received) {
      const [user = '', token = ''] = Buffer.from(received.authorization!.slice('Basic '.length), 'base64')
        .toString()
        .split(':');
      seen.add(token);
      if (await isActive(provider, token)) rows({ name: 'String' }, [user])(response, received);
      else
        failure(403, 'Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)')(
          response,
          received,
        );
    },
  });
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' }, log });
  await provider.serve(world.url);
  const integration = integrationOf(world, provider.issuer);
  const config = { ...integration.config, hosts: [`127.0.0.1:${clickhouse.port}`] };
  ({ id: integrationId } = await world.admin.createOAuthIntegration({ body: { ...integration, config } }));
  role = await connectingRole(world, 'DeploymentRead', 'AIBIView');
  ({ id: deploymentId } = await world.deployment());
  const variables = {
    DB_TYPE: 'clickhouse',
    DB_HOST: '127.0.0.1',
    DB_PORT: String(clickhouse.port),
    DB_NAME: 'shop',
    DB_USER: 'reader',
    DB_PASS: 'the-password-of-the-source',
    DB_SSL: 'false',
    DB_OAUTH: String(integrationId),
    DB_OAUTH_USER: '{email}',
  };
  await world.admin.setEnvVariables({
    deploymentId,
    body: { env_variables: Object.entries(variables).map(([name, value]) => ({ name, value })) },
  });
  await deployModel(world, deploymentId, { 'model/cubes/who.yml': MODEL });
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop(), clickhouse?.stop()]);
});
afterEach(async () => {
  await provider.reset();
});

const ask = ({ client }: Pick<ConnectingUser, 'client'>, limit = 1) =>
  client.load({ deploymentId, body: { query: { dimensions: ['who.name'], limit, renewQuery: true } } });
const namesOf = async (person: Pick<ConnectingUser, 'client'>) =>
  ((await ask(person)) as { data: Record<string, string>[] }).data.map((row) => row['who.name']);

async function newPerson() {
  const person = await connectingPerson(world, [role]);
  expect((await connect(world, provider, person, integrationId)).status).toBe(303);
  return person;
}

/** The token is in the password field, and the source's own password is never sent. */
test('each query of a person has their own token', async () => {
  const [ada, eve] = [await newPerson(), await newPerson()];
  expect([await namesOf(ada), await namesOf(eve)]).toEqual([[ada.email], [eve.email]]);
  for (const person of [ada, eve]) {
    const [stored] = await storedTokens(world, person.id);
    expect(seen).toContain(stored!.accessToken);
  }
  expect(seen).not.toContain('the-password-of-the-source');
});

test('refresh tokens that work once are never used twice, by many queries of two servers', async () => {
  const person = await newPerson();
  const another = await world.anotherServer();
  const { accessToken } = await logIn(world, person);
  const load = (url: string, limit: number) =>
    fetch(`${url}/query/api/v1/deployments/${deploymentId}/load`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ query: { dimensions: ['who.name'], limit } }),
    });
  const refreshTokens = new Set<string | null>();
  for (let round = 0; round < 3; round++) {
    await endAccess(world, person.id);
    const asked = Array.from({ length: 10 }, (_, i) =>
      load(i % 2 ? world.url : another.url, 1 + round * 10 + i),
    );
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
    refreshTokens.add((await storedTokens(world, person.id))[0]!.refreshToken);
  }
  expect(refreshTokens.size).toBe(3);
  expect(await person.client.getUserOAuthToken({ integrationId })).toMatchObject({ status: 'active' });
});

/** A webhook of events, and what it was told. */
async function eventsOf() {
  const { id } = await world.admin.createWebhook({
    body: { url: 'http://127.0.0.1:9/nobody', events: ['oauth_token.failed'] },
  });
  return async () => {
    const { items } = await world.admin.listWebhookDeliveries({ id });
    await world.admin.deleteWebhook({ id });
    return items.map(({ payload }) => JSON.parse(payload!).data);
  };
}

test('an access that cannot be renewed any more has ended, and the connection says so', async () => {
  const person = await newPerson();
  const told = await eventsOf();
  await endAccess(world, person.id);
  await provider.answer('/token', {
    status: 400,
    body: '{"error":"invalid_grant","error_description":"secret"}',
  });
  await expect(ask(person)).rejects.toMatchObject({
    status: 403,
    code: 'oauth_connection_required',
    message: expect.stringContaining('The service does not renew the access any more'),
  });
  expect(await person.client.getUserOAuthToken({ integrationId })).toMatchObject({
    status: 'expired',
    lastError: 'The service does not renew the access any more. Connect again.',
  });
  expect(await storedTokens(world, person.id)).toMatchObject([{ accessToken: null, refreshToken: null }]);
  expect(await told()).toEqual([{ id: expect.any(Number), integrationId, userId: person.id }]);
  await provider.reset();
  await connect(world, provider, person, integrationId);
  expect(await namesOf(person)).toEqual([person.email]);
});

test.each([
  ['does not answer as it should', { status: 500, body: '<html>' }, 'active'],
  ['refuses the integration', { status: 401, body: '{"error":"invalid_client"}' }, 'error'],
])('a service that %s ends nothing: the tokens stay, and are renewed later', async (_, answer, status) => {
  const person = await newPerson();
  await endAccess(world, person.id);
  await provider.answer('/token', answer);
  const told = await eventsOf();
  for (let i = 0; i < 2; i++) {
    await expect(ask(person)).rejects.toMatchObject({ status: 502, code: 'oauth_provider_unavailable' });
  }
  // An admin is needed for the second only.
  expect(await told()).toHaveLength(status === 'error' ? 1 : 0);
  const shown = await person.client.getUserOAuthToken({ integrationId });
  expect(shown).toMatchObject({
    status,
    lastError: expect.stringMatching(/tried again|An admin must mend it/),
  });
  await provider.reset();
  await world.server.db.pool.query('update oauth_tokens set retry_at = null where user_id = $1', [person.id]);
  expect(await namesOf(person)).toEqual([person.email]);
  expect(await person.client.getUserOAuthToken({ integrationId })).toMatchObject({
    status: 'active',
    lastError: null,
  });
});

test('no log line has a token or the secret of the integration', async () => {
  const log = logged.join('');
  expect(log).toContain('could not be renewed');
  expect(seen.size).toBeGreaterThan(3);
  for (const secret of [...seen, CLIENT_SECRET]) expect(log).not.toContain(secret);
});
