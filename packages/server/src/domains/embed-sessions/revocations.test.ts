/** The list of revocations of a server: when it may be used, and which reading of it counts. */
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import type { Listener } from '../../platform/db/listener.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { createRevocations, REVOCATIONS_CHANNEL, type Revocations } from './revocations.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
afterAll(() => world.stop());

interface RevocationsFixture {
  revocations: Revocations;
  listener: Listener;
  /** Each reading of the list. The server gets what was read when the test says so. */
  readings: { answer(): Promise<void>; fail(): Promise<void> }[];
  warnings: string[];
}

/** As a server has them. */
async function open(): Promise<RevocationsFixture> {
  const { essential } = world.server;
  const readings: RevocationsFixture['readings'] = [];
  const many = async <Row>(query: Sql) => {
    const rows = await essential.many<Row>(query);
    return new Promise<Row[]>((resolve, reject) =>
      readings.push({
        answer: () => turn(resolve(rows)),
        fail: () => turn(reject(new Error('the connection broke'))),
      }),
    );
  };
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const listener = await startListening(world.databaseUrl, REVOCATIONS_CHANNEL);
  const slow = Object.assign(Object.create(essential) as typeof essential, { many });
  const revocations = createRevocations({ essential: slow, listener, log });
  opened.push(async () => {
    revocations.stop();
    await listener.end();
  });
  return { revocations, listener, readings, warnings };
}

const NOBODY = {
  ...{ sessionId: null, userId: null, embedTenant: null, apiKeyId: null, deploymentId: null },
  creatorMode: null,
};
const TOKEN = { sessionId: 1, userId: 2, embedTenant: 'a', apiKeyId: 3, deploymentId: 4, creatorMode: false };

/** Revokes an embed tenant that has no session, as another server would, and returns a token of it. */
async function revokeTenant() {
  const embedTenant = unique('tenant');
  await world.server.db.pool.query('insert into embed_revocations (embed_tenant) values ($1)', [embedTenant]);
  return { ...TOKEN, embedTenant, exchangedAt: 1000 };
}
/** As if notifications could have been missed. */
const readAgain = () => world.server.db.pool.query('select pg_notify($1, $2)', [REVOCATIONS_CHANNEL, '']);
const countOf = (list: readonly unknown[]) => expect.poll(() => list.length);

test('the list is used only after it was read, and while the server hears of what is added', async () => {
  const { revocations, listener, readings } = await open();
  expect([listener.isListening, revocations.isCurrent]).toEqual([true, false]);
  await countOf(readings).toBe(1);
  await readings[0]!.answer();
  expect(revocations.isCurrent).toBe(true);

  const heard = await revokeTenant();
  await expect.poll(() => revocations.covers(heard)).toBe(true);
  // A notification says what it is about, so nothing is read for it.
  expect([readings.length, revocations.isCurrent]).toEqual([1, true]);

  await readAgain();
  await countOf(readings).toBe(2);
  expect(revocations.isCurrent).toBe(false);
  await readings[1]!.answer();
  expect([revocations.isCurrent, revocations.covers(heard)]).toEqual([true, true]);
  await listener.end();
  expect(revocations.isCurrent).toBe(false);
});

test('the latest of several revocations counts, in whatever order they come, and for nothing else', async () => {
  const { revocations } = await open();
  const cases = [
    { userId: 7 },
    { embedTenant: '7' },
    { apiKeyId: 7 },
    { deploymentId: 7 },
    { creatorMode: true as const },
  ];
  for (const target of cases) {
    const covers = (exchangedAt: number) => revocations.covers({ ...TOKEN, ...target, exchangedAt });
    expect([target, covers(0.5)]).toEqual([target, false]);
    for (const until of [200, 100]) revocations.add({ ...NOBODY, ...target, until });
    expect([target, covers(150), covers(200), covers(201)]).toEqual([target, true, true, false]);
  }
  revocations.add({ ...NOBODY, sessionId: 7, until: 100 });
  const namedNull = revocations.covers({ ...TOKEN, embedTenant: 'null', exchangedAt: 50 });
  expect(namedNull, 'an embed tenant that is called null').toBe(false);
  const ofSession = (sessionId: number) => revocations.covers({ ...TOKEN, sessionId, exchangedAt: 201 });
  expect([ofSession(7), ofSession(1)]).toEqual([true, false]);
});

test('what was read earlier never takes the place of what was read later', async () => {
  const { revocations, readings, warnings } = await open();
  await countOf(readings).toBe(1);
  await readAgain();
  await countOf(readings).toBe(2);
  // Neither of the readings has found it, and only the later one learns of it.
  const revoked = await revokeTenant();
  await expect.poll(() => revocations.covers(revoked)).toBe(true);
  await readings[1]!.answer();
  expect([revocations.isCurrent, revocations.covers(revoked)]).toEqual([true, true]);
  await readings[0]!.answer();
  expect([revocations.isCurrent, revocations.covers(revoked)]).toEqual([true, true]);

  await readAgain();
  await countOf(readings).toBe(3);
  await readAgain();
  await countOf(readings).toBe(4);
  await readings[3]!.answer();
  await readings[2]!.fail();
  expect([revocations.isCurrent, revocations.covers(revoked), warnings]).toEqual([true, true, []]);
});

test('a list that could not be read is read again, until the server stops', async () => {
  const { revocations, readings, warnings } = await open();
  await countOf(readings).toBe(1);
  await readings[0]!.fail();
  expect([revocations.isCurrent, warnings.length]).toEqual([false, 1]);
  await countOf(readings).toBe(2);
  await readings[1]!.answer();
  expect(revocations.isCurrent).toBe(true);

  await readAgain();
  await countOf(readings).toBe(3);
  revocations.stop();
  await readings[2]!.fail();
  expect(warnings).toHaveLength(1);
});
