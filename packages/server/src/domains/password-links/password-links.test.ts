import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, logIn, PASSWORD, signedIn, statusWith } from '../../../test/sign-in.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, SECRET_KEY, unique, type World } from '../../../test/world.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createPasswordLinks, type PasswordLinks } from './index.ts';

let world: World;
/** What the pages use. */
let page: PasswordLinks;
beforeAll(async () => {
  world = await createWorld();
  page = createPasswordLinks({
    keys: createKeyring([SECRET_KEY]).keysFor('password links'),
    publicUrl: world.url,
  });
});
afterAll(() => world.stop());

const NEW = 'a new password';
const secretIn = (url: string) => new URL(url).searchParams.get('link')!;
async function setPassword(link: string, password = NEW) {
  const set = await page.preparePassword(world.server.db, { link, password, ip: '127.0.0.1' });
  return world.server.db.transaction(set);
}
const find = (link: string) => page.find(world.server.db, link);
const resetLink = async (id: number, body = {}) =>
  secretIn((await world.admin.createResetLink({ id, body })).url);
const NOT_VALID = { code: 'link_not_valid', statusCode: 400 };

test('a reset link sets the password once, and ends all sessions', async () => {
  const person = await signedIn(world);
  const { url, expiresAt } = await world.admin.createResetLink({ id: person.id, body: {} });
  expect(url).toMatch(new RegExp(`^${world.url}/reset-password\\?link=oriel_link_`));
  const lives = Date.parse(expiresAt) - Date.now();
  expect(lives > 3500_000 && lives < 3700_000).toBe(true);
  const link = secretIn(url);
  expect(await find(link)).toMatchObject({ userId: person.id, kind: 'reset', email: person.email });
  expect(await statusWith(world.url, person.accessToken)).toBe(200);
  await setPassword(link);
  await expectWithinASecond(() => statusWith(world.url, person.accessToken), 401);
  await expect(logIn(world, person)).rejects.toMatchObject({ status: 401 });
  await expect(logIn(world, person, NEW)).resolves.toBeTruthy();
  await expect(setPassword(link, 'yet another one')).rejects.toMatchObject(NOT_VALID);
  await expect(find(link)).rejects.toMatchObject(NOT_VALID);
});

test('a user who is created without a password gets an invitation, and sets one with it', async () => {
  const username = unique('invited');
  const body = { username, email: `${username}@example.com` };
  const { id, email, invitationUrl } = await world.admin.createUser({ body });
  expect(invitationUrl).toMatch(new RegExp(`^${world.url}/invitation\\?link=oriel_link_`));
  const link = secretIn(invitationUrl!);
  expect(await find(link)).toMatchObject({ userId: id, kind: 'invitation', username });
  await setPassword(link);
  await expect(logIn(world, { email }, NEW)).resolves.toBeTruthy();
  await expect(setPassword(link)).rejects.toMatchObject(NOT_VALID);
});

test('an invitation lives as long as asked, and a user with a password gets none', async () => {
  const user = () => ({ username: unique('invited'), email: `${unique('invited')}@example.com` });
  const { id } = await world.admin.createUser({ body: { ...user(), invitationExpiresInSeconds: 86_400 } });
  const { rows } = await world.server.db.pool.query(
    'select extract(epoch from expires_at - created_at)::int as seconds from password_links where user_id = $1',
    [id],
  );
  expect(rows).toEqual([{ seconds: 86_400 }]);
  const { invitationUrl } = await world.admin.createUser({ body: { ...user(), password: PASSWORD } });
  expect(invitationUrl).toBeNull();
  const both = { ...user(), password: PASSWORD, invitationExpiresInSeconds: 60 };
  await expect(world.admin.createUser({ body: both })).rejects.toMatchObject({ status: 400 });
});

test('of two who use a link at once, one sets the password', async () => {
  const person = await createSignable(world);
  const link = await resetLink(person.id);
  // Opens connections, so that both look at the link before one of them has used it.
  await Promise.all([1, 2, 3, 4].map(() => find(link)));
  const passwords = ['the first password', 'the second password'];
  const outcomes = await Promise.allSettled(passwords.map((password) => setPassword(link, password)));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const set = passwords[outcomes.findIndex(({ status }) => status === 'fulfilled')]!;
  await expect(logIn(world, person, set)).resolves.toBeTruthy();
});

describe('a link does not work', () => {
  const ways: [string, (id: number, link: string) => Promise<unknown>][] = [
    ['after a newer one was made', (id) => resetLink(id)],
    [
      'after the password was changed in another way',
      (id) => world.admin.updateUser({ id, body: { password: 'another password' } }),
    ],
    ['after the user was deactivated', (id) => world.admin.updateUser({ id, body: { isDeactivated: true } })],
    [
      'even if they are activated again',
      async (id) => {
        await world.admin.updateUser({ id, body: { isDeactivated: true } });
        await world.admin.updateUser({ id, body: { isDeactivated: false } });
      },
    ],
    ['after the user was deleted', (id) => world.admin.deleteUser({ id })],
    [
      'after its time',
      () => world.server.db.pool.query("update password_links set expires_at = now() - interval '1 second'"),
    ],
  ];
  test.each(ways)('%s', async (_, end) => {
    const { id } = await createSignable(world);
    const link = await resetLink(id);
    await end(id, link);
    await expect(find(link)).rejects.toMatchObject(NOT_VALID);
    await expect(setPassword(link)).rejects.toMatchObject(NOT_VALID);
  });

  test.each([
    ['nothing', () => ''],
    ['another text', () => 'oriel_link_1.x'],
    ['the link of another user', (link: string) => link.replace(/_\d+\./, '_1.')],
    ['another last letter', (link: string) => link.slice(0, -1) + (link.endsWith('A') ? 'B' : 'A')],
  ])('as %s', async (_, made) => {
    const link = await resetLink((await createSignable(world)).id);
    await expect(setPassword(made(link))).rejects.toMatchObject(NOT_VALID);
    await expect(find(link)).resolves.toBeTruthy();
  });
});

test('a link lives as long as asked', async () => {
  const { id } = await createSignable(world);
  const { expiresAt } = await world.admin.createResetLink({ id, body: { expiresInSeconds: 86_400 } });
  expect(Math.abs(Date.parse(expiresAt) - Date.now() - 86_400_000)).toBeLessThan(600_000);
  for (const expiresInSeconds of [59, 2_592_001, 1.5]) {
    await expect(world.admin.createResetLink({ id, body: { expiresInSeconds } })).rejects.toMatchObject({
      status: 400,
    });
  }
});

test('only admins make links, only for active people', async () => {
  const { id } = await createSignable(world);
  const developer = await world.person({ roles: ['Developer'] });
  await expect(developer.client.createResetLink({ id, body: {} })).rejects.toMatchObject({ status: 403 });
  const { id: deploymentId } = await world.deployment();
  const externalId = unique('viewer');
  await world.embedded({ deploymentId, externalId });
  const { rows } = await world.server.db.pool.query('select id from users where external_id = $1', [
    externalId,
  ]);
  for (const missing of [Number(rows[0].id), 999_999_999]) {
    const attempt = world.admin.createResetLink({ id: missing, body: {} });
    await expect(attempt).rejects.toMatchObject({ status: 404, code: 'user_not_found' });
  }
  await world.admin.updateUser({ id, body: { isDeactivated: true } });
  const attempt = world.admin.createResetLink({ id, body: {} });
  await expect(attempt).rejects.toMatchObject({ status: 409, code: 'user_deactivated' });
});

test('a link that is made while the user is deactivated does not come into being', async () => {
  const { id } = await createSignable(world);
  const { pool } = world.server.db;
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('update users set is_deactivated = true where id = $1', [id]);
    const making = world.admin.createResetLink({ id, body: {} }).catch((error) => error);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await client.query('commit');
    expect(await making).toMatchObject({ status: 409, code: 'user_deactivated' });
  } finally {
    client.release();
  }
});

test('until the link is used, the old password works', async () => {
  const person = await createSignable(world);
  await resetLink(person.id);
  await expect(logIn(world, person, PASSWORD)).resolves.toBeTruthy();
});
