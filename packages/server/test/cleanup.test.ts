/**
 * Checks with the catalogue of the database what a deleted user, deployment, embed tenant or folder leaves behind: each
 * reference is cleared or deleted by its foreign key, or the owner of the table hands it over or removes it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createModules } from '../src/app.ts';
import { openPlatform } from '../src/open-platform.ts';
import type { Cleanup } from '../src/platform/cleanup.ts';
import { createMetrics } from '../src/platform/http/metrics.ts';
import { createKeyring } from '../src/platform/secrets/keyring.ts';
import { createShutdown } from '../src/platform/shutdown.ts';
import { createServerLog } from './server-log.ts';
import { ownedTables, readOwners, SOURCES } from './table-owners.ts';
import { createWorld, SECRET_KEY, unique, type World } from './world.ts';

const KINDS = {
  users: 'user',
  deployments: 'deployment',
  embed_tenants: 'embedTenant',
  folders: 'folder',
} satisfies Record<string, keyof Cleanup>;
type Target = keyof typeof KINDS | 'workbooks' | 'reports';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const run = async <Row>(text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows as Row[];

interface Reference {
  table: string;
  column: string;
  target: string;
  onDelete: string;
}

const foreignKeys = () =>
  run<Reference>(`
    select k.conrelid::regclass::text as table, a.attname as column, k.confrelid::regclass::text as target,
           k.confdeltype::text as "onDelete"
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
    where k.contype = 'f' order by 1, 2`);

const ownerOf = await readOwners();

async function cleanupOf(owner: string): Promise<Cleanup> {
  const file = join(SOURCES, owner, 'cleanup.store.ts');
  return existsSync(file) ? ((await import(file)) as { cleanup: Cleanup }).cleanup : {};
}

/** Builds the modules as a server does. */
async function moduleList() {
  const log = createServerLog();
  const shutdown = createShutdown(log);
  const platform = openPlatform({
    connection: { connectionString: world.databaseUrl },
    pools: { dbConnections: 2, dbEssentialConnections: 2 },
    keyring: createKeyring([SECRET_KEY]),
    metrics: createMetrics(),
    publicUrl: world.url,
    allowPrivateRemotes: false,
    log,
    shutdown,
  });
  const { list } = createModules(platform, {
    tenant: 'main',
    plan: 'enterprise',
    maxExternalUsers: 10,
    deviceCodeSeconds: 600,
    embedQuerySeconds: 30,
    dataDir: world.server.dataDir,
    allowPrivateRemotes: false,
    dbtPython: '/usr/bin/python3',
  });
  for (const { stop } of list) await stop?.();
  await shutdown.run();
  return list;
}

const acts = (cleanup: Cleanup, kind: keyof Cleanup) =>
  cleanup[kind] !== undefined &&
  ('handOver' in cleanup[kind] || 'removeOf' in cleanup[kind] || 'endAccess' in cleanup[kind]);

/** A user cannot be deleted while they are the new owner for a user who is being removed; see `isHeir`. */
const HELD = ['users.heir_id'];

test('every foreign key to a row that can be deleted cascades, clears, or has an owner who hands over or removes', async () => {
  const unanswered: string[] = [];
  const answered: string[] = [];
  for (const { table, column, target, onDelete } of await foreignKeys()) {
    if (![...Object.keys(KINDS), 'workbooks', 'reports'].includes(target)) continue;
    const name = `${table}.${column}`;
    const kind = target in KINDS ? KINDS[target as keyof typeof KINDS] : undefined;
    const isAnswered =
      onDelete === 'c' ||
      onDelete === 'n' ||
      HELD.includes(name) ||
      (kind !== undefined && acts(await cleanupOf(ownerOf(table)), kind));
    (isAnswered ? answered : unanswered).push(name);
  }
  expect(unanswered).toEqual([]);
  expect(answered.length).toBeGreaterThan(25);
});

test('the cleanup of all domains are in the list of modules', async () => {
  const list = (await moduleList()).flatMap(({ cleanup }) => cleanup ?? []);
  for (const owner of new Set((await ownedTables()).map(([folder]) => folder))) {
    const cleanup = await cleanupOf(owner);
    if (Object.keys(cleanup).length) expect(list, owner).toContain(cleanup);
  }
});

test('rows that refer to others are removed before them, so that no batch deletes more rows than its size', async () => {
  const list = await moduleList();
  const placeOf = async (table: string) => {
    const cleanup = await cleanupOf(ownerOf(table));
    return { cleanup, place: list.findIndex((module) => module.cleanup === cleanup) };
  };
  const wrong: string[] = [];
  let compared = 0;
  for (const { table, target } of await foreignKeys()) {
    const [child, parent] = [await placeOf(table), await placeOf(target)];
    for (const kind of ['deployment', 'embedTenant', 'folder'] as const) {
      if (child.place === parent.place || !acts(child.cleanup, kind) || !acts(parent.cleanup, kind)) continue;
      compared++;
      // Modules are asked in the reverse order of their list.
      if (child.place < parent.place) wrong.push(`${kind}: ${table} before ${target}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(compared).toBeGreaterThan(5);
});

/** Columns that refer to something without a foreign key, and what happens to the row when the target is deleted. */
const WITHOUT_KEY: Record<string, Target | `stays: ${string}`> = {
  'api_keys.deployment_ids': 'stays: ids are never reused, so the key can access nothing there',
  'audit_log.api_key_id': 'stays: the log keeps the history until its retention ends',
  'audit_log.embed_tenant': 'stays: the log keeps the history until its retention ends',
  'audit_log.deployment_id': 'stays: the log keeps the history until its retention ends',
  'audit_log.resource_id': 'stays: the log keeps the history until its retention ends',
  'audit_log.user_id': 'stays: the log keeps the history until its retention ends',
  'builds.deployment_id': 'deployments',
  'deployment_log_lines.deployment_id': 'deployments',
  'embed_revocations.api_key_id': 'stays: it is needed as long as tokens are valid, and then deleted',
  'embed_revocations.deployment_id': 'stays: it is needed as long as tokens are valid, and then deleted',
  'embed_revocations.embed_tenant': 'stays: it is needed as long as tokens are valid, and then deleted',
  'embed_revocations.session_id': 'stays: it is needed as long as tokens are valid, and then deleted',
  'embed_revocations.user_id': 'stays: it is needed as long as tokens are valid, and then deleted',
  'embed_sessions.api_key_id':
    'stays: the ledger shows which key minted the session, until the session is deleted',
  'embed_sessions.deployment_id': 'deployments',
  'embed_sessions.embed_tenant': 'embed_tenants',
  'environment_tokens.deployment_id': 'deployments',
  'folders.deployment_id': 'deployments',
  'folders.embed_tenant': 'embed_tenants',
  'git_connections.deployment_id': 'deployments',
  'git_former_connections.deployment_id': 'deployments',
  'git_objects.deployment_id': 'deployments',
  'oauth_tokens.user_id': 'stays: a job ends the tokens at the provider first, and then deletes them',
  'model_sync_manifests.deployment_id': 'deployments',
  'model_sync_sources.deployment_id': 'deployments',
  'model_syncs.api_key_id': 'stays: it names the key in the audit log, and goes with the sync',
  'model_syncs.deployment_id': 'deployments',
  'notification_deliveries.embed_tenant': 'stays: it counts for a limit, and goes with its run',
  'notifications.embed_tenant': 'embed_tenants',
  'removed_folders.root_id': 'stays: the row is deleted with its own folder',
  'report_counts.deployment_id': 'deployments',
  'report_counts.folder_id': 'folders',
  'reports.deployment_id': 'deployments',
  'reports.embed_tenant': 'embed_tenants',
  'resource_policies.deployment_id': 'deployments',
  'resource_policies.resource_id': 'stays: the triggers of each kind of resource delete it; proven below',
  'running_queries.api_key_id': 'stays: the row goes when the query has ended',
  'running_queries.deployment_id': 'stays: the row goes when the query has ended',
  'running_queries.embed_tenant': 'stays: the row goes when the query has ended',
  'running_queries.user_id': 'stays: the row goes when the query has ended',
  'slow_queries.api_key_id': 'stays: it says which key was used, for a week',
  'slow_queries.deployment_id': 'deployments',
  'slow_queries.embed_tenant': 'embed_tenants',
  'slow_queries.user_id': 'stays: the rows of a user are removed with them; a number is left nowhere',
  'usage_counters.embed_tenant': 'stays: bills are written after a customer has left',
  'usage_viewers.embed_tenant': 'stays: bills are written after a customer has left',
  'usage_viewers.user_id': 'stays: it is counted, and the number goes after three days',
  'workbooks.deployment_id': 'deployments',
  'workbooks.embed_tenant': 'embed_tenants',
  'branches.deployment_id': 'deployments',
  'data_models.deployment_id': 'deployments',
  'uploads.deployment_id': 'deployments',
};

const REFERS =
  /^(.*_)?(user|deployment|folder|workbook|report|root|heir|api_key|session|resource|tenant)_ids?$|_by$|^embed_tenant$/;

test('columns that refer to something without a foreign key are known', async () => {
  const keys = new Set((await foreignKeys()).map(({ table, column }) => `${table}.${column}`));
  const columns = await run<{ table: string; column: string; type: string }>(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
  const unknown = columns
    .filter(({ column }) => REFERS.test(column) && column !== 'external_workbook_id')
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !keys.has(name))
    .sort();
  expect(unknown).toEqual(Object.keys(WITHOUT_KEY).sort());
});

/** For each column without a foreign key, the number of rows that refer to this. */
async function countRows(target: Target, value: number | string) {
  const counts: Record<string, number> = {};
  for (const [name, to] of Object.entries(WITHOUT_KEY)) {
    if (to !== target) continue;
    const [table, column] = name.split('.');
    const [row] = await run<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1`, [
      value,
    ]);
    counts[name] = row!.n;
  }
  return counts;
}

const noneOf = (counts: Record<string, number>) =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));

/** Creates content of every kind, a policy on each, and an embed session. */
async function fill(deploymentId: number, embedTenantName: string) {
  const viewer = await world.embedded({
    deploymentId,
    externalId: unique('viewer'),
    embedTenantName,
    creatorMode: true,
  });
  // This person is not a user of the embed tenant, so their session is not deleted with its users.
  const { username: internalId } = await world.admin.getMe();
  await world.embedded({ deploymentId, internalId, embedTenantName });
  await world.admin.startDevMode({ deploymentId, body: {} });
  await world.admin.startUpload({ deploymentId, body: {} });
  await world.admin.updateModelSyncSource({ deploymentId, body: { kind: 'manifest' } });
  const manifest = readFileSync(join(import.meta.dirname, 'dbt/artifacts/shop.manifest.json'));
  await world.admin.uploadModelSyncManifest({ deploymentId, body: { manifest: new Blob([manifest]) } });
  await world.admin.startModelSync({ deploymentId, body: {} });
  await run(
    `with host as (
       insert into git_installations (name, kind, url, token_id, token)
       values ('x', 'git', 'https://git.example.com', gen_random_uuid(), '') returning id)
     insert into git_connections (deployment_id, installation_id, repository, url, webhook_id)
     select $1, id, 'x', 'https://git.example.com/x', $2 from host`,
    [deploymentId, unique('webhook')],
  );
  await run(`insert into git_former_connections values ($1, 'https://git.example.com/x', '{}')`, [
    deploymentId,
  ]);
  const made: { type: 'Deployment' | 'Folder' | 'Workbook' | 'Report'; id: number }[] = [];
  for (const client of [world.admin, viewer.client]) {
    const folder = await client.createFolder({ deploymentId, body: { name: 'f' } });
    const workbook = await client.createWorkbook({ deploymentId, body: { folderId: folder.id } });
    const report = await client.createReport({ deploymentId, body: { workbookId: workbook.id } });
    await client.createReport({ deploymentId, body: { folderId: folder.id } });
    const published = await client.publishDashboard({
      deploymentId,
      workbookId: workbook.id,
      body: { config: {} },
    });
    await client.createNotification({
      deploymentId,
      body: { dashboardId: published.id, scheduleType: 'HOURLY' },
    });
    if (client === world.admin)
      made.push(
        { type: 'Deployment', id: deploymentId },
        { type: 'Folder', id: folder.id },
        { type: 'Workbook', id: workbook.id },
        { type: 'Report', id: report.id },
      );
  }
  await world.admin.deploymentToken({ deploymentId });
  await run(
    `insert into deployment_log_lines (deployment_id, source, container, pod, message, created_at)
     values ($1, 'dev', 'MAIN', 'pod', 'a line', now())`,
    [deploymentId],
  );
  await run(
    `insert into slow_queries (process, deployment_id, embed_tenant, kind, query, started_at, duration_ms, outcome, is_cached)
     values ('web', $1, $2, 'query', '{}', now(), 1000, 'answered', false)`,
    [deploymentId, embedTenantName],
  );
  const { userId } = await world.person();
  for (const { type, id } of made) {
    const action = type === 'Deployment' ? 'DeploymentRead' : (`${type}Read` as const);
    await world.admin.setUserPolicy({ body: { resourceType: type, resourceId: id, userId, action } });
  }
  return made;
}

const policies = async (resources: { type: string; id: number }[]) =>
  (
    await run<{ n: number }>(
      `select count(*)::int as n from resource_policies p join unnest($1::text[], $2::bigint[]) r (type, id)
       on p.resource_type = r.type and p.resource_id = r.id`,
      [resources.map(({ type }) => type), resources.map(({ id }) => id)],
    )
  )[0]!.n;

test('nothing is left of a deleted deployment', async () => {
  const { id } = await world.deployment();
  const resources = await fill(id, unique('tenant'));
  const before = await countRows('deployments', id);
  expect(Object.entries(before).filter(([, n]) => n === 0)).toEqual([]);
  expect(await policies(resources)).toBe(4);
  await world.admin.deleteDeployment({ deploymentId: id });
  await expect.poll(() => countRows('deployments', id)).toEqual(noneOf(before));
  expect(await policies(resources)).toBe(0);
});

test('nothing is left of a deleted embed tenant', async () => {
  const tenant = unique('tenant');
  await fill((await world.deployment()).id, tenant);
  const before = await countRows('embed_tenants', tenant);
  expect(Object.entries(before).filter(([, n]) => n === 0)).toEqual([]);
  await world.admin.deleteEmbedTenant({ embedTenantName: tenant });
  await expect.poll(() => countRows('embed_tenants', tenant)).toEqual(noneOf(before));
});

test('nothing is left of a deleted folder', async () => {
  const { id: deploymentId } = await world.deployment();
  const [, folder, workbook, report] = await fill(deploymentId, unique('tenant'));
  const before = await countRows('folders', folder!.id);
  expect(before).toEqual({ 'report_counts.folder_id': expect.any(Number) });
  expect(before['report_counts.folder_id']).toBeGreaterThan(0);
  await world.admin.deleteFolder({ deploymentId, folderId: folder!.id, recursive: true });
  await expect.poll(() => countRows('folders', folder!.id)).toEqual(noneOf(before));
  await expect.poll(() => policies([folder!, workbook!, report!])).toBe(0);
});
