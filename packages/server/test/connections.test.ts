/** Problems with connections between the server and its database. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { openClient } from '../src/platform/db/connection.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { SHARED_SESSIONS } from '../src/platform/db/own-session.ts';
import { StartupError } from '../src/platform/startup-error.ts';
import { administer, createDatabase, dropDatabase, onServer, readOwnSchema } from './databases.ts';
import {
  type DatabaseProxy,
  dropStartupOptions,
  startPoisoningProxy,
  startTransactionPooler,
} from './postgres-proxy.ts';
import { createOwnWorld, unique, type World } from './world.ts';

describe('connections that the database ends while they are being opened', () => {
  let world: World;
  let proxy: Awaited<ReturnType<typeof startPoisoningProxy>>;
  beforeAll(async () => {
    world = await createOwnWorld({
      through: async (databaseUrl) => {
        proxy = await startPoisoningProxy(databaseUrl);
        return proxy.url;
      },
    });
  });
  afterEach(() => proxy.poison(0));
  afterAll(async () => {
    await world.stop();
    await proxy.close();
  });

  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  beforeAll(() => void process.on('uncaughtExceptionMonitor', note));
  afterAll(() => void process.off('uncaughtExceptionMonitor', note));

  const endConnections = () =>
    administer(
      world.databaseUrl,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );

  test('make some requests fail, but the server keeps running', async () => {
    const { id } = await world.deployment();
    const statuses = new Set<number>();
    const before = proxy.poison(2);
    for (let wave = 0; wave < 5; wave++) {
      await endConnections();
      const answers = Array.from({ length: 20 }, async (_, i) =>
        i % 2
          ? world.raw('GET', `/api/v1/deployments/${id}/reports`)
          : world.raw('POST', `/api/v1/deployments/${id}/folders`, {
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ name: unique('folder') }),
            }),
      );
      for (const { status } of await Promise.all(answers)) statuses.add(status);
    }
    expect(proxy.poison(0)).toBeGreaterThan(before);
    expect(uncaught).toEqual([]);
    for (const status of statuses) expect([200, 503]).toContain(status);
    await expect
      .poll(async () => (await world.raw('GET', `/api/v1/deployments/${id}/reports`)).status)
      .toBe(200);
  });

  test('make a migration fail, and code that needs its own connection', async () => {
    proxy.poison(1);
    await expect(openClient({ connectionString: proxy.url })).rejects.toThrow();
    await expect(migrate({ connectionString: proxy.url }, await readOwnSchema())).rejects.toThrow();
    expect(uncaught).toEqual([]);
  });
});

test('times are right with any time zone and date style of the database or a pooler', async () => {
  let proxy!: DatabaseProxy;
  const world = await createOwnWorld({
    through: async (databaseUrl) => {
      const name = new URL(databaseUrl).pathname.slice(1);
      await administer(databaseUrl, `alter database ${name} set timezone = 'Asia/Tokyo'`);
      await administer(databaseUrl, `alter database ${name} set datestyle = 'German'`);
      proxy = await dropStartupOptions(databaseUrl);
      return proxy.url;
    },
  });
  const before = Date.now();
  const { id } = await world.deployment();
  const { createdAt } = await world.admin.createApiKey({ body: { name: 'timely' } });
  const { client } = await world.embedded({ deploymentId: id, externalId: unique('viewer') });
  const { expiresAt } = await client.getEmbedSession();
  const after = Date.now();
  const isBetween = (time: number) => time > before - 60_000 && time < after + 60_000;
  expect(createdAt).toSatisfy((text: string) => isBetween(Date.parse(text)));
  expect(expiresAt).toSatisfy((text: string) => isBetween(Date.parse(text) - 24 * 3_600_000));
  await world.stop();
  await proxy.close();
});

test('a pooler that shares sessions between connections stops the migration, and so the start, with an error that says so', async () => {
  const name = await createDatabase(inject('postgresUrl'));
  const pooler = await startTransactionPooler(onServer(inject('postgresUrl'), name));
  await expect(migrate({ connectionString: pooler.url }, await readOwnSchema())).rejects.toThrow(
    new StartupError(SHARED_SESSIONS),
  );
  await pooler.close();
  await dropDatabase(inject('postgresUrl'), name);
});
