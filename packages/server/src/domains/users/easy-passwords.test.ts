import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { isEasyPassword } from './easy-passwords.ts';

const ADA = { username: 'ada.lovelace', email: 'ada@engines.example', firstName: 'Ada Lovelace' };

test.each([
  'password',
  'Password123!',
  'P@ssw0rd',
  '12345678',
  '1234567890',
  '87654321',
  '11223344',
  '147258369',
  'aaaaaaaa',
  'abcabcabc',
  'abcdefgh',
  '!@#$%^&*',
  '19900101',
  '31121999',
  '12311999',
  'mercedes',
  'Corvette!',
  'mustang1',
  'ginger12',
  'qwertyuiop',
  'iloveyou2',
  'Welcome2026',
  'admin-admin',
  'adalovelace',
  'Lovelace.1815',
  'ada@engines.example',
  'ada-password',
  '1990-01-01',
  '01.01.1990',
  '12-34-56-78',
  'passwords1',
  'monkeys1',
  'monkeysummer',
  'qwe123qwe',
  'asdfjkl;',
  'password12345678!',
  'welcome 31.12.1999',
  'ada@engines.example!',
  'p-a-s-s-w-o-r-d-1-2-3',
  'change-me-please-my-secret-key',
])('%s is easy to guess', (password) => {
  expect(isEasyPassword(password, ADA)).toBe(true);
});

test.each([
  PASSWORD,
  'a long password',
  'the wind in her sails',
  'adamant octopus',
  '73920561',
  'blue-tiger-coffee-guitar-monday-9417',
  '48!27abc5519#03',
  '19841332',
  'пароль на каждый день',
  '🔑📎🧭🌍🎲🎈🧩🪁',
])('%s is not refused', (password) => {
  expect(isEasyPassword(password, ADA)).toBe(false);
});

test('a very long password is judged in time that grows with its length', () => {
  expect(isEasyPassword(`${'password'.repeat(127)}-and-more`, ADA)).toBe(false);
});

describe('a password that is easy to guess is refused', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.stop());

  // None of the passwords here is in an audit entry by chance: the world searches the entries for all that were sent.
  const REFUSED = { status: 400, code: 'password_too_easy' };

  test('when a user is created', async () => {
    const username = unique('ada');
    const body = { username, email: `${username}@example.com` };
    for (const password of ['Password1', '12345678', `${username}!`]) {
      await expect(world.admin.createUser({ body: { ...body, password } })).rejects.toMatchObject({
        ...REFUSED,
        issues: [{ path: 'password' }],
      });
    }
    await expect(world.admin.createUser({ body })).resolves.toMatchObject(body);
  });

  test('when an admin sets it', async () => {
    const { id, email } = await createSignable(world);
    for (const password of ['Password1', `${email}!`]) {
      await expect(world.admin.updateUser({ id, body: { password } })).rejects.toMatchObject(REFUSED);
    }
  });

  test('when a person changes their own', async () => {
    const { email } = await createSignable(world);
    const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
    const own = world.bearer(accessToken);
    for (const newPassword of ['Password1', `${email}!`]) {
      await expect(
        own.changeMyPassword({ body: { currentPassword: PASSWORD, newPassword } }),
      ).rejects.toMatchObject(REFUSED);
    }
  });

  test('when a link sets it, and the link still works', async () => {
    const { id, email } = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id, body: {} });
    const link = new URL(url).searchParams.get('link')!;
    const set = (newPassword: string) =>
      fetch(`${world.url}/reset-password`, {
        method: 'POST',
        headers: { origin: world.url },
        body: new URLSearchParams({ link, newPassword, repeated: newPassword }),
        redirect: 'manual',
      });
    for (const password of ['Password1', `${email}!`]) {
      const response = await set(password);
      expect([response.status, response.headers.get('x-error-code')]).toEqual([400, 'password_too_easy']);
      expect(await response.text()).toContain('too easy to guess');
    }
    expect((await set('a much better one')).status).toBe(303);
  });
});
