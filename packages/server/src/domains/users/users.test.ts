import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newUser = () => {
  const username = unique('ada');
  return { username, email: `${username}@example.com` };
};

test('a new user has the role Viewer', async () => {
  const user = await world.admin.createUser({ body: newUser() });
  expect(user).toMatchObject({ roles: ['Viewer'], isAdmin: false, isDeactivated: false });
});

test('roles, defaultRoles and isAdmin set the roles', async () => {
  const rolesOf = async (asked: object) =>
    (await world.admin.createUser({ body: { ...newUser(), ...asked } })).roles;
  expect(await rolesOf({ roles: ['Explorer', 'Developer', 'Explorer'] })).toEqual(['Developer', 'Explorer']);
  expect(await rolesOf({ defaultRoles: ['Explorer'] })).toEqual(['Explorer']);
  expect(await rolesOf({ isAdmin: true })).toEqual(['Admin']);
  expect(await rolesOf({ roles: [] })).toEqual([]);
  expect(await rolesOf({ roles: null, isAdmin: null })).toEqual(['Viewer']);
});

test('an unknown role is refused, and no user is created', async () => {
  const body = newUser();
  const attempt = world.admin.createUser({ body: { ...body, roles: ['Viewer', 'Wizard'] } });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_reference' });
  await expect(world.admin.createUser({ body })).resolves.toMatchObject(body);
});

test('username and email are unique, and the case of the email does not matter', async () => {
  const body = newUser();
  await world.admin.createUser({ body });
  const again = (changes: object) => world.admin.createUser({ body: { ...newUser(), ...changes } });
  await expect(again({ username: body.username })).rejects.toMatchObject({
    status: 409,
    code: 'username_taken',
  });
  await expect(again({ email: body.email.toUpperCase() })).rejects.toMatchObject({
    status: 409,
    code: 'email_taken',
  });
});

test('if many calls create the same username in parallel, one succeeds', async () => {
  const { username } = newUser();
  const attempts = Array.from({ length: 20 }, () =>
    world.admin.createUser({ body: { username, email: newUser().email } }).then(
      () => 'created',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual(['created', ...Array(19).fill('username_taken')].sort());
});

test('a password is stored as an argon2id hash and never shown', async () => {
  const user = await world.admin.createUser({ body: { ...newUser(), password: 'correct horse battery' } });
  expect(JSON.stringify(user)).not.toContain('correct horse');
  const { rows } = await world.server.db.pool.query('select password_hash from users where id = $1', [
    user.id,
  ]);
  expect(rows[0].password_hash).toMatch(/^\$argon2id\$/);
  const audit = await world.server.db.pool.query('select * from audit_log where resource_id = $1', [
    String(user.id),
  ]);
  expect(JSON.stringify(audit.rows)).not.toContain('correct horse');
});

test.each([
  ['no body fields', {}],
  ['an email that is none', { email: 'nobody' }],
  ['a blank username', { username: '  ' }],
  ['a short password', { password: '1234567' }],
  ['a picture that is no web address', { picture: 'javascript:alert(1)' }],
  ['a field that does not exist', { ephemeralTtlSeconds: 1 }],
  ['an external user', { isExternal: true }],
  ['a username with a control character', { username: 'a\u0007b' }],
])('bad input is refused: %s', async (_, changes) => {
  const body = Object.keys(changes).length ? { ...newUser(), ...changes } : {};
  const attempt = world.admin.createUser({ body: body as never });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
});

test('getMe returns the owner of the key', async () => {
  const person = await world.person({ roles: ['Explorer'] });
  expect(await person.client.getMe()).toMatchObject({
    id: person.userId,
    roles: ['Explorer'],
    isAdmin: false,
  });
  expect(await world.admin.getMe()).toMatchObject({
    email: 'admin@example.com',
    isAdmin: true,
    roles: ['Admin'],
  });
});

test('only admins can create users', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.createUser({ body: newUser() })).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  });
});
