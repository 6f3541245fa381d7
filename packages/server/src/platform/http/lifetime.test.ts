import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createLifetime } from './lifetime.ts';

const lifetime = (onLate: (error: unknown) => void = () => {}) =>
  createLifetime({ response: { closed: false } as ServerResponse, timeoutMs: 20, onLate });

test('work that takes too long is a 504, and its late result is discarded', async () => {
  const discarded: string[] = [];
  const work = sleep(100, 'late');
  const waiting = lifetime().within(work, (late) => discarded.push(late));
  await expect(waiting).rejects.toMatchObject({ code: 'timed_out' });
  await expect.poll(() => discarded).toEqual(['late']);
});

test('if the time ends during a commit, the caller gets what the commit decides', async () => {
  const { within, attempt } = lifetime();
  const work = async () => {
    attempt.begin();
    attempt.commit();
    return sleep(100, 'committed');
  };
  expect(await within(work(), () => {})).toBe('committed');
});

test('if the time ends during a commit that is then tried again, the caller gets the 504', async () => {
  const { within, attempt } = lifetime();
  const work = async () => {
    attempt.begin();
    attempt.commit();
    await sleep(100);
    // The commit failed by a conflict, and the change is tried again.
    attempt.begin();
  };
  await expect(within(work(), () => {})).rejects.toMatchObject({ code: 'timed_out' });
});

test('of what fails after the 504, a statement that took too long is not reported, and other failures are', async () => {
  const reported: unknown[] = [];
  const failing = async (error: Error) => {
    await sleep(60);
    throw error;
  };
  const tooLong = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), { code: '57014' });
  const fault = new Error('a fault');
  for (const error of [tooLong, fault]) {
    const { within } = lifetime((late) => reported.push(late));
    await expect(within(failing(error), () => {})).rejects.toMatchObject({ code: 'timed_out' });
  }
  await expect.poll(() => reported.length).toBeGreaterThan(0);
  expect(reported).toEqual([fault]);
});
