/** Many writers of one branch: they wait without connections, in a queue that is limited, and callers may leave it. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Modeller, modeller, readFiles } from '../../../test/data-models.ts';
import { ADMIN_KEY, createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let mine: Modeller;
let elsewhere: Modeller;
beforeAll(async () => {
  world = await createWorld();
  elsewhere = await modeller(world, (await world.deployment()).id, {
    branch: 'elsewhere',
    client: world.admin,
  });
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
  mine = await modeller(world, deploymentId, { branch: 'mine', client: world.admin });
  await mine.save({ 'a.yml': 'a\n' });
});
afterAll(() => world.stop());

/** Runs the work while the branches of the deployment are locked, as if another server changed them. */
async function whileLocked<T>(work: (unlock: () => Promise<unknown>) => Promise<T>): Promise<T> {
  const client = new pg.Client(world.databaseUrl);
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from branches where deployment_id = $1 for no key update', [deploymentId]);
    return await work(() => client.query('rollback'));
  } finally {
    await client.end();
  }
}

/** How many connections wait for a lock. */
async function countLocked(): Promise<number> {
  const { rows } = await world.server.db.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%branches%'`,
  );
  return rows[0]!.count;
}

const body = <More extends object>(more: More) => ({ deploymentId, body: { branchName: 'mine', ...more } });

/** The number of writers: as many as a server has connections. */
const WRITERS = 10;

const WAYS: Record<string, () => Promise<() => Promise<unknown>>> = {
  updateFiles: async () => () => mine.write({ 'a.yml': 'changed\n' }),
  removeFiles: async () => () => world.admin.removeFiles(body({ files: [{ path: 'a.yml' }] })),
  renameFiles: async () => () =>
    world.admin.renameFiles(body({ files: [{ path: 'a.yml', newPath: 'b.yml' }] })),
  commitChanges: async () => {
    await mine.write({ 'a.yml': 'changed\n' });
    return () => mine.commit('changed');
  },
  'commitChanges with resolveMergeConflict': async () => {
    await mine.write({ 'a.yml': 'changed\n' });
    return () => world.admin.commitChanges(body({ resolveMergeConflict: true }));
  },
  mergeIntoParentBranch: async () => () => world.admin.mergeIntoParentBranch(body({})),
  mergeToDefaultBranch: async () => () => world.admin.mergeToDefaultBranch(body({})),
  finishUpload: async () => {
    const { transaction } = await world.admin.startUpload(body({}));
    const hash = createHash('sha1').update('a\n').digest('hex');
    return () => world.admin.finishUpload(body({ transaction, files: { 'moved.yml': { hash } } }));
  },
};

test.each(Object.entries(WAYS))(
  'while many wait for one branch with %s, others are written',
  async (_way, prepare) => {
    const act = await prepare();
    await whileLocked(async (unlock) => {
      const waiting = Promise.allSettled(Array.from({ length: WRITERS }, act));
      await expect.poll(countLocked).toBeGreaterThan(0);
      for (let n = 0; n < 2; n++) {
        await probes();
        // At most two connections wait: the write whose turn it is, and a build of the branch.
        expect(await countLocked()).toBeLessThanOrEqual(2);
      }
      await elsewhere.save({ 'b.yml': unique('b') });
      await unlock();
      const landed = (await waiting).filter(({ status }) => status === 'fulfilled');
      expect(landed.length).toBeGreaterThan(0);
    });
  },
);

/** The number of writes that may wait, beside the one whose turn it is. */
const WAITING_MAX = 20;

test('so many wait for one branch, further ones get a 503, and a caller who leaves makes room and writes nothing', async () => {
  const write = (path: string, signal?: AbortSignal) =>
    world.raw('PUT', `/build/api/v1/deployments/${deploymentId}/data-model/files`, {
      apiKey: ADMIN_KEY,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ branchName: 'mine', files: [{ path, content: path }] }),
      signal,
    });
  const leaving = new AbortController();
  await whileLocked(async (unlock) => {
    /** One write is in the database, and the others wait for their turn. The queue has one place left. */
    const accepted = Array.from({ length: WAITING_MAX }, (_, n) => write(`${n}.yml`));
    await probes();
    expect(await answersOf(accepted)).toEqual([]);
    // This write comes last, so that its turn never comes: then it would already wait in the database.
    const left = write('left.yml', leaving.signal).catch(() => undefined);
    await probes();
    const isAccepted = async () => {
      const answer = write('late.yml');
      await probes();
      const [refused] = await answersOf([answer]);
      if (refused) return expectBusy(refused);
      accepted.push(answer);
      return true;
    };
    await expect.poll(isAccepted).toBe(false);
    leaving.abort();
    await left;
    await expect.poll(isAccepted).toBe(true);
    await unlock();
    for (const answer of accepted) expect((await answer).status).toBe(200);
  });
  const files = await readFiles(world.admin, deploymentId, 'mine');
  expect(files).toMatchObject({ '0.yml': '0.yml', '19.yml': '19.yml', 'late.yml': 'late.yml' });
  expect(files).not.toHaveProperty('left.yml');
});

/** The answers that are there already. A caller who is refused hears it at once. */
async function answersOf(pending: Promise<Response>[]): Promise<Response[]> {
  const known = await Promise.all(pending.map((answer) => Promise.race([answer, undefined])));
  return known.filter((answer) => answer !== undefined);
}

async function expectBusy(answer: Response): Promise<false> {
  expect(await answer.json()).toMatchObject({ code: 'busy', message: expect.stringContaining('branch') });
  expect(answer.headers.get('retry-after')).toBe('1');
  return false;
}

/** As long as the server takes for some requests. On a busy machine a single one may be overtaken. */
async function probes() {
  for (let n = 0; n < 20; n++) await world.admin.listBranches({ deploymentId });
}
