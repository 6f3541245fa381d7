import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { Database } from '../db/database.ts';
import { startPresence } from './presence.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const pods = async () => (await world.admin.pods({ deploymentId })).items;
const start = (name: string) =>
  startPresence(
    { essential: world.server.essential, log: pino({ level: 'silent' }) },
    { name, type: 'worker', containers: ['INIT', 'MAIN'] },
  );
const lastSeen = (name: string, ago: string) =>
  world.server.db.pool.query('update server_processes set seen_at = now() - $2::interval where name = $1', [
    name,
    ago,
  ]);

test('the server that answers is one pod, which is ready', async () => {
  const { port } = new URL(world.url);
  expect(await pods()).toMatchObject([
    {
      name: expect.stringMatching(new RegExp(`^web-.+-${port}$`)),
      type: 'web',
      status: 'Running',
      ready: true,
      containers: ['MAIN'],
      restartCount: 0,
    },
  ]);
});

test('a second server is a second pod until it stops', async () => {
  const before = await pods();
  const another = await world.anotherServer();
  expect(await pods()).toHaveLength(before.length + 1);
  await another.stop();
  expect(await pods()).toEqual(before.map((pod) => ({ ...pod, heartbeatAt: expect.any(String) })));
});

test('a process that is started again after it failed counts its restarts, and one that said farewell does not', async () => {
  const [first] = [await start('worker-a')];
  expect(first).toBeDefined();
  const again = await start('worker-a');
  const find = async () => (await pods()).find(({ name }) => name === 'worker-a');
  expect(await find()).toMatchObject({ type: 'worker', restartCount: 1, containers: ['INIT', 'MAIN'] });
  await again.stop();
  expect(await find()).toBeUndefined();
  await first.stop();
  const fresh = await start('worker-a');
  expect(await find()).toMatchObject({ restartCount: 0 });
  await fresh.stop();
});

test('a process that does not report is not ready, and then gone', async () => {
  const silent = await start('worker-b');
  // On a busy machine a second passes meanwhile, or the process reports.
  const whenSeen = (ago: string) =>
    expect.poll(async () => {
      await lastSeen('worker-b', ago);
      return (await pods()).find(({ name }) => name === 'worker-b');
    });
  await whenSeen('29 seconds').toMatchObject({ ready: true, status: 'Running' });
  await whenSeen('31 seconds').toMatchObject({ ready: false, status: 'Unknown' });
  await whenSeen('6 minutes').toBeUndefined();
  await silent.stop();
});

test('a process stops also without a database', async () => {
  let isThere = true;
  const essential = {
    run: (query) =>
      isThere ? world.server.essential.run(query) : Promise.reject(new Error('there is no database')),
  } as Database;
  const process = { name: 'worker-c', type: 'worker' as const, containers: [] };
  const presence = await startPresence({ essential, log: pino({ level: 'silent' }) }, process);
  isThere = false;
  await presence.stop();
  expect((await pods()).map(({ name }) => name)).toContain('worker-c');
  await lastSeen('worker-c', '6 minutes');
});
