/** Many parallel calls: each has the same result as if it ran alone. */
import { createOrielClient, type OrielClient } from '@oriel/client';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { checkedFetch } from '../../../test/checked-fetch.ts';
import { snapshot } from '../../../test/snapshot.ts';
import { ADMIN_KEY, createOwnWorld, unique, type World } from '../../../test/world.ts';
import type { SessionRequest } from './rules.ts';

const CALLS = 200;
const MAX_EXTERNAL_USERS = 10_000;

let world: World;
let pool: pg.Pool;
let stopSecond: () => Promise<void>;
/** Two servers, so that twice as many transactions meet. */
let clients: OrielClient[];
let deploymentId: number;

beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_MAX_EXTERNAL_USERS: String(MAX_EXTERNAL_USERS) } });
  const second = await world.anotherServer();
  stopSecond = second.stop;
  clients = [
    world.admin,
    createOrielClient({ baseUrl: second.url, apiKey: ADMIN_KEY, fetch: checkedFetch, retries: 0 }),
  ];
  pool = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  deploymentId = (await world.deployment()).id;
  await pool.query('update tenant_settings set use_creator_mode = true');
  await pool.query(
    `insert into user_groups (name)
     select word || ' ' || k from generate_series(1, $1::int) k, unnest('{first,second}'::text[]) word
     union all select 'everybody'`,
    [CALLS],
  );
  await pool.query(
    `insert into user_attributes (name, type) values ('a', 'number'), ('b', 'string'), ('c', 'number_array')`,
  );
});

// Locks are always taken in the same order, so there must be no deadlock. Connections report deadlocks when they close.
afterAll(async () => {
  await Promise.all([world.server.stop(), stopSecond(), pool.end()]);
  const deadlocks = await countDeadlocks(new URL(world.databaseUrl).pathname.slice(1));
  await world.stop();
  expect(deadlocks).toBe(0);
});

async function countDeadlocks(database: string): Promise<number> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    const connected = `select from pg_stat_activity where datname = $1 and backend_type = 'client backend'`;
    await vi.waitUntil(async () => (await client.query(connected, [database])).rowCount === 0);
    const { rows } = await client.query('select deadlocks from pg_stat_database where datname = $1', [
      database,
    ]);
    return Number(rows[0].deadlocks);
  } finally {
    await client.end();
  }
}

/** Returns the result of each call: `minted`, or status and code. */
const mintAll = (requests: Omit<SessionRequest, 'deploymentId'>[]) =>
  Promise.all(
    requests.map((request, i) =>
      clients[i % clients.length]!.generateSession({ body: { deploymentId, ...request } }).then(
        () => 'minted',
        (error) => (error.status ? `${error.status} ${error.code}` : String(error)),
      ),
    ),
  );

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const times = (count: number, outcome: string) => Array<string>(count).fill(outcome);

/** Reads the profile, groups and attributes of one viewer, in one catalogue. */
async function viewer(externalId: string, embedTenant = 'oriel', catalogue: string | null = null) {
  const { rows } = await pool.query(
    `select u.first_name as "displayName", u.picture, u.email,
            array(select g.name from user_group_members m join user_groups g on g.id = m.group_id
                  where m.user_id = u.id and g.embed_tenant is not distinct from $3 order by 1) as groups,
            (select jsonb_object_agg(a.name, v.value) from user_attribute_values v
             join user_attributes a on a.id = v.attribute_id
             where v.user_id = u.id and a.embed_tenant is not distinct from $3) as attributes
     from users u where u.embed_tenant = $2 and u.external_id = $1`,
    [externalId, embedTenant, catalogue],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const profileOf = (k: number) => ({
  email: `viewer-${k}@example.com`,
  userProfile: { displayName: `viewer ${k}`, picture: `https://example.com/${k}.png` },
});
const groupsOf = (k: number) => ['everybody', `first ${k}`, `second ${k}`];
const attributesOf = (k: number) => [
  { name: 'a', value: k },
  { name: 'b', value: `value ${k}` },
  { name: 'c', value: [k, -k] },
];
const stateOf = (k: number) => ({
  displayName: `viewer ${k}`,
  picture: `https://example.com/${k}.png`,
  email: `viewer-${k}@example.com`,
  groups: groupsOf(k),
  attributes: { a: k, b: `value ${k}`, c: [k, -k] },
});

test('after many parallel calls for one viewer, groups, attributes and profile all come from the same call', async () => {
  const externalId = unique('viewer');
  for (const _ of ['a new viewer', 'a known one']) {
    const requests = numbers(CALLS).map((k) => ({
      externalId,
      groups: groupsOf(k),
      userAttributes: attributesOf(k),
      ...profileOf(k),
    }));
    expect(await mintAll(requests)).toEqual(times(CALLS, 'minted'));
    const state = await viewer(externalId);
    expect(state).toEqual(stateOf(state.attributes.a));
  }
});

test('after a few parallel calls that change only groups and attributes, both come from the same call', async () => {
  const externalId = unique('viewer');
  for (const round of numbers(25)) {
    const requests = numbers(8).map((i) => {
      const k = ((round * 8 + i) % CALLS) + 1;
      return { externalId, groups: groupsOf(k), userAttributes: attributesOf(k) };
    });
    expect(await mintAll(requests)).toEqual(times(8, 'minted'));
    const { groups, attributes } = await viewer(externalId);
    const expected = stateOf(attributes.a);
    expect({ groups, attributes }).toEqual({ groups: expected.groups, attributes: expected.attributes });
  }
});

test('calls without a profile keep the whole profile of another call', async () => {
  const externalId = unique('viewer');
  const requests = numbers(CALLS).map((k) => ({
    externalId,
    groups: groupsOf(k),
    userAttributes: attributesOf(k),
    ...(k % 3 === 0 ? profileOf(k) : {}),
  }));
  expect(await mintAll(requests)).toEqual(times(CALLS, 'minted'));
  const state = await viewer(externalId);
  const sent = Number(state.displayName.split(' ')[1]);
  const { groups, attributes } = stateOf(state.attributes.a);
  const { displayName, picture, email } = stateOf(sent);
  expect(state).toEqual({ displayName, picture, email, groups, attributes });
  expect(state.attributes.a % 3 !== 0 || state.attributes.a === sent).toBe(true);
});

test('in creator mode, all values and definitions come from the same call too', async () => {
  const externalId = unique('viewer');
  const embedTenantName = unique('tenant');
  const requests = numbers(CALLS).map((k) => ({
    externalId,
    embedTenantName,
    creatorMode: true,
    embedTenantProfile: { displayName: `tenant ${k}` },
    groupDefinitions: groupsOf(k).map((name) => ({ name, description: `of ${k}` })),
    userAttributeDefinitions: [
      { name: 'c', type: 'number_array' as const, displayName: `c of ${k}` },
      { name: 'a', type: 'number' as const, description: `a of ${k}`, defaultValue: String(k) },
      { name: 'b', type: 'string' as const, description: `b of ${k}` },
    ],
    groups: groupsOf(k),
    userAttributes: attributesOf(k),
    ...profileOf(k),
  }));
  expect(await mintAll(requests)).toEqual(times(CALLS, 'minted'));
  const state = await viewer(externalId, embedTenantName, embedTenantName);
  const k: number = state.attributes.a;
  expect(state).toEqual(stateOf(k));
  // The last call has also set all shared definitions.
  const { rows: defined } = await pool.query(
    `select (select display_name from embed_tenants where name = $1) as tenant,
            (select description from user_groups where embed_tenant = $1 and name = 'everybody') as everybody,
            (select jsonb_object_agg(name, jsonb_build_array(display_name, default_value, description))
             from user_attributes where embed_tenant = $1) as attributes`,
    [embedTenantName],
  );
  expect(defined[0]).toEqual({
    tenant: `tenant ${k}`,
    everybody: `of ${k}`,
    attributes: {
      a: [null, String(k), `a of ${k}`],
      b: [null, null, `b of ${k}`],
      c: [`c of ${k}`, null, null],
    },
  });
});

test('parallel calls with overlapping definitions in any order create each definition of a new tenant once', async () => {
  const embedTenantName = unique('tenant');
  const names = numbers(12).map((i) => `name ${i}`);
  /** Six of the twelve definitions, from any start, forwards or backwards. */
  const someOf = (k: number) => {
    const some = names.map((_, i) => names[(k + i) % names.length]!).slice(0, 6);
    return k % 2 ? some : some.toReversed();
  };
  const requests = numbers(100).map((k) => ({
    externalId: `viewer-${k}`,
    embedTenantName,
    creatorMode: true,
    groupDefinitions: someOf(k).map((name) => ({ name })),
    tenantGroupDefinitions: someOf(k + 3).map((name) => ({ name })),
    userAttributeDefinitions: someOf(k + 5).map((name) => ({ name, type: 'number' as const })),
    groups: someOf(k),
    tenantGroups: someOf(k + 3),
    userAttributes: someOf(k + 5).map((name) => ({ name, value: k })),
  }));
  expect(await mintAll(requests)).toEqual(times(100, 'minted'));
  const { rows } = await pool.query(
    `select kind, array_agg(name order by name collate "C") as names from (
       select 'groups' as kind, name from user_groups where embed_tenant = $1
       union all select 'attributes', name from user_attributes where embed_tenant = $1) d group by 1 order by 1`,
    [embedTenantName],
  );
  const sorted = names.toSorted();
  expect(rows).toEqual(['attributes', 'groups'].map((kind) => ({ kind, names: sorted })));
  for (const k of [1, 50, 100]) {
    const { attributes } = await viewer(`viewer-${k}`, embedTenantName, embedTenantName);
    expect(attributes).toEqual(Object.fromEntries(someOf(k + 5).map((name) => [name, k])));
  }
  // Each definition has one entry in the audit log.
  const { rows: entries } = await pool.query(
    `select count(*)::int as count from audit_log where after->>'embedTenantName' = $1 or after->>'embed_tenant' = $1
     or resource_type = 'embedTenant' and resource_id = $1`,
    [embedTenantName],
  );
  expect(entries[0].count).toBe(2 * names.length + 1);
});

test('the same call has the same result once or hundreds of times', async () => {
  const embedTenantName = unique('tenant');
  const request = {
    externalId: 'viewer',
    embedTenantName,
    creatorMode: true,
    embedTenantProfile: { displayName: 'Tenant' },
    groupDefinitions: [{ name: 'g', description: 'a group' }, { name: 'h' }],
    tenantGroupDefinitions: [{ name: 'g', description: '' }],
    userAttributeDefinitions: [
      {
        name: 'a',
        type: 'number' as const,
        displayName: 'A',
        defaultValue: '1',
        description: 'an attribute',
      },
      { name: 'n', type: 'string' as const },
    ],
    groups: ['h', 'g', 'h'],
    tenantGroups: ['g'],
    userAttributes: [
      { name: 'a', value: 1.5 },
      { name: 'n', value: null },
    ],
    ...profileOf(1),
    securityContext: { customer: 1 },
  };
  const state = () => snapshot(pool, { except: ['embed_sessions', 'api_keys', 'jobs', 'job_schedules'] });
  const countSessions = async () => Number((await pool.query('select from embed_sessions')).rowCount);
  expect(await mintAll([request])).toEqual(['minted']);
  const before = await state();
  const sessionsBefore = await countSessions();
  expect(await mintAll([request])).toEqual(['minted']);
  expect(await state()).toEqual(before);
  for (const _ of numbers(2)) expect(await mintAll(Array(200).fill(request))).toEqual(times(200, 'minted'));
  expect(await state()).toEqual(before);
  expect(await countSessions()).toBe(sessionsBefore + 401);
});

test('the limit on external users is exact and does not stop known users', async () => {
  await pool.query(
    `insert into users (embed_tenant, external_id, username)
     select 'oriel', 'known-' || k, 'known-' || k
     from generate_series(1, $1 - 10 - (select count from external_user_count)) k`,
    [MAX_EXTERNAL_USERS],
  );
  const tenants = ['oriel', unique('tenant'), unique('tenant')];
  // Every fourth call is for a known user.
  const requests = numbers(86).map((k) =>
    k % 4 === 0
      ? { externalId: `known-${k}`, userProfile: { displayName: `viewer ${k}` } }
      : { externalId: `new-${k}`, embedTenantName: tenants[k % 3] },
  );
  const outcomes = await mintAll(requests);
  const isKnown = (_: unknown, i: number) => (i + 1) % 4 === 0;
  expect(outcomes.filter(isKnown)).toEqual(times(21, 'minted'));
  const refusal = '403 external_user_limit_reached';
  expect(outcomes.filter((_, i) => !isKnown(_, i)).toSorted()).toEqual([
    ...times(55, refusal),
    ...times(10, 'minted'),
  ]);
  const { rows } = await pool.query(
    `select count::int, (select count(*)::int from users where embed_tenant is not null) as real from external_user_count`,
  );
  expect(rows[0]).toEqual({ count: MAX_EXTERNAL_USERS, real: MAX_EXTERNAL_USERS });
  // Deleting a user makes room for one new user.
  await pool.query(`delete from users where external_id = 'known-1'`);
  const again = await mintAll([{ externalId: 'late-1' }, { externalId: 'late-2' }]);
  expect(again.toSorted()).toEqual([refusal, 'minted']);
});
