/** Admins see the queue, and try again what was given up. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.stop());

/** A job of a kind that no worker knows, so that it stays as it is. */
async function insertJob(kind: string, changes: { state: string; schedule?: string; deploymentId?: number }) {
  const { state, schedule = null, deploymentId } = changes;
  const { rows } = await world.server.db.pool.query(
    `insert into jobs (kind, payload, state, attempts, max_attempts, schedule, last_error, run_at, finished_at)
     values ($1, $2, $3, 10, 10, $4, 'the other side was away', now() + interval '1 hour',
       case when $3 in ('failed', 'done') then now() end) returning id`,
    [kind, JSON.stringify({ secret: 'not for the list', deploymentId }), state, schedule],
  );
  return Number(rows[0].id);
}

test('a job that was given up is found, tried again once, and audited', async () => {
  const kind = unique('kind');
  const { id: deploymentId } = await world.deployment();
  const id = await insertJob(kind, { state: 'failed', deploymentId });
  const { items } = await world.admin.listJobs({ kind, state: 'failed' });
  expect(items).toMatchObject([
    { id, kind, deploymentId, attempts: 10, lastError: 'the other side was away', schedule: null },
  ]);
  expect(JSON.stringify(items)).not.toContain('not for the list');
  expect((await world.admin.listJobs({ kind, deploymentId })).items).toHaveLength(1);
  const { id: other } = await world.deployment();
  expect((await world.admin.listJobs({ kind, deploymentId: other })).items).toEqual([]);
  const more = [
    await insertJob(unique('kind'), { state: 'failed' }),
    await insertJob(kind, { state: 'failed' }),
  ];
  expect((await world.admin.listJobs({ kind })).items.map((job) => job.id)).toEqual([more[1], id]);
  const { pageInfo } = await world.admin.listJobs({ kind, first: 1 });
  const next = await world.admin.listJobs({ kind, first: 1, after: pageInfo.endCursor! });
  expect(next.items.map((job) => job.id)).toEqual([id]);
  expect((await world.admin.listJobs({ kind, state: 'running' })).items).toEqual([]);

  const again = await world.admin.retryJob({ id });
  expect(again).toMatchObject({ id, state: 'waiting', attempts: 0, finishedAt: null });
  expect(Date.parse(again.runAt)).toBeLessThanOrEqual(Date.now() + 1000);
  const { items: entries } = await world.admin.listAuditLog({ operation: 'retryJob', deploymentId });
  expect(entries).toMatchObject([
    { resourceType: 'job', resourceId: String(id), before: { state: 'failed' }, after: { state: 'waiting' } },
  ]);
});

test('others of its schedule that have ended do not keep a job from being tried again, and it can be made due', async () => {
  const [kind, schedule] = [unique('kind'), unique('schedule')];
  const failed = await insertJob(kind, { state: 'failed', schedule });
  await insertJob(kind, { state: 'done', schedule });
  await insertJob(kind, { state: 'waiting', schedule: unique('schedule') });
  expect(await world.admin.retryJob({ id: failed })).toMatchObject({ state: 'waiting', attempts: 0 });
  expect(await world.admin.retryJob({ id: failed })).toMatchObject({ state: 'waiting' });
});

test('a job that begins to run at the same moment is not tried again beside it', async () => {
  const id = await insertJob(unique('kind'), { state: 'failed' });
  const held = await holdRows(world, 'jobs', [id]);
  const again = expect(world.admin.retryJob({ id })).rejects.toMatchObject({ code: 'job_not_retriable' });
  await held.waiting();
  await held.release("update jobs set state = 'running' where id = any($1)");
  await again;
});

test('what has ended well, or is queued again by its schedule, is left alone', async () => {
  const [kind, schedule] = [unique('kind'), unique('schedule')];
  const done = await insertJob(kind, { state: 'done' });
  await expect(world.admin.retryJob({ id: done })).rejects.toMatchObject({ code: 'job_not_retriable' });
  const failed = await insertJob(kind, { state: 'failed', schedule });
  await insertJob(kind, { state: 'waiting', schedule });
  await expect(world.admin.retryJob({ id: failed })).rejects.toMatchObject({ code: 'job_queued_again' });
  await expect(world.admin.retryJob({ id: 999_999_999 })).rejects.toMatchObject({ code: 'job_not_found' });
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.listJobs({})).rejects.toMatchObject({ status: 403 });
  await expect(client.retryJob({ id: failed })).rejects.toMatchObject({ status: 403 });
});
