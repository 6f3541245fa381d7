/**
 * Minting while other transactions delete rows that it needs. Most tests force the race: another transaction deletes
 * rows and commits only when the call waits for it or has ended.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import type { SessionRequest } from './rules.ts';

const OFTEN = { interval: 5 };

let world: World;
let pool: pg.Pool;
let deploymentId: number;

beforeAll(async () => {
  world = await createWorld();
  pool = new pg.Pool({ connectionString: world.databaseUrl, max: 6 });
  deploymentId = (await world.deployment()).id;
});
afterAll(async () => {
  await pool.end();
  await world.stop();
});

type Request = Omit<SessionRequest, 'deploymentId'> & { deploymentId?: number };
type Outcome = { sessionId?: string; refusal?: string };

const mint = (request: Request): Promise<Outcome> =>
  world.admin.generateSession({ body: { deploymentId, ...request } }).then(
    ({ sessionId }) => ({ sessionId }),
    (error) => ({ refusal: error.status ? `${error.status} ${error.code}` : String(error) }),
  );

const MINTED = { sessionId: expect.any(String) };
const refused = (refusal: string) => ({ refusal });

/**
 * Starts the call when `work` is done but not committed. When the call waits for it or has ended, does some more work
 * and commits.
 */
async function during<T>(
  work: (client: pg.PoolClient) => Promise<unknown>,
  call: () => Promise<T>,
  moreWork: (client: pg.PoolClient) => Promise<unknown> = async () => {},
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    let ended = false;
    const answer = call().finally(() => {
      ended = true;
    });
    await vi.waitUntil(async () => ended || (await somebodyWaitsFor(client)), OFTEN);
    await moreWork(client);
    await client.query('commit');
    return await answer;
  } finally {
    // Does nothing if the transaction was committed.
    await client.query('rollback');
    client.release();
  }
}

async function somebodyWaitsFor(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await pool.query(
    `select exists (select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))) as waits`,
    [(client as unknown as { processID: number }).processID],
  );
  return rows[0].waits;
}

const countWaiting = async () =>
  (
    await pool.query(
      `select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    )
  ).rowCount;

const insertGroup = async (name: string, embedTenant: string | null = null) =>
  Number(
    (
      await pool.query('insert into user_groups (name, embed_tenant) values ($1, $2) returning id', [
        name,
        embedTenant,
      ])
    ).rows[0].id,
  );

const insertAttribute = async (name: string) =>
  Number(
    (await pool.query(`insert into user_attributes (name, type) values ($1, 'number') returning id`, [name]))
      .rows[0].id,
  );

/** Returns undefined if the viewer does not exist. */
async function viewer(externalId: string, embedTenant = 'oriel') {
  const { rows } = await pool.query(
    `select u.id::int, u.first_name as "displayName",
            array(select g.name from user_group_members m join user_groups g on g.id = m.group_id
                  where m.user_id = u.id order by 1) as groups,
            coalesce((select jsonb_object_agg(a.name, v.value) from user_attribute_values v
                      join user_attributes a on a.id = v.attribute_id where v.user_id = u.id), '{}') as attributes
     from users u where u.embed_tenant = $2 and u.external_id = $1`,
    [externalId, embedTenant],
  );
  return rows[0];
}

async function definitionsOf(embedTenant: string): Promise<string[]> {
  const { rows } = await pool.query(
    `select array(select 'groups ' || name from user_groups where embed_tenant = $1
                  union all select 'attributes ' || name from user_attributes where embed_tenant = $1 order by 1) as names`,
    [embedTenant],
  );
  return rows[0].names;
}

/** Takes locks in the same order as minting. */
async function deleteTenant(client: pg.PoolClient, name: string) {
  await client.query('select from embed_tenants where name = $1 for update', [name]);
  await client.query('select from external_user_count for update');
  for (const table of ['users', 'user_groups', 'user_attributes'])
    await client.query(`delete from ${table} where embed_tenant = $1`, [name]);
  await client.query('delete from embed_tenants where name = $1', [name]);
}

/** A request with every field that a call can have. */
const richRequest = (embedTenantName: string, externalId = 'viewer') => ({
  externalId,
  embedTenantName,
  creatorMode: true,
  embedTenantProfile: { displayName: 'Tenant' },
  userProfile: { displayName: 'Viewer' },
  groupDefinitions: [{ name: 'g' }, { name: 'h' }],
  tenantGroupDefinitions: [{ name: 't' }],
  userAttributeDefinitions: [{ name: 'a', type: 'number' as const }],
  groups: ['g', 'h'],
  tenantGroups: ['t'],
  userAttributes: [{ name: 'a', value: 1 }],
});
const RICH = { id: expect.any(Number), displayName: 'Viewer', groups: ['g', 'h', 't'], attributes: { a: 1 } };
const RICH_DEFINITIONS = ['attributes a', 'groups g', 'groups h', 'groups t'];

async function expectDefined(embedTenantName: string) {
  expect(await definitionsOf(embedTenantName)).toEqual(RICH_DEFINITIONS);
  const { rows } = await pool.query('select display_name from embed_tenants where name = $1', [
    embedTenantName,
  ]);
  expect(rows).toEqual([{ display_name: 'Tenant' }]);
}

async function expectRich(embedTenantName: string, externalId = 'viewer') {
  expect(await viewer(externalId, embedTenantName)).toEqual(RICH);
  await expectDefined(embedTenantName);
}

test('a call waits for another call that is changing the same viewer, and then replaces everything', async () => {
  const names = [unique('group'), unique('group'), unique('group')];
  for (const name of names) await insertGroup(name);
  const attribute = unique('attribute');
  await insertAttribute(attribute);
  const externalId = unique('viewer');
  const requestOf = (k: number) => ({
    externalId,
    groups: [names[k]!],
    userAttributes: [{ name: attribute, value: k }],
  });
  await mint(requestOf(0));
  // The first call waits when it adds the viewer to its group.
  const hold = (client: pg.PoolClient) =>
    client.query('select from user_groups where name = $1 for update', [names[1]]);
  let second: Promise<Outcome> | undefined;
  const startSecond = async () => {
    let ended = false;
    second = mint(requestOf(2)).finally(() => {
      ended = true;
    });
    await vi.waitUntil(async () => ended || (await countWaiting()) === 2, OFTEN);
  };
  expect(await during(hold, () => mint(requestOf(1)), startSecond)).toEqual(MINTED);
  expect(await second).toEqual(MINTED);
  expect(await viewer(externalId)).toMatchObject({ groups: [names[2]], attributes: { [attribute]: 2 } });
});

test('a group that is deleted during the call is not found, and nothing is created', async () => {
  const [kept, gone] = [unique('group'), unique('group')];
  await insertGroup(kept);
  const id = await insertGroup(gone);
  const externalId = unique('viewer');
  const request = { externalId, userProfile: { displayName: 'Viewer' }, groups: [kept, gone] };
  const remove = (client: pg.PoolClient) => client.query('delete from user_groups where id = $1', [id]);
  expect(await during(remove, () => mint(request))).toEqual(refused('400 groups_not_found'));
  expect(await viewer(externalId)).toBeUndefined();
});

test('an attribute that is deleted during the call is not found, and nothing is created', async () => {
  const [kept, gone] = [unique('attribute'), unique('attribute')];
  await insertAttribute(kept);
  const id = await insertAttribute(gone);
  const externalId = unique('viewer');
  const userAttributes = [kept, gone].map((name) => ({ name, value: 1 }));
  const remove = (client: pg.PoolClient) => client.query('delete from user_attributes where id = $1', [id]);
  expect(await during(remove, () => mint({ externalId, userAttributes }))).toEqual(
    refused('400 user_attributes_not_found'),
  );
  expect(await viewer(externalId)).toBeUndefined();
});

test('groups and attributes that are deleted during a call that defines them are created again', async () => {
  for (const table of ['user_groups', 'user_attributes']) {
    const embedTenantName = unique('tenant');
    await mint(richRequest(embedTenantName));
    const remove = (client: pg.PoolClient) =>
      client.query(`delete from ${table} where embed_tenant = $1`, [embedTenantName]);
    const request = richRequest(embedTenantName, 'another');
    expect(await during(remove, () => mint(request)), table).toEqual(MINTED);
    await expectRich(embedTenantName, 'another');
  }
});

test('definitions that the call has found are created again if they are deleted before it needs them', async () => {
  const embedTenantName = unique('tenant');
  await mint(richRequest(embedTenantName));
  const request = richRequest(embedTenantName, 'another');
  // The call waits for the tenant to add the new attribute, after it has found the existing definitions.
  request.userAttributeDefinitions.push({ name: 'z', type: 'number' });
  const hold = (client: pg.PoolClient) =>
    client.query('select from embed_tenants where name = $1 for no key update', [embedTenantName]);
  const remove = async (client: pg.PoolClient) => {
    for (const table of ['user_groups', 'user_attributes'])
      await client.query(`delete from ${table} where embed_tenant = $1`, [embedTenantName]);
  };
  expect(await during(hold, () => mint(request), remove)).toEqual(MINTED);
  expect(await viewer('another', embedTenantName)).toEqual(RICH);
  expect(await definitionsOf(embedTenantName)).toEqual([
    'attributes a',
    'attributes z',
    ...RICH_DEFINITIONS.slice(1),
  ]);
});

test('a tenant that is deleted during the call is created again, with everything that the call defines', async () => {
  const embedTenantName = unique('tenant');
  const remove = (client: pg.PoolClient) => deleteTenant(client, embedTenantName);
  const replace = async (client: pg.PoolClient) => {
    await deleteTenant(client, embedTenantName);
    await client.query('insert into embed_tenants (name) values ($1)', [embedTenantName]);
  };
  // In the last request, only the definitions need the deleted rows.
  const { groups, tenantGroups, userAttributes, ...plain } = richRequest(embedTenantName, 'plain');
  for (const request of [richRequest(embedTenantName), richRequest(embedTenantName, 'another'), plain]) {
    for (const work of [remove, replace]) {
      await mint(richRequest(embedTenantName));
      expect(await during(work, () => mint(request))).toEqual(MINTED);
      await expectDefined(embedTenantName);
      if (request !== plain) expect(await viewer(request.externalId, embedTenantName)).toEqual(RICH);
    }
  }
});

test('if a tenant is deleted during a call that only names its groups, the groups are not found', async () => {
  const embedTenantName = unique('tenant');
  await mint(richRequest(embedTenantName));
  const remove = (client: pg.PoolClient) => deleteTenant(client, embedTenantName);
  const request = { externalId: 'another', embedTenantName, creatorMode: true, groups: ['g'] };
  expect(await during(remove, () => mint(request))).toEqual(refused('400 groups_not_found'));
  expect(await viewer('another', embedTenantName)).toBeUndefined();
  expect((await pool.query('select from embed_tenants where name = $1', [embedTenantName])).rowCount).toBe(0);
});

test('a viewer who is deleted during the call is created again', async () => {
  const embedTenantName = unique('tenant');
  await mint(richRequest(embedTenantName));
  const { id } = await viewer('viewer', embedTenantName);
  const remove = (client: pg.PoolClient) => client.query('delete from users where id = $1', [id]);
  expect(await during(remove, () => mint(richRequest(embedTenantName)))).toEqual(MINTED);
  await expectRich(embedTenantName);
  expect((await viewer('viewer', embedTenantName)).id).not.toBe(id);
});

test('an internal user who is deleted during the call is not found', async () => {
  const { userId } = await world.person();
  const { rows } = await pool.query('select username from users where id = $1', [userId]);
  const internalId: string = rows[0].username;
  const remove = (client: pg.PoolClient) => client.query('delete from users where id = $1', [userId]);
  expect(await during(remove, () => mint({ internalId }))).toEqual(refused('404 user_not_found'));
});

test('the call succeeds if another transaction adds the viewer to the same group', async () => {
  const name = unique('group');
  const groupId = await insertGroup(name);
  const externalId = unique('viewer');
  await mint({ externalId });
  const { id } = await viewer(externalId);
  const join = (client: pg.PoolClient) =>
    client.query('insert into user_group_members (group_id, user_id) values ($1, $2)', [groupId, id]);
  expect(await during(join, () => mint({ externalId, groups: [name] }))).toEqual(MINTED);
  expect((await viewer(externalId)).groups).toEqual([name]);
  const add = () => world.admin.addUserGroupMembers({ id: groupId, body: { userIds: [id] } });
  const remove = () => world.admin.removeUserGroupMembers({ id: groupId, body: { userIds: [id] } });
  for (let round = 0; round < 10; round++) {
    const [outcome] = await Promise.all([mint({ externalId, groups: [name] }), add(), remove()]);
    expect(outcome).toEqual(MINTED);
  }
});

test('a session whose deployment is deleted during minting cannot be exchanged', async () => {
  const { id } = await world.deployment();
  const externalId = unique('viewer');
  const remove = (client: pg.PoolClient) => client.query('delete from deployments where id = $1', [id]);
  const outcome = await during(remove, () => mint({ externalId, deploymentId: id }));
  expect(outcome).toEqual(MINTED);
  expect(await exchange(outcome.sessionId!)).toBe('401 invalid_session');
  // The server hears of the deletion a moment later.
  await expect
    .poll(() => mint({ externalId, deploymentId: id }))
    .toEqual(refused('404 deployment_not_found'));
});

test('whatever is deleted during many calls, each call succeeds or reports what is missing', async () => {
  const expected = new Set<string>();
  for (let round = 0; round < 6; round++) {
    const [group, attribute, embedTenantName] = [unique('group'), unique('attribute'), unique('tenant')];
    const groupId = await insertGroup(group);
    const attributeId = await insertAttribute(attribute);
    const doomed = await world.deployment();
    const person = await world.person();
    const { rows } = await pool.query('select username from users where id = $1', [person.userId]);
    await mint(richRequest(embedTenantName));
    const { id: viewerId } = await viewer('viewer', embedTenantName);
    const some = [1, 2, 3, 4, 5, 6];
    const names = some.map(() => unique('viewer'));
    const wide = (externalId: string) => ({
      externalId,
      userProfile: { displayName: 'Viewer' },
      groups: [group],
      userAttributes: [{ name: attribute, value: 1 }],
    });
    const calls = some.flatMap((i) => [
      mint(richRequest(embedTenantName)),
      mint(richRequest(embedTenantName, `viewer-${i}`)),
      mint(wide(names[i - 1]!)),
      mint({ externalId: unique('viewer'), deploymentId: doomed.id }),
      mint({ internalId: rows[0].username }),
    ]);
    const client = await pool.connect();
    const deleting = (async () => {
      await world.admin.deleteUserGroup({ id: groupId });
      await client.query('delete from user_attributes where id = $1', [attributeId]);
      await world.admin.deleteDeployment({ deploymentId: doomed.id });
      await world.admin.deleteUser({ id: viewerId });
      await world.admin.deleteUser({ id: person.userId });
      await client.query('begin');
      await deleteTenant(client, embedTenantName);
      await client.query('commit');
    })().finally(() => client.release());
    const outcomes = await Promise.all(calls);
    await deleting;
    for (const { refusal } of outcomes) expected.add(refusal ?? 'minted');
    // Each call has stored everything or nothing.
    for (const [i, name] of names.entries()) {
      const found = await viewer(name);
      const { refusal } = outcomes[i * 5 + 2]!;
      if (refusal) expect(found).toBeUndefined();
      else expect(found).toMatchObject({ displayName: 'Viewer', groups: [], attributes: {} });
    }
    for (const name of ['viewer', ...some.map((i) => `viewer-${i}`)]) {
      const found = await viewer(name, embedTenantName);
      if (found) await expectRich(embedTenantName, name);
    }
  }
  expect([...expected].filter((outcome) => !DOCUMENTED.includes(outcome))).toEqual([]);
  const { rows } = await pool.query(
    `select count::int, (select count(*)::int from users where embed_tenant is not null) as real from external_user_count`,
  );
  expect(rows[0].count).toBe(rows[0].real);
});

const DOCUMENTED = [
  'minted',
  '400 groups_not_found',
  '400 user_attributes_not_found',
  '404 deployment_not_found',
  '404 user_not_found',
];

const exchange = (sessionId: string) =>
  world
    .client()
    .postTokenBySessionId({ body: { sessionId } })
    .then(
      ({ token }) => token,
      (error) => `${error.status} ${error.code}`,
    );

const statusWith = async (token: string) =>
  (await world.raw('GET', '/api/v1/embed/session', { headers: { authorization: `Bearer ${token}` } })).status;

test('if many calls exchange a session in parallel, one gets a token', async () => {
  const { sessionId } = await mint({ externalId: unique('viewer') });
  const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(sessionId!)));
  const tokens = answers.filter((answer) => answer !== '401 invalid_session');
  expect(tokens).toHaveLength(1);
  expect(await statusWith(tokens[0]!)).toBe(200);
});

test('no token of a revoked session is accepted, however close the exchange was', async () => {
  let revoked = 0;
  for (let round = 0; round < 5; round++) {
    const embedTenantName = unique('tenant');
    const sessions = await Promise.all(
      Array.from({ length: 40 }, (_, i) => mint({ externalId: `viewer-${i}`, embedTenantName })),
    );
    const exchanging = sessions.map(({ sessionId }) => exchange(sessionId!));
    // Waits until some of the exchanges have ended.
    await Promise.all(exchanging.slice(0, 5 + round * 5));
    const revoking = world.admin.revokeEmbedSessions({ body: { embedTenantName } });
    const answers = await Promise.all(exchanging);
    await revoking;
    const ledger = new Map<number, string>();
    for await (const { id, state } of world.admin.iterate.listEmbedSessions({ embedTenantName }))
      ledger.set(id, state);
    expect(ledger.size).toBe(sessions.length);
    const holders = sessions.flatMap(({ sessionId }, i) => {
      const state = ledger.get(Number(sessionId!.split('.')[0]));
      const wasExchanged = answers[i] !== '401 invalid_session';
      if (!wasExchanged) expect(state).toBe('revoked');
      return wasExchanged ? [{ token: answers[i]!, state }] : [];
    });
    for (const { token, state } of holders) {
      if (state !== 'revoked') continue;
      revoked++;
      // Notifications reach the server a moment after the reply.
      await vi.waitUntil(async () => (await statusWith(token)) === 401, OFTEN);
    }
  }
  expect(revoked).toBeGreaterThan(0);
});

test('if a session is exchanged while its tenant is being revoked, the session and its token are revoked', async () => {
  const embedTenantName = unique('tenant');
  const first = await mint({ externalId: 'viewer-1', embedTenantName });
  const second = await mint({ externalId: 'viewer-2', embedTenantName });
  const idOf = ({ sessionId }: Outcome) => Number(sessionId!.split('.')[0]);
  // The revoking call reaches the first session before the second, and waits there.
  const hold = (client: pg.PoolClient) =>
    client.query('select from embed_sessions where id = $1 for update', [idOf(first)]);
  let token = '';
  const exchangeSecond = async () => {
    token = await exchange(second.sessionId!);
    expect(await statusWith(token)).toBe(200);
  };
  const revoke = () => world.admin.revokeEmbedSessions({ body: { embedTenantName } });
  expect(await during(hold, revoke, exchangeSecond)).toEqual({ revoked: 2 });
  expect(await world.admin.getEmbedSessionEntry({ id: idOf(second) })).toMatchObject({ state: 'revoked' });
  await vi.waitUntil(async () => (await statusWith(token)) === 401, OFTEN);
});

test('groups and attributes that are read together come from the same call, even while others change them', async () => {
  const names = Array.from({ length: 20 }, () => unique('group'));
  const attribute = unique('attribute');
  await insertAttribute(attribute);
  for (const name of names) await insertGroup(name);
  const externalId = unique('viewer');
  const requestOf = (k: number) => ({
    externalId,
    groups: [names[k]!],
    userAttributes: [{ name: attribute, value: k }],
  });
  await mint(requestOf(0));
  const { client } = await world.embedded({ deploymentId, externalId });
  const writing = Promise.all(Array.from({ length: 100 }, (_, i) => mint(requestOf(i % names.length))));
  // Fewer at once than one embed token may have.
  const read = () => Promise.all(Array.from({ length: 25 }, () => client.getEmbedSession()));
  const reading = read().then(async (first) => [...first, ...(await read())]);
  for (const { groups, userAttributes } of await reading)
    expect(groups).toEqual([names[userAttributes[attribute] as number]]);
  expect((await writing).filter(({ refusal }) => refusal)).toEqual([]);
});
