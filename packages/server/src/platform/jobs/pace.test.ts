import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

const clock = { at: 0, worked: 0, now: () => clock.at, workedMs: () => clock.worked };
const pace = createPace(clock);
const work = (ms: number) => {
  clock.at += ms;
  clock.worked += ms;
};

test('jobs pause for as long as requests keep the server busy, and only then', () => {
  work(100);
  expect(pace.pauseMs()).toBe(0);
  pace.hear(0.2);
  work(100);
  expect(pace.pauseMs()).toBe(0);
  pace.hear(1);
  work(100);
  expect(pace.pauseMs()).toBe(800);
  // Whoever asks next waits for the same time, and not for another one.
  expect(pace.pauseMs()).toBe(800);
  clock.at += 800;
  expect(pace.pauseMs()).toBe(0);
  clock.worked += 10_000;
  expect(pace.pauseMs()).toBe(5000);
  // The server has not said anything since.
  clock.at += 20_000;
  work(100);
  expect(pace.pauseMs()).toBe(0);
});
