/** The user of a session, and the callers who may mint it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { ADMIN_KEY, unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const PATH = '/api/v1/embed/generate-session';
const UNKNOWN = 999_999_999;

async function internalUser() {
  const username = unique('insider');
  const { id } = await embedding.world.admin.createUser({
    body: { username, email: `${username}@example.com`, firstName: 'Ida' },
  });
  return { id, username };
}

const post = (authorization: string | null, body: object = embedding.request()) =>
  embedding.world.raw('POST', PATH, {
    apiKey: null,
    headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
    body: JSON.stringify(body),
  });

const users = (externalId: string) =>
  embedding.rows('select * from users where external_id = $1', [externalId]);

test('a session needs exactly one of externalId and internalId', async () => {
  const { username } = await internalUser();
  const wrong: SessionOptions[] = [
    { externalId: 'both', internalId: username },
    { externalId: undefined },
    { externalId: null },
    { externalId: null, internalId: null },
  ];
  for (const options of wrong) {
    expect(await embedding.refusal(options)).toMatchObject({ status: 400, code: 'identity_required' });
  }
  expect(await users('both')).toEqual([]);
});

test('the first session for an external id creates the user, and later sessions find it', async () => {
  const externalId = unique('ada');
  const first = await embedding.see({ externalId });
  const second = await embedding.see({ externalId });
  expect(first.user).toMatchObject({ externalId, username: externalId, email: null, displayName: null });
  expect(second.user).toEqual(first.user);
  expect(await users(externalId)).toHaveLength(1);
});

test.each<[string, unknown]>([
  ['has an uppercase letter', 'Ada'],
  ['has an uppercase letter of another script', 'ёЖ'],
  ['has a dotted capital I', 'İda'],
  ['begins with a space', ' ada'],
  ['ends with a space', 'ada '],
  ['ends with a line break', 'ada\n'],
  ['ends with a no-break space', 'ada\u00a0'],
  ['is a blank', ' '],
])('an external id that %s is refused', async (_, externalId) => {
  expect(await embedding.refusal({ externalId })).toMatchObject({
    status: 400,
    code: 'invalid_external_id',
    issues: [{ path: 'externalId' }],
  });
});

test.each<[string, unknown]>([
  ['is empty', ''],
  ['has 256 characters', 'x'.repeat(256)],
  ['is a number', 42],
  ['is a list', ['ada']],
])('an external id that %s does not match the operation', async (_, externalId) => {
  expect(await embedding.refusal({ externalId })).toMatchObject({
    status: 400,
    code: 'invalid_request',
    issues: [{ path: 'externalId' }],
  });
});

test.each<[string, string]>([
  ['one character', '7'],
  ['255 characters', 'x'.repeat(255)],
  ['255 characters outside of the basic plane', '🦊'.repeat(255)],
  ['punctuation and spaces inside', 'a b:c/d?e#f%g\'h"i\\j'],
  ['letters from right to left', 'שלום'],
  ['a word that looks like a literal', 'null'],
])('an external id may be %s', async (_, externalId) => {
  expect((await embedding.see({ externalId })).user.externalId).toBe(externalId);
});

test('the same external id in two embed tenants means two users', async () => {
  const [externalId, acme, zenith] = [unique('ada'), embedding.tenant(), embedding.tenant()];
  const group = await embedding.accountGroup();
  const region = await embedding.accountAttribute('string');
  const ofAcme = await embedding.see({
    externalId,
    embedTenantName: acme,
    email: 'ada@acme.example',
    userProfile: { displayName: 'Ada of Acme' },
    groups: [group],
    userAttributes: [{ name: region, value: 'EU' }],
  });
  const ofZenith = await embedding.see({ externalId, embedTenantName: zenith });
  const ofAccount = await embedding.see({ externalId });
  expect(new Set([ofAcme.user.id, ofZenith.user.id, ofAccount.user.id]).size).toBe(3);
  for (const { user, groups, userAttributes } of [ofZenith, ofAccount]) {
    expect(user).toMatchObject({ externalId, email: null, displayName: null });
    expect(groups).toEqual([]);
    expect(userAttributes[region]).toBeNull();
  }
});

test('an internal user keeps their profile and rights, and their session shows them', async () => {
  const { id, username } = await internalUser();
  const group = await embedding.world.admin.createUserGroup({ body: { name: unique('insiders') } });
  await embedding.world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [id] } });
  const seen = await embedding.see({ internalId: username });
  expect(seen).toMatchObject({
    embedTenantName: 'oriel',
    user: { id, externalId: null, username, email: `${username}@example.com`, displayName: 'Ida' },
    groups: [group.name],
    securityContext: null,
  });
});

test.each<[string, unknown]>([
  ['groups', []],
  ['userAttributes', []],
  ['groupDefinitions', []],
  ['userAttributeDefinitions', []],
  ['securityContext', {}],
  ['userProfile', {}],
  ['tenantGroups', []],
  ['tenantGroupDefinitions', []],
  ['embedTenantProfile', {}],
])('with an internal id, %s is refused, even if it is empty', async (field, value) => {
  const { username } = await internalUser();
  const options = { internalId: username, creatorMode: true, embedTenantName: embedding.tenant() };
  expect(await embedding.refusal({ ...options, [field]: value })).toMatchObject({
    status: 400,
    code: 'not_allowed_with_internal_id',
    issues: [{ path: field }],
  });
  expect(await embedding.mint({ ...options, [field]: null })).toBeTruthy();
});

test('with an internal id, an email is ignored', async () => {
  const { username } = await internalUser();
  const seen = await embedding.see({ internalId: username, email: 'other@example.com' });
  expect(seen.user.email).toBe(`${username}@example.com`);
  const [row] = await embedding.rows('select email from users where username = $1', [username]);
  expect(row.email).toBe(`${username}@example.com`);
});

test('with an internal id, settings, theme and an embed tenant are accepted', async () => {
  const { username } = await internalUser();
  const embedTenantName = embedding.tenant();
  const seen = await embedding.see({
    internalId: username,
    embedTenantName,
    settings: { showDashboardChat: false },
    embedTheme: { primaryColor: '#123456' },
  });
  expect(seen).toMatchObject({ embedTenantName, settings: { showDashboardChat: false } });
  expect(seen.embedTheme).toEqual({ primaryColor: '#123456' });
});

test('an internal user who is unknown, deactivated or an external viewer is not found', async () => {
  const { id, username } = await internalUser();
  await embedding.world.admin.updateUser({ id, body: { isDeactivated: true } });
  const externalId = unique('viewer');
  await embedding.mint({ externalId });
  for (const internalId of [username, externalId, unique('nobody'), `${username} `]) {
    expect(await embedding.refusal({ internalId })).toMatchObject({ status: 404, code: 'user_not_found' });
  }
});

test('an email belongs to the external user; a later email replaces it, and a call without one keeps it', async () => {
  const externalId = unique('ada');
  expect((await embedding.see({ externalId, email: 'one@example.com' })).user.email).toBe('one@example.com');
  expect((await embedding.see({ externalId, email: 'two@example.com' })).user.email).toBe('two@example.com');
  expect((await embedding.see({ externalId })).user.email).toBe('two@example.com');
  expect((await embedding.see({ externalId, email: null })).user.email).toBe('two@example.com');
  expect(await embedding.refusal({ externalId, email: 'not an email' })).toMatchObject({
    code: 'invalid_request',
    issues: [{ path: 'email' }],
  });
});

test('external users may have the same email as each other or as people', async () => {
  const { username } = await internalUser();
  const email = `${username}@example.com`;
  expect((await embedding.see({ email })).user.email).toBe(email);
  expect((await embedding.see({ email })).user.email).toBe(email);
});

test('minting accepts only an API key, with either scheme', async () => {
  const { token } = await embedding.world.embedded(embedding.request());
  const person = await embedding.world.person({ roles: [] });
  expect((await post(`Api-Key ${person.apiKey}`)).status).toBe(200);
  expect((await post(`api-key ${ADMIN_KEY}`)).status).toBe(200);
  expect((await post(`Bearer ${person.apiKey}`)).status).toBe(200);
  expect((await post(`bearer ${ADMIN_KEY}`)).status).toBe(200);
  const refused = [
    null,
    '',
    ADMIN_KEY,
    `Basic ${Buffer.from(`admin:${ADMIN_KEY}`).toString('base64')}`,
    `Bearer ${token}`,
    `Api-Key ${token}`,
    'Api-Key sk-unknown',
    'Bearer sk-unknown',
    'Bearer',
    'Api-Key',
    `Api-Key ${ADMIN_KEY} ${ADMIN_KEY}`,
  ];
  for (const authorization of refused) {
    const response = await post(authorization);
    expect([authorization, response.status]).toEqual([authorization, 401]);
  }
});

test('any valid key can mint within its scope, for any owner', async () => {
  const { id: other } = await embedding.world.deployment();
  const viewer = await embedding.world.person({ roles: [], deploymentIds: [other] });
  const mint = (deploymentId: number) =>
    viewer.client.generateSession({ body: embedding.request({ deploymentId }) });
  expect(await mint(other)).toEqual({ sessionId: expect.any(String) });
});

test('only the internal user or an admin can mint a session for the internal user', async () => {
  const { id: userId, username: internalId } = await internalUser();
  const { key: own } = await embedding.world.admin.createApiKey({ body: { name: 'own', userId } });
  const admin = await embedding.world.person({ roles: ['Admin'] });
  const body = embedding.request({ internalId });
  for (const apiKey of [own, admin.apiKey])
    expect(await embedding.world.client(apiKey).generateSession({ body })).toHaveProperty('sessionId');
  const other = await embedding.world.person({ roles: ['Developer'] });
  const refused = { status: 403, code: 'forbidden', issues: [{ path: 'internalId' }] };
  expect(await embedding.refusal({ internalId }, other.apiKey)).toMatchObject(refused);
  expect(await other.client.dryRunSession({ body })).toMatchObject({
    ok: false,
    errors: [{ code: 'forbidden', path: 'internalId' }],
  });
  // The error does not reveal whether the user exists.
  expect(await embedding.refusal({ internalId: 'nobody' }, other.apiKey)).toMatchObject(refused);
  expect(await embedding.rows('select from embed_sessions where user_id = $1', [userId])).toHaveLength(2);
});

test('a scoped key is refused for any other deployment, even if that does not exist', async () => {
  const { id: own } = await embedding.world.deployment();
  const { apiKey } = await embedding.world.person({ roles: ['Admin'], deploymentIds: [own] });
  for (const deploymentId of [embedding.deploymentId, UNKNOWN]) {
    const externalId = unique('outside');
    expect(await embedding.refusal({ deploymentId, externalId }, apiKey)).toMatchObject({
      status: 403,
      code: 'outside_key_scope',
    });
    expect(await users(externalId)).toEqual([]);
  }
});

test('an unscoped key can mint for any deployment, and a deployment that does not exist is not found', async () => {
  const { id: another } = await embedding.world.deployment();
  expect((await embedding.see({ deploymentId: another })).deploymentId).toBe(another);
  expect(await embedding.refusal({ deploymentId: UNKNOWN })).toMatchObject({
    status: 404,
    code: 'deployment_not_found',
  });
});

test.each([0, -1, 1.5, '1', null, undefined])(
  'a deployment id of %j does not match the operation',
  async (deploymentId) => {
    expect(await embedding.refusal({ deploymentId })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      issues: [{ path: 'deploymentId' }],
    });
  },
);
