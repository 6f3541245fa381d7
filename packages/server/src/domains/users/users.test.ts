import { actions } from '@oriel/contract';
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

const TAKEN = { status: 409, code: 'username_taken' };

test('usernames and emails are unique, and upper and lower case count as equal', async () => {
  const body = newUser();
  await world.admin.createUser({ body });
  const again = (changes: object) => world.admin.createUser({ body: { ...newUser(), ...changes } });
  await expect(again({ username: body.username })).rejects.toMatchObject(TAKEN);
  await expect(again({ username: body.username.toUpperCase() })).rejects.toMatchObject(TAKEN);
  await expect(again({ email: body.email.toUpperCase() })).rejects.toMatchObject({
    status: 409,
    code: 'email_taken',
  });
});

test.each([
  ['full-width letters', 'ａｄａ', 'ADA'],
  ['a letter with its accent, in one character or two', 'ren\u00e9', 'RENE\u0301'],
  ['a ligature', 'of\ufb01ce', 'office'],
  ['Cyrillic', 'АННА', 'анна'],
])('two forms of one username are the same username: %s', async (_, one, two) => {
  const suffix = unique('').slice(1);
  await world.admin.createUser({ body: { ...newUser(), username: `${one}${suffix}` } });
  const attempt = world.admin.createUser({ body: { ...newUser(), username: `${two}${suffix}` } });
  await expect(attempt).rejects.toMatchObject(TAKEN);
});

test.each([
  ['a Cyrillic а in a Latin name', '\u0430dmin', 'mix'],
  ['a Greek ο in a Latin name', 'r\u03bfot', 'mix'],
  ['a character without width', 'ad\u200bmin', 'invisible'],
  ['a mark that turns the direction', 'ad\u202emin', 'invisible'],
  ['a soft hyphen', 'ad\u00admin', 'invisible'],
  ['a filler that looks like a space', 'admin\u3164', 'invisible'],
])('a username that looks like another one is refused: %s', async (_, username, word) => {
  const attempt = world.admin.createUser({ body: { ...newUser(), username } });
  await expect(attempt).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    issues: [{ path: 'username', message: expect.stringContaining(word) }],
  });
});

test.each(['анна', 'ελένη', 'علي', 'tanaka田中', '김철수', "o'brien", 'a.b+c@example.com', '🦉'])(
  'a username in another script, or with signs, is accepted: %s',
  async (name) => {
    const username = `${name}${unique('').slice(1)}`;
    expect(await world.admin.createUser({ body: { ...newUser(), username } })).toMatchObject({ username });
  },
);

test('an email may have an apostrophe, a plus and an international domain in ASCII', async () => {
  const email = `o'brien+${unique('')}@xn--bcher-kva.example`;
  expect(await world.admin.createUser({ body: { ...newUser(), email } })).toMatchObject({ email });
});

test.each([
  '"ada lovelace"@example.com',
  'ada@bücher.example',
  'ada@localhost',
  'ada@@example.com',
  'a@b@c.de',
])(
  'an email that many systems do not accept is refused, and the message shows a valid one: %s',
  async (email) => {
    const attempt = world.admin.createUser({ body: { ...newUser(), email } });
    const message = expect.stringMatching(/such as ada@example\.com.*xn--/);
    await expect(attempt).rejects.toMatchObject({ status: 400, issues: [{ path: 'email', message }] });
  },
);

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

test('PUT and POST change a user in the same way', async () => {
  const { id } = await world.admin.createUser({ body: newUser() });
  expect(await world.admin.updateUserByPost({ id, body: { title: 'Countess' } })).toMatchObject({
    title: 'Countess',
  });
  expect(await world.admin.updateUser({ id, body: { firstName: 'Ada' } })).toMatchObject({
    title: 'Countess',
    firstName: 'Ada',
  });
  const { rows } = await world.server.db.pool.query(
    `select operation from audit_log where resource_type = 'user' and resource_id = $1 order by id`,
    [String(id)],
  );
  expect(rows.map(({ operation }) => operation)).toEqual(['createUser', 'updateUserByPost', 'updateUser']);
});

test('a user with every action except All cannot change who may do what', async () => {
  const role = await world.admin.createRole({
    body: { name: unique('almost'), actions: actions.filter((action) => action !== 'All') },
  });
  const { client, userId } = await world.person({ roles: [role.name] });
  const admin = await world.person({ roles: ['Admin'] });
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  const attempts: Record<string, () => Promise<unknown>> = {
    'make an admin': () => client.createUser({ body: { ...newUser(), isAdmin: true } }),
    'make an admin of oneself': () => client.updateUser({ id: userId, body: { isAdmin: true } }),
    'make an admin of oneself, by POST': () =>
      client.updateUserByPost({ id: userId, body: { roles: ['Admin'] } }),
    'take over an admin': () =>
      client.updateUser({ id: admin.userId, body: { password: 'a long password' } }),
    'deactivate an admin': () =>
      client.bulkUserAction({ body: { action: 'DEACTIVATE', userIds: [admin.userId] } }),
    'delete an admin': () => client.deleteUser({ id: admin.userId }),
    'widen the own role': () => client.updateRole({ id: role.id, body: { actions: ['All'] } }),
    'make a role': () => client.createRole({ body: { name: unique('root'), actions: ['All'] } }),
    'make a key of an admin': () => client.createApiKey({ body: { name: 'root', userId: admin.userId } }),
    'join a group': () => client.addUserGroupMembers({ id: group.id, body: { userIds: [userId] } }),
    'end a key of an admin': () => client.deleteApiKey({ id: admin.apiKeyId }),
  };
  for (const [what, attempt] of Object.entries(attempts))
    await expect(attempt(), what).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  const ended = client.deleteMyApiKey({ id: admin.apiKeyId });
  await expect(ended).rejects.toMatchObject({ status: 404, code: 'api_key_not_found' });
  expect(await admin.client.getMe()).toMatchObject({ isAdmin: true });
});

test('only admins can create users', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.createUser({ body: newUser() })).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  });
});
