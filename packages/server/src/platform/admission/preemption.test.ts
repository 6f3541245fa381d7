import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AdmissionRequest, createAdmission } from './admission.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class EndedError extends Error {}

/** Work that runs until it is told to end, and then needs `endMs` for it. Names begin with the sharer. */
function contest({ places = 4, endMs = 0 } = {}) {
  const told: string[] = [];
  const { take } = createAdmission({
    places,
    waitingMax: 20,
    sharerWaitingMax: 20,
    waitMs: 60_000,
    preemption: { afterMs: 300, ranMs: 500, leadTimes: 4, leadMs: 3000, reason: () => new EndedError() },
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes = new Map<string, Promise<void>>();
  const start = (name: string, more: Partial<AdmissionRequest> = {}) => {
    const outcome = take({ key: 'key', sharer: name[0]!, isEndable: true, ...more }, ({ preempted }) => {
      begun.push(name);
      return new Promise<void>((resolve, reject) => {
        ends.set(name, resolve);
        preempted.addEventListener('abort', () => {
          told.push(name);
          if (endMs) setTimeout(() => reject(preempted.reason), endMs);
          else reject(preempted.reason);
        });
      });
    });
    outcome.catch(() => {});
    outcomes.set(name, outcome);
  };
  return { begun, told, start, outcomes, end: (name: string) => ends.get(name)!() };
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('who has no place gets that of the sharer who has used the most time, for the work that ran longest', async () => {
  const { begun, told, start, outcomes } = contest();
  for (const name of ['a1', 'a2', 'a3', 'b1']) start(name);
  await pass(5000);
  start('c1');
  start('a4');
  await pass(299);
  expect(told).toEqual([]);
  await pass(1);
  await expect(outcomes.get('a1')).rejects.toThrow(EndedError);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  // One place is enough.
  start('c2');
  await pass(2000);
  expect(told).toEqual(['a1']);
});

test('nothing is ended among those who have used about the same, nor what has just begun', async () => {
  const { told, start, end } = contest({ places: 2 });
  start('a1');
  start('b1');
  await pass(2500);
  start('c1');
  await pass(400);
  expect(told).toEqual([]);
  // What a sharer used before counts too, but work that has just begun is not ended.
  await pass(100);
  end('a1');
  await pass(0);
  expect(told).toEqual([]);
  start('a2');
  end('b1');
  await pass(0);
  start('d1');
  await pass(300);
  expect(told).toEqual([]);
  await pass(600);
  expect(told).toEqual(['a2']);
});

test('nothing is ended among those who wait for their turns, although the work of some takes longer', async () => {
  const { told, start, end } = contest({ places: 1 });
  for (let round = 0; round < 6; round++) {
    start(`a${round}`);
    await pass(2000);
    end(`a${round}`);
    start(`b${round}`);
    await pass(600);
    end(`b${round}`);
    await pass(0);
  }
  // One has used 12 seconds and the other 3.6.
  start('a6');
  await pass(1000);
  start('b6');
  await pass(3000);
  expect(told).toEqual([]);
  // A sharer who has used nothing is no equal.
  start('c1');
  await pass(300);
  expect(told).toEqual(['a6']);
});

test('who has several places is no equal of one who has none', async () => {
  const { told, start, end } = contest({ places: 3 });
  start('b0');
  await pass(3000);
  end('b0');
  for (const name of ['a1', 'a2', 'c1']) start(name);
  await pass(4000);
  start('b1');
  await pass(300);
  expect(told).toEqual(['a1']);
});

test('what was used long ago does not count', async () => {
  const { told, start, end } = contest({ places: 1 });
  start('a1');
  await pass(10_000);
  end('a1');
  await pass(10 * 60_000);
  start('a2');
  await pass(1000);
  start('b1');
  await pass(1200);
  expect(told).toEqual([]);
});

test('work that was put back ends nothing, and half of the places are safe for it', async () => {
  const { told, start, begun } = contest({ places: 2 });
  start('a1', { isRequeued: true });
  start('b1', { isRequeued: true });
  await pass(10_000);
  start('c1', { isRequeued: true });
  await pass(5000);
  expect(told).toEqual([]);
  start('d1');
  await pass(300);
  // The first one is safe, so that some work ends at some time.
  expect(told).toEqual(['b1']);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
});

test('work that cannot be ended is left alone, and for work that does not end another is ended', async () => {
  const { told, start } = contest({ endMs: 60_000 });
  start('a1', { isEndable: false });
  for (const name of ['a2', 'a3', 'b1']) start(name);
  await pass(5000);
  start('c1');
  await pass(300);
  expect(told).toEqual(['a2']);
  await pass(900);
  expect(told).toEqual(['a2']);
  await pass(300);
  expect(told).toEqual(['a2', 'a3']);
});

test('a caller who leaves ends nothing', async () => {
  const { told, start } = contest({ places: 1 });
  const leaving = new AbortController();
  start('a1');
  await pass(5000);
  start('b1', { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await pass(5000);
  expect(told).toEqual([]);
});
