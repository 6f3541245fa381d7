import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTenant, newViewer, newViewers } from '../../../test/embed-tenants.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const MISSING = { status: 404, code: 'embed_tenant_not_found' };

let world: World;
let deploymentIds: [number, number];
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentIds = [(await world.deployment()).id, (await world.deployment()).id];
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const remove = (embedTenantName: string) => world.admin.deleteEmbedTenant({ embedTenantName });

/** An embed tenant with two users and at least one row in every table, in two deployments. */
async function fullTenant(): Promise<string> {
  const tenant = await newTenant(world, 'Acme Corporation');
  const viewers = await newViewers(world, tenant, 2);
  for (const group of ['buyers', 'sellers']) {
    await run(
      `with g as (insert into user_groups (embed_tenant, name) values ($1, $2) returning id)
       insert into user_group_members (group_id, user_id) select g.id, u.id from g, users u where u.embed_tenant = $1`,
      [tenant, group],
    );
  }
  await run(
    `with a as (insert into user_attributes (embed_tenant, name, type) values ($1, 'region', 'string') returning id)
     insert into user_attribute_values (user_id, attribute_id, value)
     select u.id, a.id, '"EU"' from a, users u where u.embed_tenant = $1`,
    [tenant],
  );
  for (const deploymentId of deploymentIds) {
    for (const { id } of viewers) await fill(tenant, id, deploymentId);
  }
  return tenant;
}

/** A session of this user, and their folder with a workbook that has a report. */
async function fill(tenant: string, userId: number, deploymentId: number) {
  await run(
    `insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id, expires_at)
     values ('', $1, $2, $3, true, 1, now() + interval '1 minute')`,
    [deploymentId, tenant, userId],
  );
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: folder.id } });
  const report = await world.admin.createReport({ deploymentId, body: { workbookId: workbook.id } });
  await world.admin.getReport({ deploymentId, reportId: report.id });
  const given = { folders: folder.id, workbooks: workbook.id, reports: report.id };
  for (const [table, id] of Object.entries(given)) {
    await run(`update ${table} set embed_tenant = $1, user_id = $2, created_by = $2 where id = $3`, [
      tenant,
      userId,
      id,
    ]);
  }
}

const TABLES = [
  'embed_tenants',
  'users',
  'user_groups',
  'user_group_members',
  'user_attributes',
  'user_attribute_values',
  'embed_sessions',
  'folders',
  'workbooks',
  'reports',
  'report_views',
  'resource_policies',
  'user_roles',
  'api_keys',
  'deployments',
];

/** All rows of each table, as text. */
async function snapshot(): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of TABLES) {
    const changing = table === 'api_keys' ? ` - 'last_used_at'` : '';
    const rows = await run(`select (to_jsonb(t)${changing})::text as row from ${table} t order by 1`);
    all[table] = rows.map(({ row }) => row);
  }
  return all;
}

test('deleting an embed tenant deletes everything in it and changes nothing else', async () => {
  await fullTenant();
  await world.person();
  const before = await snapshot();
  const tenant = await fullTenant();
  expect(await snapshot()).not.toEqual(before);

  expect(await remove(tenant)).toBeUndefined();
  await expect.poll(snapshot).toEqual(before);
  const [counted] = await run(
    'select count, (select count(*) from users where embed_tenant is not null) as actual from external_user_count',
  );
  expect(counted.count).toBe(counted.actual);
  await expect(remove(tenant)).rejects.toMatchObject(MISSING);
  await expect(world.admin.getGroups({ embedTenantName: tenant })).rejects.toMatchObject(MISSING);
});

test('deleting an embed tenant ends the tokens of its users', async () => {
  const tenant = await newTenant(world);
  const viewer = await newViewer(world, tenant);
  await remove(tenant);
  const rows = await run(
    'select embed_tenant, user_id from embed_revocations where embed_tenant = $1 or user_id = $2 order by id',
    [tenant, viewer.id],
  );
  expect(rows).toContainEqual({ embed_tenant: tenant, user_id: null });
});

test('content that its users own is deleted too, even outside the tenant', async () => {
  const tenant = await newTenant(world);
  const viewer = await newViewer(world, tenant);
  const [deploymentId] = deploymentIds;
  const report = await world.admin.createReport({ deploymentId, body: {} });
  const { count } = await world.admin.getReports({ deploymentId });
  await run('update reports set user_id = $1 where id = $2', [viewer.id, report.id]);
  await remove(tenant);
  const outcome = () =>
    world.admin.getReport({ deploymentId, reportId: report.id }).then(
      () => 'found',
      (error) => error.code,
    );
  await expect.poll(outcome).toBe('report_not_found');
  expect((await world.admin.getReports({ deploymentId })).count).toBe(count! - 1);
});

test('content of others stays, even if users of the tenant refreshed or changed it', async () => {
  const tenant = await newTenant(world);
  const viewer = await newViewer(world, tenant);
  const [deploymentId] = deploymentIds;
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'ours' } });
  const report = await world.admin.createReport({ deploymentId, body: { folderId: folder.id } });
  await run('update folders set updated_by = $1, created_by = $1 where id = $2', [viewer.id, folder.id]);
  await run('update reports set refreshed_by = $1, created_by = $1 where id = $2', [viewer.id, report.id]);
  await remove(tenant);
  expect(await world.admin.getReport({ deploymentId, reportId: report.id })).toMatchObject({ id: report.id });
});

test('the audit log shows the deleted embed tenant and its number of users', async () => {
  const tenant = await fullTenant();
  await remove(tenant);
  await expect(remove(tenant)).rejects.toMatchObject(MISSING);
  const entries = await run(
    `select operation, before, after from audit_log where resource_type = 'embedTenant' and resource_id = $1`,
    [tenant],
  );
  expect(entries).toEqual([
    {
      operation: 'deleteEmbedTenant',
      before: {
        id: expect.any(Number),
        name: tenant,
        displayName: 'Acme Corporation',
        createdAt: expect.any(String),
        userCount: 2,
      },
      after: null,
    },
  ]);
});

test('if several calls delete a tenant in parallel, one succeeds', async () => {
  const tenant = await fullTenant();
  const attempts = Array.from({ length: 5 }, () =>
    remove(tenant).then(
      () => 'deleted',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).toSorted();
  expect(outcomes).toEqual(['deleted', ...Array(4).fill(MISSING.code)]);
});

/** Runs a transaction on a separate connection while a deletion waits for it. */
async function whileDeleting(tenant: string, work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await work(client);
    const deletion = remove(tenant);
    await expect.poll(waitingForLocks).toBe(1);
    await client.query('commit');
    await deletion;
  } finally {
    await client.end();
  }
}

const waitingForLocks = async () =>
  (
    await run(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`,
    )
  ).length;

const remaining = async (tenant: string) => {
  const tables = TABLES.filter((table) =>
    /^(users|user_groups|user_attributes|embed_sessions|folders|workbooks|reports)$/.test(table),
  );
  const found = await Promise.all(
    tables.map((table) => run(`select from ${table} where embed_tenant = $1`, [tenant])),
  );
  return found.flat().length;
};

test('a user who is created during the deletion is deleted too', async () => {
  const tenant = await newTenant(world);
  const text = `insert into users (embed_tenant, external_id, username) values ($1, 'late', 'late')`;
  await whileDeleting(tenant, (client) => client.query(text, [tenant]));
  await expect.poll(() => remaining(tenant)).toBe(0);
});

test('a group that is created during the deletion is deleted too', async () => {
  const tenant = await newTenant(world);
  const text = `insert into user_groups (embed_tenant, name) values ($1, 'late')`;
  await whileDeleting(tenant, (client) => client.query(text, [tenant]));
  await expect.poll(() => remaining(tenant)).toBe(0);
});

test('content that a user creates during the deletion is deleted too', async () => {
  const tenant = await newTenant(world);
  const viewer = await newViewer(world, tenant);
  await whileDeleting(tenant, (client) =>
    client.query(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, embed_tenant, user_id)
       values ($1, $2, '', '', '', $3, $4)`,
      [deploymentIds[0], unique('r').slice(-12).padStart(12, '0'), tenant, viewer.id],
    ),
  );
  await expect.poll(() => remaining(tenant)).toBe(0);
});

test('a copy that an admin creates during the deletion is deleted too', async () => {
  const tenant = await newTenant(world);
  const [deploymentId] = deploymentIds;
  const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
  await run('update workbooks set embed_tenant = $1 where id = $2', [tenant, id]);
  await whileDeleting(tenant, async (client) => {
    await client.query('select from workbooks where id = $1 for update', [id]);
    await client.query(
      `insert into workbooks (deployment_id, name, name_key, embed_tenant, user_id)
       select deployment_id, name, name_key, embed_tenant, user_id from workbooks where id = $1`,
      [id],
    );
  });
  await expect.poll(() => remaining(tenant)).toBe(0);
});

test('minting sessions during the deletion causes no deadlock, for known and for new users', async () => {
  const tenant = await newTenant(world);
  const [viewer] = await newViewers(world, tenant, 20);
  const { id: deploymentId } = await world.deployment();
  const mint = (externalId: string) =>
    world.admin.generateSession({ body: { deploymentId, embedTenantName: tenant, externalId } }).then(
      () => 'minted',
      (error) => error.code,
    );
  const calls = Array.from({ length: 8 }, (_, i) => mint(i % 2 ? viewer!.externalId : `new-${i}`));
  const [, ...outcomes] = await Promise.all([remove(tenant), ...calls]);
  expect(outcomes).toEqual(Array(8).fill('minted'));
  const orphans = await run(
    'select from embed_sessions s where embed_tenant = $1 and not exists (select from users where id = s.user_id)',
    [tenant],
  );
  expect(orphans).toEqual([]);
});
