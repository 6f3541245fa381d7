/** Emails and usernames are one space of names, because people sign in with either. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, logIn, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const address = () => `${unique('name')}@example.com`;
const create = (given: { username?: string; email?: string }) =>
  world.admin.createUser({ body: { username: unique('u'), email: address(), password: PASSWORD, ...given } });
/** Creates a user without a password, because hashing takes turns, and a caller who waits too long is refused. */
const invite = (given: { username?: string; email?: string }) =>
  world.admin.createUser({ body: { username: unique('u'), email: address(), ...given } });
const emailTaken = { status: 409, code: 'email_taken' };
const usernameTaken = { status: 409, code: 'username_taken' };

test('the username of one person is not the email of another, and the other way round, in any spelling', async () => {
  const name = address();
  const { id } = await create({ username: name });
  await expect(create({ email: name.toUpperCase() })).rejects.toMatchObject(emailTaken);
  const other = await create({});
  await expect(create({ username: other.email.toUpperCase() })).rejects.toMatchObject(usernameTaken);
  await expect(create({ username: other.email.replace('@', '＠') })).rejects.toMatchObject(usernameTaken);
  const { accessToken } = await world.client().login({ body: { username: name, password: PASSWORD } });
  expect(await world.bearer(accessToken).getMe()).toMatchObject({ id });
});

test('one person may have the same email and username', async () => {
  const name = address();
  const { id } = await create({ username: name, email: name });
  const { client } = await logIn(world, { email: name });
  expect(await client.getMe()).toMatchObject({ id });
});

test('of many who want a name at once, as email or as username, exactly one gets it', async () => {
  for (let round = 0; round < 5; round++) {
    const name = address();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => invite(i % 2 ? { email: name } : { username: name })),
    );
    const statuses = outcomes.map((one) => (one.status === 'fulfilled' ? 200 : one.reason.status));
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(409)]);
  }
});

test('the names of a deleted person are free at once', async () => {
  const gone = await create({});
  await world.admin.deleteUser({ id: gone.id });
  await create({ username: gone.email });
  await create({ username: gone.username });
});

describe('SCIM', () => {
  const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
  const send = (method: 'POST' | 'PUT', path: string, userName: string, email: string) =>
    world.raw(method, `/api/scim/v2/Users${path}`, {
      headers: { 'content-type': 'application/scim+json' },
      body: JSON.stringify({ schemas: [SCHEMA], userName, emails: [{ value: email, primary: true }] }),
    });

  test('follows the same rule for new and for changed users, and a name that was given up is free', async () => {
    const { username, email } = await createSignable(world);
    expect((await send('POST', '', email, address())).status).toBe(409);
    const old = address();
    const created = await send('POST', '', old, address());
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    expect((await send('PUT', `/${id}`, email, address())).status).toBe(409);
    expect((await send('PUT', `/${id}`, unique('renamed'), address())).status).toBe(200);
    await create({ email: old });
    await expect(create({ username })).rejects.toMatchObject(usernameTaken);
  });
});
