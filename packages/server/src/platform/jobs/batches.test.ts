import { expect, test } from 'vitest';
import { runBatches } from './batches.ts';

/** A batch that finds this many rows, and how often it ran. */
function batchOf(rows: number, onRun = () => {}) {
  const batch = { runs: 0, run };
  let left = rows;
  async function run(most: number) {
    batch.runs++;
    onRun();
    const touched = Math.min(most, left);
    left -= touched;
    return touched;
  }
  return batch;
}

const going = () => new AbortController().signal;

test('each batch runs until it finds no more rows', async () => {
  const [first, second] = [batchOf(25), batchOf(0)];
  expect(await runBatches(going(), [first.run, second.run], 10)).toBe('done');
  expect([first.runs, second.runs]).toEqual([4, 1]);
});

test('a turn ends after some batches, so that other jobs run, and the next one goes on', async () => {
  const many = batchOf(500);
  const results: string[] = [];
  while (results.at(-1) !== 'done') results.push(await runBatches(going(), [many.run], 10));
  expect(results).toEqual(['unfinished', 'done']);
});

test('a turn ends between two batches when the server stops', async () => {
  const stopping = new AbortController();
  const batch = batchOf(500, () => stopping.abort());
  expect(await runBatches(stopping.signal, [batch.run], 10)).toBe('unfinished');
  expect(batch.runs).toBe(1);
});
