import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeyedLock } from './keyed-lock.ts';

class Busy extends Error {}

/** Work that runs until the test ends it, and a record of the work that has begun. */
function workshop() {
  const turns = createKeyedLock({ togetherMax: 2, waitingMax: 3, waitMs: 1000, busy: () => new Busy() });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (how: 'alone' | 'together', name: string, key = 'key', signal?: AbortSignal) =>
    turns[how](
      key,
      () => {
        begun.push(name);
        return new Promise<string>((resolve, reject) => {
          ends.set(name, (error) => (error ? reject(error) : resolve(name)));
        });
      },
      signal,
    );
  const end = async (name: string, error?: Error) => {
    ends.get(name)!(error);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { begun, start, end };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('work of one key runs one at a time, in the order in which it came', async () => {
  const { begun, start, end } = workshop();
  const results = ['a', 'b', 'c'].map((name) => start('alone', name));
  expect(begun).toEqual(['a']);
  await end('a');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  await end('c');
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
});

test('work of another key does not wait', () => {
  const { begun, start } = workshop();
  void start('alone', 'a');
  void start('alone', 'b', 'another key');
  expect(begun).toEqual(['a', 'b']);
});

test('work that can run together does so, up to the limit, and never at the same time as work that runs alone', async () => {
  const { begun, start, end } = workshop();
  for (const name of ['a', 'b', 'c']) void start('together', name);
  void start('alone', 'd');
  void start('together', 'e');
  expect(begun).toEqual(['a', 'b']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('c');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('d');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('if enough calls wait already, the next one is refused at once', async () => {
  const { begun, start, end } = workshop();
  const accepted = ['a', 'b', 'c', 'd'].map((name) => start('alone', name));
  await expect(start('alone', 'e')).rejects.toBeInstanceOf(Busy);
  await expect(start('together', 'f')).rejects.toBeInstanceOf(Busy);
  for (const name of ['a', 'b', 'c', 'd']) await end(name);
  expect(await Promise.all(accepted)).toEqual(begun);
});

test('a call that waits too long is refused, and does not run later', async () => {
  const { begun, start, end } = workshop();
  const first = start('together', 'a');
  const refused = expect(start('alone', 'b')).rejects.toBeInstanceOf(Busy);
  await vi.advanceTimersByTimeAsync(500);
  const behind = start('together', 'c');
  expect(begun).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(500);
  await refused;
  expect(begun).toEqual(['a', 'c']);
  await end('a');
  await end('c');
  expect([await first, await behind]).toEqual(['a', 'c']);
  expect(begun).toEqual(['a', 'c']);
});

test('after work that fails, the next one runs', async () => {
  const { begun, start, end } = workshop();
  const failed = expect(start('alone', 'a')).rejects.toThrow('no luck');
  void start('alone', 'b');
  await end('a', new Error('no luck'));
  await failed;
  expect(begun).toEqual(['a', 'b']);
});

test('a caller who leaves does not wait any longer, and makes room for others', async () => {
  const { begun, start, end } = workshop();
  const [leaving, gone] = [new AbortController(), AbortSignal.abort(new Error('gone'))];
  const first = start('together', 'a');
  const left = expect(start('alone', 'b', 'key', leaving.signal)).rejects.toThrow('left');
  const behind = start('together', 'c');
  await expect(start('alone', 'd', 'another key', gone)).rejects.toThrow('gone');
  leaving.abort(new Error('left'));
  await left;
  expect(begun).toEqual(['a', 'c']);
  await end('a');
  await end('c');
  expect([await first, await behind]).toEqual(['a', 'c']);
  await start('alone', 'e', 'key', gone).catch(() => begun.push('nobody'));
  expect(begun).toEqual(['a', 'c', 'nobody']);
});

test('a signal that is aborted after the work has begun leaves the work alone', async () => {
  const { start, end } = workshop();
  const leaving = new AbortController();
  const first = start('alone', 'a');
  const second = start('alone', 'b', 'key', leaving.signal);
  await end('a');
  leaving.abort(new Error('left'));
  await end('b');
  expect([await first, await second]).toEqual(['a', 'b']);
});

test('a call may say how many run together', async () => {
  const turns = createKeyedLock({ togetherMax: 1, waitingMax: 10, waitMs: 1000, busy: () => new Busy() });
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  const all = Array.from({ length: 4 }, () => turns.together('a', work, undefined, 3));
  expect(ends).toHaveLength(3);
  ends[0]!();
  await all[0];
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(4);
  for (const end of ends) end();
  await Promise.all(all);
});
