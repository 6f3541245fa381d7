import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Attempt } from '../audit/change.ts';
import { createLifetime } from './lifetime.ts';

const lifetime = (onLate: (error: unknown) => void = () => {}) =>
  createLifetime({ response: { closed: false } as ServerResponse, timeoutMs: 20, onLate });

/** Work that ends when the test says so. */
function pending() {
  let resolve!: (value: string) => void;
  let reject!: (error: Error) => void;
  const work = new Promise<string>((...ends) => {
    [resolve, reject] = ends;
  });
  return { work, resolve, reject };
}

/** Waits until the time is over: from then on, no commit can begin. */
const isOver = (attempt: Attempt) =>
  expect
    .poll(() => {
      try {
        attempt.commit();
        return false;
      } catch {
        return true;
      }
    })
    .toBe(true);

test('work that takes too long is a 504, and its late result is discarded', async () => {
  const discarded: string[] = [];
  const { work, resolve } = pending();
  const waiting = lifetime().within(work, (late) => discarded.push(late));
  await expect(waiting).rejects.toMatchObject({ code: 'timed_out' });
  resolve('late');
  await expect.poll(() => discarded).toEqual(['late']);
});

test('if the time ends during a commit, the caller gets what the commit decides', async () => {
  const { within, attempt } = lifetime();
  const work = async () => {
    attempt.begin();
    attempt.commit();
    await isOver(attempt);
    return 'committed';
  };
  expect(await within(work(), () => {})).toBe('committed');
});

test('if the time ends during a commit that is then tried again, the caller gets the 504', async () => {
  const { within, attempt } = lifetime();
  const work = async () => {
    attempt.begin();
    attempt.commit();
    await isOver(attempt);
    // The commit failed by a conflict, and the change is tried again.
    attempt.begin();
  };
  await expect(within(work(), () => {})).rejects.toMatchObject({ code: 'timed_out' });
});

test('of what fails after the 504, a statement that took too long is not reported, and other failures are', async () => {
  const reported: unknown[] = [];
  const tooLong = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), { code: '57014' });
  const fault = new Error('a fault');
  for (const error of [tooLong, fault]) {
    const { within } = lifetime((late) => reported.push(late));
    const { work, reject } = pending();
    await expect(within(work, () => {})).rejects.toMatchObject({ code: 'timed_out' });
    reject(error);
  }
  await expect.poll(() => reported.length).toBeGreaterThan(0);
  expect(reported).toEqual([fault]);
});
