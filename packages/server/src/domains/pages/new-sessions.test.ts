/** Which sessions begin and end when a person sets a password, or signs in where somebody is signed in already. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browsing, browse, browsingPerson } from '../../../test/browsing.ts';
import { expectWaiting, holdRows } from '../../../test/hold.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const CHOSEN = { newPassword: 'chosen by the person', repeated: 'chosen by the person' };

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

/** As the app does it. */
const change = (someone: Browsing, csrf: string) =>
  someone.call('PUT', '/api/v1/users/me/password', csrf, {
    currentPassword: PASSWORD,
    newPassword: CHOSEN.newPassword,
  });

const sessionsOf = async (id: number) =>
  (await world.server.db.pool.query('select from sessions where user_id = $1', [id])).rowCount;

const linkFor = async (id: number) =>
  new URL((await world.admin.createResetLink({ id, body: {} })).url).searchParams.get('link')!;

/** The admin sets a password just after the person has, and before the reply to the person. */
async function thenByAdmin(id: number, change: () => Promise<Response>) {
  const held = await holdRows(world, 'users', [id]);
  const changed = change();
  await expectWaiting(world, 1);
  const byAdmin = world.admin.updateUser({ id, body: { password: 'chosen by the admin' } });
  await expectWaiting(world, 2);
  await held.release();
  await byAdmin;
  return changed;
}

test('a browser stays signed in with a new session after its person changes the password, and a program does not', async () => {
  const someone = await browsingPerson(world);
  const { id, email } = someone.person;
  const before = someone.headers().cookie!;
  const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
  expect((await change(someone, await someone.csrf())).status).toBe(204);
  expect(someone.headers().cookie).not.toBe(before);
  expect((await someone.get('/account')).status).toBe(200);
  const statusWith = async (headers: Record<string, string>) =>
    (await world.raw('GET', '/api/v1/users/me', { apiKey: null, headers })).status;
  await expectWithinASecond(() => statusWith({ cookie: before }), 401);
  await expectWithinASecond(() => statusWith({ authorization: `Bearer ${accessToken}` }), 401);

  const program = world.bearer(
    (await world.client().login({ body: { email, password: CHOSEN.newPassword } })).accessToken,
  );
  await program.changeMyPassword({ body: { currentPassword: CHOSEN.newPassword, newPassword: PASSWORD } });
  expect(await sessionsOf(id)).toBe(0);
});

describe('the new password of an admin ends the session that begins with', () => {
  test('a password that the person has just changed', async () => {
    const someone = await browsingPerson(world);
    const { id } = someone.person;
    const csrf = await someone.csrf();
    const { status } = await thenByAdmin(id, () => change(someone, csrf));
    expect(status).toBe(204);
    expect(await sessionsOf(id)).toBe(0);
  });

  test('a link that the person has just used', async () => {
    const { id } = await createSignable(world);
    const fields = { link: await linkFor(id), ...CHOSEN };
    const { status } = await thenByAdmin(id, () => browse(world).post('/reset-password', fields));
    expect(status).toBe(303);
    expect(await sessionsOf(id)).toBe(0);
  });
});

test('a browser whose session has just ended does not change the password, and gets no new session', async () => {
  const someone = await browsingPerson(world);
  const { id, email } = someone.person;
  const csrf = await someone.csrf();
  const held = await holdRows(world, 'users', [id]);
  const changing = change(someone, csrf);
  await held.waiting();
  await held.release('delete from sessions where user_id = any($1)');
  const response = await changing;
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
  expect(await sessionsOf(id)).toBe(0);
  await world.client().login({ body: { email, password: PASSWORD } });
});

describe('a link that is opened where another person is signed in', () => {
  const invite = async () => {
    const username = unique('invited');
    const { id, invitationUrl } = await world.admin.createUser({
      body: { username, email: `${username}@example.com` },
    });
    return { id, link: new URL(invitationUrl!).searchParams.get('link')! };
  };

  test('says who is signed in, and that they will be signed out', async () => {
    const someone = await browsingPerson(world);
    const { link } = await invite();
    const said = `You are signed in here as ${someone.person.email}.`;
    expect(await (await someone.get(`/invitation?link=${link}`)).text()).toContain(said);
    const again = await someone.post('/invitation', { link, ...CHOSEN, repeated: 'another' });
    expect(again.status).toBe(400);
    expect(await again.text()).toContain(said);
    expect(await (await browse(world).get(`/invitation?link=${link}`)).text()).not.toContain(
      'signed in here',
    );
    const own = await linkFor(someone.person.id);
    expect(await (await someone.get(`/reset-password?link=${own}`)).text()).not.toContain('signed in here');
  });

  test('ends their session on the server, and the audit log says so', async () => {
    const someone = await browsingPerson(world);
    const { cookie } = someone.headers();
    const statusBefore = async () =>
      (await world.raw('GET', '/api/v1/users/me', { apiKey: null, headers: { cookie: cookie! } })).status;
    expect(await statusBefore()).toBe(200);
    const { id, link } = await invite();
    const response = await someone.post('/invitation', { link, ...CHOSEN });
    expect(response.status).toBe(303);
    await expectWithinASecond(statusBefore, 401);
    expect(await sessionsOf(id)).toBe(1);
    const { items } = await world.admin.listAuditLog({
      resourceType: 'signIn',
      requestId: response.headers.get('x-request-id')!,
    });
    expect(items).toMatchObject([{ userId: id, after: { replaced: { userId: someone.person.id } } }]);
  });
});

test('signing in again ends the session that the browser had', async () => {
  const someone = await browsingPerson(world);
  await someone.post('/sign-in', { username: someone.person.email, password: PASSWORD });
  expect((await someone.get('/account')).status).toBe(200);
  expect(await sessionsOf(someone.person.id)).toBe(1);
});
