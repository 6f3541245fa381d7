import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ThreadEvent } from '../../platform/threads.ts';
import { CHART_PLACES, createCharts } from './charts.ts';

const charts = createCharts();
const { signal } = new AbortController();
const task = { spec: { mark: 'bar', encoding: {} } };
let running = 0;
let most = 0;
const count = (message: unknown) => {
  const { script, event } = message as ThreadEvent;
  if (!script.endsWith('chart-thread.js')) return;
  running += event === 'started' ? 1 : -1;
  most = Math.max(most, running);
};
beforeEach(() => {
  most = 0;
  channel('oriel:threads').subscribe(count);
});
afterEach(async () => {
  channel('oriel:threads').unsubscribe(count);
  await charts.stop();
});

const compileAll = (sharers: string[]) =>
  Promise.allSettled(sharers.map((sharer) => charts.compile([task], sharer, signal)));
const refused = (results: PromiseSettledResult<unknown>[]) =>
  results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code);

test('charts of one sharer are compiled one after the other, and a few can wait', async () => {
  const results = await compileAll(Array(CHART_PLACES.sharerWaitingMax + 3).fill('user 1'));
  expect(most).toBe(1);
  expect(refused(results)).toEqual(['too_many_at_once', 'too_many_at_once']);
});

test('charts of several sharers are compiled in a few threads', async () => {
  const sharers = Array.from({ length: CHART_PLACES.waitingMax + 3 }, (_, i) => `user ${i}`);
  const results = await compileAll(sharers);
  expect(most).toBe(CHART_PLACES.places);
  expect(refused(results)).toEqual(['busy']);
});
