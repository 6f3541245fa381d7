import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createShutdown } from './shutdown.ts';

test('every step runs in the reverse order, and failures are logged and reported at the end', async () => {
  const lines: string[] = [];
  const shutdown = createShutdown(pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) }));
  const taken: string[] = [];
  shutdown.add('the first', () => taken.push('first'));
  shutdown.add('the second', async () => {
    taken.push('second');
    throw new Error('stuck');
  });
  shutdown.add('the third', () => {
    taken.push('third');
    throw new Error('stuck');
  });
  shutdown.add('the fourth', async () => taken.push('fourth'));

  await expect(shutdown.run()).rejects.toThrow('could not stop the third, the second');
  expect(taken).toEqual(['fourth', 'third', 'second', 'first']);
  expect(lines).toEqual(['could not stop the third', 'could not stop the second']);

  await expect(shutdown.run()).rejects.toThrow('could not stop the third, the second');
  expect(taken).toHaveLength(4);
});

test('a second call waits for the end of the first one', async () => {
  const shutdown = createShutdown(pino({ level: 'silent' }));
  let finish = () => {};
  shutdown.add('something slow', () => new Promise<void>((resolve) => (finish = resolve)));
  const ended: string[] = [];
  const stops = ['first', 'second'].map((name) => shutdown.run().then(() => ended.push(name)));
  await Promise.resolve();
  expect(ended).toEqual([]);
  finish();
  await Promise.all(stops);
  expect(ended).toEqual(['first', 'second']);
});
