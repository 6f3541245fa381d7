/** Deleted content is hidden from every reader before its rows are removed, and they are removed even after failures. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRows, limitStatements } from './hold.ts';
import { createOwnWorld, unique, type World } from './world.ts';

const MANY = 2500;

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
  await world.server.db.pool.query('update tenant_settings set use_creator_mode = true');
  // The limit is larger than a request or a batch of a job needs, and smaller than the number of rows.
  for (const table of ['reports', 'workbooks', 'folders']) await limitStatements(world, table, 1000);
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;
const count = async (table: string, condition: string, value: unknown) =>
  (await run(`select count(*)::int as n from ${table} where ${condition}`, [value]))[0].n;
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error) => error.code,
  );

/** Creates reports at the root and returns their ids in order. */
async function fill(deploymentId: number, userId: number, tenant: string | null = null, n = MANY) {
  const rows = await run(
    `insert into reports (deployment_id, public_id, name, name_key, search_text, embed_tenant, user_id, created_by)
     select $1, substr(md5(random()::text), 1, 12), 'r', 'r', 'needle', $3, $2, $2 from generate_series(1, $4::int)
     returning id, public_id`,
    [deploymentId, userId, tenant, n],
  );
  return rows as [{ id: number; public_id: string }, ...{ id: number; public_id: string }[]];
}

const adminId = async () => (await world.admin.getMe()).id;

const rowsOf = (deploymentId: number) =>
  run('select to_jsonb(r) as row from reports r where deployment_id = $1 order by id', [deploymentId]);

test('a deleted deployment is hidden at once, and its content is removed in batches', async () => {
  const [gone, kept] = [await world.deployment(), await world.deployment()];
  const me = await adminId();
  const [first] = await fill(gone.id, me);
  await fill(kept.id, me, null, 3);
  const folder = await world.admin.createFolder({ deploymentId: gone.id, body: { name: 'f' } });
  const before = await rowsOf(kept.id);
  const viewer = await world.embedded({ deploymentId: gone.id, externalId: unique('viewer') });
  const { sessionId } = await world.admin.generateSession({
    body: { deploymentId: gone.id, externalId: unique('viewer') },
  });
  await world.admin.getReports({ deploymentId: gone.id });

  const hold = await holdRows(world, 'reports', [first.id]);
  await world.admin.deleteDeployment({ deploymentId: gone.id });
  const at = { deploymentId: gone.id };
  expect(await codeOf(world.admin.getReports(at))).toBe('deployment_not_found');
  expect(await codeOf(world.admin.getReport({ ...at, reportId: first.id + 1 }))).toBe('deployment_not_found');
  expect(await codeOf(world.admin.createReport({ ...at, body: {} }))).toBe('deployment_not_found');
  expect(await codeOf(world.admin.deleteDeployment(at))).toBe('deployment_not_found');
  expect(
    await codeOf(world.admin.getResourcePolicies({ resourceType: 'Folder', resourceId: folder.id })),
  ).toBe('resource_not_found');
  expect(await codeOf(world.client().postTokenBySessionId({ body: { sessionId } }))).toBe('invalid_session');
  await expect.poll(() => codeOf(viewer.client.getEmbedSession())).toBe('unauthenticated');
  expect((await world.admin.listEmbedSessions({ deploymentId: gone.id })).items).toEqual([]);
  // A public id can be used again before the deleted report is removed.
  const last = (
    await run('select public_id from reports where deployment_id = $1 order by id desc', [gone.id])
  )[0];
  const again = await world.admin.createReport({ deploymentId: kept.id, body: { publicId: last.public_id } });
  expect(again.publicId).toBe(last.public_id);
  await world.admin.deleteReport({ deploymentId: kept.id, reportId: again.id });

  await hold.waiting();
  expect(await count('reports', 'deployment_id = $1', gone.id)).toBeGreaterThan(0);
  await hold.release();
  for (const table of ['reports', 'folders', 'report_counts', 'embed_sessions', 'resource_policies'])
    await expect.poll(() => count(table, 'deployment_id = $1', gone.id)).toBe(0);
  expect(await rowsOf(kept.id)).toEqual(before);
  expect((await world.admin.getReports({ deploymentId: kept.id })).count).toBe(3);
});

test('a removal continues after its worker has died in the middle', async () => {
  const [gone, kept] = [await world.deployment(), await world.deployment()];
  const me = await adminId();
  const reports = await fill(gone.id, me);
  await fill(kept.id, me, null, 3);
  const before = await rowsOf(kept.id);
  const hold = await holdRows(world, 'reports', [reports[1200]!.id]);
  await world.admin.deleteDeployment({ deploymentId: gone.id });
  const pid = await hold.waiting();
  const left = await count('reports', 'deployment_id = $1', gone.id);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(MANY);
  // The state that a killed worker leaves: its connection is cut, and nobody renews the lease.
  await run(
    `update jobs set lease_token = gen_random_uuid(), lease_until = now() - interval '1 second'
     where kind = 'deployments.remove' and state = 'running'`,
  );
  await run('select pg_terminate_backend($1)', [pid]);
  await hold.waiting();
  await hold.release();
  await expect.poll(() => count('reports', 'deployment_id = $1', gone.id)).toBe(0);
  expect(await rowsOf(kept.id)).toEqual(before);
});

test('a server that stops leaves the rest of a removal to the next one', async () => {
  const other = await createOwnWorld();
  try {
    const { id } = await other.deployment();
    const me = (await other.admin.getMe()).id;
    const { rows } = await other.server.db.pool.query(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id)
       select $1, n::text, 'r', 'r', 'r', $2 from generate_series(1, $3::int) n returning id`,
      [id, me, MANY],
    );
    const hold = await holdRows(other, 'reports', [rows[1200].id]);
    await other.admin.deleteDeployment({ deploymentId: id });
    await hold.waiting();
    const next = await other.anotherServer();
    const stopping = other.server.stop();
    await hold.release();
    await stopping;
    const left = async () =>
      (await next.db.pool.query('select from reports where deployment_id = $1', [id])).rowCount;
    await expect.poll(left).toBe(0);
  } finally {
    await other.stop();
  }
});

test('a deleted embed tenant loses its name, users, groups, attributes and content at once', async () => {
  const { id: deploymentId } = await world.deployment();
  const [embedTenantName, bystander] = [unique('tenant'), unique('tenant')];
  const request = { deploymentId, embedTenantName, externalId: 'ada', creatorMode: true };
  const old = await world.embedded({
    ...request,
    groupDefinitions: [{ name: 'buyers' }],
    groups: ['buyers'],
    userAttributeDefinitions: [{ name: 'region', type: 'string' }],
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  const beside = await world.embedded({ ...request, embedTenantName: bystander });
  const theirs = await beside.client.createReport({ deploymentId, body: { name: 'theirs' } });
  const folder = await old.client.createFolder({ deploymentId, body: { name: 'old folder' } });
  const report = await old.client.createReport({ deploymentId, body: { folderId: folder.id } });
  const { sessionId } = await world.admin.generateSession({ body: request });
  const [user] = await run('select id from users where embed_tenant = $1', [embedTenantName]);
  const [first] = await fill(deploymentId, user.id, embedTenantName);
  const [before] = await run('select count from external_user_count');

  const hold = await holdRows(world, 'reports', [report.id, first.id]);
  await world.admin.deleteEmbedTenant({ embedTenantName });
  await hold.waiting();
  const [counted] = await run('select count from external_user_count');
  expect(counted.count).toBe(before.count - 1);
  await expect.poll(() => codeOf(old.client.getEmbedSession())).toBe('unauthenticated');
  expect(await codeOf(world.client().postTokenBySessionId({ body: { sessionId } }))).toBe('invalid_session');
  const tenants = (await world.admin.listEmbedTenants({})).items.map(({ name }) => name);
  expect(tenants).toContain(bystander);
  expect(tenants.filter((name) => name !== bystander && name !== 'oriel')).toEqual([]);
  expect(await codeOf(world.admin.listEmbedUsers({ embedTenantName }))).toBe('embed_tenant_not_found');
  // Admins find it neither by its id nor in lists.
  const at = { deploymentId, embedTenantName };
  expect(await codeOf(world.admin.getReport({ deploymentId, reportId: report.id }))).toBe('report_not_found');
  expect((await world.admin.getReports(at)).items).toEqual([]);
  expect((await world.admin.getFolders(at)).items).toEqual([]);
  expect((await world.admin.workspaceObjects(at)).items).toEqual([]);
  expect((await world.admin.listEmbedSessions({ embedTenantName })).items).toEqual([]);
  expect(await codeOf(world.admin.deleteUser({ id: user.id }))).toBe('user_not_found');

  // A new tenant with the same name starts empty, while rows of the first are still being removed.
  const fresh = await world.embedded(request);
  const session = await fresh.client.getEmbedSession();
  expect(session).toMatchObject({ embedTenantName, groups: [], tenantGroups: [], userAttributes: {} });
  expect(session.user.id).not.toBe(user.id);
  expect(await codeOf(world.client().postTokenBySessionId({ body: { sessionId } }))).toBe('invalid_session');
  expect((await fresh.client.getReports({ deploymentId })).count).toBe(0);
  expect((await fresh.client.getFolders({ deploymentId })).items).toEqual([]);
  const made = await fresh.client.createReport({ deploymentId, body: { name: 'new' } });
  const madeFolder = await fresh.client.createFolder({ deploymentId, body: { name: 'new folder' } });
  const moved = { type: 'REPORT', id: made.id, folderId: madeFolder.id } as const;
  await fresh.client.moveWorkspaceObject({ deploymentId, body: moved });
  expect((await world.admin.getReports(at)).items.map(({ id }) => id)).toEqual([made.id]);
  expect(await codeOf(old.client.getEmbedSession())).toBe('unauthenticated');

  await hold.release();
  await expect.poll(() => count('reports', 'user_id = $1', user.id)).toBe(0);
  await expect.poll(() => count('embed_tenants', 'deleted_at is not null or name = $1', '')).toBe(0);
  expect(await count('users', 'id = $1', user.id)).toBe(0);
  expect((await fresh.client.getReports({ deploymentId })).items.map(({ id }) => id)).toEqual([made.id]);
  expect((await fresh.client.getEmbedSession()).user.id).toBe(session.user.id);
  expect((await beside.client.getReports({ deploymentId })).items.map(({ id }) => id)).toEqual([theirs.id]);
});

test('a deleted user disappears at once, and their content goes to the new owner in batches', async () => {
  const { id: deploymentId } = await world.deployment();
  const [leaving, heir] = [
    await world.person({ roles: ['Explorer'] }),
    await world.person({ roles: ['Explorer'] }),
  ];
  const reports = await fill(deploymentId, leaving.userId);
  await fill(deploymentId, await adminId(), null, 3);
  const { username, email } = await leaving.client.getMe();
  const hold = await holdRows(world, 'reports', [reports.at(-1)!.id]);
  await world.admin.deleteUser({ id: leaving.userId, newOwnerId: heir.userId });
  await hold.waiting();
  expect(await codeOf(world.admin.updateUser({ id: leaving.userId, body: {} }))).toBe('user_not_found');
  await expect.poll(() => codeOf(leaving.client.getMe())).toBe('unauthenticated');
  const namesake = await world.admin.createUser({ body: { username, email: email! } });
  // The first batch belongs to the new owner, no content is lost, and the new owner cannot be deleted.
  expect((await heir.client.getReports({ deploymentId })).count).toBeGreaterThan(0);
  expect((await world.admin.getReports({ deploymentId })).count).toBe(MANY + 3);
  expect(await codeOf(world.admin.deleteUser({ id: heir.userId }))).toBe('user_owns_content');
  await hold.release();
  await expect.poll(() => count('users', 'id = $1', leaving.userId)).toBe(0);
  expect(await count('reports', 'user_id = $1', heir.userId)).toBe(MANY);
  expect((await heir.client.getReports({ deploymentId })).count).toBe(MANY);
  expect(await count('reports', 'created_by is null and deployment_id = $1', deploymentId)).toBe(MANY);
  await world.admin.deleteUser({ id: namesake.id });
});
