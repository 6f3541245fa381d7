/** Jobs run in a separate process. Whatever happens to it, the server answers requests, and the jobs get done. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, onServer } from '../packages/server/test/databases.ts';
import { isAlive } from '../packages/server/test/is-alive.ts';
import { buildProgram } from '../scripts/build.mjs';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  killServer,
  MAIN,
  newDataDir,
  newFolder,
  openDatabase,
  type RunningServer,
  ready,
  SECRET_KEY,
  type Settings,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';

const PROGRAM = `test-jobs-${process.pid}.js`;
const SCRIPT = join(MAIN, '..', PROGRAM);

beforeAll(() => buildProgram('acceptance/server-with-test-jobs.ts', PROGRAM));
afterAll(() => {
  for (const file of [SCRIPT, `${SCRIPT}.map`]) rmSync(file, { force: true });
});

const databases: pg.Client[] = [];
afterEach(async () => {
  for (const database of databases.splice(0)) await database.end();
});
afterAll(cleanUp);

const settings: Settings = { ORIEL_ADMIN_API_KEY: ADMIN_KEY };

const startWithJobs = async (dataDir: string, more: Settings = {}) =>
  ready(spawnServer(dataDir, { ...settings, ...more }, [process.execPath, SCRIPT]));

/** A database that is migrated but was never used, on the PostgreSQL of this run. */
async function newDatabase(): Promise<string> {
  const server = inject('postgresUrl');
  return onServer(server, await createDatabase(server, inject('templateDatabase')));
}

async function openQueue(at: string | pg.Client) {
  const database = typeof at === 'string' ? await openDatabase(at) : at;
  if (at === database) await database.connect();
  databases.push(database);
  return {
    query: async (text: string, values: unknown[] = []) => (await database.query(text, values)).rows,
    async add(kind: string, payload: object): Promise<number> {
      const { rows } = await database.query(
        'insert into jobs (kind, payload, max_attempts) values ($1, $2, 5) returning id::int',
        [kind, payload],
      );
      return rows[0].id;
    },
    async job(id: number) {
      const { rows } = await database.query('select state, attempts from jobs where id = $1', [id]);
      return rows[0] as { state: string; attempts: number };
    },
  };
}
type Queue = Awaited<ReturnType<typeof openQueue>>;

const untilState = (queue: Queue, id: number, state: string) =>
  until(`the job is ${state}`, async () => (await queue.job(id)).state === state);

/** Finds the worker processes as an operator would, with `ps`. */
function workersOf({ pid }: RunningServer): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return rows
    .map((row) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [])
    .filter(([, , parent, args]) => Number(parent) === pid && / job-worker$/.test(args ?? ''))
    .map(([, own]) => Number(own));
}

const metricsOf = async (server: RunningServer) => (await fetch(`${server.url}/metrics`)).text();

describe('a server with jobs', () => {
  let dataDir: string;
  let server: RunningServer;
  beforeAll(async () => {
    dataDir = await usedDataDir();
    server = await startWithJobs(dataDir);
  });

  test('a job that computes for a long time delays no request', async () => {
    const queue = await openQueue(server.dataDir);
    const client = server.client(ADMIN_KEY);
    const file = join(await newFolder(), 'enough');
    const id = await queue.add('test.compute', { file });
    await untilState(queue, id, 'running');
    // In the same process, the first request would wait until the job ends, and the job waits for the requests.
    for (let answered = 0; answered < 20; answered++) await client.getDeployments();
    expect(await queue.job(id)).toMatchObject({ state: 'running' });
    writeFileSync(file, '');
    await untilState(queue, id, 'done');
  });

  test('jobs leave the processor to requests, and hear when the server is busy with them', async () => {
    const queue = await openQueue(server.dataDir);
    const client = server.client(ADMIN_KEY);
    const [worker] = workersOf(server);
    expect(getPriority(worker)).toBe(10);
    const id = await queue.add('test.wait-for-load', {});
    await untilState(queue, id, 'running');
    let isOver = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) await client.getDeployments();
    });
    await untilState(queue, id, 'done').finally(() => {
      isOver = true;
    });
    await Promise.all(load);
  });

  test('a worker that is killed in the middle of a job is started again and does the job, while requests work', async () => {
    const queue = await openQueue(server.dataDir);
    const file = join(await newFolder(), 'done');
    const id = await queue.add('test.wait-for-file', { file });
    await untilState(queue, id, 'running');
    // A process that is killed loses the log lines that it has not written yet.
    await until('the job has logged a line', () => server.stdout.includes('waiting for a file'));

    const [worker] = workersOf(server);
    process.kill(worker!, 'SIGKILL');
    await until('the worker is gone', () => !isAlive(worker!));
    await expect(server.client(ADMIN_KEY).getMe()).resolves.toBeDefined();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);

    await until('there is another worker', () => workersOf(server).some((pid) => pid !== worker));
    await until('it has taken the job over', async () => (await queue.job(id)).attempts === 2);
    writeFileSync(file, '');
    await untilState(queue, id, 'done');
    expect(await metricsOf(server)).toContain('oriel_process_restarts_total{process="job worker"} 1');
    // The log of the server also has the lines that a job logs.
    const lines = () =>
      server.stdout
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'waiting for a file');
    await until('both attempts have logged a line', () => lines().length === 2);
    expect(lines()).toMatchObject([
      { level: 30, process: 'job worker', kind: 'test.wait-for-file', jobId: id, attempt: 1 },
      { level: 30, process: 'job worker', kind: 'test.wait-for-file', jobId: id, attempt: 2 },
    ]);
  });

  test('when the server stops, a running job returns to the queue without a counted attempt, and no process is left', async () => {
    const queue = await openQueue(dataDir);
    const file = join(await newFolder(), 'done');
    const id = await queue.add('test.wait-for-file', { file });
    await untilState(queue, id, 'running');
    const workers = workersOf(server);
    expect(workers).toHaveLength(1);
    await databases.pop()!.end();
    expect(await stop(server)).toEqual({ code: 0, signal: null });
    expect(workers.filter(isAlive)).toEqual([]);

    const again = await startWithJobs(dataDir);
    const later = await openQueue(dataDir);
    await untilState(later, id, 'running');
    expect(await later.job(id)).toMatchObject({ attempts: 1 });
    writeFileSync(file, '');
    await untilState(later, id, 'done');
    expect((await stop(again)).code).toBe(0);
  });
});

test('the arguments and the environment of a worker contain no secrets, and it ends with a server that is killed', async () => {
  const dataDir = await usedDataDir();
  const secretKey = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim();
  const server = await startServer(dataDir, { ...settings, ORIEL_SECRET_KEY: secretKey });
  const workers = workersOf(server);
  expect(workers).toHaveLength(1);
  const [worker] = workers;
  const seen = execFileSync('ps', ['eww', '-o', 'args=', '-p', String(worker)], { encoding: 'utf8' });
  expect(seen).toContain('job-worker');
  expect(seen).not.toMatch(/ORIEL_/);
  expect(seen).not.toContain(secretKey);
  await killServer(server);
  await until('the worker is gone', () => !workers.some(isAlive));
});

test('a worker that makes the first admin prints no command that only other servers answer', async () => {
  const worker = await startServer(await newDataDir(), {
    ...settings,
    ORIEL_ROLE: 'worker',
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_DATABASE_URL: await newDatabase(),
  });
  expect(worker.stdout).toContain('The first admin is ');
  expect(worker.stdout).not.toContain('curl');
});

test('one server can serve requests while another one runs jobs', async () => {
  const address = await newDatabase();
  const shared = { ...settings, ORIEL_SECRET_KEY: SECRET_KEY, ORIEL_DATABASE_URL: address };
  const web = await startServer(await newDataDir(), { ...shared, ORIEL_ROLE: 'web' });
  const queue = await openQueue(new pg.Client(address));
  expect(workersOf(web)).toEqual([]);
  const admin = web.client(ADMIN_KEY);
  const { id: deploymentId } = await admin.createDeployment({ body: deploymentNamed('gone') });
  await admin.deleteDeployment({ deploymentId });
  expect(await queue.query('select kind, state from jobs')).toEqual([
    { kind: 'deployments.remove', state: 'waiting' },
  ]);

  const worker = await startServer(await newDataDir(), { ...shared, ORIEL_ROLE: 'worker' });
  await until('the job is done', async () => {
    const rows = await queue.query("select from jobs where kind = 'deployments.remove' and state = 'done'");
    return rows.length === 1;
  });
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(worker.url + path)).status, path).toBe(200);
  }
  for (const path of ['/api/v1/users/me', '/docs', '/openapi.json']) {
    expect((await fetch(worker.url + path)).status, path).toBe(404);
  }
  expect(worker.stdout).toContain('jobs only');
  for (const server of [worker, web]) expect((await stop(server)).code).toBe(0);
});
