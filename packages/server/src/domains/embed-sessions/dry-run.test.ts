/** The dry run reports what a call would do, and changes nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { snapshot } from '../../../test/snapshot.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());

const UNKNOWN = 999_999_999;
const everything = () => snapshot(embedding.world.server.db.pool);
/** A tenant with a viewer who has a profile, groups and attributes. */
async function furnished() {
  const viewer = { embedTenantName: embedding.tenant(), externalId: unique('ada'), creatorMode: true };
  await embedding.mint({
    ...viewer,
    email: 'ada@example.com',
    userProfile: { displayName: 'Ada', picture: 'https://example.com/a.png' },
    groupDefinitions: [{ name: 'editors' }, { name: 'writers', description: 'They write' }],
    tenantGroupDefinitions: [{ name: 'staff' }],
    userAttributeDefinitions: [
      { name: 'region', type: 'string' },
      { name: 'tier', type: 'number', defaultValue: '1' },
      { name: 'zones', type: 'string_array' },
    ],
    groups: ['editors'],
    tenantGroups: ['staff'],
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  return viewer;
}

/** A request with every field that a call can have. */
const rich = (viewer: SessionOptions): SessionOptions => ({
  ...viewer,
  email: 'new@example.com',
  userProfile: { displayName: 'Ada', picture: 'https://example.com/new.png' },
  embedTenantProfile: { displayName: 'Acme' },
  groupDefinitions: [
    { name: 'writers', description: 'They write a lot' },
    { name: 'readers' },
    { name: 'editors' },
  ],
  tenantGroupDefinitions: [{ name: 'boss' }],
  userAttributeDefinitions: [
    { name: 'tier', type: 'number', defaultValue: '2' },
    { name: 'rank', type: 'number' },
    { name: 'region', type: 'string' },
  ],
  groups: ['writers', 'readers'],
  tenantGroups: ['boss', 'staff'],
  userAttributes: [
    { name: 'region', value: null },
    { name: 'zones', value: ['a', 'b'] },
  ],
  securityContext: { a: 1 },
  settings: { showDashboardChat: false },
});

test('a dry run changes nothing, whatever the request is', async () => {
  const viewer = await furnished();
  const asked: SessionOptions[] = [
    rich(viewer),
    rich({ embedTenantName: embedding.tenant(), creatorMode: true, externalId: 'newcomer' }),
    { externalId: 'newcomer' },
    { ...viewer, groups: [], tenantGroups: [], userAttributes: [{ name: 'region', value: null }] },
    { ...viewer, groups: ['nobody'], userAttributeDefinitions: [{ name: 'region', type: 'number' }] },
    { internalId: (await embedding.world.admin.getMe()).username },
    { deploymentId: UNKNOWN },
    { externalId: 'Not Valid' },
  ];
  const before = await everything();
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(['users', 'user_groups', 'user_attribute_values', 'embed_sessions', 'audit_log']),
  );
  for (const options of asked) {
    expect(await embedding.rehearse(options)).not.toHaveProperty('sessionId');
    expect(await everything()).toEqual(before);
  }
});

test('the snapshot that the dry run tests compare does change when a session is minted', async () => {
  const before = await everything();
  await embedding.mint();
  expect(await everything()).not.toEqual(before);
});

test('a dry run of a valid call reports what it would create and change', async () => {
  expect(await embedding.rehearse(rich(await furnished()))).toMatchObject({
    ok: true,
    errors: [],
    embedTenant: { created: false },
    user: { created: false, changed: ['email', 'picture'] },
    groups: { before: ['editors'], after: ['readers', 'writers'] },
    tenantGroups: { before: ['staff'], after: ['boss', 'staff'] },
    definitions: { created: ['boss', 'readers', 'rank'], updated: ['writers', 'tier'] },
  });
});

test('a dry run for a new viewer reports that tenant and user would be created', async () => {
  const embedTenantName = embedding.tenant();
  const ada = { externalId: 'ada', embedTenantName };
  expect(await embedding.rehearse(ada)).toMatchObject({
    ok: true,
    embedTenant: { name: embedTenantName, created: true },
    user: { externalId: 'ada', created: true, changed: [] },
    groups: { before: [], after: [] },
  });
  await embedding.mint(ada);
  expect(await embedding.rehearse(ada)).toMatchObject({
    embedTenant: { created: false },
    user: { created: false },
  });
  expect((await embedding.rehearse({})).embedTenant).toEqual({ name: 'oriel', created: false });
});

test('a dry run reports the groups of this viewer, and of no other in their tenant or of their name in another', async () => {
  const [here, elsewhere] = [embedding.tenant(), embedding.tenant()];
  const [own, others] = [await embedding.accountGroup(), await embedding.accountGroup()];
  await embedding.mint({ externalId: 'bob', embedTenantName: here, groups: [others] });
  await embedding.mint({ externalId: 'ada', embedTenantName: elsewhere, groups: [others] });
  const ada = { externalId: 'ada', embedTenantName: here };
  expect(await embedding.rehearse(ada)).toMatchObject({ groups: { before: [], after: [] } });
  await embedding.mint({ ...ada, groups: [own] });
  expect(await embedding.rehearse(ada)).toMatchObject({ groups: { before: [own], after: [own] } });
});

test('a dry run for an internal user reports their own groups, and would create nobody', async () => {
  const { userId } = await embedding.world.person();
  const [{ username }] = await embedding.rows('select username from users where id = $1', [userId]);
  const { id, name } = await embedding.world.admin.createUserGroup({ body: { name: unique('group') } });
  await embedding.world.admin.addUserGroupMembers({ id, body: { userIds: [userId] } });
  expect(await embedding.rehearse({ internalId: username })).toMatchObject({
    ok: true,
    user: { externalId: null, created: false, changed: [] },
    groups: { before: [name], after: [name] },
  });
});

test('a dry run reports the value of each attribute and its source: request, stored, default or none', async () => {
  const viewer = await furnished();
  const attributes = async (options: SessionOptions) =>
    (await embedding.rehearse({ ...viewer, ...options })).userAttributes;
  expect(await attributes({})).toEqual([
    { name: 'region', value: 'EU', source: 'stored' },
    { name: 'tier', value: 1, source: 'default' },
    { name: 'zones', value: null, source: 'none' },
  ]);
  const userAttributes = [
    { name: 'region', value: null },
    { name: 'tier', value: 5 },
    { name: 'zones', value: ['a'] },
  ];
  expect(await attributes({ userAttributes })).toEqual([
    { name: 'region', value: null, source: 'none' },
    { name: 'tier', value: 5, source: 'request' },
    { name: 'zones', value: ['a'], source: 'request' },
  ]);
});

test('a dry run of a call that would fail reports the stored values', async () => {
  const viewer = await furnished();
  const rehearsed = await embedding.rehearse({
    ...viewer,
    groups: ['nobody'],
    userAttributes: [{ name: 'region', value: 'US' }],
  });
  expect(rehearsed).toMatchObject({ ok: false, groups: { before: ['editors'], after: ['editors'] } });
  expect(rehearsed.userAttributes).toContainEqual({ name: 'region', value: 'EU', source: 'stored' });
});

test('a dry run refuses an invalid body or credential in the same way as minting', async () => {
  await expect(embedding.rehearse({ email: 'x' })).rejects.toMatchObject({ status: 400 });
  const body = embedding.request();
  await expect(embedding.world.client().dryRunSession({ body })).rejects.toMatchObject({
    status: 401,
  });
});

test('minting and the dry run each have their own kind of reply, and query parameters do not change it', async () => {
  const send = (path: string) =>
    embedding.world.raw('POST', path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(embedding.request()),
    });
  const minted = await send('/api/v1/embed/generate-session?dryRun=true');
  expect(await minted.json()).toEqual({ sessionId: expect.any(String) });
  const told = (await (await send('/api/v1/embed/generate-session/dry-run')).json()) as object;
  expect(Object.keys(told).toSorted()).toEqual(
    'definitions embedTenant errors groups ok tenantGroups user userAttributes'.split(' '),
  );
});

test.each<[string, (viewer: SessionOptions) => SessionOptions]>([
  ['nothing', (viewer) => viewer],
  ['everything', rich],
  [
    'everything for a newcomer',
    (viewer) => rich({ ...viewer, externalId: unique('newcomer'), tenantGroups: ['boss'] }),
  ],
  [
    'clearing',
    (viewer) => ({ ...viewer, groups: [], tenantGroups: [], userAttributes: [{ name: 'region' }] }),
  ],
  ['read-only mode', (viewer) => ({ ...viewer, creatorMode: false, email: 'other@example.com' })],
])('a dry run reports what the call then does: %s', async (_, optionsFor) => {
  const options = optionsFor(await furnished());
  const { embedTenantName, externalId } = embedding.request(options);
  const stored = async () => ({
    users: await embedding.rows(
      'select id, email, first_name, picture from users where embed_tenant = $1 and external_id = $2',
      [embedTenantName, externalId],
    ),
    definitions: await embedding.rows(
      `select name, 'group' as kind, null as type, description, null as more from user_groups where embed_tenant = $1
       union all
       select name, 'attribute', type, description, concat(display_name, default_value) from user_attributes where embed_tenant = $1`,
      [embedTenantName],
    ),
  });
  const before = await stored();
  const rehearsed = await embedding.rehearse(options);
  expect(rehearsed).toMatchObject({ ok: true });
  const seen = await embedding.see(options);
  const after = await stored();
  expect(rehearsed.groups.after).toEqual(seen.groups);
  expect(rehearsed.tenantGroups.after).toEqual(seen.tenantGroups);
  expect(Object.fromEntries(rehearsed.userAttributes.map(({ name, value }) => [name, value]))).toEqual(
    seen.userAttributes,
  );
  expect(rehearsed.user.created).toBe(before.users.length === 0);
  const [was, is] = [before.users[0], after.users[0]];
  const changed = { email: 'email', first_name: 'displayName', picture: 'picture' } as const;
  expect(rehearsed.user.changed).toEqual(
    Object.entries(changed).flatMap(([column, name]) => (was && was[column] !== is[column] ? [name] : [])),
  );
  const key = ({ kind, name }: { kind: string; name: string }) => `${kind}:${name}`;
  const known = new Map(before.definitions.map((row) => [key(row), row]));
  const created = after.definitions.filter((row) => !known.has(key(row)));
  const updated = after.definitions.filter(
    (row) => known.has(key(row)) && JSON.stringify(known.get(key(row))) !== JSON.stringify(row),
  );
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name).sort();
  expect([...rehearsed.definitions.created].sort()).toEqual(names(created));
  expect([...rehearsed.definitions.updated].sort()).toEqual(names(updated));
});
