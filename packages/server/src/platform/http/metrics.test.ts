import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

test('if a value cannot be read in time, the last value is shown', async () => {
  const metrics = createMetrics();
  let read = (): number | Promise<number> => 5;
  let reads = 0;
  metrics.gauge('some_value', 'Some value', () => {
    reads++;
    return read();
  });
  const line = async () => /^some_value .*$/m.exec(await metrics.text())?.[0];
  expect(await line()).toBe('some_value 5');

  read = () => Promise.reject(new Error('no database'));
  expect(await line()).toBe('some_value 5');

  let answer = (_: number) => {};
  read = () => new Promise((resolve) => (answer = resolve));
  reads = 0;
  expect(await line()).toBe('some_value 5');
  // A second request in the meantime does not start another read.
  expect(await line()).toBe('some_value 5');
  expect(reads).toBe(1);
  answer(7);
  read = () => 8;
  await expect.poll(line).toBe('some_value 8');
});

test('child processes are distinguished by name', async () => {
  const metrics = createMetrics();
  const engine = metrics.ofProcess('engine');
  metrics.ofProcess('worker').setUp(true);
  engine.setUp(false);
  engine.countRestart();
  engine.observeRequest('timed_out', 40);
  const text = await metrics.text();
  expect(text).toContain('oriel_process_up{process="worker"} 1');
  expect(text).toContain('oriel_process_up{process="engine"} 0');
  expect(text).toContain('oriel_process_restarts_total{process="worker"} 0');
  expect(text).toContain('oriel_process_restarts_total{process="engine"} 1');
  expect(text).toContain(
    'oriel_process_request_duration_seconds_sum{process="engine",outcome="timed_out"} 0.04',
  );
});
