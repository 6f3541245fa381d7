import { describe, expect, test, vi } from 'vitest';
import { createGate, type GateLimits } from './gate.ts';

const gateOf = (limits: Partial<GateLimits>) =>
  createGate({ atOnce: 1, shareMax: 1, waitingMax: 10, waitingShareMax: 10, waitMs: 60_000, ...limits });

function pending() {
  let finish = () => {};
  const work = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  return { work, finish: () => finish() };
}

test('calls that find no free place wait, and run in the order in which they came', async () => {
  const gate = gateOf({});
  const first = pending();
  const order: number[] = [];
  const all = [
    gate.pass(null, first.work),
    ...[1, 2, 3].map((n) => gate.pass(null, async () => void order.push(n))),
  ];
  expect(gate.waiting).toBe(3);
  expect(order).toEqual([]);
  first.finish();
  await Promise.all(all);
  expect(order).toEqual([1, 2, 3]);
  expect(gate.waiting).toBe(0);
});

test('a call that fails frees its place', async () => {
  const gate = gateOf({});
  const fails = gate.pass(null, () => Promise.reject(new Error('no')));
  const next = gate.pass(null, async () => 'in');
  await expect(fails).rejects.toThrow('no');
  expect(await next).toBe('in');
});

test('if too many calls wait, the next one is refused at once', async () => {
  const gate = gateOf({ waitingMax: 1 });
  const first = pending();
  const running = [gate.pass(null, first.work), gate.pass(null, async () => {})];
  await expect(gate.pass(null, async () => {})).rejects.toMatchObject({ code: 'busy', retryAfterSeconds: 1 });
  first.finish();
  await Promise.all(running);
});

test('a call that waited too long is refused, and its place in the queue is free', async () => {
  const gate = gateOf({ waitingMax: 1, waitMs: 10 });
  const first = pending();
  const running = gate.pass(null, first.work);
  const late = pending();
  await expect(gate.pass(null, late.work)).rejects.toMatchObject({ code: 'busy' });
  expect(gate.waiting).toBe(0);
  first.finish();
  await running;
  expect(late.work).not.toHaveBeenCalled();
});

test('one sharer gets a share of the places, and the rest stays free for others', async () => {
  const gate = gateOf({ atOnce: 4, shareMax: 2 });
  const greedy = Array.from({ length: 5 }, pending);
  const running = greedy.map(({ work }) => gate.pass('greedy', work));
  const begun = () => greedy.filter(({ work }) => work.mock.calls.length > 0).length;
  expect(begun()).toBe(2);
  expect(await gate.pass('other', async () => 'in')).toBe('in');
  expect(await gate.pass(null, async () => 'in')).toBe('in');
  for (const { finish } of greedy) {
    finish();
    await expect.poll(begun).toBeGreaterThan(0);
  }
  for (const { work, finish } of greedy) {
    await expect.poll(() => work.mock.calls.length).toBe(1);
    finish();
  }
  await Promise.all(running);
  expect(gate.waiting).toBe(0);
});

test('waiting sharers take turns, even if many calls of one sharer came first', async () => {
  const gate = gateOf({ atOnce: 1 });
  const first = pending();
  const order: string[] = [];
  const wait = (sharer: string) => gate.pass(sharer, async () => void order.push(sharer));
  const all = [gate.pass(null, first.work), ...['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(wait)];
  first.finish();
  await Promise.all(all);
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('one sharer cannot fill the queue', async () => {
  const gate = gateOf({ waitingMax: 10, waitingShareMax: 2 });
  const first = pending();
  const waiting = [
    gate.pass(null, first.work),
    gate.pass('a', async () => {}),
    gate.pass('a', async () => {}),
  ];
  await expect(gate.pass('a', async () => {})).rejects.toMatchObject({ code: 'busy' });
  waiting.push(gate.pass('b', async () => {}));
  first.finish();
  await Promise.all(waiting);
});

test('if a few sharers fill the queue, a sharer with no waiting call takes a place of the longest one', async () => {
  const gate = gateOf({ waitingMax: 6 });
  const first = pending();
  const ran: string[] = [];
  const call = (sharer: string) =>
    gate
      .pass(sharer, async () => void ran.push(sharer))
      .catch(({ code }) => void ran.push(`${sharer} ${code}`));
  const all = [gate.pass('a', first.work), ...['a', 'a', 'a', 'b', 'b', 'b'].map(call), call('c')];
  await expect.poll(() => ran).toEqual(['a busy']);
  all.push(...['d', 'e', 'f'].map(call));
  await expect.poll(() => ran.slice(1)).toEqual(['b busy', 'a busy', 'b busy']);
  // Everybody has one waiting call now, so the next one has no better right to a place.
  all.push(call('g'));
  await expect.poll(() => ran.slice(4)).toEqual(['g busy']);
  first.finish();
  await Promise.all(all);
  expect(ran.slice(5).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(gate.waiting).toBe(0);
});

describe('if turns are remembered', () => {
  const remembering = (limits: Partial<GateLimits> = {}) => {
    const gate = gateOf({ waitingMax: 3, rememberedMax: 10, ...limits });
    const ran: string[] = [];
    const call = (sharer: string) =>
      gate
        .pass(sharer, async () => void ran.push(sharer))
        .catch(({ code }) => void ran.push(`${sharer} ${code}`));
    return { gate, ran, call };
  };

  test('those who are new and those who return are served alternately', async () => {
    const { gate, ran, call } = remembering({ waitingMax: 10 });
    for (const sharer of ['a', 'b', 'c']) await call(sharer);
    const first = pending();
    const all = [gate.pass('x', first.work), ...['c', 'a', 'new', 'b', 'newer'].map(call)];
    first.finish();
    await Promise.all(all);
    // The last new one is first, and of the others the one whose turn was the earliest.
    expect(ran.slice(3)).toEqual(['newer', 'a', 'new', 'b', 'c']);
  });

  test('one who returns is served, although others have a new name each time', async () => {
    const { gate, ran, call } = remembering({ waitingMax: 10 });
    await call('a');
    const first = pending();
    const trickle = async (from: number): Promise<unknown> =>
      from < 20 ? call(`new ${from}`).then(() => trickle(from + 2)) : undefined;
    const all = [gate.pass('x', first.work), trickle(0), trickle(1), call('a')];
    first.finish();
    await Promise.all(all);
    expect(ran.slice(1).indexOf('a')).toBeLessThan(2);
  });

  test('one who returns finds a place, although those who are new fill the queue, and the earliest of them has none', async () => {
    const { gate, ran, call } = remembering();
    await call('a');
    const first = pending();
    const all = [gate.pass('x', first.work), ...['1', '2', '3', 'a', '4'].map(call)];
    await expect.poll(() => ran.slice(1)).toEqual(['1 busy', '2 busy']);
    first.finish();
    await Promise.all(all);
    expect(ran.slice(3)).toEqual(['4', 'a', '3']);
    expect(gate.waiting).toBe(0);
  });

  test('a sharer who comes for the first time finds a place, although others who had a turn fill the queue', async () => {
    const { gate, ran, call } = remembering();
    for (const sharer of ['a', 'b', 'c']) await call(sharer);
    const first = pending();
    const all = [gate.pass('x', first.work), ...['a', 'b', 'c', 'new', 'newer'].map(call)];
    await expect.poll(() => ran.slice(3)).toEqual(['c busy', 'b busy']);
    // The one that was refused has no better right to a place now.
    all.push(call('c'));
    await expect.poll(() => ran.slice(5)).toEqual(['c busy']);
    first.finish();
    await Promise.all(all);
    expect(ran.slice(6)).toEqual(['newer', 'a', 'new']);
    expect(gate.waiting).toBe(0);
  });

  test('a sharer who waits already takes no place of others', async () => {
    const { gate, ran, call } = remembering();
    for (const sharer of ['a', 'b']) await call(sharer);
    const first = pending();
    const all = [gate.pass('x', first.work), ...['a', 'b', 'new', 'new'].map(call)];
    await expect.poll(() => ran.slice(2)).toEqual(['new busy']);
    first.finish();
    await Promise.all(all);
  });

  test('only so many are remembered', async () => {
    const { gate, ran, call } = remembering({ rememberedMax: 2 });
    for (const sharer of ['a', 'b', 'c']) await call(sharer);
    const first = pending();
    const all = [gate.pass('x', first.work), ...['b', 'a', 'c'].map(call)];
    first.finish();
    await Promise.all(all);
    // `a` was forgotten, and is new again.
    expect(ran.slice(3)).toEqual(['a', 'b', 'c']);
  });
});
