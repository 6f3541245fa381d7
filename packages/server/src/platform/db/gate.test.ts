import { expect, test, vi } from 'vitest';
import { createGate } from './gate.ts';

function pending() {
  let finish = () => {};
  const work = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  return { work, finish: () => finish() };
}

test('those who find no place wait, and come in in their order', async () => {
  const gate = createGate({ atOnce: 1, waitingMax: 10, waitMs: 60_000 });
  const first = pending();
  const order: number[] = [];
  const all = [gate.pass(first.work), ...[1, 2, 3].map((n) => gate.pass(async () => void order.push(n)))];
  expect(gate.waiting).toBe(3);
  expect(order).toEqual([]);
  first.finish();
  await Promise.all(all);
  expect(order).toEqual([1, 2, 3]);
  expect(gate.waiting).toBe(0);
});

test('who fails makes room like everybody else', async () => {
  const gate = createGate({ atOnce: 1, waitingMax: 10, waitMs: 60_000 });
  const fails = gate.pass(() => Promise.reject(new Error('no')));
  const next = gate.pass(async () => 'in');
  await expect(fails).rejects.toThrow('no');
  expect(await next).toBe('in');
});

test('where too many wait, the next one is refused at once', async () => {
  const gate = createGate({ atOnce: 1, waitingMax: 1, waitMs: 60_000 });
  const first = pending();
  const running = [gate.pass(first.work), gate.pass(async () => {})];
  await expect(gate.pass(async () => {})).rejects.toMatchObject({ code: 'busy', retryAfterSeconds: 1 });
  first.finish();
  await Promise.all(running);
});

test('who waited for too long is refused, and their place in the queue is free', async () => {
  const gate = createGate({ atOnce: 1, waitingMax: 1, waitMs: 10 });
  const first = pending();
  const running = gate.pass(first.work);
  const late = pending();
  await expect(gate.pass(late.work)).rejects.toMatchObject({ code: 'busy' });
  expect(gate.waiting).toBe(0);
  first.finish();
  await running;
  expect(late.work).not.toHaveBeenCalled();
});
