import { afterEach, expect, test, vi } from 'vitest';
import { createUses, writeUses } from './uses.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a use is taken once, and again only after enough time has passed', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const uses = createUses(300_000);
  const at = (ms: number) => new Date(ms).toISOString();
  const step = (ms: number, ...ids: number[]) => {
    vi.setSystemTime(ms);
    for (const id of ids) uses.note(id);
    return uses.take();
  };
  expect(step(0, 1, 1)).toEqual([{ id: 1, at: at(0) }]);
  for (let ms = 15_000; ms < 300_000; ms += 15_000) expect(step(ms, 1)).toEqual([]);
  expect(step(299_999, 1, 2)).toEqual([{ id: 2, at: at(299_999) }]);
  expect(step(300_000, 1, 2)).toEqual([{ id: 1, at: at(300_000) }]);
  expect(step(599_999, 2)).toEqual([{ id: 2, at: at(599_999) }]);
  expect(step(700_000)).toEqual([]);
});

test('what was noted is written before the end, and a failure is only logged', async () => {
  const written: number[] = [];
  const warned: unknown[] = [];
  const log = { warn: ({ err }: { err: unknown }) => warned.push(err) } as never;
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const uses = writeUses({
    log,
    async write(all) {
      await turn();
      written.push(...all.map(({ id }) => id));
    },
  });
  uses.note(7);
  uses.note(8);
  await uses.stop();
  expect([written, warned]).toEqual([[7, 8], []]);

  const failure = new Error('no database');
  const failing = writeUses({ log, write: () => turn().then(() => Promise.reject(failure)) });
  failing.note(7);
  await failing.stop();
  expect(warned).toEqual([failure]);
});
