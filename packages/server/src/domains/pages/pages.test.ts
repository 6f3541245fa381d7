/** What single requests to the pages get. `browser.system.ts` uses them as people do. */
import { allOperations, replyKindOf } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browse, browsingPerson } from '../../../test/browsing.ts';
import { createSignable, PASSWORD, statusWith } from '../../../test/sign-in.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  // Counts of wrong passwords belong to a server.
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('the start is the account for browsers, and the API reference for others', async () => {
  expect((await browse(world).get('/')).headers.get('location')).toBe('/sign-in');
  const { headers } = await world.raw('GET', '/', { apiKey: null, redirect: 'manual' });
  expect(headers.get('location')).toBe('/docs');
});

describe('an address without an operation', () => {
  const typeAt = async (path: string, accept?: string, method = 'GET') => {
    const response = await world.raw(method, path, { apiKey: null, headers: accept ? { accept } : {} });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    };
  };
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const HTML = 'text/html; charset=utf-8';
  const JSON_TYPE = 'application/json; charset=utf-8';

  test('is a page for a browser', async () => {
    const { text, ...answer } = await typeAt('/no/such/page', BROWSER);
    expect(answer).toEqual({ status: 404, type: HTML });
    expect(text).toContain('There is no page at this address.');
    expect(text).toMatch(/<a [^>]*href="\/">Go to the start page<\/a>/);
    expect(await typeAt('/sign-out', BROWSER)).toMatchObject({ status: 405, type: HTML });
  });

  test.each([
    undefined,
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html',
  ])('is JSON for who accepts %s', async (accept) => {
    expect(await typeAt('/no/such/page', accept)).toMatchObject({ status: 404, type: JSON_TYPE });
  });

  test('has the form of SCIM below its address, whoever asks', async () => {
    expect((await typeAt('/api/scim/v2/nothing', BROWSER)).type).toContain('application/scim+json');
  });
});

describe('every page', () => {
  const pages = allOperations.filter((op) => replyKindOf(op)?.kind === 'html' && op.tag === 'Pages');

  test.each(pages.map(({ id, path }) => [id, path]))('%s is safe to show', async (_id, path) => {
    for (const visitor of [browse(world), await browsingPerson(world)]) {
      const { status, headers } = await visitor.get(path);
      // A person who is signed in does not see the form to sign in.
      if (status === 303) continue;
      const policy = headers.get('content-security-policy')!.split('; ');
      for (const name of ['default-src', 'frame-ancestors', 'base-uri'])
        expect(policy).toContain(`${name} 'none'`);
      expect(policy).toEqual(expect.arrayContaining(["style-src 'self'", "form-action 'self'"]));
      expect(policy.join()).not.toMatch(/unsafe|\*|https?:/);
      // Only the app has scripts; `app-pages.test.ts` says which.
      if (!/^\/(account$|d\/|$)/.test(path)) expect(policy.join()).not.toContain('script');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test('loads a stylesheet and an icon that browsers may keep', async () => {
    const text = await (await browse(world).get('/sign-in')).text();
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!);
    expect(new Set(files).size).toBe(2);
    for (const file of files) {
      const { status, headers } = await browse(world).get(file);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
    expect((await browse(world).get('/assets/style-0000000000000000.css')).status).toBe(404);
  });
});

describe('signing in', () => {
  test('goes to the page that was asked for, but never to another site', async () => {
    const { email } = await createSignable(world);
    const after = async (next: string) =>
      (await browse(world).post('/sign-in', { username: email, password: PASSWORD, next })).headers.get(
        'location',
      );
    expect(await after('/device?user_code=WDJB-MJHT')).toBe('/device?user_code=WDJB-MJHT');
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/.//evil.example'])
      expect(await after(next)).toBe('/');
  });

  test('is not needed twice: whoever is signed in goes on', async () => {
    const someone = await browsingPerson(world);
    const after = async (path: string) => {
      const { status, headers } = await someone.get(path);
      return [status, headers.get('location')];
    };
    expect(await after('/sign-in')).toEqual([303, '/']);
    expect(await after('/sign-in?next=%2Fdevice')).toEqual([303, '/device']);
    expect(await after('/sign-in?next=%2F%2Fevil.example')).toEqual([303, '/']);
    await world.server.db.pool.query('delete from sessions');
    expect(await after('/sign-in')).toEqual([200, null]);
  });

  test('is offered where a page needs it, and leads back there', async () => {
    const response = await browse(world).get('/device?user_code=%22%3E%3Cscript%3E');
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('name="next" value="/device?user_code=%22%3E%3Cscript%3E"');
  });

  test('shows what was typed as text, whatever it is', async () => {
    const username = `"><script>alert(1)</script><input value="`;
    const response = await browse(world).post('/sign-in', { username, password: 'x' });
    expect([response.status, response.headers.get('x-error-code')]).toEqual([401, 'sign_in_failed']);
    const text = await response.text();
    expect(text).not.toContain('<script');
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(text).not.toContain('value="x"');
  });

  test('says after too many wrong passwords when to try again', async () => {
    const { email } = await createSignable(world);
    const attempt = () => browse(world).post('/sign-in', { username: email, password: 'wrong' });
    for (let i = 0; i < 10; i++) expect((await attempt()).status).toBe(401);
    const response = await attempt();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    const text = await response.text();
    expect(text).toMatch(/Try again in 1[45] minutes\./);
    expect(text).toContain(`value="${email}"`);
  });

  test.each(['https://evil.example', 'null', ''])('is refused to a form of %j', async (origin) => {
    const { email } = await createSignable(world);
    const visitor = browse(world);
    const response = await visitor.post('/sign-in', { username: email, password: PASSWORD }, { origin });
    expect(response.status).toBe(403);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });
});

describe('the forms of a person who is signed in', () => {
  const FORMS: [string, Record<string, string>][] = [
    ['/sign-out', {}],
    ['/device', { userCode: 'WDJB-MJHT', answer: 'approve' }],
  ];

  test.each(FORMS)('%s needs the token of the session, and the right origin', async (path, fields) => {
    const someone = await browsingPerson(world);
    const csrf = await someone.csrf();
    const foreign = await (await browsingPerson(world)).csrf();
    for (const [given, origin] of [
      ['', world.url],
      [foreign, world.url],
      [csrf, 'https://evil.example'],
    ] as const) {
      const response = await someone.post(path, { ...fields, csrf: given }, { origin });
      expect([response.status, response.headers.get('x-error-code')]).toEqual([403, 'forbidden']);
    }
    expect((await someone.get('/account')).status).toBe(200);
    expect(
      (await world.client().login({ body: { email: someone.person.email, password: PASSWORD } })).accessToken,
    ).toBeTruthy();
  });
});

describe('links', () => {
  test.each(['/invitation', '/reset-password'])(
    '%s without a link that works says how to get one',
    async (path) => {
      for (const link of ['', '?link=', '?link=oriel_link_made-up', `?link=${'x'.repeat(255)}`]) {
        const response = await browse(world).get(path + link);
        expect([response.status, response.headers.get('x-error-code')]).toEqual([400, 'link_not_valid']);
        expect(await response.text()).toMatch(/ask (an admin|the person who invited you)/);
      }
    },
  );

  test('a short password, or one that is repeated wrongly, does not use the link up', async () => {
    const person = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id: person.id, body: {} });
    const link = new URL(url).searchParams.get('link')!;
    const visitor = browse(world);
    const set = (newPassword: string, repeated: string) =>
      visitor.post('/reset-password', { link, newPassword, repeated });
    for (const [typed, repeated, code] of [
      ['short', 'short', 'password_too_short'],
      ['long enough', 'long enouhg', 'passwords_differ'],
    ] as const) {
      const response = await set(typed, repeated);
      expect([response.status, response.headers.get('x-error-code')]).toEqual([400, code]);
      expect(await response.text()).not.toContain(typed);
    }
    expect((await set('long enough', 'long enough')).status).toBe(303);
    expect((await visitor.get('/account')).status).toBe(200);
    expect((await set('and once more', 'and once more')).headers.get('x-error-code')).toBe('link_not_valid');
    const { accessToken } = await world
      .client()
      .login({ body: { email: person.email, password: 'long enough' } });
    expect(await statusWith(world.url, accessToken)).toBe(200);
  });

  test('a link that is cut off or missing is called incomplete, and a used one is not', async () => {
    const person = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id: person.id, body: {} });
    await world.admin.createResetLink({ id: person.id, body: {} });
    const link = new URL(url).searchParams.get('link')!;
    const titleOf = async (path: string) =>
      /<h1>(.*)<\/h1>/.exec(await (await browse(world).get(path)).text())?.[1];
    const [whole, missing] = ['This link no longer works', 'This link is not complete'];
    expect(await titleOf(`/reset-password?link=${link}`)).toBe(whole);
    expect(await titleOf(`/reset-password?link=${link.slice(0, -1)}`)).toBe(missing);
    expect(await titleOf('/invitation')).toBe(missing);
  });

  test('a password that is set by a link is in the audit log as a change by the person', async () => {
    const person = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id: person.id, body: {} });
    const link = new URL(url).searchParams.get('link')!;
    await browse(world).post('/reset-password', {
      link,
      newPassword: 'long enough',
      repeated: 'long enough',
    });
    const { items } = await world.admin.listAuditLog({
      operation: 'resetPasswordByForm',
      actorId: person.id,
    });
    expect(items.filter(({ resourceType }) => resourceType === 'user')).toMatchObject([
      {
        resourceId: String(person.id),
        userId: person.id,
        apiKeyId: null,
        after: { password: expect.any(String) },
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('long enough');
  });
});
