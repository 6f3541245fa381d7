/** Creating and listing the tokens of environments. */
import { limits, operations } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { ACTION_FOR, TOKENS_MAX } from './rules.ts';

const NO_ENVIRONMENT = { status: 404, code: 'environment_not_found' };

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

/** The production environment of a new deployment. */
async function production() {
  const { id: deploymentId } = await world.deployment();
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'production' });
  expect(items).toHaveLength(1);
  return { deploymentId, environmentId: items[0]!.id };
}

const body = (changes: object = {}) => ({ security_context: { customer: { id: 42 } }, ...changes });
const lifeOf = ({ created_at, expires_at }: { created_at: string; expires_at: string }) =>
  (Date.parse(expires_at) - Date.parse(created_at)) / 1000;

test('the production environment is the deploy branch, and says where to query', async () => {
  const { deploymentId, environmentId } = await production();
  const { items, data, pagination } = await world.admin.getDeploymentEnvironments({ deploymentId });
  expect(items).toEqual([
    {
      id: environmentId,
      type: 'production',
      branch: 'main',
      user: null,
      api_credentials: [
        { type: 'rest', version: 1, url: `${world.url}/query/api/v1/deployments/${deploymentId}` },
      ],
    },
  ]);
  expect(data).toEqual(items);
  expect(pagination).toEqual({ limit: 50, offset: 0, total: 1 });
  const none = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'staging', limit: 10 });
  expect(none).toMatchObject({ items: [], pageInfo: null, pagination: { limit: 10, total: 0 } });
});

test('a token is shown once, and then only by its last characters', async () => {
  const at = await production();
  const context = { customer: { id: 42 }, exact: 0.1, ids: ['9007199254740993'] };
  const { data: made } = await world.admin.createDeploymentEnvironmentToken({
    ...at,
    body: body({ security_context: context, expires_in: 600 }),
  });
  expect(made.token).toMatch(/^oriel_env_[\w-]{43}$/);
  expect(made.security_context).toEqual(context);
  expect(lifeOf(made)).toBe(600);
  const list = await world.admin.getDeploymentEnvironmentTokens(at);
  expect(list.items).toEqual([{ ...made, token: `oriel_env_…${made.token.slice(-4)}` }]);
  expect(list.data).toEqual(list.items);
  const { rows } = await world.server.db.pool.query(
    'select to_jsonb(t)::text as row from environment_tokens t where deployment_id = $1',
    [at.deploymentId],
  );
  const log = await world.admin.listAuditLog({ deploymentId: at.deploymentId });
  expect(JSON.stringify([rows, log])).not.toContain(made.token.slice('oriel_env_'.length));
  expect(log.items[0]).toMatchObject({
    operation: 'createDeploymentEnvironmentToken',
    resourceType: 'environmentToken',
    after: { purpose: 'query', scopes: ['meta', 'data'], securityContext: context },
  });
});

test('the list leaves out what has expired, and can be paged in both ways', async () => {
  const at = await production();
  for (let i = 0; i < 4; i++) await world.admin.createDeploymentEnvironmentToken({ ...at, body: body() });
  const all = await world.admin.getDeploymentEnvironmentTokens(at);
  expect(all.items).toHaveLength(4);
  await world.server.db.pool.query('update environment_tokens set expires_at = now() where id = $1', [
    all.items[1]!.id,
  ]);
  const [first, , third, fourth] = all.items;
  const byOffset = await world.admin.getDeploymentEnvironmentTokens({ ...at, offset: 1, limit: 2 });
  expect(byOffset).toMatchObject({ items: [third, fourth], pageInfo: null, pagination: { total: 3 } });
  const seen = [];
  for await (const token of world.admin.iterate.getDeploymentEnvironmentTokens({ ...at, first: 1 }))
    seen.push(token);
  expect(seen).toEqual([first, third, fourth]);
  const mixed = world.admin.getDeploymentEnvironmentTokens({ ...at, offset: 1, first: 2 });
  await expect(mixed).rejects.toMatchObject({ status: 400, code: 'mixed_pagination' });
});

test('a token lives for an hour unless the caller says less', async () => {
  const at = await production();
  const life = async (expires_in?: number | null) =>
    lifeOf((await world.admin.createDeploymentEnvironmentToken({ ...at, body: body({ expires_in }) })).data);
  expect([await life(), await life(null), await life(1), await life(3600)]).toEqual([3600, 3600, 1, 3600]);
});

test.each([
  ['a life of 0 seconds', { expires_in: 0 }],
  ['a life of more than an hour', { expires_in: 3601 }],
  ['a part of a second', { expires_in: 1.5 }],
  ['no security context', { security_context: undefined }],
  ['a security context that is null', { security_context: null }],
  ['a security context that is a list', { security_context: [] }],
  ['a security context of more than 16 KB', { security_context: { x: 'x'.repeat(limits.tokenContext) } }],
  ['an id that would be rounded', '{"security_context":{"id":9007199254740993}}'],
  ['a key twice', '{"security_context":{"id":1,"id":2}}'],
  ['scopes that are text', { scopes: 'data' }],
  ['an empty scope', { scopes: [''] }],
  ['too many scopes', { scopes: Array.from({ length: 21 }, (_, i) => `s${i}`) }],
  ['an unknown field', { role: 'admin' }],
])('bad input is a 400, and makes no token: %s', async (_, bad) => {
  const at = await production();
  for (const path of ['tokens', 'tokens-for-meta-sync']) {
    const address = `/api/v1/deployments/${at.deploymentId}/environments/${at.environmentId}/${path}`;
    const response = await world.raw('POST', address, {
      headers: { 'content-type': 'application/json' },
      body: typeof bad === 'string' ? bad : JSON.stringify(body(bad)),
    });
    expect(response.status).toBe(400);
  }
  expect((await world.admin.getDeploymentEnvironmentTokens(at)).items).toEqual([]);
});

test('an environment of another deployment, and what is no id, is the same 404', async () => {
  const [mine, others] = [await production(), await production()];
  const messages = new Set<string>();
  for (const environmentId of [others.environmentId, '0', '-1', '1.5', 'main', '9'.repeat(40), '%2e%2e']) {
    const at = { deploymentId: mine.deploymentId, environmentId };
    for (const attempt of [
      () => world.admin.getDeploymentEnvironmentTokens(at),
      () => world.admin.createDeploymentEnvironmentToken({ ...at, body: body() }),
      () => world.admin.createDeploymentEnvironmentTokenForMetaSync({ ...at, body: body() }),
    ]) {
      const error = await attempt().catch((refused) => refused);
      expect(error).toMatchObject(NO_ENVIRONMENT);
      messages.add(error.message);
    }
  }
  expect(messages.size).toBe(1);
});

describe('who may create a token', () => {
  const attempts = {
    query: (client: World['admin'], at: Awaited<ReturnType<typeof production>>) =>
      client.createDeploymentEnvironmentToken({ ...at, body: body() }),
    meta_sync: (client: World['admin'], at: Awaited<ReturnType<typeof production>>) =>
      client.createDeploymentEnvironmentTokenForMetaSync({ ...at, body: body() }),
    own_identity: (client: World['admin'], { deploymentId }: { deploymentId: number }) =>
      client.deploymentToken({ deploymentId }),
  };

  test.each([
    ['Viewer', []],
    ['Explorer', ['meta_sync', 'own_identity']],
    ['Developer', ['query', 'meta_sync', 'own_identity']],
    ['Admin', ['query', 'meta_sync', 'own_identity']],
  ] as const)('%s', async (role, allowed) => {
    const at = await production();
    const { client } = await world.person({ roles: [role] });
    for (const [purpose, create] of Object.entries(attempts)) {
      const outcome = await create(client, at).then(
        () => 'made',
        ({ status }) => status,
      );
      expect([purpose, outcome]).toEqual([
        purpose,
        (allowed as readonly string[]).includes(purpose) ? 'made' : 403,
      ]);
    }
  });

  test('the contract needs the same action as the use of the token', () => {
    expect(operations.createDeploymentEnvironmentToken.permission).toBe(ACTION_FOR.query);
    expect(operations.createDeploymentEnvironmentTokenForMetaSync.permission).toBe(ACTION_FOR.meta_sync);
    expect(operations.deploymentToken.permission).toBe(ACTION_FOR.own_identity);
  });
});

test('of calls that create tokens at once at the limit, as many succeed as there is room for', async () => {
  const at = await production();
  const { data } = await world.admin.createDeploymentEnvironmentToken({ ...at, body: body() });
  const fill = (count: number) =>
    world.server.db.pool.query(
      `insert into environment_tokens (token_hash, ending, deployment_id, branch_id, user_id, purpose, scopes,
                                       security_context, expires_at)
       select sha256(($2 || n)::bytea), 'xxxx', deployment_id, branch_id, user_id, purpose, scopes, security_context,
              expires_at
       from environment_tokens t, generate_series(1, $3::int) n where t.id = $1`,
      [data.id, unique('token'), count],
    );
  await fill(TOKENS_MAX - 3);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => world.admin.deploymentToken({ deploymentId: at.deploymentId })),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ status: 409, code: 'environment_token_limit_reached' });
  }
  // Tokens that have expired do not count.
  await world.server.db.pool.query('update environment_tokens set expires_at = now() where id = $1', [
    data.id,
  ]);
  await expect(world.admin.createDeploymentEnvironmentToken({ ...at, body: body() })).resolves.toBeDefined();
  await world.admin.deleteDeployment({ deploymentId: at.deploymentId });
});

test('a token beside the deletion of its deployment is made before it or is a 404, and nothing is left', async () => {
  const at = await production();
  const [deletion, token] = await Promise.allSettled([
    world.admin.deleteDeployment({ deploymentId: at.deploymentId }),
    world.admin.createDeploymentEnvironmentToken({ ...at, body: body() }),
  ]);
  expect(deletion.status).toBe('fulfilled');
  if (token.status === 'rejected') expect(token.reason).toMatchObject({ status: 404 });
  const left = async () =>
    (
      await world.server.db.pool.query('select from environment_tokens where deployment_id = $1', [
        at.deploymentId,
      ])
    ).rowCount;
  await expect.poll(left).toBe(0);
});
