import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverErrors } from './server-log.ts';
import { createOwnWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('the log of a 5xx is kept, and printed if the test fails', async () => {
  await world.server.db.pool.query('alter table user_attributes rename to gone');
  const response = await world.raw('GET', '/api/v1/user-attributes');
  expect(response.status).toBe(500);
  expect(serverErrors()).toHaveLength(1);
  expect(JSON.parse(serverErrors()[0]!)).toMatchObject({
    requestId: response.headers.get('x-request-id'),
    err: { message: expect.stringContaining('user_attributes') },
  });
});

test('the kept log is cleared before the next test', () => {
  expect(serverErrors()).toEqual([]);
});
