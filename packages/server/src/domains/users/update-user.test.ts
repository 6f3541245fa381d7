import { verify } from '@node-rs/argon2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { rolesOfChangedUser } from './rules.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newUser = async (changes: object = {}) => {
  const username = unique('ada');
  const body = { username, email: `${username}@example.com`, ...changes };
  const { invitationUrl: _, ...user } = await world.admin.createUser({ body });
  return user;
};

const update = (id: number, body: object) => world.admin.updateUser({ id, body });

const auditOf = async (id: number) =>
  (
    await world.server.db.pool.query(
      `select operation, before, after from audit_log
       where resource_type = 'user' and resource_id = $1 order by id`,
      [String(id)],
    )
  ).rows;

const FULL = {
  firstName: 'Ada 🌙',
  title: 'Countess',
  picture: 'https://example.com/ada.png',
  settings: { theme: 'dark', panels: [{ id: 1, open: true }], ключ: null },
  tosAccepted: { version: '2026-01', at: '2026-01-02T03:04:05.678Z' },
  lastLogin: '2026-02-03T04:05:06.789Z',
};

const contextOf = async (id: number) =>
  (await world.server.db.pool.query('select embed_theme, security_context from users where id = $1', [id]))
    .rows[0];

test('an update changes the given fields and keeps the others', async () => {
  const { id, updatedAt, ...user } = await newUser();
  const full = await update(id, FULL);
  expect(full).toMatchObject({ ...user, ...FULL });
  expect(full.updatedAt! > updatedAt!).toBe(true);
  expect(await update(id, { title: 'Lady' })).toMatchObject({ ...user, ...FULL, title: 'Lady' });
  expect(await update(id, {})).toMatchObject({ ...user, ...FULL, title: 'Lady' });
});

test('null clears an optional field', async () => {
  const { id } = await newUser();
  await update(id, FULL);
  for (const field of Object.keys(FULL))
    expect(await update(id, { [field]: null })).toHaveProperty(field, null);
});

test('a theme and a security context are stored, changed separately, cleared and audited', async () => {
  const { id } = await newUser();
  const embedTheme = { primaryColor: '#36f', chat: { inputColor: null } };
  const securityContext = { customer: { id: '9007199254740993' }, regions: ['EU'] };
  await update(id, { embedTheme, securityContext });
  expect(await contextOf(id)).toEqual({ embed_theme: embedTheme, security_context: securityContext });
  await update(id, { title: 'Countess' });
  await update(id, { embedTheme: null });
  expect(await contextOf(id)).toEqual({ embed_theme: null, security_context: securityContext });
  expect((await auditOf(id)).at(-1)).toMatchObject({ before: { embedTheme }, after: { embedTheme: null } });
  await update(id, { securityContext: null });
  expect(await contextOf(id)).toEqual({ embed_theme: null, security_context: null });
});

test('a time in another time zone is shown in UTC', async () => {
  const { id } = await newUser();
  const lastLogin = async (text: string) => (await update(id, { lastLogin: text })).lastLogin;
  expect(await lastLogin('2026-02-03T04:05:06+14:00')).toBe('2026-02-02T14:05:06.000Z');
  expect(await lastLogin('0001-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000Z');
});

/** An object whose JSON has this many bytes. */
const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });

test.each(['settings', 'tosAccepted', 'embedTheme', 'securityContext'])(
  '%s takes 64 KB of JSON and no more',
  async (field) => {
    const { id } = await newUser();
    await update(id, { [field]: ofBytes(65_536) });
    await expect(update(id, { [field]: ofBytes(65_537) })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      issues: [{ path: field }],
    });
  },
);

test('null for any other field counts as not given', async () => {
  const { id } = await newUser({ roles: ['Explorer'], password: 'correct horse' });
  const before = await update(id, { notifications: ['digest'], isDeactivated: true });
  const nothing = { password: null, roles: null, isAdmin: null, isDeactivated: null, notifications: null };
  const after = await update(id, nothing);
  expect({ ...after, updatedAt: null }).toEqual({ ...before, updatedAt: null });
  expect(await passwordHashOf(id)).toMatch(/^\$argon2id\$/);
});

test('notifications are given as names and shown as an object', async () => {
  const { id, notifications } = await newUser();
  expect(notifications).toEqual({});
  const names = ['digest', 'alerts', 'digest', '__proto__', '🔔'];
  const shown = (await update(id, { notifications: names })).notifications;
  expect(Object.entries(shown).sort()).toEqual([
    ['__proto__', true],
    ['alerts', true],
    ['digest', true],
    ['🔔', true],
  ]);
  expect((await update(id, { notifications: ['alerts'] })).notifications).toEqual({ alerts: true });
  expect((await update(id, { notifications: [] })).notifications).toEqual({});
});

test('roles replaces all roles, and isAdmin then adds or removes the role Admin', async () => {
  const { id } = await newUser();
  const rolesAfter = async (body: object) => (await update(id, body)).roles;
  expect(await rolesAfter({ roles: ['Explorer', 'Developer', 'Explorer'] })).toEqual([
    'Developer',
    'Explorer',
  ]);
  expect(await rolesAfter({ isAdmin: true })).toEqual(['Admin', 'Developer', 'Explorer']);
  expect(await rolesAfter({ isAdmin: true })).toEqual(['Admin', 'Developer', 'Explorer']);
  expect(await rolesAfter({ roles: ['Viewer'] })).toEqual(['Viewer']);
  expect(await rolesAfter({ roles: ['Explorer'], isAdmin: true })).toEqual(['Admin', 'Explorer']);
  expect(await rolesAfter({ isAdmin: false })).toEqual(['Explorer']);
  expect(await rolesAfter({ roles: ['Admin', 'Viewer'], isAdmin: false })).toEqual(['Viewer']);
  expect(await rolesAfter({ roles: [] })).toEqual([]);
});

test('an unknown role is refused and changes nothing', async () => {
  const user = await newUser();
  const attempt = update(user.id, { roles: ['Explorer', 'Wizard'], firstName: 'Merlin' });
  await expect(attempt).rejects.toMatchObject({
    status: 400,
    code: 'invalid_reference',
    message: 'There is no role "Wizard".',
  });
  expect(await update(user.id, {})).toMatchObject({ roles: ['Viewer'], firstName: null });
});

test('a role that is deleted during the update is refused like an unknown role', async () => {
  const { id } = await newUser();
  const role = await world.admin.createRole({ body: { name: unique('brief'), actions: [] } });
  const deleter = await world.server.db.pool.connect();
  await deleter.query('begin');
  await deleter.query('delete from roles where id = $1', [role.id]);
  const attempt = update(id, { roles: [role.name] }).catch((error) => error);
  await expect.poll(() => countWaiting()).toBe(1);
  await deleter.query('commit');
  deleter.release();
  expect(await attempt).toMatchObject({ status: 400, code: 'invalid_reference' });
});

const countWaiting = async () =>
  Number(
    (
      await world.server.db.pool.query(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows[0].count,
  );

const passwordHashOf = async (id: number) =>
  (await world.server.db.pool.query('select password_hash from users where id = $1', [id])).rows[0]
    .password_hash as string;

test('a new password replaces the old one, is never shown, and its change is audited', async () => {
  const { id } = await newUser({ password: 'the old password' });
  const changed = await update(id, { password: 'the new password' });
  expect(await verify(await passwordHashOf(id), 'the new password')).toBe(true);
  expect(JSON.stringify([changed, await auditOf(id)])).not.toMatch(/the new password|argon2/);
  expect((await auditOf(id)).at(-1).after).toMatchObject({ password: '********' });
  await update(id, { firstName: 'Ada' });
  expect((await auditOf(id)).at(-1).after).not.toHaveProperty('password');
});

test('the audit log shows the user before and after the update', async () => {
  const { id } = await newUser();
  await update(id, { firstName: 'Ada', roles: ['Explorer'] });
  expect((await auditOf(id)).at(-1)).toMatchObject({
    operation: 'updateUser',
    before: { firstName: null, roles: ['Viewer'] },
    after: { firstName: 'Ada', roles: ['Explorer'] },
  });
});

test('the keys of a deactivated user do not work until the user is active again', async () => {
  const { client, userId } = await world.person();
  const status = () =>
    client.getMe().then(
      () => 200,
      (error) => error.status,
    );
  expect(await status()).toBe(200);
  expect(await update(userId, { isDeactivated: true })).toMatchObject({ isDeactivated: true });
  await expect.poll(status).toBe(401);
  expect(await update(userId, { isDeactivated: false })).toMatchObject({ isDeactivated: false });
  await expect.poll(status).toBe(200);
});

test('a change of roles applies to keys that are in use', async () => {
  const { client, userId } = await world.person({ roles: ['Admin'] });
  await client.listApiKeys();
  await update(userId, { isAdmin: false });
  await expect.poll(() => client.listApiKeys().catch((error) => error.status)).toBe(403);
});

test('me shows settings and accepted terms', async () => {
  const { client, userId } = await world.person();
  expect(await client.getMe()).toMatchObject({ settings: null, tosAccepted: null });
  await update(userId, FULL);
  await expect.poll(() => client.getMe()).toMatchObject(FULL);
});

test.each([
  ['a picture that is no web address', { picture: 'javascript:alert(1)' }],
  ['a short password', { password: '1234567' }],
  ['a first name of 256 characters', { firstName: 'x'.repeat(256) }],
  ['a title of 256 characters', { title: 'x'.repeat(256) }],
  ['roles that are no list', { roles: 'Admin' }],
  ['a role without a name', { roles: [''] }],
  ['a text for a boolean', { isDeactivated: 'true' }],
  ['notifications as an object', { notifications: { digest: true } }],
  ['a blank notification', { notifications: [' '] }],
  ['settings that are no object', { settings: ['dark'] }],
  ['accepted terms that are no object', { tosAccepted: true }],
  ['a theme that is no object', { embedTheme: 'dark' }],
  ['a security context that is no object', { securityContext: [] }],
  ['a last login that is no time', { lastLogin: 'yesterday' }],
  ['a last login in a leap second', { lastLogin: '2016-12-31T23:59:60Z' }],
  ['a last login in the year 0', { lastLogin: '0000-01-01T00:00:00Z' }],
  ['a username', { username: 'other' }],
  ['an email', { email: 'other@example.com' }],
  ['a field that does not exist', { nickname: 'Ada' }],
])('bad input is refused: %s', async (_, body) => {
  const user = await newUser();
  await expect(update(user.id, body)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await auditOf(user.id)).toHaveLength(1);
});

test('a user who does not exist is not found', async () => {
  const attempt = update(999_999_999, { firstName: 'Nobody', password: 'a long password' });
  await expect(attempt).rejects.toMatchObject({ status: 404, code: 'user_not_found' });
});

test('only admins can change users; users cannot change themselves', async () => {
  const { client, userId } = await world.person({ roles: ['Developer'] });
  const attempt = client.updateUser({ id: userId, body: { isAdmin: true } });
  await expect(attempt).rejects.toMatchObject({ status: 403, code: 'forbidden' });
});

test('a scoped key cannot change users', async () => {
  const { id } = await world.deployment();
  const { client, userId } = await world.person({ roles: ['Admin'], deploymentIds: [id] });
  const attempt = client.updateUser({ id: userId, body: { firstName: 'Eve' } });
  await expect(attempt).rejects.toMatchObject({ status: 403, code: 'outside_key_scope' });
});

test.each([
  [['Viewer'], {}, undefined],
  [['Viewer'], { roles: null, isAdmin: null }, undefined],
  [['Viewer'], { roles: [] }, []],
  [['Admin'], { roles: ['Viewer', 'Viewer'] }, ['Viewer']],
  [['Viewer'], { isAdmin: true }, ['Viewer', 'Admin']],
  [['Admin', 'Viewer'], { isAdmin: true }, ['Viewer', 'Admin']],
  [['Admin', 'Viewer'], { isAdmin: false }, ['Viewer']],
  [['Viewer'], { roles: ['Admin', 'Explorer'], isAdmin: false }, ['Explorer']],
])('a user with the roles %j has, after an update with %j, the roles %j', (current, asked, expected) => {
  expect(rolesOfChangedUser(current, asked)).toEqual(expected);
});

test('an update without fields writes nothing', async () => {
  const user = await newUser();
  const entries = await auditOf(user.id);
  const { updatedAt } = await world.admin.getUser({ id: user.id });
  expect(await update(user.id, {})).toMatchObject({ id: user.id, updatedAt });
  expect(await auditOf(user.id)).toEqual(entries);
  const { client, userId } = await world.person();
  const own = await auditOf(userId);
  const before = await client.getMe();
  expect(await client.updateMe({ body: {} })).toEqual(before);
  expect(await auditOf(userId)).toEqual(own);
});
