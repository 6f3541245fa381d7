/** A call that is refused, for any reason, leaves every table unchanged. */

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryRandomly } from '../../../test/random-runs.ts';
import { snapshot } from '../../../test/snapshot.ts';
import { createOwnWorld, type Person, type World } from '../../../test/world.ts';

let world: World;
let pool: pg.Pool;
let deploymentId: number;
let scoped: Person;

const state = () => snapshot(pool);

/** A request that changes every table that minting can change. */
const richRequest = () => ({
  deploymentId,
  externalId: 'ada' as string | undefined,
  internalId: undefined as string | undefined,
  email: 'new@example.com',
  userProfile: { displayName: 'New', picture: 'https://example.com/new.png' },
  embedTenantName: 'tenant-a' as string | undefined,
  creatorMode: true,
  embedTenantProfile: { displayName: 'New' },
  groupDefinitions: [{ name: 'g', description: 'new' }, { name: 'new' }],
  tenantGroupDefinitions: [{ name: 't', description: 'new' }, { name: 'new' }],
  userAttributeDefinitions: [
    { name: 'a', type: 'number', description: 'new', defaultValue: '7' },
    { name: 'new', type: 'string_array', defaultValue: '["x"]' },
  ],
  groups: ['g', 'new'],
  tenantGroups: ['t', 'new'],
  userAttributes: [
    { name: 'a', value: 2 as unknown },
    { name: 'new', value: ['y'] as unknown },
    { name: 's', value: null as unknown },
  ],
  securityContext: { customer: 1 } as object,
  settings: { showDashboardChat: false },
});
type RichRequest = ReturnType<typeof richRequest>;

/** Each change breaks one rule, even if other rules are broken too. */
const FLAWS: Record<string, (request: RichRequest) => unknown> = {
  'no identity': (request) => {
    request.externalId = undefined;
  },
  'two identities': (request) => {
    request.internalId = 'ina';
  },
  'an internal user with groups': (request) => {
    request.externalId = undefined;
    request.internalId = 'ina';
  },
  'an external id in capitals': (request) => {
    request.externalId = 'Ada';
  },
  'definitions without creator mode': (request) => {
    request.creatorMode = false;
  },
  'definitions without a tenant': (request) => {
    request.embedTenantName = undefined;
  },
  'an impossible tenant': (request) => {
    request.embedTenantName = 'no';
  },
  'an impossible picture': (request) => {
    request.userProfile.picture = 'ftp://example.com/new.png';
  },
  'an attribute twice': ({ userAttributes }) => userAttributes.push({ name: 'a', value: 3 }),
  'a group defined twice': ({ groupDefinitions }) => groupDefinitions.push({ name: 'g' }),
  'a tenant group defined twice': ({ tenantGroupDefinitions }) => tenantGroupDefinitions.push({ name: 't' }),
  'an attribute defined twice': ({ userAttributeDefinitions }) =>
    userAttributeDefinitions.push({ ...userAttributeDefinitions[0]! }),
  'a default that does not fit': ({ userAttributeDefinitions }) =>
    userAttributeDefinitions.push({ name: 'z', type: 'number', defaultValue: 'seven' }),
  'a type that changes': ({ userAttributeDefinitions }) =>
    userAttributeDefinitions.push({ name: 's', type: 'number', defaultValue: '1' }),
  'an unknown group': ({ groups }) => groups.push('unknown'),
  'an unknown tenant group': ({ tenantGroups }) => tenantGroups.push('unknown'),
  'an unknown attribute': ({ userAttributes }) => userAttributes.push({ name: 'unknown', value: 1 }),
  'a value that does not fit': ({ userAttributes }) => {
    userAttributes[0]!.value = 'two';
  },
  'a mixed list': ({ userAttributes }) => {
    userAttributes[1]!.value = ['y', 1];
  },
  'a large context': (request) => {
    request.securityContext = { text: 'x'.repeat(65_536) };
  },
  'an unknown deployment': (request) => {
    request.deploymentId += 1_000_000;
  },
  'a user above the limit': (request) => {
    request.externalId = 'one-too-many';
  },
  'an unknown field': (request) => Object.assign(request, { ephemeralTtlSeconds: 60 }),
};

beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_MAX_EXTERNAL_USERS: '1' } });
  pool = new pg.Pool({ connectionString: world.databaseUrl, max: 2 });
  deploymentId = (await world.deployment()).id;
  scoped = await world.person({ deploymentIds: [(await world.deployment()).id] });
  await world.admin.createUser({ body: { username: 'ina', email: 'ina@example.com' } });
  await pool.query('update tenant_settings set use_creator_mode = true');
  await world.admin.generateSession({
    body: {
      deploymentId,
      externalId: 'ada',
      email: 'ada@example.com',
      userProfile: { displayName: 'Ada' },
      embedTenantName: 'tenant-a',
      creatorMode: true,
      groupDefinitions: [{ name: 'g' }, { name: 'h' }],
      tenantGroupDefinitions: [{ name: 't' }],
      userAttributeDefinitions: [
        { name: 'a', type: 'number' },
        { name: 's', type: 'string' },
      ],
      groups: ['h'],
      userAttributes: [
        { name: 'a', value: 1 },
        { name: 's', value: 'stored' },
      ],
    },
  });
});
afterAll(async () => {
  await pool.end();
  await world.stop();
});

const outcomeOf = (request: RichRequest, client = world.admin, dryRun = false) =>
  client[dryRun ? 'dryRunSession' : 'generateSession']({ body: request as never }).then(
    () => 'minted',
    (error) => `${error.status} ${error.code}`,
  );

async function expectRefusedWithoutTrace(flaws: string[], client = world.admin) {
  const before = await state();
  const request = richRequest();
  for (const flaw of flaws) FLAWS[flaw]!(request);
  await outcomeOf(request, client, true);
  expect(await outcomeOf(request, client), flaws.join(', ')).toMatch(/^40[034] /);
  expect(await state(), flaws.join(', ')).toEqual(before);
}

test('a call that breaks one rule changes nothing', async () => {
  for (const flaw of Object.keys(FLAWS)) await expectRefusedWithoutTrace([flaw]);
  await expectRefusedWithoutTrace([], scoped.client);
});

test('a call that breaks two or three rules changes nothing', async () => {
  const flaws = fc.uniqueArray(fc.constantFrom(...Object.keys(FLAWS)), { minLength: 2, maxLength: 3 });
  const property = fc.asyncProperty(flaws, (some) => expectRefusedWithoutTrace(some));
  await tryRandomly(property, 60);
});

test('a call in creator mode changes nothing while creator mode is switched off', async () => {
  await pool.query('update tenant_settings set use_creator_mode = false');
  // Servers are notified a moment later. A dry run shows when this has happened, and changes nothing.
  const refusal = async () => {
    const body = richRequest() as never;
    return (await world.admin.dryRunSession({ body })).errors[0]?.code;
  };
  await expect.poll(refusal).toBe('creator_mode_disabled');
  await expectRefusedWithoutTrace([]);
  await pool.query('update tenant_settings set use_creator_mode = true');
  await expect.poll(refusal).toBeUndefined();
});

test('a dry run of a valid call changes nothing, and the call itself changes every table', async () => {
  const before = await state();
  expect(await outcomeOf(richRequest(), world.admin, true)).toBe('minted');
  expect(await state()).toEqual(before);
  expect(await outcomeOf(richRequest())).toBe('minted');
  const after = await state();
  const changed = Object.keys(after).filter((table) => {
    return JSON.stringify(after[table]) !== JSON.stringify(before[table]);
  });
  // This shows that the other tests in this file would notice a change in any of these tables.
  expect(changed).toEqual([
    'audit_log',
    'embed_sessions',
    'embed_tenants',
    'user_attribute_values',
    'user_attributes',
    'user_group_members',
    'user_groups',
    'users',
  ]);
});
