import { expect, onTestFinished, test } from 'vitest';
import { createPace, pace as ownPace, throttle } from './pace.ts';

function start() {
  const clock = { at: 0, worked: 0, now: () => clock.at, workedMs: () => clock.worked };
  const work = (ms: number) => {
    clock.at += ms;
    clock.worked += ms;
  };
  return { clock, work, pace: createPace(clock) };
}

test('jobs pause for as long as requests keep the server busy, and only then', () => {
  const { clock, work, pace } = start();
  work(100);
  expect(pace.pauseMs()).toBe(0);
  pace.hear(0.05);
  work(100);
  expect(pace.pauseMs()).toBe(0);
  pace.hear(1);
  work(100);
  expect(pace.pauseMs()).toBe(1600);
  // The next step waits for the same time, and not for a second pause.
  expect(pace.pauseMs()).toBe(1600);
  clock.at += 1600;
  expect(pace.pauseMs()).toBe(0);
  pace.hear(1);
  work(9_000);
  expect(pace.pauseMs()).toBe(5000);
  // The server has not said anything since.
  clock.at += 20_000;
  work(100);
  expect(pace.pauseMs()).toBe(0);
});

test('what other jobs of the process do during a pause does not make the next one longer', () => {
  const { clock, work, pace } = start();
  let paused = 0;
  for (let step = 0; step < 100; step++) {
    pace.hear(1);
    work(2);
    const ms = pace.pauseMs();
    // Another job keeps a processor busy all the time.
    clock.worked += 2 + ms;
    clock.at += ms;
    paused += ms;
  }
  expect(paused).toBeGreaterThan(100 * 2 * 16 - 1);
  expect(paused).toBeLessThan(100 * 2 * 16 * 2 + 1);
});

test('a job that is told to end does not wait for the end of its pause', async () => {
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 20_000);
  ownPace.hear(1);
  onTestFinished(() => ownPace.hear(0));
  const stopping = new AbortController();
  const pausing = throttle(stopping.signal);
  stopping.abort();
  await expect(pausing).rejects.toThrow('aborted');
});
