/** What an environment token can be used for, and what ends it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { allOperations, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { type ExampleServer, startExample } from '../../../test/kinds/example-server.ts';
import { startListening } from '../../../test/listening.ts';
import { addressOf, requestOf } from '../../../test/samples.ts';
import { PASSWORD, signedIn } from '../../../test/sign-in.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { createEnvironmentCredential } from './credential.ts';

let world: World;
let listener: Listener;
/** Serves the example operations that query, and takes environment tokens as every server does. */
let server: ExampleServer;
beforeAll(async () => {
  world = await createWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
  server = await startExample({ kinds: [newKind()] });
});
afterAll(async () => {
  await server.stop();
  await listener.end();
  await world.stop();
});

/** The kind as another server would have it, with its own memory. */
const newKind = () =>
  createEnvironmentCredential({
    essential: world.server.essential,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
  });

type Client = World['admin'];

async function production() {
  const { id: deploymentId } = await world.deployment();
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'production' });
  return { deploymentId, environmentId: items[0]!.id };
}
type Place = Awaited<ReturnType<typeof production>>;

const CONTEXT = { customer: { id: 42 } };
const newToken = async (
  client: Client,
  at: Place,
  options: { scopes?: string[]; expires_in?: number } = {},
) =>
  (await client.createDeploymentEnvironmentToken({ ...at, body: { security_context: CONTEXT, ...options } }))
    .data.token;

const query = (deploymentId: number, authorization: string, what: 'data' | 'meta' = 'data') =>
  server.raw('GET', `/example/deployments/${deploymentId}/${what}`, {
    key: null,
    headers: { authorization },
  });
const statusOf = async (at: { deploymentId: number }, token: string, what?: 'data' | 'meta') =>
  (await query(at.deploymentId, `Bearer ${token}`, what)).status;
const ends = (at: Place, token: string) => expectWithinASecond(() => statusOf(at, token), 401);

test('a token queries its environment with its security context, with and without a scheme', async () => {
  const at = await production();
  const token = await newToken(world.admin, at);
  for (const authorization of [`Bearer ${token}`, `bearer ${token}`, token]) {
    const response = await query(at.deploymentId, authorization);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      kind: 'tokenHolder',
      branchId: Number(at.environmentId),
      isCreator: false,
      securityContext: CONTEXT,
    });
  }
});

test('an operation that queries takes people too', async () => {
  const { deploymentId } = await production();
  expect((await query(deploymentId, 'Api-Key all')).status).toBe(200);
});

test.each([
  ['another scheme', (token: string) => `Api-Key ${token}`],
  ['another token of the same form', (token: string) => `Bearer ${token.slice(0, -43)}${'x'.repeat(43)}`],
  ['a token that is cut off', (token: string) => `Bearer ${token.slice(0, -1)}`],
  ['a token with something behind it', (token: string) => `Bearer ${token}x`],
  ['a token in upper case', (token: string) => `Bearer ${token.toUpperCase()}`],
  ['two tokens', (token: string) => `Bearer ${token} ${token}`],
  ['something else without a scheme', () => 'a-made-up-token'],
])('%s is a 401', async (_, authorization) => {
  const at = await production();
  const token = await newToken(world.admin, at);
  const response = await query(at.deploymentId, authorization(token));
  expect(response.status).toBe(401);
  expect(JSON.stringify(await response.json())).not.toContain(token.slice(10, 30));
});

describe('every other operation refuses the token with a 401', () => {
  let token: string;
  let at: Place;
  beforeAll(async () => {
    at = await production();
    token = await newToken(world.admin, at);
  });
  const others = allOperations.filter(({ auth }) => auth !== 'public' && auth !== 'query');

  test.each(others.map((op): [string, Operation] => [op.id, op]))('%s', async (_id, op) => {
    const { headers, ...rest } = requestOf(op);
    for (const authorization of [`Bearer ${token}`, token, `Api-Key ${token}`]) {
      const address = addressOf(op, { deploymentId: at.deploymentId });
      const init = { headers: { ...headers, authorization }, ...rest };
      expect((await world.raw(op.method, address, init)).status).toBe(401);
    }
  });
});

test('in another deployment, which may not exist, the token is a 403', async () => {
  const [at, other] = [await production(), await production()];
  const token = await newToken(world.admin, at);
  expect(await statusOf(other, token)).toBe(403);
  expect(await statusOf({ deploymentId: 999_999_999 }, token)).toBe(403);
});

describe('scopes', () => {
  const reaches = async (at: Place, token: string) => [
    await statusOf(at, token, 'meta'),
    await statusOf(at, token, 'data'),
  ];

  test.each([
    ['without scopes', undefined, [200, 200]],
    ['data', ['data'], [403, 200]],
    ['meta', ['meta'], [200, 403]],
    ['none', [], [403, 403]],
    ['a word that means nothing', ['jobs'], [403, 403]],
  ])('%s', async (_, scopes, statuses) => {
    const at = await production();
    const token = await newToken(world.admin, at, scopes && { scopes });
    expect(await reaches(at, token)).toEqual(statuses);
  });

  test('a token for meta sync reads no data, whatever it asks for', async () => {
    const at = await production();
    const { data } = await world.admin.createDeploymentEnvironmentTokenForMetaSync({
      ...at,
      body: { security_context: {}, scopes: ['data'] },
    });
    expect(await reaches(at, data.token)).toEqual([200, 403]);
  });
});

test('the token of a person for themselves carries their identity, and their own security context', async () => {
  const { deploymentId, environmentId } = await production();
  const { client, userId } = await world.person({ roles: ['Explorer'] });
  await world.admin.updateUser({ id: userId, body: { securityContext: { region: 'EU' } } });
  const { apiToken } = await client.deploymentToken({ deploymentId });
  const { username, email } = await client.getMe();
  const response = await query(deploymentId, apiToken);
  expect(await response.json()).toEqual({
    kind: 'tokenHolder',
    branchId: Number(environmentId),
    isCreator: true,
    securityContext: { region: 'EU', user: { id: userId, username, email } },
  });
});

describe('a token ends', () => {
  test('when its time is over', async () => {
    const at = await production();
    await ends(at, await newToken(world.admin, at, { expires_in: 1 }));
  });

  test('when it is deleted, which only its own environment does, and no other token with it', async () => {
    const [at, other] = [await production(), await production()];
    const made = async () =>
      (await world.admin.createDeploymentEnvironmentToken({ ...at, body: { security_context: {} } })).data;
    const [token, kept] = [await made(), await made()];
    expect(await statusOf(at, token.token)).toBe(200);
    const remove = (where: Place) =>
      world.admin.deleteDeploymentEnvironmentToken({ ...where, tokenId: token.id });
    await expect(remove(other)).rejects.toMatchObject({ status: 404, code: 'environment_token_not_found' });
    expect(await statusOf(at, token.token)).toBe(200);
    await remove(at);
    await ends(at, token.token);
    expect(await statusOf(at, kept.token)).toBe(200);
  });

  test('with its deployment', async () => {
    const at = await production();
    const token = await newToken(world.admin, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.deleteDeployment({ deploymentId: at.deploymentId });
    await ends(at, token);
  });

  test('for good when its creator is deactivated', async () => {
    const at = await production();
    const { client, userId } = await world.person({ roles: ['Developer'] });
    const token = await newToken(client, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.bulkUserAction({ body: { action: 'DEACTIVATE', userIds: [userId] } });
    await ends(at, token);
    await world.admin.bulkUserAction({ body: { action: 'ACTIVATE', userIds: [userId] } });
    expect(await statusOf(at, token)).toBe(401);
  });

  test('when its creator was deactivated while it was made', async () => {
    const at = await production();
    const { client, userId } = await world.person({ roles: ['Developer'] });
    const held = await holdRows(world, 'branches', [Number(at.environmentId)]);
    const made = newToken(client, at);
    await held.waiting('for key share of b');
    await world.admin.bulkUserAction({ body: { action: 'DEACTIVATE', userIds: [userId] } });
    await held.release();
    await ends(at, await made);
  });

  test('when its creator is deleted', async () => {
    const at = await production();
    const { client, userId } = await world.person({ roles: ['Developer'] });
    const token = await newToken(client, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.deleteUser({ id: userId });
    await ends(at, token);
  });

  test('when its creator loses the role that let them make it', async () => {
    const at = await production();
    const { client, userId } = await world.person({ roles: ['Developer'] });
    const token = await newToken(client, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.updateUser({ id: userId, body: { roles: ['Explorer'] } });
    await ends(at, token);
  });

  test.each(['DeploymentRead', 'SchemaUpdate'] as const)('when that role loses %s', async (lost) => {
    const at = await production();
    const actions = ['DeploymentRead', 'SchemaUpdate'] as ('DeploymentRead' | 'SchemaUpdate')[];
    const role = await world.admin.createRole({ body: { name: unique('role'), actions } });
    const { client } = await world.person({ roles: [role.name] });
    const token = await newToken(client, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.updateRole({ id: role.id, body: { actions: actions.filter((one) => one !== lost) } });
    await ends(at, token);
  });

  test('when the policy on the deployment that let its creator make it is cleared', async () => {
    const at = await production();
    const { client, userId } = await world.person({ roles: [] });
    const policy = { resourceType: 'Deployment', resourceId: at.deploymentId, userId } as const;
    await world.admin.setUserPolicy({ body: { ...policy, action: 'SchemaUpdate' } });
    const token = await newToken(client, at);
    expect(await statusOf(at, token)).toBe(200);
    await world.admin.setUserPolicy({ body: policy });
    await ends(at, token);
  });

  test('with the API key that made it, also if the key is moved to another deployment', async () => {
    const [at, other] = [await production(), await production()];
    const made = async () => {
      const person = await world.person({ roles: ['Developer'] });
      const token = await newToken(person.client, at);
      expect(await statusOf(at, token)).toBe(200);
      return { id: person.apiKeyId, token };
    };
    const [deleted, moved] = [await made(), await made()];
    await world.admin.deleteApiKey({ id: deleted.id });
    await world.admin.updateApiKey({ id: moved.id, body: { deploymentIds: [other.deploymentId] } });
    await ends(at, deleted.token);
    await ends(at, moved.token);
  });

  test('when the API key or the session that made it expires, whether it was used before or not', async () => {
    const at = await production();
    const { userId } = await world.person({ roles: ['Developer'] });
    const expiresAt = new Date(Date.now() + 15_000);
    const body = { name: 'brief', userId, expiresAt: expiresAt.toISOString() };
    const client = world.client((await world.admin.createApiKey({ body })).key);
    const session = await signedIn(world, { roles: ['Developer'] });
    const end = 'update sessions set expires_at = $2 where user_id = $1';
    await world.server.db.pool.query(end, [session.id, expiresAt]);
    const makers = [client, session.client];
    const used = await Promise.all(makers.map((maker) => newToken(maker, at)));
    const unused = await Promise.all(makers.map((maker) => newToken(maker, at)));
    for (const token of used) expect(await statusOf(at, token)).toBe(200);
    await sleep(expiresAt.getTime() - Date.now() + 100);
    for (const token of [...used, ...unused]) expect(await statusOf(at, token)).toBe(401);
  });

  test('with the session that made it, and with the password of its creator', async () => {
    const at = await production();
    const [leaving, changing] = [
      await signedIn(world, { roles: ['Developer'] }),
      await signedIn(world, { roles: ['Developer'] }),
    ];
    const tokens = [await newToken(leaving.client, at), await newToken(changing.client, at)] as const;
    for (const token of tokens) expect(await statusOf(at, token)).toBe(200);
    await leaving.client.logout({ body: {} });
    const newPassword = 'another pass phrase, quite long';
    await changing.client.changeMyPassword({ body: { currentPassword: PASSWORD, newPassword } });
    for (const token of tokens) await ends(at, token);
  });
});

test('a token that is in use needs no query', async () => {
  const at = await production();
  const token = await newToken(world.admin, at);
  const reads = async () =>
    (await statementsDuring(world.server.essential, () => statusOf(at, token))).filter(({ text }) =>
      text.includes('environment_tokens'),
    ).length;
  await expect.poll(reads).toBe(0);
});

test('a valid token works from an address that sends many wrong ones', async () => {
  const kind = newKind();
  const verify = async (secret: string) =>
    kind.verify({ scheme: 'bearer', secret, method: 'GET', headers: {}, address: '192.0.2.1' });
  let status: number;
  let i = 0;
  do {
    const wrong = `oriel_env_${String(i++).padStart(43, 'x')}`;
    status = await verify(wrong).catch(({ statusCode }) => statusCode);
  } while (status === 401);
  expect(status).toBe(429);
  const at = await production();
  await expect(verify(await newToken(world.admin, at))).resolves.toMatchObject({ kind: 'tokenHolder' });
});
