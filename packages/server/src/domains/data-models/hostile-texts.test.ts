/** Texts that are very hard to merge and to compare: others are served meanwhile, and the work ends. */
import { channel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Modeller, modeller } from '../../../test/data-models.ts';
import { hardText } from '../../../test/git-files.ts';
import { createWorld, type World } from '../../../test/world.ts';
import type { ThreadEvent } from '../../platform/threads.ts';

const FILES = ['a.yml', 'b.yml', 'c.yml'];
const hardFiles = (side: number) =>
  Object.fromEntries(FILES.map((path, i) => [path, hardText(side * 10 + i).toString()]));

const events: ThreadEvent['event'][] = [];
const listen = (message: unknown) => {
  const { script, event } = message as ThreadEvent;
  if (script.includes('text-thread')) events.push(event);
};

let world: World;
let deploymentId: number;
let child: Modeller;
beforeAll(async () => {
  channel('oriel:threads').subscribe(listen);
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  const parent = await modeller(world, deploymentId, { branch: 'parent', client: world.admin });
  await parent.save(hardFiles(1));
  child = await modeller(world, deploymentId, { branch: 'child', from: 'parent', client: world.admin });
  await child.save(hardFiles(2));
  await parent.save(hardFiles(3));
});
afterEach(() => void events.splice(0));
afterAll(async () => {
  channel('oriel:threads').unsubscribe(listen);
  await world.stop();
});

/**
 * Waits for the work, and counts the requests that the server meanwhile received and answered: a server that does the
 * work in its main thread answers none, however fast the machine is.
 */
async function answeredDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  const isWorking = () => events.at(-1) === 'started';
  let answered = 0;
  while (!isOver) {
    const began = isWorking();
    await world.admin.getMe();
    if (began && isWorking()) answered++;
    // Leaves the processor to the work.
    await sleep(3);
  }
  await work;
  return answered;
}

const merge = () => world.admin.mergeIntoParentBranch({ deploymentId, body: { branchName: 'child' } });
const resolve = () =>
  child.client.commitChanges({ deploymentId, body: { branchName: 'child', resolveMergeConflict: true } });
const newest = async (name = 'child') =>
  (await world.admin.listCommits({ deploymentId, name })).items[0]!.hash;

test.each([
  ['merge', merge],
  ['commit with `resolveMergeConflict`', resolve],
])('a hostile %s ends with a 409, and others are served meanwhile', async (_what, act) => {
  const before = await newest();
  const outcome = expect(act()).rejects.toMatchObject({ status: 409, code: 'merge_too_large' });
  expect(await answeredDuring(outcome)).toBeGreaterThan(0);
  expect(events).toEqual(['started', 'answered']);
  expect(await newest()).toBe(before);
});

test('a hostile commit is shown within limits, and others are served meanwhile', async () => {
  const one = await modeller(world, deploymentId, { branch: 'one', client: world.admin });
  await one.save({ 'a.yml': hardFiles(1)['a.yml']! });
  await one.save({ 'a.yml': hardFiles(2)['a.yml']! });
  const hash = await newest('one');
  let shown: Awaited<ReturnType<typeof world.admin.getCommit>> | undefined;
  const reading = world.admin.getCommit({ deploymentId, hash }).then((commit) => {
    shown = commit;
  });
  expect(await answeredDuring(reading)).toBeGreaterThan(0);
  expect(shown).toMatchObject({ filesChanged: 1, files: [{ path: 'a.yml', isShortened: true }] });
  expect(events).toEqual(['started', 'answered']);
});

const base = () => `/build/api/v1/deployments/${deploymentId}`;
const json = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const REQUESTS: Record<string, () => Promise<[method: string, path: string, init?: RequestInit]>> = {
  merge: async () => ['POST', `${base()}/merge`, json({ branchName: 'child' })],
  resolution: async () => [
    'POST',
    `${base()}/commit`,
    json({ branchName: 'child', resolveMergeConflict: true }),
  ],
  commit: async () => ['GET', `${base()}/commits/${await newest()}`],
};

test.each(Object.entries(REQUESTS))(
  'the work on a %s ends when the caller leaves',
  async (_what, request) => {
    const leaving = new AbortController();
    const [method, path, init] = await request();
    const left = world.raw(method, path, { ...init, signal: leaving.signal }).catch((error) => error.name);
    await expect.poll(() => events).toEqual(['started']);
    leaving.abort();
    expect(await left).toBe('AbortError');
    await expect.poll(() => events).toEqual(['started', 'ended']);
  },
);
