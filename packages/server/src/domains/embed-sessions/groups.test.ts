/** The groups of a viewer, in the catalogue of the account and in those of embed tenants. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const define = (...names: string[]) => names.map((name) => ({ name }));

describe('in read-only mode', () => {
  test('groups that are given replace all memberships', async () => {
    const externalId = unique('ada');
    const [a, b, c] = [
      await embedding.accountGroup(),
      await embedding.accountGroup(),
      await embedding.accountGroup(),
    ];
    expect((await embedding.see({ externalId, groups: [b, a] })).groups).toEqual([a, b].sort());
    expect((await embedding.see({ externalId, groups: [b, c] })).groups).toEqual([b, c].sort());
  });

  test('groups that are left out, or null, stay', async () => {
    const externalId = unique('ada');
    const group = await embedding.accountGroup();
    await embedding.mint({ externalId, groups: [group] });
    expect((await embedding.see({ externalId })).groups).toEqual([group]);
    expect((await embedding.see({ externalId, groups: null })).groups).toEqual([group]);
  });

  test('an empty list of groups clears all memberships', async () => {
    const externalId = unique('ada');
    await embedding.mint({ externalId, groups: [await embedding.accountGroup()] });
    expect((await embedding.see({ externalId, groups: [] })).groups).toEqual([]);
    expect((await embedding.see({ externalId })).groups).toEqual([]);
  });

  test('a repeated name counts once', async () => {
    const group = await embedding.accountGroup();
    expect((await embedding.see({ groups: [group, group, group] })).groups).toEqual([group]);
  });

  test('a call with unknown groups fails, and the error names each of them once, in the given order', async () => {
    const known = await embedding.accountGroup();
    const refusal = await embedding.refusal({ groups: ['zebra', known, 'ant', 'zebra'] });
    expect(refusal).toMatchObject({
      status: 400,
      code: 'groups_not_found',
      message: 'Groups with names zebra, ant not found',
      issues: [{ path: 'groups' }],
    });
  });

  test('a call that fails because of an unknown group changes nothing', async () => {
    const externalId = unique('ada');
    const [old, other] = [await embedding.accountGroup(), await embedding.accountGroup()];
    const region = await embedding.accountAttribute('string');
    const before = await embedding.see({ externalId, groups: [old] });
    await embedding.refusal({
      externalId,
      groups: [other, 'nobody'],
      email: 'new@example.com',
      userProfile: { displayName: 'New' },
      userAttributes: [{ name: region, value: 'EU' }],
    });
    const { expiresAt: _, ...after } = await embedding.see({ externalId });
    expect({ ...before, ...after }).toEqual(before);
    const newcomer = unique('newcomer');
    await embedding.refusal({ externalId: newcomer, groups: ['nobody'], embedTenantName: 'never-seen' });
    expect(await embedding.rows('select from users where external_id = $1', [newcomer])).toEqual([]);
    expect(await embedding.rows(`select from embed_tenants where name = 'never-seen'`)).toEqual([]);
  });

  test('groups of an embed tenant are unknown', async () => {
    const embedTenantName = embedding.tenant();
    const options = { embedTenantName, groupDefinitions: define('theirs'), creatorMode: true };
    await embedding.mint(options);
    expect(await embedding.refusal({ embedTenantName, groups: ['theirs'] })).toMatchObject({
      message: 'Groups with names theirs not found',
    });
  });

  test('names must match exactly, including case, spaces and accents', async () => {
    const name = unique('Größe "A" 🦊, b');
    await embedding.accountGroup(name);
    expect((await embedding.see({ groups: [name] })).groups).toEqual([name]);
    for (const other of [name.toUpperCase(), ` ${name}`, name.normalize('NFD')]) {
      expect((await embedding.refusal({ groups: [other] })).message).toBe(
        `Groups with names ${other} not found`,
      );
    }
  });

  test('a call accepts a thousand groups, and one more does not match the operation', async () => {
    const names = Array.from({ length: 1001 }, (_, n) => `many-${String(n).padStart(4, '0')}`);
    await embedding.rows('insert into user_groups (name) select unnest($1::text[])', [names]);
    expect((await embedding.see({ groups: names.slice(0, 1000) })).groups).toHaveLength(1000);
    expect(await embedding.refusal({ groups: names })).toMatchObject({ code: 'invalid_request' });
  });

  test.each<[string, unknown]>([
    ['a text', 'analysts'],
    ['a list of numbers', [1]],
    ['a list with an empty name', ['']],
    ['a list with null', [null]],
    ['a list with a name of 256 characters', ['x'.repeat(256)]],
  ])('%s is not a list of group names', async (_, groups) => {
    expect(await embedding.refusal({ groups })).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('in creator mode', () => {
  const inCreatorMode = (embedTenantName: string) => ({ embedTenantName, creatorMode: true });

  test('names refer to groups of the embed tenant, and groups of the account are unknown', async () => {
    const tenant = embedding.tenant();
    const ofAccount = await embedding.accountGroup();
    const seen = await embedding.see({
      ...inCreatorMode(tenant),
      groupDefinitions: define('editors'),
      groups: ['editors'],
    });
    expect(seen).toMatchObject({ creatorMode: true, groups: ['editors'], tenantGroups: [] });
    expect(await embedding.refusal({ ...inCreatorMode(tenant), groups: [ofAccount] })).toMatchObject({
      message: `Groups with names ${ofAccount} not found`,
    });
  });

  test('groups of another embed tenant are unknown', async () => {
    await embedding.mint({ ...inCreatorMode(embedding.tenant()), groupDefinitions: define('elsewhere') });
    const refusal = await embedding.refusal({ ...inCreatorMode(embedding.tenant()), groups: ['elsewhere'] });
    expect(refusal.message).toBe('Groups with names elsewhere not found');
  });

  test('without a tenant name, the groups are those of the embed tenant of the account', async () => {
    await embedding.mint({ ...inCreatorMode('oriel'), groupDefinitions: define('own') });
    expect((await embedding.see({ creatorMode: true, groups: ['own'] })).groups).toEqual(['own']);
    expect((await embedding.refusal({ groups: ['own'] })).code).toBe('groups_not_found');
  });

  test('changing memberships in one catalogue does not change those in another', async () => {
    const [externalId, tenant] = [unique('ada'), embedding.tenant()];
    const ofAccount = await embedding.accountGroup();
    const viewer = { externalId, embedTenantName: tenant };
    await embedding.mint({ ...viewer, groups: [ofAccount] });
    const creator = { ...viewer, creatorMode: true };
    const options = { groupDefinitions: define('editors'), groups: ['editors'] };
    expect((await embedding.see({ ...creator, ...options })).groups).toEqual(['editors']);
    expect((await embedding.see(viewer)).groups).toEqual([ofAccount]);
    await embedding.mint({ ...viewer, groups: [] });
    expect((await embedding.see(creator)).groups).toEqual(['editors']);
    await embedding.mint({ ...creator, groups: [] });
    expect((await embedding.see(creator)).groups).toEqual([]);
  });

  test('tenant groups are a second kind of membership, which is replaced, kept and cleared separately', async () => {
    const viewer = { externalId: unique('ada'), ...inCreatorMode(embedding.tenant()) };
    const seen = await embedding.see({
      ...viewer,
      groupDefinitions: define('both', 'first'),
      tenantGroupDefinitions: define('both', 'second'),
      groups: ['both', 'first'],
      tenantGroups: ['both', 'second', 'both'],
    });
    expect(seen).toMatchObject({ groups: ['both', 'first'], tenantGroups: ['both', 'second'] });
    const after = async (options: SessionOptions) => {
      const { groups, tenantGroups } = await embedding.see({ ...viewer, ...options });
      return { groups, tenantGroups };
    };
    expect(await after({ tenantGroups: ['first'] })).toEqual({
      groups: ['both', 'first'],
      tenantGroups: ['first'],
    });
    expect(await after({ groups: [] })).toEqual({ groups: [], tenantGroups: ['first'] });
    expect(await after({ groups: ['second', 'first'] })).toEqual({
      groups: ['first', 'second'],
      tenantGroups: ['first'],
    });
    expect(await after({ tenantGroups: [] })).toEqual({ groups: ['first', 'second'], tenantGroups: [] });
    expect(await after({ groups: [], tenantGroups: [] })).toEqual({ groups: [], tenantGroups: [] });
    const left = 'select from user_group_members m join users u on u.id = m.user_id where u.external_id = $1';
    expect(await embedding.rows(left, [viewer.externalId])).toEqual([]);
  });

  test('both kinds use the same groups, whichever field defined them', async () => {
    const viewer = inCreatorMode(embedding.tenant());
    await embedding.mint({
      ...viewer,
      groupDefinitions: define('first'),
      tenantGroupDefinitions: define('second'),
    });
    expect(await embedding.see({ ...viewer, groups: ['second'], tenantGroups: ['first'] })).toMatchObject({
      groups: ['second'],
      tenantGroups: ['first'],
    });
    expect(await embedding.refusal({ ...viewer, tenantGroups: ['first', 'third'] })).toMatchObject({
      status: 400,
      code: 'groups_not_found',
      message: 'Groups with names third not found',
      issues: [
        {
          path: 'tenantGroups',
          message:
            'Groups with names third not found. In creator mode, they must be groups of the embed tenant.',
        },
      ],
    });
  });

  test('the embed-tenant operations list, create and delete the same groups', async () => {
    const embedTenantName = embedding.tenant();
    const { admin } = embedding.world;
    const viewer = { externalId: unique('ada'), ...inCreatorMode(embedTenantName) };
    const definitions = {
      groupDefinitions: [{ name: 'both', description: 'One' }, { name: 'first' }],
      tenantGroupDefinitions: [{ name: 'both', description: 'Two' }, { name: 'second' }],
    };
    await embedding.mint({ ...viewer, ...definitions, groups: ['first'], tenantGroups: ['second'] });
    const { items } = await admin.getGroups({ embedTenantName });
    expect(items.map(({ name, description, userCount }) => [name, description, userCount])).toEqual([
      ['both', 'Two', 0],
      ['first', null, 1],
      ['second', null, 1],
    ]);
    await admin.createGroup({ embedTenantName, body: { name: 'made' } });
    const names = ['made', 'second'];
    expect(await embedding.see({ ...viewer, groups: names, tenantGroups: names })).toMatchObject({
      groups: names,
      tenantGroups: names,
    });
    await admin.deleteGroup({ embedTenantName, id: items[2]!.id });
    expect(await embedding.see(viewer)).toMatchObject({ groups: ['made'], tenantGroups: ['made'] });
  });

  test('tenant groups are shown only in creator mode', async () => {
    const viewer = { externalId: unique('ada'), embedTenantName: embedding.tenant() };
    await embedding.mint({
      ...viewer,
      creatorMode: true,
      tenantGroupDefinitions: define('staff'),
      tenantGroups: ['staff'],
    });
    expect((await embedding.see(viewer)).tenantGroups).toEqual([]);
  });

  test.each([[['staff']], [[]]])('tenant groups of %j need creator mode', async (tenantGroups) => {
    for (const creatorMode of [undefined, false, null]) {
      const options = { embedTenantName: embedding.tenant(), creatorMode, tenantGroups };
      expect(await embedding.refusal(options)).toMatchObject({
        status: 400,
        code: 'creator_mode_required',
        issues: [{ path: 'tenantGroups' }],
      });
    }
  });
});
