import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heldKind, jobWorkers, kind, NO_POLL } from '../../../test/job-workers.ts';
import type { Tx } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { JobKind } from './jobs.ts';
import { FAIR_LANES, type Lane } from './lanes.ts';
import { claimInTurn } from './store.ts';

const jobs = jobWorkers();
const { work, add, rowsOf } = jobs;

/** The connections that wait for a lock of claims. */
const countWaiting = async () =>
  (
    await jobs.query(
      `select from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and not granted and datname = current_database()`,
    )
  ).length;

test('a lane runs no more jobs at once than its limit', async () => {
  let running = 0;
  let most = 0;
  const job = kind(
    async () => {
      most = Math.max(most, ++running);
      // On a busy machine the first jobs would end before the next ones start.
      while (most < 3) await sleep(5);
      await sleep(20);
      running--;
    },
    { lane: 'removals' },
  );
  for (let i = 0; i < 12; i++) await add(job);
  await work([job], { lanes: { default: 5, removals: 3 } });
  await expect.poll(async () => (await rowsOf(job)).filter(({ state }) => state === 'done').length).toBe(12);
  expect(most).toBe(3);
});

test('long jobs of one lane delay neither another lane nor the take-over of abandoned jobs', async () => {
  const held = [1, 2].map(() => heldKind({ lane: 'removals' }));
  const ran: string[] = [];
  const waiting = kind(async () => void ran.push('same lane'), { lane: 'removals' });
  const mail = kind(async () => void ran.push('other lane'));
  const abandoned = kind(async () => void ran.push('taken over'));
  for (const { job } of held) await add(job);
  await work([...held.map(({ job }) => job), waiting, mail, abandoned], {
    ...NO_POLL,
    lanes: { default: 1, removals: 2 },
  });
  for (const { job } of held) await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await add(waiting);
  await add(mail);
  await expect.poll(() => ran).toEqual(['other lane']);
  await jobs.query(
    `insert into jobs (kind, max_attempts, state, lease_token, lease_until)
     values ($1, 5, 'running', gen_random_uuid(), now() + interval '200 ms')`,
    [abandoned.name],
  );
  // There is no notification for this lease. The clock finds it when it wakes for another reason.
  await add(mail);
  await expect.poll(() => [...ran].sort()).toEqual(['other lane', 'other lane', 'taken over']);
  for (const { release } of held) release();
  await expect.poll(() => ran).toContain('same lane');
});

test.each(FAIR_LANES as Lane[])(
  'in the fair lane %s, deployments take turns, and each has one job at a time',
  async (lane) => {
    const ran: string[] = [];
    let running = 0;
    const job = kind(
      async (payload) => {
        const { deploymentId, n } = payload as { deploymentId: number; n: number };
        ran.push(`${deploymentId}/${n}`);
        if (deploymentId === 1) expect(++running).toBe(1);
        await sleep(50);
        if (deploymentId === 1) running--;
      },
      { lane, maxAttempts: 1 },
    );
    for (const n of [1, 2, 3, 4]) await add(job, { deploymentId: 1, n });
    for (const n of [1, 2]) await add(job, { deploymentId: 2, n });
    await add(job, { deploymentId: 3, n: 1 });
    const alone = await work([job], { lanes: { [lane]: 1 } });
    await expect.poll(() => ran.length).toBe(7);
    expect(ran).toEqual(['1/1', '2/1', '3/1', '1/2', '2/2', '1/3', '1/4']);
    await alone.stop();

    ran.length = 0;
    for (const n of [1, 2, 3, 4]) await add(job, { deploymentId: 1, n });
    await work([job], { lanes: { [lane]: 3 } });
    await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(4);
    await expect.poll(async () => (await rowsOf(job)).every(({ state }) => state === 'done')).toBe(true);
  },
);

test('a worker claims in a fair lane only while no other server does', async () => {
  const ran: string[] = [];
  const job = kind(async () => void ran.push('ran'), { lane: 'syncs' });
  await add(job, { deploymentId: 1 });
  await jobs.world.server.db.transaction(async (tx) => {
    const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
    expect(await claimInTurn(tx, 'syncs', [], lease, [])).toBeUndefined();
    const limits = sql`
      select current_setting('idle_in_transaction_session_timeout')::interval < current_setting('lock_timeout')::interval as "isShorter"`;
    expect(await tx.one(limits), 'one that freezes does not make others give up').toEqual({
      isShorter: true,
    });
    await work([job], { lanes: { syncs: 1 } });
    await expect.poll(countWaiting).toBe(1);
    expect(ran).toEqual([]);
  });
  await expect.poll(() => ran).toEqual(['ran']);
});

test('in a fair lane, two servers that claim at the same time do not both get a job of one deployment', async () => {
  const { db } = jobs.world.server;
  const job = kind(async () => {}, { lane: 'syncs' });
  for (const n of [1, 2]) await add(job, { deploymentId: 1, n });
  const claim = (tx: Tx) => {
    const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
    return claimInTurn(tx, 'syncs', [job.name], lease, []);
  };
  let second: ReturnType<typeof claim> | undefined;
  const first = await db.transaction(async (tx) => {
    const taken = await claim(tx);
    second = db.transaction(claim);
    await expect.poll(countWaiting).toBe(1);
    return taken;
  });
  expect([first, await second]).toMatchObject([{ payload: { n: 1 } }, undefined]);
  await jobs.query('delete from jobs where kind = $1', [job.name]);
});

test('in a fair lane, whoever shares a deployment takes turns in it, and does not count against other deployments', async () => {
  const ran: string[] = [];
  const job = kind(
    async (payload) => {
      const { deploymentId, sharer, n } = payload as { deploymentId: number; sharer?: string; n: number };
      ran.push(`${deploymentId}${sharer ?? ''}/${n}`);
    },
    { lane: 'notifications', maxAttempts: 1 },
  );
  for (const n of [1, 2, 3]) await add(job, { deploymentId: 1, sharer: 'a', n });
  for (const n of [1, 2]) await add(job, { deploymentId: 1, sharer: 'b', n });
  await add(job, { deploymentId: 1, n: 1 });
  for (const n of [1, 2]) await add(job, { deploymentId: 2, n });
  await work([job], { lanes: { notifications: 1 } });
  await expect.poll(() => ran.length).toBe(8);
  expect(ran).toEqual(['1a/1', '2/1', '1b/1', '2/2', '1/1', '1a/2', '1b/2', '1a/3']);
});

test('in a fair lane, a running job holds up neither other deployments, nor its own one in other lanes', async () => {
  const { job: held, release } = heldKind({ lane: 'syncs' });
  const ran: string[] = [];
  const [same, other] = (['syncs', 'remotes'] as const).map((lane) =>
    kind(async (payload) => void ran.push(`${lane} ${(payload as { deploymentId: number }).deploymentId}`), {
      lane,
    }),
  ) as [JobKind, JobKind];
  await work([held, same, other], { lanes: { syncs: 2, remotes: 1 } });
  await add(held, { deploymentId: 1 });
  await expect.poll(() => rowsOf(held)).toMatchObject([{ state: 'running' }]);
  await add(same, { deploymentId: 1 });
  await add(same, { deploymentId: 2 });
  await add(other, { deploymentId: 1 });
  await expect.poll(() => ran.toSorted()).toEqual(['remotes 1', 'syncs 2']);
  release();
  await expect.poll(() => ran).toContain('syncs 1');
});
