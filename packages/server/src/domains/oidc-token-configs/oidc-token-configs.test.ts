/** Who may configure tokens, and what a config may say. */
import { decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());
afterEach(async () => {
  for (const { id } of await world.admin.listOidcTokenConfigs())
    await world.admin.deleteOidcTokenConfig({ id });
});

type Body = Parameters<World['admin']['createOidcTokenConfig']>[0]['body'];
const create = (body: Body) => world.admin.createOidcTokenConfig({ body });
const PROVIDER = 'projects/1/locations/global/workloadIdentityPools/pool/providers/oriel';

test('there is one config for each cloud, whatever the case of its letters, and any number of custom ones', async () => {
  const aws = await create({ audienceType: 'aws' });
  expect(aws).toMatchObject({
    name: 'aws',
    audienceType: 'aws',
    audience: 'sts.amazonaws.com',
    isEnabled: true,
  });
  expect(await create({ audienceType: 'Azure' })).toMatchObject({ audience: 'api://AzureADTokenExchange' });
  expect(await create({ audienceType: 'GCP', customAudience: PROVIDER })).toMatchObject({
    name: 'gcp',
    audience: `//iam.googleapis.com/${PROVIDER}`,
  });
  for (const again of ['AWS', 'AZURE', 'gcp']) {
    const refused = create({ audienceType: again, name: 'another', customAudience: PROVIDER });
    await expect(refused).rejects.toMatchObject({ status: 409, code: 'oidc_token_config_exists' });
  }
  const custom = () => create({ audienceType: 'CUSTOM', customAudience: 'https://a.example' });
  expect([(await custom()).name, (await custom()).name]).toEqual(['custom', 'custom-2']);
  expect((await world.admin.listOidcTokenConfigs()).map(({ name }) => name)).toEqual([
    'aws',
    'azure',
    'gcp',
    'custom',
    'custom-2',
  ]);
});

test('of two configs that want a name, a variable or a cloud at once, one gets it', async () => {
  const audience = { audienceType: 'CUSTOM', customAudience: 'https://a.example' };
  for (const [body, code] of [
    [{ ...audience, name: 'same' }, 'oidc_token_config_name_taken'],
    [{ ...audience, targetEnvVar: 'A_TOKEN_FILE' }, 'target_env_var_taken'],
    [{ audienceType: 'AWS' }, 'oidc_token_config_exists'],
  ] as const) {
    const both = await Promise.allSettled([create(body), create(body)]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409, code } });
  }
});

const custom = { audienceType: 'CUSTOM', customAudience: 'https://a.example' };
test.each<[string, object]>([
  ['an unknown type', { audienceType: 'ORACLE' }],
  ['a custom one without an audience', { audienceType: 'CUSTOM' }],
  ['one of Google without the provider', { audienceType: 'GCP' }],
  ['one of Google for something else', { audienceType: 'GCP', customAudience: 'https://a.example' }],
  ['an audience with a space', { ...custom, customAudience: 'a b' }],
  ['a name that is a path', { ...custom, name: '../token' }],
  ['an unknown placeholder', { ...custom, subFormat: '{user}' }],
  ['a subject of 100 KB', { ...custom, subFormat: 'a'.repeat(100_000) }],
  ['a variable for a cloud', { audienceType: 'AWS', targetEnvVar: 'MY_TOKEN' }],
  ['a variable that Node reads', { ...custom, targetEnvVar: 'NODE_OPTIONS' }],
  ['a variable that the loader reads', { ...custom, targetEnvVar: 'LD_PRELOAD' }],
  ['the variable of another cloud', { ...custom, targetEnvVar: 'AWS_ROLE_ARN' }],
  ['too many claims', { ...custom, customClaims: { a: 'x'.repeat(5000) } }],
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'].map((name): [string, object] => [
    `the claim ${name}`,
    { ...custom, customClaims: { [name]: 'mine' } },
  ]),
])('%s is refused, and nothing is stored', async (_what, body) => {
  const refused = await world.raw('POST', '/api/v1/oidc-token-configs/', {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  expect(refused.status).toBe(400);
  expect(await world.admin.listOidcTokenConfigs()).toEqual([]);
});

test('a change keeps what is not named, null brings back defaults, and a preview shows the token without a signature', async () => {
  const { id } = await create({
    ...custom,
    name: 'warehouse',
    subFormat: 'acme:{region}:{component}:{deployment_id}',
    customClaims: { team: 'data', 'https://aws.amazon.com/tags': { principal_tags: { Team: ['data'] } } },
    targetEnvVar: 'WAREHOUSE_TOKEN_FILE',
  });
  const preview = () => world.admin.previewOidcToken({ id, body: { deploymentId } });
  const shown = await preview();
  const { keys } = await world.client().getWorkloadJwks();
  expect(shown).toEqual({
    header: { alg: 'RS256', kid: keys[0]!.kid, typ: 'JWT' },
    claims: {
      team: 'data',
      'https://aws.amazon.com/tags': { principal_tags: { Team: ['data'] } },
      iss: world.url,
      sub: `acme:local:engine:${deploymentId}`,
      aud: 'https://a.example',
      iat: expect.any(Number),
      nbf: expect.any(Number),
      exp: (shown.claims as { iat: number }).iat + 3600,
      jti: expect.any(String),
    },
    variables: ['WAREHOUSE_TOKEN_FILE'],
    warnings: [expect.stringContaining('ORIEL_PUBLIC_URL')],
  });
  expect(() => decodeProtectedHeader(JSON.stringify(shown))).toThrow();

  const body = { subFormat: null, customClaims: null, targetEnvVar: null, name: null, isEnabled: null };
  expect(await world.admin.updateOidcTokenConfig({ id, body })).toMatchObject({
    name: 'warehouse',
    audience: 'https://a.example',
    subFormat: null,
    customClaims: null,
    isEnabled: true,
  });
  expect(await preview()).toMatchObject({
    claims: { sub: `oriel:deployment:${deploymentId}` },
    variables: ['ORIEL_TOKEN_FILE_WAREHOUSE'],
  });
  const withoutAudience = world.admin.updateOidcTokenConfig({ id, body: { customAudience: null } });
  await expect(withoutAudience).rejects.toMatchObject({ status: 400 });
  const nowhere = world.admin.previewOidcToken({ id, body: { deploymentId: 999_999 } });
  await expect(nowhere).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
});

test('a server that clouds can reach warns of nothing, and names its own address', async () => {
  const publicUrl = 'https://analytics.example.com';
  const server = await world.anotherServer({ ORIEL_PUBLIC_URL: publicUrl });
  await create({ audienceType: 'AWS' });
  const get = async (path: string, apiKey?: string) =>
    (
      await fetch(server.url + path, apiKey ? { headers: { authorization: `Api-Key ${apiKey}` } } : {})
    ).json();
  expect(await get('/.well-known/openid-configuration')).toMatchObject({
    issuer: publicUrl,
    jwks_uri: `${publicUrl}/.well-known/workload-jwks.json`,
  });
  const { key } = await world.admin.createApiKey({ body: { name: 'reader' } });
  expect(await get('/api/v1/oidc-token-configs', key)).toMatchObject([{ audienceType: 'AWS', warnings: [] }]);
  await server.stop();
});

test('scoped keys cannot configure what every deployment gets', async () => {
  const { key } = await world.admin.createApiKey({ body: { name: 'scoped', deploymentIds: [deploymentId] } });
  const refused = world.client(key).createOidcTokenConfig({ body: { audienceType: 'AWS' } });
  await expect(refused).rejects.toMatchObject({ status: 403 });
});
