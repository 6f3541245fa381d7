/** If a user or an embed tenant is deleted while a request creates content for it, no content is left. */
import type { OrielClient } from '@oriel/client';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { keepTenant } from './store.ts';

const UNAUTHENTICATED = { status: 401, code: 'unauthenticated' };

let world: World;
let deploymentId: number;
let tenant: string;
let other: OrielClient;
let theirs: { folderId: number; workbookId: number; reportId: number };
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
beforeEach(async () => {
  tenant = unique('tenant');
  other = await creator({ externalId: 'other' });
  const { id: folderId } = await other.createFolder({ deploymentId, body: { name: 'theirs' } });
  const { id: workbookId } = await other.createWorkbook({ deploymentId, body: { folderId } });
  const { id: reportId } = await other.createReport({ deploymentId, body: { workbookId } });
  theirs = { folderId, workbookId, reportId };
});
afterAll(() => world.stop());

const creator = async (who: { externalId: string } | { internalId: string }) =>
  (await world.embedded({ deploymentId, embedTenantName: tenant, creatorMode: true, ...who })).client;

/** Runs the statements in a transaction that commits as soon as the call waits for it. Returns the result of the call. */
async function meanwhile(statements: [text: string, ...values: unknown[]][], call: () => Promise<unknown>) {
  const rival = new pg.Client({ connectionString: world.databaseUrl });
  await rival.connect();
  try {
    await rival.query('begin');
    for (const [text, ...values] of statements) await rival.query(text, values);
    const outcome = call().then(
      () => ({ status: 200 }),
      (error: { status: number }) => error,
    );
    const failed = outcome.then((early) => {
      throw new Error(`The call did not wait: ${JSON.stringify(early)}`);
    });
    // Work that the server does later, such as to store when a viewer was last seen, may wait too.
    const waits = `select count(*)::int as n from pg_stat_activity, (select $1::int as pid) rival
                   where rival.pid = any(pg_blocking_pids(pg_stat_activity.pid))`;
    const { pid } = (await rival.query('select pg_backend_pid() as pid')).rows[0];
    const waiting = () => world.server.db.pool.query(waits, [pid]);
    await Promise.race([expect.poll(async () => (await waiting()).rows[0].n).toBeGreaterThan(0), failed]);
    await rival.query('commit');
    return await outcome;
  } finally {
    await rival.end();
  }
}

const makers: [name: string, make: (client: OrielClient) => Promise<unknown>][] = [
  ['a folder at the root', (by) => by.createFolder({ deploymentId, body: { name: 'new' } })],
  [
    'a folder in another',
    (by) => by.createFolder({ deploymentId, body: { name: 'new', parentId: theirs.folderId } }),
  ],
  ['a workbook at the root', (by) => by.createWorkbook({ deploymentId, body: {} })],
  [
    'a workbook in a folder',
    (by) => by.createWorkbook({ deploymentId, body: { folderId: theirs.folderId } }),
  ],
  ['a workbook by slug', (by) => by.upsertWorkbookBySlug({ deploymentId, slug: unique('s'), body: {} })],
  [
    'a copy of a workbook',
    (by) => by.duplicateWorkbook({ deploymentId, workbookId: theirs.workbookId, body: {} }),
  ],
  ['a report at the root', (by) => by.createReport({ deploymentId, body: {} })],
  [
    'a report in a workbook',
    (by) => by.createReport({ deploymentId, body: { workbookId: theirs.workbookId } }),
  ],
];

describe('a call of a creator who is deleted at the same time is a 401', () => {
  const changes: typeof makers = [
    [
      'the name of a folder',
      (by) => by.updateFolder({ deploymentId, folderId: theirs.folderId, body: { name: 'new' } }),
    ],
    [
      'the place of a folder',
      (by) => by.moveWorkspaceObject({ deploymentId, body: { type: 'FOLDER', id: theirs.folderId } }),
    ],
    ['a view of a report', (by) => by.getReport({ deploymentId, reportId: theirs.reportId })],
  ];
  test.each([...makers, ...changes])('%s', async (_name, make) => {
    const client = await creator({ externalId: 'gone' });
    const outcome = await meanwhile(
      [[`delete from users where embed_tenant = $1 and external_id = 'gone'`, tenant]],
      () => make(client),
    );
    expect(outcome).toMatchObject(UNAUTHENTICATED);
  });
});

/** The statements that delete an embed tenant. */
const deletion = (): [string, string][] => [
  ['select from embed_tenants where name = $1 for update', tenant],
  [`update embed_tenants set name = '~' || id, id = default, deleted_at = now() where name = $1`, tenant],
];

const contentOf = async (embedTenant: string) =>
  Promise.all(
    ['folders', 'workbooks', 'reports'].map(
      async (table) =>
        (await world.server.db.pool.query(`select from ${table} where embed_tenant = $1`, [embedTenant]))
          .rowCount,
    ),
  );

describe.each(['an external viewer', 'an internal user'])('%s creates nothing', (kind) => {
  test.each(makers)('in an embed tenant that is deleted at the same time: %s', async (_name, make) => {
    const internalId = unique('internal');
    const body = { username: internalId, email: `${internalId}@example.com`, roles: ['Developer'] };
    await world.admin.createUser({ body });
    const client = await creator(kind === 'an internal user' ? { internalId } : { externalId: 'gone' });
    const before = await contentOf(tenant);
    expect(await meanwhile(deletion(), () => make(client))).toMatchObject(UNAUTHENTICATED);
    expect(await contentOf(tenant)).toEqual(before);
  });
});

test('who was in an embed tenant that was deleted has no home in a new one of its name', async () => {
  const idOf = async (client: OrielClient) => (await client.getEmbedSession()).user.id;
  const homeOf = (userId: number) =>
    world.server.db.transaction((tx) => keepTenant(tx, tenant, userId).then((key) => key !== undefined));
  const before = await idOf(other);
  expect(await homeOf(before)).toBe(true);
  for (const [text, ...values] of deletion()) await world.server.db.pool.query(text, values);
  const after = await idOf(await creator({ externalId: 'other' }));
  expect([await homeOf(before), await homeOf(after)]).toEqual([false, true]);
});

test('a report that is deleted while somebody opens it is a 404', async () => {
  const outcome = await meanwhile([['delete from reports where id = $1', theirs.reportId]], () =>
    other.getReport({ deploymentId, reportId: theirs.reportId }),
  );
  expect(outcome).toMatchObject({ status: 404, code: 'report_not_found' });
});

test('a person who is deleted while they create something gets a 401', async () => {
  const person = await world.person({ roles: ['Explorer'] });
  const outcome = await meanwhile([['delete from users where id = $1', person.userId]], () =>
    person.client.createReport({ deploymentId, body: {} }),
  );
  expect(outcome).toMatchObject(UNAUTHENTICATED);
});
