/** Results with an engine that tests control: when answers come, how large they are, and who waits for them. */
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, PreemptedError } from '../../engines/engine.ts';
import type { ApiError } from '../../platform/errors.ts';
import { toApiError } from './errors.ts';
import { createResults, isKept, type Result, type ResultRequest, type Results, release } from './results.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oriel-results-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

let results: Results;
let runs: Run[];
beforeEach(() => {
  runs = [];
  results = createResults(dataDir, {
    cachedBytes: 4000,
    resultBytes: 1000,
    unreadBytes: 40_000,
    smallBytes: 500,
    waiting: 2,
    waitMs: 60_000,
  });
});

/** The files of large results that this process has open. */
const openFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${dataDir}/answer-`);
    } catch {
      return false;
    }
  }).length;

interface Run {
  key: string;
  isRequeued: boolean;
  signal: AbortSignal;
  answer(text: string, failure?: Error): void;
  fail(error: Error): void;
}

const never = new AbortController().signal;

function ask(key: string, more: Partial<ResultRequest> = {}): Promise<Result> {
  return results.find({
    key,
    maxAgeMs: 60_000,
    isRenewed: false,
    sharer: 'acme',
    atOnce: 2,
    mayBeLarge: true,
    signal: never,
    run: (signal, { isRequeued }) =>
      new Promise<Answer>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const answer = (text: string, failure?: Error) => resolve(answerOf(text, signal, failure));
        runs.push({ key, isRequeued, signal, answer, fail: reject });
      }),
    ...more,
  });
}

const PIECE = 600;

function answerOf(text: string, signal: AbortSignal, failure?: Error): Answer {
  async function* rows() {
    for (let at = 0; at < text.length; at += PIECE) {
      signal.throwIfAborted();
      yield Buffer.from(text.slice(at, at + PIECE));
    }
    if (failure) throw failure;
  }
  const summary = Promise.resolve({ rowCount: 1, isCapped: false, bytes: text.length });
  return { columns: [], rows: rows(), summary };
}

/** Reads the result, and releases it. */
async function readResult(asked: Result | Promise<Result>): Promise<string> {
  const result = await asked;
  if (isKept(result)) return result.rows.toString();
  const pieces: Buffer[] = [];
  for await (const piece of result.rows.pieces()) pieces.push(piece);
  release(result);
  return Buffer.concat(pieces).toString();
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const LARGE = 'x'.repeat(3000);

test('equal statements run once while the first one runs, and after it', async () => {
  const asked = [ask('a'), ask('a')];
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]!.answer('[1]');
  expect(await Promise.all(asked.map(readResult))).toEqual(['[1]', '[1]']);
  expect(await readResult(ask('a'))).toBe('[1]');
  expect(runs).toHaveLength(1);
});

test('of equal statements that wait for their turn, only the first one runs', async () => {
  const asked = [ask('a'), ask('b'), ask('c'), ask('c')];
  await expect.poll(() => runs.length).toBe(2);
  runs[0]!.answer('[]');
  await expect.poll(() => runs.length).toBe(3);
  runs[2]!.answer('[3]');
  expect(await readResult(asked[2]!)).toBe('[3]');
  expect(await readResult(asked[3]!)).toBe('[3]');
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
});

test('a renewed statement runs, whatever is known or running', async () => {
  const [first, renewed] = [ask('a'), ask('a', { isRenewed: true })];
  await turn();
  expect(runs).toHaveLength(2);
  runs[1]!.answer('[2]');
  expect(await readResult(renewed)).toBe('[2]');
  runs[0]!.answer('[1]');
  expect(await readResult(first)).toBe('[1]');
});

test('an old result is not used', async () => {
  const first = ask('a');
  await turn();
  runs[0]!.answer('[1]');
  await first;
  void ask('a', { maxAgeMs: -1 }).catch(() => {});
  await turn();
  expect(runs).toHaveLength(2);
});

test('a failure is not kept', async () => {
  const failed = ask('a');
  await turn();
  runs[0]!.fail(new Error('no'));
  await expect(failed).rejects.toThrow('no');
  const next = ask('a');
  await turn();
  runs[1]!.answer('[1]');
  expect(await readResult(next)).toBe('[1]');
});

test('kept results take no more than their memory, and the one used last stays', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e'];
  for (const key of keys) {
    const asked = ask(key);
    await turn();
    runs.at(-1)!.answer(key.repeat(500));
    await asked;
    if (key !== 'a') await ask('a');
  }
  expect(runs).toHaveLength(5);
  void ask('b').catch(() => {});
  await turn();
  expect(runs.map(({ key }) => key)).toEqual([...keys, 'b']);
});

test('statements of one sharer wait for each other, and those of another one do not', async () => {
  for (const key of ['a', 'b', 'c']) void ask(key).catch(() => {});
  void ask('d', { sharer: 'other' }).catch(() => {});
  await turn();
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'd']);
  runs[0]!.answer('[]');
  await expect.poll(() => runs.map(({ key }) => key)).toEqual(['a', 'b', 'd', 'c']);
});

test('when too many wait, the next one is refused', async () => {
  for (const key of ['a', 'b', 'c', 'd']) void ask(key).catch(() => {});
  await expect(ask('e')).rejects.toMatchObject({ code: 'too_many_at_once' });
});

test('a caller who leaves while waiting is dropped, and the place is free', async () => {
  const leaving = new AbortController();
  for (const key of ['a', 'b', 'c']) void ask(key).catch(() => {});
  const dropped = ask('d', { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await expect(dropped).rejects.toThrow('left');
  void ask('e').catch(() => {});
  runs[0]!.answer('[]');
  runs[1]!.answer('[]');
  await expect.poll(() => runs.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'e']);
});

test('the turn of a caller who has left ends when the engine has ended the statement', async () => {
  const leaving = new AbortController();
  const ends: (() => void)[] = [];
  const run: ResultRequest['run'] = (signal, { onAsked }) => {
    onAsked(new Promise((resolve) => ends.push(resolve)));
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const left = ['a', 'b'].map((key) => ask(key, { run, signal: leaving.signal }));
  await turn();
  void ask('c').catch(() => {});
  leaving.abort(new Error('left'));
  for (const one of left) await expect(one).rejects.toThrow('left');
  await turn();
  expect(runs).toHaveLength(0);
  void ask('d', { sharer: 'other' }).catch(() => {});
  ends[1]!();
  await expect.poll(() => runs.map(({ key }) => key)).toEqual(['d', 'c']);
});

test('a statement ends when all who wait for it have left, and not before', async () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const asked = [one, two].map(({ signal }) => ask('a', { signal }).catch((error: Error) => error.message));
  await turn();
  one.abort(new Error('left'));
  expect(await asked[0]).toBe('left');
  expect(runs[0]!.signal.aborted).toBe(false);
  two.abort(new Error('left too'));
  expect(await asked[1]).toBe('left too');
  expect(runs[0]!.signal.aborted).toBe(true);
});

test('a large result of equal statements is there once, for all who asked, in a file without a name', async () => {
  const asked = [ask('a'), ask('a', { sharer: 'other' })];
  await turn();
  runs[0]!.answer(LARGE);
  await Promise.all(asked);
  expect(openFiles()).toBe(1);
  expect(await readdir(dataDir)).toEqual([]);
  expect(await Promise.all(asked.map(readResult))).toEqual([LARGE, LARGE]);
  expect(runs).toHaveLength(1);
  await expect.poll(openFiles).toBe(0);
  void ask('a').catch(() => {});
  await turn();
  expect(runs).toHaveLength(2);
});

test('a large result is read as it came, in pieces, also if its folder is new', async () => {
  results = createResults(join(dataDir, 'new'), { resultBytes: 1000 });
  const text = Array.from({ length: 300_000 }, (_, i) => String(i)).join();
  const asked = ask('a');
  await turn();
  runs[0]!.answer(text);
  const result = await asked;
  if (isKept(result)) throw new Error('It is not large.');
  const pieces: Buffer[] = [];
  for await (const piece of result.rows.pieces()) pieces.push(piece);
  expect(Buffer.concat(pieces).toString() === text).toBe(true);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024);
  release(result);
});

test('a statement that fails half-way is an error, and nothing of it is left', async () => {
  const asked = ask('a');
  await turn();
  runs[0]!.answer(LARGE, new Error('divided by zero'));
  await expect(asked).rejects.toThrow('divided by zero');
  await expect.poll(openFiles).toBe(0);
});

test('nothing is left of a large result if all have left while it came', async () => {
  const leaving = new AbortController();
  const asked = ask('a', { signal: leaving.signal }).catch((error: Error) => error.message);
  await turn();
  runs[0]!.answer(LARGE);
  leaving.abort(new Error('left'));
  expect(await asked).toBe('left');
  await expect.poll(openFiles).toBe(0);
});

test('a large result that nobody has read holds no turn', async () => {
  const asked = [ask('a'), ask('b')];
  void ask('c').catch(() => {});
  await turn();
  for (const run of [...runs]) run.answer(LARGE);
  const large = await Promise.all(asked);
  await expect.poll(() => runs.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  large.forEach(release);
});

test('answers that nobody has read have a limit, for each sharer and in all', async () => {
  const count = (sharer: string, bytes: number) => results.countUnread(sharer, bytes);
  const shares = ['a', 'b', 'c', 'acme'].map((sharer) => count(sharer, 8000));
  expect(() => count('a', 3000)).toThrowError(expect.objectContaining({ code: 'too_many_at_once' }));
  // What is being buffered counts too.
  const asked = ask('a');
  await turn();
  runs[0]!.answer(LARGE);
  await expect(asked).rejects.toMatchObject({ code: 'too_many_at_once' });
  shares.push(count('d', 8000));
  expect(() => count('e', 1)).toThrowError(expect.objectContaining({ code: 'busy' }));
  for (const share of shares) share.giveBack();
  const again = ask('b');
  await turn();
  runs[1]!.answer(LARGE);
  expect(await readResult(again)).toBe(LARGE);
  count('acme', 10_000).giveBack();
});

test('a small answer is buffered, whatever is not read yet', async () => {
  const shares = ['acme', 'b', 'c', 'd'].map((sharer) => results.countUnread(sharer, 10_000));
  const asked = ask('a');
  await turn();
  runs[0]!.answer('x'.repeat(500));
  expect(await readResult(asked)).toHaveLength(500);
  const larger = ask('b');
  await turn();
  runs[1]!.answer('x'.repeat(501));
  await expect(larger).rejects.toMatchObject({ code: 'too_many_at_once' });
  for (const share of shares) share.giveBack();
});

test('the bytes of an answer count beyond the first ones, however they are cut', async () => {
  async function* rows() {
    yield Buffer.alloc(400);
    yield Buffer.alloc(600);
  }
  const summary = Promise.resolve({ rowCount: 1, isCapped: false, bytes: 1000 });
  const run = async () => ({ columns: [], rows: rows(), summary });
  const share = results.countUnread('acme', 9501);
  await expect(ask('a', { run })).rejects.toMatchObject({ code: 'too_many_at_once' });
  share.giveBack();
  const smaller = results.countUnread('acme', 9500);
  expect(await readResult(ask('a', { run }))).toHaveLength(1000);
  smaller.giveBack();
});

test('what the first sharer has too much of is no error for others, who run the statement themselves', async () => {
  const share = results.countUnread('acme', 10_000);
  const asked = [ask('a'), ask('a', { sharer: 'b' }), ask('a', { sharer: 'b' }), ask('a', { sharer: 'c' })];
  const outcomes = Promise.allSettled(asked);
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]!.answer(LARGE);
  await expect(asked[0]).rejects.toMatchObject({ code: 'too_many_at_once' });
  // Once for each of them, and not again if it fails.
  await expect.poll(() => runs.length).toBe(3);
  runs[1]!.answer(LARGE);
  runs[2]!.fail(Object.assign(new Error('busy'), { code: 'busy' }));
  const [, first, second, third] = await outcomes;
  for (const outcome of [first!, second!]) {
    if (outcome.status === 'rejected') throw outcome.reason;
    expect(await readResult(outcome.value)).toBe(LARGE);
  }
  expect(third).toMatchObject({ status: 'rejected', reason: { code: 'busy' } });
  expect(runs).toHaveLength(3);
  share.giveBack();
});

test('whoever has left while they waited for the statement of another sharer gets none of their own', async () => {
  const leaving = new AbortController();
  void ask('a').catch(() => {});
  const left = ask('a', { sharer: 'b', signal: leaving.signal });
  await turn();
  leaving.abort(Object.assign(new Error('time is over'), { code: 'timed_out' }));
  await expect(left).rejects.toThrow('time is over');
  expect(runs).toHaveLength(1);
});

test('an error of the statement itself is one for all who wait', async () => {
  const asked = [ask('a'), ask('a', { sharer: 'b' })];
  await turn();
  runs[0]!.fail(new Error('divided by zero'));
  for (const one of asked) await expect(one).rejects.toThrow('divided by zero');
  expect(runs).toHaveLength(1);
});

test('a large result among several is an error, and a small one is not', async () => {
  const asked = ask('a', { mayBeLarge: false });
  await turn();
  runs[0]!.answer(LARGE);
  await expect(asked).rejects.toMatchObject({ code: 'result_too_large' });
  expect(runs[0]!.signal.aborted).toBe(true);
  const small = ask('b', { mayBeLarge: false });
  await turn();
  runs[1]!.answer('[1]');
  expect(await readResult(small)).toBe('[1]');
});

describe('a statement that was ended for another caller', () => {
  test('runs once more, for all who wait for it, also if it was half-way', async () => {
    const asked = [ask('a'), ask('a', { sharer: 'b' })];
    await turn();
    runs[0]!.answer('[1', new PreemptedError());
    await expect.poll(() => runs.length).toBe(2);
    expect(runs.map(({ isRequeued }) => isRequeued)).toEqual([false, true]);
    runs[1]!.answer('[2]');
    expect(await Promise.all(asked.map(readResult))).toEqual(['[2]', '[2]']);
  });

  test('and is ended again is an error, which says that one may try again', async () => {
    const asked = ask('a');
    await turn();
    runs[0]!.fail(new PreemptedError());
    await expect.poll(() => runs.length).toBe(2);
    runs[1]!.fail(new PreemptedError());
    await expect(asked).rejects.toMatchObject({ code: 'busy', message: /Try again later/ });
    const told = toApiError(await asked.catch((error) => error), { showsSource: false, isSql: true });
    expect(told).toMatchObject({ statusCode: 503, message: /others get their turn/ });
    expect((told as ApiError).retryAfterSeconds).toBeGreaterThan(0);
  });

  test('does not run again if nobody waits for it any more', async () => {
    const leaving = new AbortController();
    const asked = ask('a', { signal: leaving.signal });
    await turn();
    leaving.abort(new Error('left'));
    runs[0]!.fail(new PreemptedError());
    await expect(asked).rejects.toThrow('left');
    await turn();
    expect(runs).toHaveLength(1);
  });
});
