/** How many devices may begin, before anybody is known. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createDeviceCodes } from './index.ts';
import { createWaitingLimit } from './waiting-limit.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_TRUST_PROXY: 'loopback' } });
});
afterAll(() => world.stop());
afterEach(() => {
  vi.useRealTimers();
});

const statusFrom = async (ip: string) => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip };
  const body = JSON.stringify({ clientId: 'a-tool' });
  return (await world.raw('POST', '/auth/device/code', { apiKey: null, headers, body })).status;
};

test('an address may begin 60 devices in ten minutes, and others are not affected', async () => {
  const statuses = await Promise.all(Array.from({ length: 61 }, () => statusFrom('203.0.113.1')));
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  expect(await statusFrom('203.0.113.2')).toBe(200);
});

test('networks that begin as many devices as they can do not take the places of all others', () => {
  const waiting = createWaitingLimit(600_000);
  // Of these, 84 reach the limit for few.
  for (let network = 0; network < 100; network++) {
    for (let i = 0; i < 60; i++) {
      try {
        waiting.begin(`198.51.100.${network}`);
      } catch {}
    }
  }
  expect(() => waiting.begin('198.51.100.99')).toThrow('Too many devices');
  for (let i = 0; i < 3; i++) expect(() => waiting.begin('203.0.113.1')).not.toThrow();
  expect(() => waiting.begin('203.0.113.1')).toThrow('Too many devices');
});

test('an IPv6 site counts as one network, however many smaller ones it has', () => {
  const waiting = createWaitingLimit(600_000, { few: 0, perSite: 1, max: 10 });
  waiting.begin('2001:db8:1:1::1');
  expect(() => waiting.begin('2001:db8:1:2::1')).toThrow('Too many devices');
  expect(() => waiting.begin('2001:db8:2:1::1')).not.toThrow();
});

test('a site that got no place gets one as soon as there are some', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const waiting = createWaitingLimit(1000, { few: 0, perSite: 1, max: 1 });
  waiting.begin('203.0.113.1');
  vi.setSystemTime(1_000_500);
  expect(() => waiting.begin('203.0.113.2')).toThrow('Too many devices');
  vi.setSystemTime(1_001_000);
  expect(() => waiting.begin('203.0.113.2')).not.toThrow();
});

test('no device begins when all places are taken', async () => {
  const devices = createDeviceCodes({
    db: world.server.essential,
    keys: createKeyring([SECRET_KEY]).keysFor('device codes'),
    publicUrl: world.url,
    seconds: 600,
    sessions: undefined as never,
    waiting: createWaitingLimit(600_000, { few: 1, perSite: 1, max: 2 }),
  });
  const start = (ip: string) => devices.start('a-tool', { operation: 'test', ip, requestId: 'test' });
  await start('203.0.113.3');
  await start('203.0.113.4');
  await expect(start('203.0.113.5')).rejects.toMatchObject({ statusCode: 429 });
});
