import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { OrielClient } from '@oriel/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { readFiles } from '../../../test/data-models.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { ADMIN_KEY, createWorld, type World } from '../../../test/world.ts';
import type { ThreadEvent } from '../../platform/threads.ts';

/** Made by dbt-core 1.11 and dbt-duckdb from the projects beside them. */
const DBT = join(import.meta.dirname, '../../../test/dbt');
const read = (name: string) => JSON.parse(readFileSync(join(DBT, 'artifacts', `${name}.json`), 'utf8'));
const FOLDER = 'model/cubes/dbt';
const PATIENTLY = { timeout: 60_000, interval: 100 };

// biome-ignore lint/suspicious/noExplicitAny: tests change whatever part of a manifest they are about
type Any = any;

const events: ThreadEvent['event'][] = [];
const listen = (message: unknown) => {
  const { script, event } = message as ThreadEvent;
  if (script.includes('dbt-thread')) events.push(event);
};

let world: World;
let admin: OrielClient;
beforeAll(async () => {
  channel('oriel:threads').subscribe(listen);
  world = await createWorld();
  ({ admin } = world);
});
afterEach(() => void events.splice(0));
afterAll(async () => {
  channel('oriel:threads').unsubscribe(listen);
  await world.stop();
});

const blob = (value: unknown) => new Blob([typeof value === 'string' ? value : JSON.stringify(value)]);

const upload = (deploymentId: number, manifest: unknown, catalog?: unknown, client = admin) =>
  client.uploadModelSyncManifest({
    deploymentId,
    body: { manifest: blob(manifest), ...(catalog !== undefined && { catalog: blob(catalog) }) },
  });

async function ended(deploymentId: number, syncJobId: string) {
  return vi.waitFor(async () => {
    const status = await admin.getModelSyncStatus({ deploymentId, syncJobId });
    expect(status.status).not.toBe('RUNNING');
    return status;
  }, PATIENTLY);
}

/** Syncs, and returns what the sync did. */
async function sync(deploymentId: number, branchName?: string) {
  const { syncJobId } = await admin.startModelSync({ deploymentId, body: { branchName } });
  expect(await ended(deploymentId, syncJobId)).toMatchObject({
    status: 'COMPLETED',
    error: null,
    progress: { stage: 'done', percentComplete: 100 },
  });
  return admin.getModelSyncResult({ deploymentId, syncJobId });
}

/** A deployment with an uploaded project, whose tables are files of the deployment. */
async function project(name: string, settings: object = {}) {
  const { id: deploymentId } = await world.deployment();
  await upload(deploymentId, read(`${name}.manifest`), read(`${name}.catalog`));
  await admin.updateModelSyncSource({
    deploymentId,
    body: { kind: 'manifest', targetSchema: 'files', ...settings },
  });
  return deploymentId;
}

const rowsOf = (name: string) => {
  const [head, ...lines] = readFileSync(join(DBT, 'shop/seeds', `${name}.csv`), 'utf8')
    .trim()
    .split('\n');
  const names = head!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [names[i]!, value])));
};
const csv = (rows: Any[]) =>
  [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))].map((row) => row.join(',')).join('\n');

/** What the models of the project make of its seeds. */
const TABLES = {
  'orders.csv': csv(
    rowsOf('raw_orders').map(({ id, customer_id, status, net_cents, tax_cents, ordered_at, shipped_on }) => ({
      order_id: id,
      customer_id,
      status,
      net: Number(net_cents) / 100,
      tax: Number(tax_cents) / 100,
      gross: (Number(net_cents) + Number(tax_cents)) / 100,
      ordered_at,
      shipped_on,
      is_returned: status === 'returned',
    })),
  ),
  'customers.csv': csv(
    rowsOf('raw_customers').map(({ id, name, region, joined_on }) => ({
      customer_id: id,
      customer_name: name,
      region,
      joined_on,
    })),
  ),
  'order_items.csv': csv(rowsOf('raw_items')),
};

test('a project is synced to a branch, reviewed, merged, built and queried, and its metrics are right', async () => {
  const deploymentId = await project('shop', { select: ['tag:mart'] });
  await world.writeFiles(deploymentId, TABLES);
  const before = await readFiles(admin, deploymentId, 'main');
  const result = await sync(deploymentId);
  const paths = ['customers', 'order_items', 'orders', 'sales_by_region'].map(
    (name) => `${FOLDER}/${name}.yml`,
  );
  expect(result).toMatchObject({
    branchName: 'dbt-sync',
    modelCount: 3,
    manifestStats: { models: 8, sources: 0 },
    generatedFiles: paths.map((path) => ({ path })),
    changedFiles: paths,
    removedFiles: [],
    conflicts: [],
    notesCount: result.notes.length,
  });
  expect(result.notes).toContainEqual({
    resource: 'metric.shop.revenue_growth',
    kind: 'left_out',
    message: expect.stringContaining('offset_window'),
  });
  // What is served is as it was.
  expect(await readFiles(admin, deploymentId, 'main')).toEqual(before);
  expect(Object.keys(await readFiles(admin, deploymentId, 'dbt-sync'))).toEqual(
    expect.arrayContaining(paths),
  );
  const { items: entries } = await admin.listAuditLog({
    deploymentId,
    operation: 'startModelSync',
    first: 50,
  });
  expect(entries.map(({ resourceType }) => resourceType).sort()).toEqual([
    ...['branch', 'branch'],
    ...paths.map(() => 'dataModelFile'),
    'modelSync',
  ]);
  expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(1);

  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName: 'dbt-sync' } });
  await whenBuilt(world, deploymentId);
  const load = async (query: object) => {
    const reply: Any = await admin.load({ deploymentId, body: { query } as Any });
    return reply.data ?? reply.results[0].data;
  };
  const names = (...measures: string[]) => measures.map((name) => `orders.${name}`);
  const measures = names(
    'revenue',
    'orders_total',
    'return_rate',
    'large_share',
    'revenue_per_buyer',
    'largest',
  );
  const [row] = await load({ measures });
  // Of ten orders, two of 43 were returned, and four have a gross of 50 or more.
  const numbers = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
  expect(numbers['orders.revenue']).toBeCloseTo(334.5, 6);
  expect(numbers['orders.orders_total']).toBe(10);
  expect(numbers['orders.return_rate']).toBeCloseTo(0.2, 9);
  expect(numbers['orders.large_share']).toBeCloseTo(0.3, 9);
  expect(numbers['orders.revenue_per_buyer']).toBeCloseTo(334.5 / 5, 6);
  expect(numbers['orders.largest']).toBeCloseTo(142.8, 6);
  const [north] = await load({ measures: names('northern_revenue') });
  expect(Number(north['orders.northern_revenue'])).toBeCloseTo(10 + 25 + 99 + 7 + 6.5, 6);
  // Units of items by the region of the customer, two joins away, with no row counted twice.
  const units = await load({
    measures: ['order_items.units_sold', 'orders.orders_total'],
    dimensions: ['customers.region'],
    order: { 'customers.region': 'asc' },
  });
  const byRegion = Object.fromEntries(
    units.map((each: Any) => [
      each['customers.region'],
      [Number(each['order_items.units_sold']), Number(each['orders.orders_total'])],
    ]),
  );
  expect(byRegion).toEqual({ north: [22, 5], south: [4, 2], east: [6, 2], null: [3, 1] });
  const months = await load({
    measures: ['sales_by_region.revenue'],
    timeDimensions: [{ dimension: 'sales_by_region.ordered_at', granularity: 'month' }],
  });
  expect(months.map((each: Any) => Number(each['sales_by_region.revenue']))).toEqual([35, 121, 178.5]);
  const running = await load({
    measures: ['orders.running_revenue'],
    timeDimensions: [
      { dimension: 'orders.ordered_at', granularity: 'month', dateRange: ['2025-01-01', '2025-03-31'] },
    ],
  });
  expect(running.map((each: Any) => Math.round(Number(each['orders.running_revenue']) * 100))).toEqual([
    7500, 19600, 37750,
  ]);
});

/** A later state of the project: one column more, another description, one model less. */
function later() {
  const [manifest, catalog] = [read('shop.manifest'), read('shop.catalog')];
  manifest.nodes['model.shop.customers'].description = 'Everybody who ever bought something';
  catalog.nodes['model.shop.customers'].columns.segment = { name: 'segment', type: 'VARCHAR', index: 9 };
  delete manifest.nodes['model.shop.stg_items'];
  delete manifest.nodes['model.shop.stg_orders'];
  return { manifest, catalog };
}

test('syncing again keeps what people edited, marks conflicts, and removes only what nobody edited', async () => {
  const deploymentId = await project('shop', { select: ['tag:mart', 'stg_*'] });
  await sync(deploymentId);
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName: 'dbt-sync' } });
  await admin.deleteBranch({ deploymentId, branchName: 'dbt-sync' });
  const edit = async (
    branchName: string,
    change: (files: Record<string, string>) => Record<string, string>,
  ) => {
    await admin.startDevMode({ deploymentId, body: { branchName } });
    const files = change(await readFiles(admin, deploymentId, branchName));
    const body = { branchName, files: Object.entries(files).map(([path, content]) => ({ path, content })) };
    await admin.updateFiles({ deploymentId, body });
  };
  const at = (name: string) => `${FOLDER}/${name}.yml`;
  // A new branch, from what was merged: the base is what was generated for it, and not nothing.
  const branchName = 'edits';
  await admin.createBranch({ deploymentId, body: { name: branchName, activate: true } });
  await edit(branchName, (files) => ({
    [at('orders')]: files[at('orders')]!.replace('- name: gross', '- name: gross\n        title: With tax'),
    [at('customers')]: files[at('customers')]!.replace(
      'description: People who bought something',
      'description: People, as sales sees them',
    ),
    [at('stg_items')]: `${files[at('stg_items')]}# ours\n`,
  }));
  await admin.removeFiles({ deploymentId, body: { branchName, files: [{ path: at('sales_by_region') }] } });
  const start = () => admin.startModelSync({ deploymentId, body: { branchName } });
  await expect(start()).rejects.toMatchObject({ status: 409, code: 'uncommitted_changes' });
  await admin.commitChanges({ deploymentId, body: { branchName, message: 'Edit by hand' } });

  // Nothing new in dbt: nothing to merge.
  expect(await sync(deploymentId, branchName)).toMatchObject({
    commit: null,
    changedFiles: [],
    conflicts: [],
  });
  const { manifest, catalog } = later();
  manifest.saved_queries['saved_query.shop.sales_by_region'].label = 'Another title';
  await upload(deploymentId, manifest, catalog);
  const result = await sync(deploymentId, branchName);
  expect(result.conflicts.map(({ path, kind }) => `${path} ${kind}`).sort()).toEqual([
    `${at('customers')} marked`,
    `${at('sales_by_region')} kept_deleted`,
    `${at('stg_items')} kept`,
  ]);
  expect(result).toMatchObject({ removedFiles: [at('stg_orders')], changedFiles: [at('customers')] });
  const files = await readFiles(admin, deploymentId, branchName);
  expect(files[at('orders')]).toContain('title: With tax');
  expect(files[at('stg_items')]).toContain('# ours');
  expect(Object.keys(files)).not.toContain(at('stg_orders'));
  expect(Object.keys(files)).not.toContain(at('sales_by_region'));
  const customers = files[at('customers')]!;
  expect(customers).toContain(
    [
      '<<<<<<< edits',
      '    description: People, as sales sees them',
      '=======',
      '    description: Everybody who ever bought something',
      '>>>>>>> dbt',
    ].join('\n'),
  );
  // The new column is there, beside the conflict.
  expect(customers).toContain('- name: segment');

  // Once it is resolved, it does not come back.
  const resolved = customers.replace(/<<<<<<< edits\n([\s\S]*?)=======\n[\s\S]*?>>>>>>> dbt\n/, '$1');
  await edit(branchName, () => ({ [at('customers')]: resolved }));
  await admin.commitChanges({ deploymentId, body: { branchName, message: 'Resolve' } });
  expect(await sync(deploymentId, branchName)).toMatchObject({ commit: null, conflicts: [] });
  manifest.nodes['model.shop.orders'].description = 'Once more';
  manifest.nodes['model.shop.order_items'].description = 'Lines of orders';
  await upload(deploymentId, manifest, catalog);
  expect(await sync(deploymentId, branchName)).toMatchObject({
    changedFiles: [at('order_items'), at('orders')],
    conflicts: [],
  });
  const again = await readFiles(admin, deploymentId, branchName);
  expect(again[at('orders')]).toContain('title: With tax');
  expect(again[at('customers')]).toBe(resolved);

  // What was generated is found also where its commits are not part of the history.
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName, squashCommits: true } });
  const fresh = await sync(deploymentId, 'from-squashed');
  expect(fresh.conflicts.filter(({ kind }) => kind === 'marked')).toEqual([]);
  expect((await readFiles(admin, deploymentId, 'from-squashed'))[at('customers')]).toBe(resolved);
});

/** A project of so many tables that it takes some seconds. */
function large() {
  const manifest = read('shop.manifest');
  const columns = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`c${i}`, { name: `c${i}`, description: `Column {${i}} {{ x }}` }]),
  );
  for (let i = 0; i < 3000; i++) {
    const name = `big_${i}`;
    const relation_name = `"shop"."main"."${name}"`;
    manifest.nodes[`model.shop.${name}`] = {
      resource_type: 'model',
      name,
      package_name: 'shop',
      relation_name,
      columns,
    };
  }
  return manifest;
}

test('a sync that is cancelled stops at once and changes nothing, and a branch takes one at a time', async () => {
  const deploymentId = await project('shop');
  await sync(deploymentId, 'here');
  const before = await readFiles(admin, deploymentId, 'here');
  await upload(deploymentId, large());
  events.splice(0);
  const { syncJobId } = await admin.startModelSync({ deploymentId, body: { branchName: 'here' } });
  await expect(admin.startModelSync({ deploymentId, body: { branchName: 'here' } })).rejects.toMatchObject({
    status: 409,
    code: 'model_sync_running',
  });
  await expect(admin.getModelSyncResult({ deploymentId, syncJobId })).rejects.toMatchObject({
    status: 409,
    code: 'model_sync_not_completed',
    message: expect.stringContaining('RUNNING'),
  });
  await vi.waitFor(() => expect(events).toEqual(['started']), PATIENTLY);
  await vi.waitFor(async () => {
    const { status, progress } = await admin.getModelSyncStatus({ deploymentId, syncJobId });
    expect({ status, ...progress }).toMatchObject({
      status: 'RUNNING',
      stage: 'converting',
      percentComplete: 20,
    });
  }, PATIENTLY);
  expect(await admin.cancelModelSync({ deploymentId, syncJobId })).toEqual({
    message: 'The sync to here was cancelled.',
  });
  await vi.waitFor(() => expect(events).toEqual(['started', 'ended']), PATIENTLY);
  expect(await admin.getModelSyncStatus({ deploymentId, syncJobId })).toMatchObject({ status: 'CANCELLED' });
  await expect(admin.cancelModelSync({ deploymentId, syncJobId })).rejects.toMatchObject({
    status: 409,
    code: 'model_sync_finished',
  });
  expect(await readFiles(admin, deploymentId, 'here')).toEqual(before);
  await upload(deploymentId, read('shop.manifest'), read('shop.catalog'));
  expect(await sync(deploymentId, 'here')).toMatchObject({ commit: null });
});

test('a sync whose job was given up has failed, and the next one can begin', async () => {
  const deploymentId = await project('shop');
  const { syncJobId } = await sync(deploymentId);
  const { pool } = world.server.db;
  // As it is after a worker disappeared in each attempt.
  await pool.query(
    `with s as (update model_syncs set state = 'running', result = null, finished_at = null where id = $1 returning job_id)
     update jobs set state = 'failed', last_error = 'the worker disappeared' where id = (select job_id from s)`,
    [syncJobId],
  );
  expect(await admin.getModelSyncStatus({ deploymentId, syncJobId })).toMatchObject({
    status: 'FAILED',
    error: expect.stringContaining('begun several times'),
  });
  await expect(admin.cancelModelSync({ deploymentId, syncJobId })).rejects.toMatchObject({ status: 409 });
  expect(await sync(deploymentId)).toMatchObject({ commit: null });
  expect(await admin.getModelSyncStatus({ deploymentId, syncJobId })).toMatchObject({ status: 'FAILED' });
});

test('files that are not those of dbt are refused, and leave what was uploaded before', async () => {
  const deploymentId = await project('shop');
  const before = await admin.getModelSyncSource({ deploymentId });
  expect(before.manifest).toMatchObject({
    projectName: 'shop',
    schemaVersion: 12,
    models: 8,
    hasCatalog: true,
    dbtVersion: expect.stringMatching(/^1\.11\./),
  });
  const [manifest, catalog] = [read('shop.manifest'), read('shop.catalog')];
  const old = {
    ...manifest,
    metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v9.json' },
  };
  for (const [words, ...files] of [
    ['manifest.json is not valid JSON', '{"metadata": '],
    ['manifest.json is not valid JSON', ''],
    ['not the manifest.json', '[]'],
    ['not the manifest.json', catalog],
    ['version 9', old],
    ['manifest.json is nested more than 100 levels', `{"a":${'['.repeat(1_000_000)}`],
    ['not the catalog.json', manifest, manifest],
    ['catalog.json is not valid JSON', manifest, 'nothing'],
  ] as const)
    await expect(upload(deploymentId, ...(files as [unknown, unknown?]))).rejects.toMatchObject({
      status: 400,
      code: 'invalid_dbt_files',
      message: expect.stringContaining(words),
    });
  // A claim of 200 MB is refused before anything of it is read.
  const status = await new Promise((resolve, reject) => {
    const sending = request(`${world.url}/api/v1/deployments/${deploymentId}/model-sync/manifest`, {
      method: 'PUT',
      headers: {
        authorization: `Api-Key ${ADMIN_KEY}`,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': String(200 * 1024 * 1024),
      },
    });
    sending.once('response', ({ statusCode }) => {
      resolve(statusCode);
      sending.destroy();
    });
    sending.once('error', reject);
    sending.flushHeaders();
  });
  expect(status).toBe(413);
  expect(await admin.getModelSyncSource({ deploymentId })).toEqual(before);
});

test('settings are checked, and an empty selection changes nothing', async () => {
  const { id: deploymentId } = await world.deployment();
  const set = (body: object) =>
    admin.updateModelSyncSource({ deploymentId, body: { kind: 'manifest', ...body } as Any });
  const start = (body: object = {}) => admin.startModelSync({ deploymentId, body });
  await expect(start()).rejects.toMatchObject({ status: 409, code: 'no_dbt_manifest' });
  expect(await admin.getModelSyncSource({ deploymentId })).toMatchObject({
    kind: 'manifest',
    outputFolder: FOLDER,
    manifest: null,
  });
  for (const wrong of [
    { outputFolder: '../x' },
    { outputFolder: '/' },
    { outputFolder: '.git/hooks' },
    { select: ['tag:a', '+orders'] },
    { select: ['config.materialized:view'] },
    { namePrefix: 'a b' },
    { targetSchema: 'a"."b' },
  ])
    await expect(set(wrong)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  await upload(deploymentId, read('shop.manifest'));
  expect(await set({ select: ['tag:nothing'], outputFolder: '/model/dbt/' })).toMatchObject({
    outputFolder: 'model/dbt',
  });
  await expect(start({ ref: 'v1' })).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  await expect(start({ branchName: 'main' })).rejects.toMatchObject({
    status: 409,
    code: 'model_sync_on_deploy_branch',
  });
  await expect(start({ branchName: 'a..b' })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_branch_name',
  });
  const { syncJobId } = await start();
  expect(await ended(deploymentId, syncJobId)).toMatchObject({
    status: 'FAILED',
    error: expect.stringContaining('tag:nothing selects'),
  });
  expect(await readFiles(admin, deploymentId, 'dbt-sync')).toEqual(
    await readFiles(admin, deploymentId, 'main'),
  );

  const reader = await world.person({ roles: ['Explorer'] });
  const refused = { status: 403 };
  await expect(upload(deploymentId, read('shop.manifest'), undefined, reader.client)).rejects.toMatchObject(
    refused,
  );
  await expect(reader.client.startModelSync({ deploymentId, body: {} })).rejects.toMatchObject(refused);
  await expect(reader.client.cancelModelSync({ deploymentId, syncJobId })).rejects.toMatchObject(refused);
  const { id: other } = await world.deployment();
  for (const id of [syncJobId, 'x', '1'])
    await expect(admin.getModelSyncStatus({ deploymentId: other, syncJobId: id })).rejects.toMatchObject({
      status: 404,
      code: 'model_sync_not_found',
    });
});
