import { expect, test } from 'vitest';
import { createOwnWorld } from '../../../test/world.ts';
import { pauseAfter } from './rules.ts';

test('a delivery is tried for a day, at times that differ', () => {
  const pauses: number[] = [];
  for (let attempts = 1; ; attempts++) {
    const pause = pauseAfter(attempts, () => 0.5);
    if (pause === undefined) break;
    pauses.push(pause);
  }
  const hours = pauses.reduce((sum, pause) => sum + pause, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(23.5);
  expect(hours).toBeLessThan(25);
  expect(pauseAfter(1, () => 0)).toBe(4500);
  expect(pauseAfter(1, () => 1)).toBe(5500);
});

test('addresses that a receiver must not have are refused, those that only resolve to one when they are used', async () => {
  const world = await createOwnWorld();
  const create = (url: string) => world.admin.createWebhook({ body: { url, events: ['*'] } });
  for (const url of [
    'http://hooks.example.com/',
    'https://user:pass@hooks.example.com/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.8:8443/',
    'https://localhost/',
    'https://hooks.localhost./',
    'https://hooks.example.com/#part',
    'ftp://hooks.example.com/',
    'nonsense',
    `https://hooks.example.com/${'a'.repeat(100_000)}`,
  ]) {
    await expect(create(url), url).rejects.toMatchObject({ status: 400 });
  }
  expect((await world.admin.listWebhooks({})).items).toEqual([]);
  // A name of this machine, which only the look-up of the request itself unmasks.
  const { id } = await create('https://ip6-localhost:1/');
  await world.admin.createRole({ body: { name: 'told', actions: ['ReportRead'] } });
  await expect
    .poll(async () => (await world.admin.listWebhookDeliveries({ id })).items, { timeout: 30_000 })
    .toMatchObject([{ status: 'pending', responseStatus: null, error: expect.any(String) }]);
  await world.stop();
});
