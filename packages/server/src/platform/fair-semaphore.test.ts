import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFairSemaphore, type Wish } from './fair-semaphore.ts';

class Busy extends Error {}

/** Work that runs until the test ends it, and a record of the work that has begun. Names begin with the sharer. */
function workshop(places = 3) {
  const { take } = createFairSemaphore({
    places,
    sharerPlaces: Math.max(1, places - 1),
    waitingMax: 6,
    sharerWaitingMax: 4,
    waitMs: 1000,
    busy: () => new Busy(),
  });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string, signal?: AbortSignal, key = 'key') =>
    take({ key, sharer: name[0]!, signal }, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await vi.advanceTimersByTimeAsync(0);
  };
  const startAll = (...names: string[]) => {
    for (const name of names) start(name).catch(() => {});
  };
  return { begun, start, startAll, end };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('one sharer does not get the last place', async () => {
  const { begun, startAll, end } = workshop();
  startAll('a1', 'a2', 'a3');
  expect(begun).toEqual(['a1', 'a2']);
  startAll('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('a newcomer gets the next free place before those who have one', async () => {
  const { begun, startAll, end } = workshop();
  startAll('a1', 'a2', 'b1', 'a3', 'b2', 'b3', 'c1');
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1']);
  await end('a2');
  expect(begun.at(-1)).toBe('a3');
});

test('those who have equally many take turns, however many of one wait', async () => {
  const { begun, startAll, end } = workshop(1);
  startAll('a1', 'a2', 'a3', 'b1', 'c1');
  for (const name of ['a1', 'b1', 'c1', 'a2']) {
    expect(begun.at(-1)).toBe(name);
    // Those who come back do not stand before those who wait.
    if (name === 'b1') startAll('b2');
    await end(name);
  }
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
});

test('another key has places of its own', () => {
  const { begun, start } = workshop(1);
  for (const key of ['one', 'two']) void start(`a in ${key}`, undefined, key);
  expect(begun).toEqual(['a in one', 'a in two']);
});

test('too many who wait are refused, in all and of one sharer', async () => {
  const { start, startAll } = workshop(1);
  startAll('a1', 'a2', 'a3', 'a4', 'a5');
  await expect(start('a6')).rejects.toThrow(Busy);
  startAll('b1', 'b2');
  await expect(start('a6')).rejects.toThrow(Busy);
  startAll('b3');
  await expect(start('b4')).rejects.toThrow(Busy);
});

test('a queue that others have filled has room for who waits with fewer, and the last of those who have the most goes', async () => {
  const { begun, start, startAll, end } = workshop(1);
  startAll('x1', 'a1', 'a2');
  const [third, fourth] = [start('a3'), start('a4')];
  const outcomes = [expect(third).rejects.toThrow(Busy), expect(fourth).rejects.toThrow(Busy)];
  startAll('b1', 'b2');
  startAll('c1', 'd1');
  await Promise.all(outcomes);
  // All have two at most now.
  await expect(start('c2')).rejects.toThrow(Busy);
  for (const name of ['x1', 'a1', 'b1', 'c1', 'd1', 'a2', 'b2']) await end(name);
  expect(begun).toEqual(['x1', 'a1', 'b1', 'c1', 'd1', 'a2', 'b2']);
});

test('who has waited too long is refused, and who leaves makes way', async () => {
  const { begun, start, startAll, end } = workshop(1);
  const leaving = new AbortController();
  startAll('a1');
  const left = start('b1', leaving.signal).catch((error: Error) => error.message);
  const late = start('c1').catch((error: unknown) => error);
  leaving.abort(new Error('left'));
  expect(await left).toBe('left');
  await vi.advanceTimersByTimeAsync(1000);
  expect(await late).toBeInstanceOf(Busy);
  startAll('d1');
  await end('a1', new Error('failed'));
  expect(begun).toEqual(['a1', 'd1']);
});

describe('preemption', () => {
  class Ended extends Error {}

  /** Work that runs until it is told to end, and then needs `endMs` for it. Names begin with the sharer. */
  function contest({ places = 4, endMs = 0 } = {}) {
    const told: string[] = [];
    const { take } = createFairSemaphore({
      places,
      waitingMax: 20,
      sharerWaitingMax: 20,
      waitMs: 60_000,
      busy: () => new Busy(),
      preemption: { afterMs: 300, ranMs: 500, leadTimes: 4, leadMs: 3000, reason: () => new Ended() },
    });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const outcomes = new Map<string, Promise<void>>();
    const start = (name: string, more: Partial<Wish> = {}) => {
      const outcome = take({ key: 'key', sharer: name[0]!, isEndable: true, ...more }, (ended) => {
        begun.push(name);
        return new Promise<void>((resolve, reject) => {
          ends.set(name, resolve);
          ended.addEventListener('abort', () => {
            told.push(name);
            if (endMs) setTimeout(() => reject(ended.reason), endMs);
            else reject(ended.reason);
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
    await expect(outcomes.get('a1')).rejects.toThrow(Ended);
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
    // Somebody who has used nothing is no equal.
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
    start('a1', { isPutBack: true });
    start('b1', { isPutBack: true });
    await pass(10_000);
    start('c1', { isPutBack: true });
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
});
