/** Links by mail, with a real mail server. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browse } from '../../../test/browsing.ts';
import { answer, type MailServer, startMailServer } from '../../../test/mail-server.ts';
import { createSignable, logIn, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let mails: MailServer;
let refusals: Error[] = [];
beforeAll(async () => {
  mails = await startMailServer({ message: () => refusals.shift() });
  world = await createOwnWorld({
    env: { ORIEL_SMTP_URL: mails.url, ORIEL_MAIL_FROM: 'Acme Analytics <no-reply@example.com>' },
  });
});
afterAll(async () => {
  await world.stop();
  await mails.stop();
});
beforeEach(() => {
  refusals = [];
});

const NEW = 'a whole new password';
const mailsTo = (email: string) => mails.messages.filter(({ to }) => to.includes(email));
/** Waits for a number of mails to the address, and returns the newest. */
async function mailTo(email: string, count = 1) {
  await expect.poll(() => mailsTo(email).length, { timeout: 20_000 }).toBe(count);
  const { parsed, raw } = mailsTo(email).at(-1)!;
  const [link = ''] = /http\S*link=\S+/.exec(parsed.text!) ?? [];
  return { parsed, raw, link: link && new URL(link) };
}
/** Uses the link as a person does. */
async function setPassword(link: URL | '') {
  const { pathname, searchParams } = new URL(link);
  const fields = { link: searchParams.get('link')!, newPassword: NEW, repeated: NEW };
  return (await browse(world).post(pathname, fields)).status;
}
const forget = (username: string) => browse(world).post('/forgot-password', { username });
/** All jobs that were enqueued so far have ended. */
const jobsEnd = () =>
  expect
    .poll(
      async () => {
        const waiting = `select from jobs where kind like 'password-links.%' and state in ('waiting', 'running') and schedule is null`;
        return (await world.server.db.pool.query(waiting)).rowCount;
      },
      { timeout: 20_000 },
    )
    .toBe(0);
const addressOf = () => `${unique('person')}@example.com`;

test('an invitation is mailed to a new user, in words and with a link that works once', async () => {
  const body = { username: unique('invited'), email: addressOf(), firstName: '<b>Ann</b>' };
  const { invitationUrl } = await world.admin.createUser({ body });
  const { parsed, raw, link } = await mailTo(body.email);
  expect(parsed).toMatchObject({
    subject: 'Your invitation to Acme Analytics',
    from: { name: 'Acme Analytics', address: 'no-reply@example.com' },
  });
  expect(raw).toContain('Auto-Submitted: auto-generated');
  expect(parsed.html).toContain('&lt;b&gt;Ann&lt;/b&gt;');
  expect(String(link)).toBe(invitationUrl);
  expect(await setPassword(link)).toBe(303);
  expect(await setPassword(link)).toBe(400);
  await expect(logIn(world, body, NEW)).resolves.toBeTruthy();
  await jobsEnd();
  // Then nobody but the recipient has it.
  const { rows } = await world.server.db.pool.query(
    'select mail_secret from password_links where mail_secret is not null',
  );
  expect(rows).toEqual([]);
});

test('a user with a password is not invited, and a link of an admin is mailed too', async () => {
  const person = await createSignable(world);
  const { url } = await world.admin.createResetLink({ id: person.id, body: {} });
  const { parsed, link } = await mailTo(person.email);
  expect(parsed.subject).toBe('Set a new password for Acme Analytics');
  expect(String(link)).toBe(url);
});

test('of a change that is rolled back, nothing is mailed', async () => {
  const body = { username: unique('twice'), email: addressOf() };
  await world.admin.createUser({ body });
  await mailTo(body.email);
  await expect(world.admin.createUser({ body })).rejects.toMatchObject({ status: 409 });
  await jobsEnd();
  expect(mailsTo(body.email)).toHaveLength(1);
});

test('a mail that is refused for now is sent again, and one that is refused for good is not', async () => {
  refusals = [answer(451, 'Try later')];
  const [later, never] = [await createSignable(world), await createSignable(world)];
  await world.admin.createResetLink({ id: later.id, body: {} });
  await mailTo(later.email);
  refusals = [answer(550, 'No such user')];
  await world.admin.createResetLink({ id: never.id, body: {} });
  await jobsEnd();
  expect(mailsTo(never.email)).toEqual([]);
}, 60_000);

describe('who has forgotten their password', () => {
  test('asks on the sign-in page, gets a link, and sets a new one with it', async () => {
    expect(await (await browse(world).get('/sign-in')).text()).toContain('href="/forgot-password"');
    const person = await createSignable(world);
    const asked = await forget(` ${person.email.toUpperCase()} `);
    const { headers, status } = asked;
    expect([status, headers.get('location')]).toEqual([303, '/forgot-password?notice=sent']);
    expect(await (await browse(world).get('/forgot-password?notice=sent')).text()).toContain('is on its way');
    const { link } = await mailTo(person.email);
    await expect(logIn(world, person, PASSWORD)).resolves.toBeTruthy();
    expect(await setPassword(link)).toBe(303);
    await expect(logIn(world, person, NEW)).resolves.toBeTruthy();
    const { items } = await world.admin.listAuditLog({ resourceType: 'forgottenPassword' });
    expect(items).toContainEqual(expect.objectContaining({ resourceId: String(person.id), userId: null }));
  });

  test('gets the same answer as for a name that nobody has, and both leave one job', async () => {
    const person = await createSignable(world);
    const count = async () =>
      Number(
        (
          await world.server.db.pool.query(
            "select count(*) from jobs where kind = 'password-links.forgotten'",
          )
        ).rows[0].count,
      );
    const answers: unknown[] = [];
    for (const name of [person.username, unique('nobody')]) {
      const before = await count();
      const response = await forget(name);
      const { status, headers } = response;
      answers.push([status, headers.get('location'), await response.text(), (await count()) - before]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]).toEqual([303, '/forgot-password?notice=sent', '', 1]);
  });

  test('keeps the link that was mailed, however often somebody asks', async () => {
    const person = await createSignable(world);
    await forget(person.email);
    const { link } = await mailTo(person.email);
    for (let i = 0; i < 4; i++) expect((await forget(person.email)).status).toBe(303);
    await jobsEnd();
    expect(mailsTo(person.email)).toHaveLength(1);
    expect(await setPassword(link)).toBe(303);
  });

  test('and has a link that is older gets a new one, and an invitation stays one for as long as before', async () => {
    const body = { username: unique('invited'), email: addressOf(), invitationExpiresInSeconds: 864_000 };
    const { id } = await world.admin.createUser({ body });
    await mailTo(body.email);
    await world.server.db.pool.query(
      "update password_links set created_at = now() - interval '1 hour' where user_id = $1",
      [id],
    );
    await forget(body.username);
    const { parsed, link } = await mailTo(body.email, 2);
    expect(parsed.subject).toMatch('invitation');
    const { rows } = await world.server.db.pool.query(
      "select expires_at > now() + interval '9 days' as long from password_links where user_id = $1",
      [id],
    );
    expect(rows).toEqual([{ long: true }]);
    expect(await setPassword(link)).toBe(303);
  });

  test('and never had one is told so, and is deactivated gets nothing', async () => {
    const [without, gone] = [await createSignable(world), await createSignable(world)];
    await world.server.db.pool.query('update users set password_hash = null where id = $1', [without.id]);
    await world.admin.updateUser({ id: gone.id, body: { isDeactivated: true } });
    await forget(gone.email);
    await forget(without.email);
    const { parsed, link } = await mailTo(without.email);
    expect([parsed.subject, link]).toEqual(['Your account at Acme Analytics has no password', '']);
    await jobsEnd();
    expect(mailsTo(gone.email)).toEqual([]);
  });

  test('may not ask for ever', async () => {
    const own = await world.anotherServer();
    try {
      const ask = () =>
        fetch(`${own.url}/forgot-password`, {
          method: 'POST',
          redirect: 'manual',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'text/html',
            origin: own.url,
          },
          body: `username=${unique('nobody')}`,
        });
      for (let i = 0; i < 20; i++) expect((await ask()).status).toBe(303);
      const refused = await ask();
      expect(refused.status).toBe(429);
      expect(await refused.text()).toContain('too many attempts from your network');
    } finally {
      await own.stop();
    }
  });
});

test('without mail, the page says to ask an admin, and asking does nothing', async () => {
  const plain = await createWorld();
  expect(await (await browse(plain).get('/sign-in')).text()).toContain('Ask an admin of your team');
  expect(await (await browse(plain).get('/forgot-password?notice=sent')).text()).toContain(
    'Ask an admin of your team',
  );
  const { headers } = await browse(plain).post('/forgot-password', { username: 'admin' });
  expect(headers.get('location')).toBe('/forgot-password');
});
