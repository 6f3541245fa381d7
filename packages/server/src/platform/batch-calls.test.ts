import { expect, test } from 'vitest';
import { batchCalls } from './batch-calls.ts';

/** A run that the test ends, and the batches that it got. */
function controlled() {
  const batches: number[][] = [];
  const ends: ((outcome?: Error) => void)[] = [];
  const run = (items: number[]) => {
    batches.push(items);
    return new Promise<string[]>((resolve, reject) => {
      ends.push((outcome) => (outcome ? reject(outcome) : resolve(items.map((item) => `result ${item}`))));
    });
  };
  return { run, batches, ends };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a single call runs at once', async () => {
  const { run, batches, ends } = controlled();
  const call = batchCalls(run, { atOnce: 1, size: 10 });
  const first = call(1);
  expect(batches).toEqual([[1]]);
  ends[0]!();
  expect(await first).toBe('result 1');
  const second = call(2);
  expect(batches).toEqual([[1], [2]]);
  ends[1]!();
  expect(await second).toBe('result 2');
});

test('calls that come while another runs are run together, and each gets its own result', async () => {
  const { run, batches, ends } = controlled();
  const call = batchCalls(run, { atOnce: 2, size: 3 });
  const calls = [1, 2, 3, 4, 5, 6].map(call);
  expect(batches).toEqual([[1], [2]]);
  ends[1]!();
  await settle();
  expect(batches).toEqual([[1], [2], [3, 4, 5]]);
  ends[0]!();
  await settle();
  expect(batches[3]).toEqual([6]);
  ends[2]!();
  ends[3]!();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5, 6].map((item) => `result ${item}`));
});

test('a failure rejects only the calls that ran together', async () => {
  const { run, ends } = controlled();
  const call = batchCalls(run, { atOnce: 1, size: 2 });
  const calls = [1, 2, 3, 4].map(call);
  const outcomes = Promise.allSettled(calls);
  ends[0]!();
  await settle();
  ends[1]!(new Error('broken'));
  await settle();
  ends[2]!();
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});
