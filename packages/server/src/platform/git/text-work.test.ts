import { channel } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hardText } from '../../../test/git-files.ts';
import type { ThreadEvent } from '../threads.ts';
import type { MergeTask } from './merge-files.ts';
import { createTexts } from './text-work.ts';
import { WorkLimitError } from './work.ts';

const texts = createTexts();
const events: ThreadEvent['event'][] = [];
const listen = (event: unknown) => void events.push((event as ThreadEvent).event);
beforeAll(() => channel('oriel:threads').subscribe(listen));
afterEach(() => void events.splice(0));
afterAll(async () => {
  channel('oriel:threads').unsubscribe(listen);
  await texts.stop();
});

const never = new AbortController().signal;

const taskOf = (...files: Record<'base' | 'ours' | 'theirs', Buffer>[]): MergeTask => ({
  kind: 'merge',
  outcome: 'refused',
  room: 1000,
  files,
});
const hard = () => taskOf({ base: hardText(1), ours: hardText(2), theirs: hardText(3) });
const small = () => taskOf({ base: Buffer.from('a'), ours: Buffer.from('a'), theirs: Buffer.from('b') });
const bytesOf = ({ files }: MergeTask) =>
  files.reduce((sum, { base, ours, theirs }) => sum + base.length + ours.length + theirs.length, 0);

const run = (task: MergeTask, { deploymentId = 1, signal = never, bytes = bytesOf(task) } = {}) =>
  texts.during({ deploymentId, signal }, (work) => work.run(bytes, async () => task));

/** Counts how often the loop comes around while the work runs. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await new Promise(setImmediate);
  await end;
  return turns;
}

test('the loop stays free while hard texts are merged', async () => {
  expect(await turnsDuring(run(hard()))).toBeGreaterThan(100);
  expect(events).toEqual(['started', 'answered']);
});

test('small texts need no thread, unless they are hard', async () => {
  expect((await run(small())).files[0]!.isClean).toBe(true);
  expect(events).toEqual([]);
  const part = (seed: number) => hardText(seed).subarray(0, 20_000);
  await run(taskOf({ base: part(1), ours: part(2), theirs: part(3) }));
  expect(events).toEqual(['started', 'answered']);
});

test('a request with many small texts goes to a thread too', async () => {
  await texts.during({ deploymentId: 1, signal: never }, async (work) => {
    for (let n = 0; n < 3; n++) await work.run(30_000, async () => small());
  });
  expect(events).toEqual(['started', 'answered']);
});

test('when a caller leaves, the thread ends, and others get their turn', async () => {
  const leaving = [new AbortController(), new AbortController()];
  const [first, waiting] = leaving.map(({ signal }) =>
    run(hard(), { signal }).catch((error) => error.message),
  );
  await expect.poll(() => events).toEqual(['started']);
  const behind = run(small(), { bytes: 1_000_000 });
  leaving[1]!.abort(new Error('left the queue'));
  expect(await waiting).toBe('left the queue');
  expect(events).toEqual(['started']);
  leaving[0]!.abort(new Error('left'));
  expect(await first).toBe('left');
  expect((await behind).files[0]!.isClean).toBe(true);
  expect(events).toEqual(['started', 'ended', 'started', 'answered']);
});

test('a deployment uses one thread at a time, and all of them two', async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const outcomes = [1, 1, 2, 3].map((deploymentId) =>
    run(hard(), { deploymentId, signal }).catch(() => 'left'),
  );
  await expect.poll(() => events).toEqual(['started', 'started']);
  leaving.abort();
  expect(await Promise.all(outcomes)).toEqual(['left', 'left', 'left', 'left']);
  expect(events).toEqual(['started', 'started', 'ended', 'ended']);
});

test('texts that are too many are refused before they are read', async () => {
  const work = texts.during({ deploymentId: 1, signal: never }, (all) =>
    all.run(700 * 1024 * 1024, () => Promise.reject(new Error('was read'))),
  );
  await expect(work).rejects.toBeInstanceOf(WorkLimitError);
});
