import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPlaces } from './places.ts';

class Busy extends Error {}

/** Work that runs until the test ends it, and a record of the work that has begun. Names begin with the sharer. */
function workshop(places = 3) {
  const { take } = createPlaces({
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
  await expect(start('c1')).rejects.toThrow(Busy);
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
