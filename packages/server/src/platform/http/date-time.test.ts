import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { isDateTime } from './date-time.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const create = (expiresAt: string) =>
  world.raw('POST', '/api/v1/api-keys', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'dated', expiresAt }),
  });

describe('PostgreSQL stores every accepted time, and returns the same moment', () => {
  test.each([
    '2036-01-31T09:30:00Z',
    '2036-01-31T09:30:00.1Z',
    '2036-01-31T09:30:00.123456789Z',
    '2036-02-29T23:59:59.999+15:59',
    '2036-12-31T00:00:00-15:59',
    '2036-01-31t09:30:00z',
    '9999-12-31T23:59:58Z',
  ])('%s', async (text) => {
    expect(isDateTime(text)).toBe(true);
    const response = await create(text);
    expect(response.status).toBe(200);
    const { expiresAt } = (await response.json()) as { expiresAt: string };
    expect(Date.parse(expiresAt)).toBe(Date.parse(text.toUpperCase()));
  });

  test.each(['0001-01-01T00:00:00Z', '0004-02-29T00:00:00+00:00', '1900-02-28T00:00:00Z'])(
    '%s',
    async (text) => {
      expect(isDateTime(text)).toBe(true);
      const { rows } = await world.server.db.pool.query('select $1::timestamptz as at', [text]);
      expect(Date.parse(rows[0].at)).toBe(Date.parse(text));
    },
  );
});

describe('a time that PostgreSQL would refuse or change is a 400 that says how to write it', () => {
  test.each([
    '2036-01-31T09:30:00+23:59',
    '2036-01-31T09:30:00+16:00',
    '2036-01-31T09:30:00-16:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '10000-01-01T00:00:00Z',
    '99999-01-01T00:00:00Z',
    '9999-12-31T23:59:59.9999999Z',
    '9999-12-31T23:59:59-01:00',
    '2036-12-31T23:59:60Z',
    '2036-01-31T24:00:00Z',
    '2036-01-31T09:60:00Z',
    '2036-02-30T00:00:00Z',
    '2035-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2036-13-01T00:00:00Z',
    '2036-00-01T00:00:00Z',
    '2036-01-00T00:00:00Z',
    '2036-01-31T09:30:00',
    '2036-01-31T09:30Z',
    '2036-01-31 09:30:00Z',
    '2036-01-31',
    '2036-01-31T09:30:00+0100',
    '2036-01-31T09:30:00.Z',
    'infinity',
    'now',
    '',
  ])('%s', async (text) => {
    const response = await create(text);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      issues: [{ path: 'expiresAt', message: expect.stringContaining('such as 2026-01-31T09:30:00Z') }],
    });
  });
});
