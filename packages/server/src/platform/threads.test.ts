import { afterEach, expect, test } from 'vitest';
import { createThreads, type ThreadLimits, type Threads } from './threads.ts';

const LIMITS: ThreadLimits = { timeMs: 60_000, memoryMb: 64 };

/** Doubles numbers, tells which thread it is, and rests for a while. For a shared counter, it counts for ever. */
const SCRIPT = `import { parentPort, threadId } from 'node:worker_threads';
parentPort.on('message', (task) => {
  if (task === 'which') return parentPort.postMessage(threadId);
  if (task === 'rest') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    return parentPort.postMessage(1);
  }
  if (task === 'fill') for (const kept = []; ; ) kept.push({});
  if (typeof task === 'number') return parentPort.postMessage(task * 2);
  for (;;) Atomics.add(task, 0, 1);
});`;

const all: Threads<never, never>[] = [];
const threads = (limits = LIMITS) => {
  const script = new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`);
  const made = createThreads<number | 'fill' | 'rest' | 'which' | Int32Array, number>(script, limits);
  all.push(made as never);
  return made;
};
afterEach(async () => {
  for (const made of all.splice(0)) await made.stop();
});

const never = new AbortController().signal;
const counter = () => new Int32Array(new SharedArrayBuffer(4));

/** Throws if the thread of the counter still works. */
async function expectToRest(counted: Int32Array) {
  const before = Atomics.load(counted, 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(Atomics.load(counted, 0)).toBe(before);
}

test('tasks are answered, one after the other and at once', async () => {
  const made = threads();
  expect([await made.run(1, never), await made.run(2, never)]).toEqual([2, 4]);
  expect(await Promise.all([3, 4, 5].map((n) => made.run(n, never)))).toEqual([6, 8, 10]);
});

test('when the caller leaves, the thread works no more', async () => {
  const leaving = new AbortController();
  const counted = counter();
  const made = threads();
  const outcome = expect(made.run(counted, leaving.signal)).rejects.toThrow('left');
  await expect.poll(() => Atomics.load(counted, 0)).toBeGreaterThan(0);
  leaving.abort(new Error('left'));
  await outcome;
  await expectToRest(counted);
  await expect(made.run(1, leaving.signal)).rejects.toThrow('left');
  expect(await made.run(1, never)).toBe(2);
});

test('a task that takes too long is ended', async () => {
  const counted = counter();
  const outcome = threads({ ...LIMITS, timeMs: 500 }).run(counted, never);
  await expect(outcome).rejects.toMatchObject({ limit: 'timeMs' });
  await expectToRest(counted);
});

test('only the time counts in which the task uses the CPU', async () => {
  expect(await threads({ ...LIMITS, timeMs: 1400 }).run('rest', never)).toBe(1);
});

test('a task that never uses the CPU is ended too', async () => {
  const outcome = threads({ ...LIMITS, timeMs: 100 }).run('rest', never);
  await expect(outcome).rejects.toMatchObject({ limit: 'timeMs' });
});

test('a task that needs too much memory is ended, and the process goes on', async () => {
  const made = threads();
  await expect(made.run('fill', never)).rejects.toMatchObject({ limit: 'memoryMb' });
  expect(await made.run(1, never)).toBe(2);
});

test('pools share a thread until the last of them stops', async () => {
  const [one, other] = [threads(), threads()];
  const shared = await one.run('which', never);
  expect(await other.run('which', never)).toBe(shared);
  await one.stop();
  await one.stop();
  expect(await other.run('which', never)).toBe(shared);
  const last = other.run(1, never);
  await other.stop();
  expect(await last).toBe(2);
  expect(await threads().run('which', never)).not.toBe(shared);
});
