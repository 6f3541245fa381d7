import type { RefreshKey } from '@oriel/semantic';
import { expect, test } from 'vitest';
import { freshnessOf } from './freshness.ts';

const NEVER = Number.POSITIVE_INFINITY;
const key = (given: Partial<RefreshKey>): RefreshKey => ({
  sql: undefined,
  everySeconds: undefined,
  ...given,
});

test.each<[string, (RefreshKey | undefined)[], number, string[]]>([
  ['that reads no cube is never too old', [], NEVER, []],
  ['without refresh keys may be two minutes old', [undefined], 120_000, []],
  ['may be as old as its refresh key says', [key({ everySeconds: 3600 })], 3_600_000, []],
  [
    'of several cubes may be as old as the strictest of their keys says',
    [key({ everySeconds: 3600 }), key({ everySeconds: 5 }), key({ everySeconds: 60 })],
    5000,
    [],
  ],
  ['is limited by a cube without a key too', [undefined, key({ everySeconds: 3600 })], 120_000, []],
  [
    'has no age of its own if keys are queries, which are asked every ten seconds, or as often as they say',
    [key({ sql: 'select 1' }), key({ sql: 'select 2', everySeconds: 60 })],
    NEVER,
    ['select 1 within 10000', 'select 2 within 60000'],
  ],
  [
    'has an age if one of its keys has no query',
    [key({ sql: 'select 1' }), key({ everySeconds: 7 })],
    7000,
    ['select 1 within 10000'],
  ],
])('a result %s', async (_, keys, maxAgeMs, version) => {
  const ask = async (sql: string, within: number) => `${sql} within ${within}`;
  expect(await freshnessOf(keys, ask)).toEqual({ maxAgeMs, version });
});
