/** A request that waits or fails in the database does not affect other callers. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { administer } from '../databases.ts';
import { holdRows } from '../hold.ts';
import { createOwnWorld, unique, type World } from '../world.ts';

let world: World;
let other: pg.Client;
beforeAll(async () => {
  world = await createOwnWorld({ hasProductionWaits: true });
  other = new pg.Client({ connectionString: world.databaseUrl });
  // One of the tests ends this connection.
  other.on('error', () => {});
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await world.stop();
});

const createFolder = (deploymentId: number) =>
  world.raw('POST', `/api/v1/deployments/${deploymentId}/folders`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: unique('folder') }),
  });

test('many changes that wait for a lock block nobody else, and get an error that says to try again', async () => {
  const deployments = [];
  for (let i = 0; i < 40; i++) deployments.push(await world.deployment());
  const { id } = deployments[0]!;

  // Readers continue, and every change waits, in any tree.
  await other.query('begin');
  await other.query('lock table folders in share row exclusive mode');
  const creations = deployments.map((deployment) => createFolder(deployment.id));
  const waiting = async () =>
    (await other.query("select from pg_locks where not granted and relation = 'folders'::regclass")).rowCount;
  await expect.poll(waiting).toBeGreaterThanOrEqual(4);

  for (let i = 0; i < 3; i++) {
    expect((await world.raw('GET', `/api/v1/deployments/${id}/folders`)).status).toBe(200);
    expect((await world.raw('GET', `/api/v1/deployments/${id}/reports`)).status).toBe(200);
    const { client } = await world.embedded({ deploymentId: id, externalId: unique('viewer') });
    await client.getEmbedSession();
    expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
    const metrics = await fetch(`${world.url}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toMatch(/^oriel_jobs_waiting\b/m);
  }
  for (const answer of await Promise.all(creations)) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({ code: 'busy' });
  }
  await other.query('rollback');
  expect((await createFolder(id)).status).toBe(200);
});

test('many requests for one locked report do not block lists of others', async () => {
  const { id: deploymentId } = await world.deployment();
  const { id: reportId } = await world.admin.createReport({ deploymentId, body: {} });
  const path = `/api/v1/deployments/${deploymentId}/reports`;
  const hold = await holdRows(world, 'reports', [reportId]);
  const opened = Array.from({ length: 40 }, () => world.raw('GET', `${path}/${reportId}`));
  const waiting = async () =>
    (await other.query("select from pg_stat_activity where wait_event_type = 'Lock'")).rowCount;
  await expect.poll(waiting).toBeGreaterThanOrEqual(4);
  for (let i = 0; i < 5; i++) expect((await world.raw('GET', path)).status).toBe(200);
  await hold.release();
  for (const answer of await Promise.all(opened)) expect([200, 503]).toContain(answer.status);
});

describe('if many requests of one caller wait, connections remain for others', () => {
  let deploymentId: number;
  beforeAll(async () => {
    await other.query('update tenant_settings set use_creator_mode = true');
    deploymentId = (await world.deployment()).id;
    // The server hears of the setting a moment later.
    await vi.waitFor(() => creatorOf('first'));
  });
  const creatorOf = (embedTenantName: string) =>
    world.embedded({ deploymentId, embedTenantName, externalId: 'ada', creatorMode: true });
  const waiting = async () =>
    (
      await world.server.db.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).rowCount;
  const outcomes = async (calls: Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).map((call) =>
      call.status === 'fulfilled' ? 200 : (call.reason as { code: string }).code,
    );

  test('changes of one embed tenant do not block another one', async () => {
    const [greedy, good] = [await creatorOf(unique('greedy')), await creatorOf(unique('good'))];
    const { id: reportId } = await greedy.client.createReport({ deploymentId, body: {} });
    const hold = await holdRows(world, 'reports', [reportId]);
    const answered = outcomes(
      Array.from({ length: 30 }, (_, i) =>
        greedy.client.updateReport({ deploymentId, reportId, body: { name: `name ${i}` } }),
      ),
    );
    await expect.poll(waiting).toBeGreaterThanOrEqual(4);
    for (let i = 0; i < 5; i++) {
      await good.client.createReport({ deploymentId, body: {} });
      await good.client.getReports({ deploymentId });
    }
    await hold.release();
    for (const outcome of await answered) expect([200, 'busy', 'unavailable']).toContain(outcome);
  });

  test('sessions that one key mints do not block other keys', async () => {
    const greedy = await world.person();
    const [slow, good] = [unique('slow'), unique('good')];
    const mint = (client: typeof greedy.client, embedTenantName: string) =>
      client.generateSession({ body: { deploymentId, embedTenantName, externalId: 'ada' } });
    await mint(world.admin, slow);
    const minted = await mint(world.admin, good);
    await other.query('begin');
    await other.query('select from users where embed_tenant = $1 for update', [slow]);
    const answered = outcomes(
      Array.from({ length: 30 }, (_, i) =>
        greedy.client.generateSession({
          body: {
            deploymentId,
            embedTenantName: slow,
            externalId: 'ada',
            userProfile: { displayName: `name ${i}` },
          },
        }),
      ),
    );
    await expect.poll(waiting).toBeGreaterThanOrEqual(4);
    for (let i = 0; i < 5; i++) await mint(world.admin, good);
    expect(await world.client().postTokenBySessionId({ body: minted })).toHaveProperty('token');
    await other.query('rollback');
    for (const outcome of await answered) expect([200, 'busy', 'unavailable']).toContain(outcome);
  });
});

describe('an error of the database gets the right status', () => {
  let deploymentId: number;
  beforeAll(async () => {
    deploymentId = (await world.deployment()).id;
    await other.query(`
      create function fail() returns trigger language plpgsql as $$
      begin
        if tg_argv[0] = 'cancel' then perform pg_cancel_backend(pg_backend_pid()), pg_sleep(60); end if;
        if tg_argv[0] = 'terminate' then perform pg_terminate_backend(pg_backend_pid()), pg_sleep(60); end if;
        raise exception 'made to fail' using errcode = tg_argv[0];
      end $$`);
  });

  test.each([
    ['cancel', 504, 'timed_out'],
    ['terminate', 503, 'unavailable'],
    ['55P03', 503, 'busy'],
    ['57P01', 503, 'unavailable'],
    ['57P02', 503, 'unavailable'],
    ['57P03', 503, 'unavailable'],
    ['53100', 503, 'unavailable'],
    ['53200', 503, 'unavailable'],
    ['53300', 503, 'unavailable'],
    ['08006', 503, 'unavailable'],
    ['25006', 503, 'unavailable'],
    ['58030', 503, 'unavailable'],
  ])('%s is a %i', async (how, status, code) => {
    await other.query(`create trigger fails before insert on folders execute function fail('${how}')`);
    const answer = await createFolder(deploymentId);
    await other.query('drop trigger fails on folders');
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
    expect((await createFolder(deploymentId)).status).toBe(200);
  });

  test('a database that accepts no connections is a 503', async () => {
    const database = new URL(world.databaseUrl).pathname.slice(1);
    const allow = (allowed: boolean) =>
      administer(inject('postgresUrl'), `alter database ${database} allow_connections ${allowed}`);
    await allow(false);
    await other.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const path = `/api/v1/deployments/${deploymentId}/reports`;
    // The first request may still find a connection that has just been ended.
    for (let i = 0; i < 15; i++) {
      const answer = await world.raw('GET', path);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: 'unavailable' });
    }
    await allow(true);
    await expect.poll(async () => (await world.raw('GET', path)).status).toBe(200);
  });
});
