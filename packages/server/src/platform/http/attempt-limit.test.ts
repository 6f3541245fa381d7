import { afterEach, describe, expect, test, vi } from 'vitest';
import { NOBODY } from '../auth/actor.ts';
import { addressGroup, createAddressLimit, createAttemptLimit } from './attempt-limit.ts';
import { createRateLimit } from './rate-limit.ts';

afterEach(() => {
  vi.useRealTimers();
});

const REFUSED = expect.objectContaining({ code: 'rate_limited', statusCode: 429 });
const outcomeOf = (attempt: () => unknown) => {
  try {
    return attempt();
  } catch (error) {
    return error;
  }
};

test('attempts count when they begin, so that of many at once only the allowed number continues', () => {
  const limit = createAttemptLimit({ max: 3, perMs: 1000 });
  const outcomes = Array.from({ length: 900 }, () => outcomeOf(() => limit.begin('a')));
  expect(outcomes.filter((outcome) => typeof outcome === 'function')).toHaveLength(3);
  expect(outcomes.slice(3)).toEqual(outcomes.slice(3).map(() => REFUSED));
});

test('an attempt that did not fail does not count', () => {
  const limit = createAttemptLimit({ max: 2, perMs: 1000 });
  for (let i = 0; i < 10; i++) limit.begin('a')();
  const [one] = [limit.begin('a'), limit.begin('a')];
  expect(outcomeOf(() => limit.begin('a'))).toEqual(REFUSED);
  one();
  limit.begin('a');
  expect(outcomeOf(() => limit.begin('a'))).toEqual(REFUSED);
});

test('a caller is not refused because of the failures of another', () => {
  const limit = createAttemptLimit({ max: 1, perMs: 1000 });
  limit.begin('a');
  expect(outcomeOf(() => limit.begin('a'))).toEqual(REFUSED);
  limit.begin('b');
});

test('attempts are accepted again after a while, and the error says how long to wait', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const limit = createAttemptLimit({ max: 1, perMs: 60_000 });
  const early = limit.begin('a');
  vi.setSystemTime(1_000_000 + 50_500);
  expect(outcomeOf(() => limit.begin('a'))).toMatchObject({ retryAfterSeconds: 10 });
  vi.setSystemTime(1_000_000 + 60_000);
  limit.begin('a');
  // An attempt from before the pause does not change the count of later attempts.
  early();
  expect(outcomeOf(() => limit.begin('a'))).toEqual(REFUSED);
});

test('when it is full, only the caller whose last attempt is the oldest is forgotten', () => {
  const limit = createAttemptLimit({ max: 2, perMs: 60_000, entriesMax: 3 });
  for (const who of ['a', 'b', 'c', 'a', 'd']) limit.begin(who);
  expect(outcomeOf(() => limit.begin('a'))).toEqual(REFUSED);
  // `b` was forgotten: it has both of its attempts again.
  limit.begin('b');
  limit.begin('b');
  expect(outcomeOf(() => limit.begin('b'))).toEqual(REFUSED);
});

describe('a limit by address', () => {
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  const at = (network: number, host = 1) => `2001:db8:1:${network}::${host}`;

  test('counts by network, and five times as many for all networks of an IPv6 site', () => {
    const limit = createAddressLimit({ max: 2, perMs: 60_000 });
    for (const network of range(5)) {
      for (const host of [1, 2]) limit.begin(at(network, host), 'ada');
      expect(outcomeOf(() => limit.begin(at(network, 3), 'ada'))).toEqual(REFUSED);
    }
    expect(outcomeOf(() => limit.begin(at(6), 'ada'))).toEqual(REFUSED);
    for (const [ip, subject] of [
      [at(6), 'grace'],
      ['2001:db8:2::1', 'ada'],
      ['203.0.113.7', 'ada'],
    ] as const) {
      expect(() => limit.begin(ip, subject)).not.toThrow();
    }
  });

  test('gives attempts back to both, and takes none for what it refuses', () => {
    const limit = createAddressLimit({ max: 1, perMs: 60_000 });
    for (const network of range(20)) limit.begin(at(network))();
    const [giveBack] = range(5).map((network) => limit.begin(at(network)));
    expect(outcomeOf(() => limit.begin(at(7)))).toEqual(REFUSED);
    giveBack!();
    expect(() => limit.begin(at(7))).not.toThrow();
  });

  test('is the one that operations have for callers who are not known', () => {
    const limit = createRateLimit({ max: 2, perSeconds: 60 });
    for (const network of range(10)) limit(NOBODY, at(network));
    expect(outcomeOf(() => limit(NOBODY, at(11)))).toEqual(REFUSED);
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['64:ff9b::203.0.113.7', '203.0.113.7'],
  ['64:ff9b::a00:1', '10.0.0.1'],
  ['64:ff9b:1::203.0.113.7', '64:ff9b:1:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::a:b:c:d:e', '2001:db8:0:a::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['', ''],
])('%j counts as %j', (ip, expected) => {
  expect(addressGroup(ip)).toBe(expected);
});
