/** Which builds run, in which order, and what becomes of those that are interrupted. The compiler is held by the test. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Modeller, modeller } from '../../../test/data-models.ts';
import { expectWaiting, holdRows } from '../../../test/hold.ts';
import { TIMES } from '../../../test/job-workers.ts';
import { startListening } from '../../../test/listening.ts';
import { countingRows } from '../../../test/rows-read.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { JOBS_CHANNEL, type JobKind } from '../../platform/jobs/jobs.ts';
import { startWorker, type Worker } from '../../platform/jobs/worker.ts';
import { createBuilds } from './builds.ts';
import { type Compiler, CompilerError, type Report } from './compiler.ts';
import { isAnyWaiting, startBuild } from './store.ts';

interface PendingCompile {
  files: ReadonlyMap<string, string>;
  signal: AbortSignal;
  finish(report?: Partial<Report>): void;
  fail(error: Error): void;
}

let world: World;
let listener: Listener;
let held: PendingCompile[];
let logged: string[];
let workers: Worker[];

beforeAll(async () => {
  // The worker of the world must not take the builds.
  world = await createOwnWorld({ env: { ORIEL_ROLE: 'web' } });
  listener = await startListening(world.databaseUrl, JOBS_CHANNEL);
});
afterAll(async () => {
  await listener.end();
  await world.stop();
});
beforeEach(() => {
  held = [];
  logged = [];
  workers = [];
});
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  await query("delete from builds; delete from jobs where kind = 'builds.build'");
});

const query = async <Row>(text: string, values?: unknown[]) =>
  (await world.server.db.pool.query(text, values)).rows as Row[];

const compiler: Compiler = {
  compile: (files, signal) =>
    new Promise((resolve, reject) => {
      const finish = (report: Partial<Report> = {}) =>
        resolve({ errors: [], warnings: [], cubesCount: 1, ...report });
      held.push({ files, signal, finish, fail: reject });
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
  stop: async () => {},
};

function signal() {
  let done = () => {};
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}

const builds = () =>
  createBuilds({
    log: {
      add: (_, lines) => logged.push(...lines.map(({ message }) => message)),
      flush: async () => {},
      stop: async () => {},
    },
    compiler,
    events: { record: async () => {} },
  });

async function work(atOnce = 1): Promise<Worker> {
  const { job } = builds();
  const worker = await startWorker({
    db: world.server.db,
    listener,
    log: pino({ level: 'silent' }),
    kinds: [job as JobKind],
    schedules: [],
    lanes: { builds: atOnce },
    times: TIMES,
  });
  workers.push(worker);
  return worker;
}

const next = async (count: number) => {
  await expect.poll(() => held.length).toBe(count);
  return held[count - 1]!;
};
const FILE = 'model/a.yml';
const model = (title: string) => ({ [FILE]: `cubes:\n  - name: a\n    sql_table: a\n    title: ${title}\n` });
const titleOf = ({ files }: PendingCompile) => /title: (.*)/.exec(files.get(FILE) ?? '')?.[1];
const newest = async ({ deploymentId, branchName }: Modeller) =>
  world.admin.buildStatus({ deploymentId, branchName });

/** A deployment whose own builds are out of the way, and a branch of it. */
async function branchOf(deploymentId?: number): Promise<Modeller> {
  const id = deploymentId ?? (await world.deployment()).id;
  const dev = await modeller(world, id, { branch: unique('branch'), client: world.admin });
  await query("delete from builds; delete from jobs where kind = 'builds.build'");
  return dev;
}

test('changes that come before the start are one build, and those that come during it are one more, of the newest state', async () => {
  const dev = await branchOf();
  for (const title of ['one', 'two', 'three']) await dev.write(model(title));
  expect(await query('select 1 from builds')).toHaveLength(1);
  await work();
  const first = await next(1);
  expect(titleOf(first)).toBe('three');
  for (const title of ['four', 'five', 'six']) await dev.write(model(title));
  expect((await newest(dev)).status).toBe('building');
  first.finish();
  const second = await next(2);
  expect(titleOf(second)).toBe('six');
  second.finish();
  await expect.poll(async () => (await newest(dev)).status).toBe('built');
  expect(await query('select 1 from builds')).toHaveLength(2);
});

test('a change that is not complete when its build starts is part of the build', async () => {
  const dev = await branchOf();
  const other = await branchOf(dev.deploymentId);
  await other.write(model('newer'));
  await dev.write(model('older'));
  await query('delete from builds b using branches n where n.id = b.branch_id and n.name = $1', [
    other.branchName,
  ]);
  const [branch] = await query<{ id: number }>('select id::int from branches where name = $1', [
    dev.branchName,
  ]);
  // A change locks its branch first. It enqueues no build, because one waits already.
  const change = await holdRows(world, 'branches', [branch!.id]);
  await work();
  await change.waiting();
  expect(held).toEqual([]);
  await change.release(
    `update branches b set working_tree = o.working_tree from branches o
     where b.id = any($1) and o.deployment_id = b.deployment_id and o.name = '${other.branchName}'`,
  );
  expect(titleOf(await next(1))).toBe('newer');
});

test('one deployment builds one branch at a time', async () => {
  const first = await branchOf();
  const second = await branchOf(first.deploymentId);
  const other = await branchOf();
  await first.write(model('first'));
  await second.write(model('second'));
  await other.write(model('other'));
  await work(3);
  await next(2);
  // The place beside it goes to the other deployment, although the second branch waits for longer.
  expect(held.map(titleOf).sort()).toEqual(['first', 'other']);
  const running = await query('select status from builds order by status');
  expect(running).toEqual([{ status: 'building' }, { status: 'building' }, { status: 'waiting' }]);
  for (const { finish } of held) finish();
  expect(titleOf(await next(3))).toBe('second');
});

test('deployments take turns', async () => {
  const { id } = await world.deployment();
  const many: Modeller[] = [];
  for (let i = 0; i < 3; i++) many.push(await branchOf(id));
  const others = [await branchOf(), await branchOf()];
  for (const [i, dev] of many.entries()) await dev.write(model(`many ${i}`));
  for (const [i, dev] of others.entries()) await dev.write(model(`other ${i}`));
  await work();
  for (let count = 1; count <= 5; count++) (await next(count)).finish();
  expect(held.map(titleOf)).toEqual(['many 0', 'other 0', 'other 1', 'many 1', 'many 2']);
  await expect.poll(() => query('select status from builds group by status')).toEqual([{ status: 'built' }]);
});

test('a build that is added while another one of its deployment is about to begin is done too', async () => {
  const first = await branchOf();
  const second = await branchOf(first.deploymentId);
  await first.write(model('first'));
  const { deploymentId, branchName } = second;
  const { items } = await world.admin.listBranches({ deploymentId });
  const branchId = items.find(({ name }) => name === branchName)!.id;
  const adding = signal();
  const committing = signal();
  const changing = world.server.db.transaction(async (tx) => {
    await builds().enqueueBuild(tx, { deploymentId, branchId });
    adding.done();
    await committing.promise;
  });
  await adding.promise;
  await work();
  await expectWaiting(world, 1);
  committing.done();
  await changing;
  (await next(1)).finish();
  (await next(2)).finish();
  await expect.poll(async () => (await newest(second)).status).toBe('built');
});

test('a build that is interrupted is done by the next worker', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  const stopped = await work();
  await next(1);
  await stopped.stop();
  expect((await newest(dev)).status).toBe('building');
  await work();
  (await next(2)).finish();
  await expect.poll(async () => (await newest(dev)).status).toBe('built');
});

test('a build whose process ends again and again is given up, with the reason, and the next one is built', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  await query('update builds set attempts = 5');
  await work();
  await expect.poll(async () => (await newest(dev)).status).toBe('failed');
  expect((await newest(dev)).errorText).toMatch(/5 times/);
  expect(held).toEqual([]);
  await dev.write(model('y'));
  (await next(1)).finish();
  await expect.poll(async () => (await newest(dev)).status).toBe('built');
});

test('a compiler that gives up is a failed build with the reason, and an unexpected failure is tried again', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  await work();
  (await next(1)).fail(new CompilerError('It took too long.'));
  await expect.poll(async () => (await newest(dev)).status).toBe('failed');
  expect(await newest(dev)).toMatchObject({ errorText: 'It took too long.', deploymentStatus: 'none' });
  await dev.write(model('y'));
  (await next(2)).fail(new Error('no memory for a thread'));
  (await next(3)).finish();
  expect(logged).toContain(`The build of ${dev.branchName} was interrupted, and will be begun again.`);
  await expect.poll(async () => (await newest(dev)).status).toBe('built');
});

test('the build of a branch that is deleted is ended, and others go on', async () => {
  const dev = await branchOf();
  const other = await branchOf(dev.deploymentId);
  await dev.write(model('x'));
  await other.write(model('y'));
  await work();
  const { signal } = await next(1);
  await world.admin.deleteBranch({
    deploymentId: dev.deploymentId,
    branchName: dev.branchName,
    force: true,
  });
  await expect.poll(() => signal.aborted).toBe(true);
  expect(await newest(dev)).toMatchObject({
    status: 'none',
    errorText: expect.stringMatching(/^Bad branch/),
  });
  (await next(2)).finish();
  await expect.poll(async () => (await newest(other)).status).toBe('built');
});

test('the build of a deployment that is deleted is ended', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  await work();
  const { signal } = await next(1);
  await world.admin.deleteDeployment({ deploymentId: dev.deploymentId });
  await expect.poll(() => signal.aborted).toBe(true);
});

test('a build of a branch that nobody works on any more is cancelled', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  await dev.client.stopDevMode({ deploymentId: dev.deploymentId });
  await work();
  await expect.poll(() => query('select status from builds')).toEqual([{ status: 'cancelled' }]);
  expect(held).toEqual([]);
});

test('the next build is found without reading those that ended, or those of other deployments', async () => {
  const [dev, other] = [await branchOf(), await branchOf()];
  await dev.write(model('x'));
  await query(`
    insert into builds (deployment_id, branch_id, status)
    select deployment_id, branch_id, 'failed' from builds cross join generate_series(1, 5000)`);
  await query(`
    with others as (
      insert into branches (deployment_id, name, head)
      select deployment_id, name || i, head from branches cross join generate_series(1, 100) i
      where deployment_id = ${other.deploymentId} returning id, deployment_id)
    insert into builds (deployment_id, branch_id, status) select deployment_id, id, 'waiting' from others`);
  await query('analyze builds');
  const { counts, db } = countingRows(world);
  expect(await isAnyWaiting(db, dev.deploymentId)).toBe(true);
  expect(await startBuild(db, dev.deploymentId, 1)).toMatchObject({ branchId: expect.any(Number) });
  expect(counts.read).toBeLessThan(20);
});

test('the newest fifty builds of a branch are kept, and the last good one', async () => {
  const dev = await branchOf();
  await dev.write(model('x'));
  await query(`
    insert into builds (deployment_id, branch_id, status)
    select deployment_id, branch_id, case n when 3 then 'built' else 'failed' end
    from builds cross join generate_series(1, 80) n`);
  await query("update builds set id = default where status = 'waiting'");
  await work();
  (await next(1)).fail(new CompilerError('Too much.'));
  await expect.poll(() => query('select 1 from builds')).toHaveLength(51);
  expect(await newest(dev)).toMatchObject({ status: 'failed', deploymentStatus: 'built' });
});
