/** A server drops what it has cached about a change of its own at once, without waiting for the notification. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { type Database, openDatabase } from './database.ts';
import { sql } from './sql.ts';

let world: World;
let db: Database;
const told: string[] = [];
beforeAll(async () => {
  world = await createWorld();
  const connection = { connectionString: world.databaseUrl };
  const onNotified = (subject: string) => told.push(subject);
  db = openDatabase(connection, pino({ level: 'silent' }), { poolSize: 1, onNotified });
});
afterAll(() => db.end());
beforeEach(() => told.splice(0));

const setVariable = (deploymentId: number) => sql`
  insert into env_variables (id, deployment_id, name, value) values (gen_random_uuid(), ${deploymentId}, 'A', '')`;

test('a transaction tells its own server what it has changed when it is committed', async () => {
  const { id } = await world.deployment();
  await db.transaction(async (tx) => {
    await tx.run(setVariable(id));
    expect(told).toEqual([]);
  });
  expect(told).toEqual([`deployment:${id}`]);
  await db.transaction((tx) => tx.run(sql`select 1`));
  expect(told).toEqual([`deployment:${id}`]);
});

test('a transaction that is undone tells nothing', async () => {
  const { id } = await world.deployment();
  await expect(
    db.transaction(async (tx) => {
      await tx.run(setVariable(id));
      throw new Error('not this time');
    }),
  ).rejects.toThrow('not this time');
  expect(told).toEqual([]);
});

test('a transaction that changed very much tells that everything changed', async () => {
  await db.transaction((tx) =>
    tx.run(sql`select tell_servers('user:' || i) from generate_series(1, 10000) i`),
  );
  expect(told.at(0)).toBe('user:1');
  expect(told.at(-1)).toBe('');
  expect(told.length).toBeLessThan(1000);
});

test('the same subject is told once', async () => {
  await db.transaction((tx) => tx.run(sql`select tell_servers('user:1') from generate_series(1, 500)`));
  expect(told).toEqual(['user:1']);
});

test('a change of everything is told as such', async () => {
  await db.transaction((tx) => tx.run(sql`select tell_servers('')`));
  expect(told).toEqual(['']);
});
