/** Results with an engine that tests control: when answers come, how large they are, and who waits for them. */
import { beforeEach, expect, test } from 'vitest';
import type { Answer } from '../../engines/engine.ts';
import { type Asked, createResults, type Result, type Results } from './results.ts';

let results: Results;
let runs: Run[];
beforeEach(() => {
  runs = [];
  results = createResults({ keptBytes: 4000, resultBytes: 1000, atOnce: 2, waiting: 2, waitMs: 60_000 });
});

interface Run {
  key: string;
  signal: AbortSignal;
  answer(text: string): void;
  fail(error: Error): void;
}

const never = new AbortController().signal;

function ask(key: string, more: Partial<Asked> = {}): Promise<Result> {
  return results.find({
    key,
    maxAgeMs: 60_000,
    isRenewed: false,
    sharer: 'acme',
    mayStream: true,
    signal: never,
    run: (signal) =>
      new Promise<Answer>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const answer = (text: string) => resolve(answerOf(text, signal));
        runs.push({ key, signal, answer, fail: reject });
      }),
    ...more,
  });
}

const PIECE = 600;

function answerOf(text: string, signal: AbortSignal): Answer {
  async function* rows() {
    for (let at = 0; at < text.length; at += PIECE) {
      signal.throwIfAborted();
      yield Buffer.from(text.slice(at, at + PIECE));
    }
  }
  const summary = Promise.resolve({ rowCount: 1, isCapped: false, bytes: text.length });
  return { columns: [], rows: rows(), summary };
}

async function textOf(result: Result | Promise<Result>): Promise<string> {
  const { rows } = await result;
  if (Buffer.isBuffer(rows)) return rows.toString();
  const pieces: Buffer[] = [];
  for await (const piece of rows as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const LARGE = 'x'.repeat(3000);

test('equal statements run once while the first one runs, and after it', async () => {
  const asked = [ask('a'), ask('a')];
  await turn();
  expect(runs).toHaveLength(1);
  runs[0]!.answer('[1]');
  expect(await Promise.all(asked.map(textOf))).toEqual(['[1]', '[1]']);
  expect(await textOf(ask('a'))).toBe('[1]');
  expect(runs).toHaveLength(1);
});

test('a renewed statement runs, whatever is known or running', async () => {
  const [first, renewed] = [ask('a'), ask('a', { isRenewed: true })];
  await turn();
  expect(runs).toHaveLength(2);
  runs[1]!.answer('[2]');
  expect(await textOf(renewed)).toBe('[2]');
  runs[0]!.answer('[1]');
  expect(await textOf(first)).toBe('[1]');
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
  expect(await textOf(next)).toBe('[1]');
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
  await turn();
  await turn();
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'd', 'c']);
});

test('when too many wait, the next one is refused', async () => {
  for (const key of ['a', 'b', 'c', 'd']) void ask(key).catch(() => {});
  await expect(ask('e')).rejects.toMatchObject({ code: 'too_many_queries' });
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
  await turn();
  await turn();
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'e']);
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

test('a large result is read by the one who asked first, and others run it for themselves', async () => {
  const asked = [ask('a'), ask('a')];
  await turn();
  runs[0]!.answer(LARGE);
  expect(await textOf(asked[0]!)).toBe(LARGE);
  await turn();
  runs[1]!.answer(LARGE);
  expect(await textOf(asked[1]!)).toBe(LARGE);
  expect(runs).toHaveLength(2);
});

test('a large result holds its turn until it was read or the caller has left', async () => {
  const leaving = new AbortController();
  const [first, second] = [ask('a'), ask('b', { signal: leaving.signal })];
  void ask('c').catch(() => {});
  void ask('d').catch(() => {});
  await turn();
  for (const run of [...runs]) run.answer(LARGE);
  await Promise.all([first, second]);
  expect(runs).toHaveLength(2);
  await textOf(first);
  await turn();
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  leaving.abort();
  await turn();
  await turn();
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd']);
});

test('a large result among several is an error', async () => {
  const asked = ask('a', { mayStream: false });
  await turn();
  runs[0]!.answer(LARGE);
  await expect(asked).rejects.toMatchObject({ code: 'result_too_large' });
  expect(runs[0]!.signal.aborted).toBe(true);
});
