/** `@oriel/viewer/embed` and `@oriel/viewer/react` in pages of a host, in a real browser. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIST, frameOf, radiusIn, type SdkHost, startSdkHost, statusIn } from './sdk-host.ts';

let host: SdkHost;
beforeAll(async () => {
  host = await startSdkHost();
});
afterAll(() => host?.stop());

const open: SdkHost['open'] = (...given) => host.open(...given);
const mint: SdkHost['mint'] = (tenant) => host.mint(tenant);

describe('the element', () => {
  test('shows two customers on one page, each with their own session and events', async () => {
    const opened = await open();
    const [one, two] = await Promise.all([mint('one-corp'), mint('two-corp')]);
    await opened.run(
      `document.body.append(make('one', { session: '${one}' }), make('two', { session: '${two}', theme: 'dark' }))`,
    );
    await opened.heard('one', 'dashboard-loaded');
    await opened.heard('two', 'dashboard-loaded');
    expect(await opened.events('one', 'ready')).toMatchObject([{ embedTenant: 'one-corp' }]);
    expect(await opened.events('two', 'ready')).toMatchObject([{ embedTenant: 'two-corp' }]);
    expect(await (await frameOf(opened, 'one')).locator('html').getAttribute('data-scheme')).toBe('light');
    expect(await (await frameOf(opened, 'two')).locator('html').getAttribute('data-scheme')).toBe('dark');
    // A fragment is never sent.
    for (const url of opened.requests) expect(url.split('#')[0]).not.toMatch(/session=/);
    expect(
      await (await frameOf(opened, 'one')).getByRole('heading', { name: 'Orders by name' }).count(),
    ).toBe(1);
    expect(await opened.run(`document.getElementById('one').shadowRoot.querySelector('iframe').title`)).toBe(
      'Shop',
    );
    expect(opened.errors).toEqual([]);
    await host.world.admin.revokeEmbedSessions({ body: { embedTenantName: 'one-corp' } });
    expect(await opened.heard('one', 'session-expired')).toEqual({ reason: 'revoked' });
    // Nothing of what the viewer saw is left.
    expect(await (await frameOf(opened, 'one')).locator('body').innerText()).toBe(
      'This session has ended\n\nReload the whole page to continue.',
    );
    expect(await opened.events('two', 'session-expired')).toEqual([]);
    await opened.run(`document.getElementById('one').renew('${await mint('one-corp')}')`);
    await opened.heard('one', 'dashboard-loaded', 2);
    await opened.context.close();
  });

  test('takes its attributes in any order, before and after it is in the page, and makes one frame', async () => {
    const opened = await open();
    await opened.run(`{
      const early = document.createElement('div');
      early.innerHTML = '<oriel-dashboard id="html" public-id="tabular" locale="de"></oriel-dashboard>';
      document.body.append(early);
      listen(early.firstChild);
    }`);
    expect(opened.frames()).toEqual([]);
    await opened.run(`{
      const element = document.getElementById('html');
      element.setAttribute('allow-export', '');
      element.setAttribute('session', '${await mint('html-corp')}');
      element.setAttribute('base-url', baseUrl + '/');
      element.setAttribute('filters', '{"sales.status":{"value":["done"]}}');
    }`);
    await opened.heard('html', 'dashboard-loaded');
    const frame = await frameOf(opened, 'html');
    await frame.getByText('Gruppieren nach').waitFor();
    expect(await frame.getByRole('button', { name: /Status/ }).innerText()).toContain('done');
    expect(opened.requests.filter((url) => url.includes('/embed/dashboard/tabular?'))).toHaveLength(1);
    // Without a callback for sessions, the host is told.
    await opened.run(`document.body.append(make('none'))`);
    expect(await opened.heard('none', 'session-needed')).toEqual({});
    await opened.run(`document.getElementById('none').session = '${await mint('none-corp')}'`);
    await opened.heard('none', 'dashboard-loaded');
    for (const [name, baseUrl] of [
      ['script', 'javascript:alert(1)'],
      ['files', 'ftp://example.com'],
    ]) {
      await opened.run(`document.body.append(make('${name}', { baseUrl: '${baseUrl}' }))`);
      expect(await opened.heard(name!, 'error')).toMatchObject({
        code: 'invalid_base_url',
        message: expect.stringContaining('it must begin with https:// or http://'),
      });
    }
    await opened.context.close();
  });

  test('says what a developer can mend: no address, no answer, filters and sessions of another form', async () => {
    const opened = await open('/', (context) => context.clock.install());
    const warnings: string[] = [];
    opened.page.on('console', (message) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    await opened.run(`document.body.append(
      make('nowhere', { baseUrl: null }),
      make('silent', { baseUrl: location.origin + '/nothing-here', session: 'x' }),
      make('object', { getSession: () => ({ sessionId: 'x' }) }),
      make('json', { getSession: () => '{"sessionId":"x"}' }),
    )`);
    for (const name of ['object', 'json'])
      expect(await opened.heard(name, 'error')).toMatchObject({
        message: 'getSession failed: it must return the text of a sessionId',
      });
    await opened.run(`{
      const element = make('filtered');
      element.setAttribute('filters', '{sales.status: done}');
    }`);
    expect(await opened.heard('filtered', 'error')).toMatchObject({ code: 'invalid_filters' });
    expect(await opened.events('silent', 'error')).toEqual([]);
    await opened.page.clock.fastForward(16_000);
    expect(await opened.heard('nowhere', 'error')).toMatchObject({ code: 'no_address' });
    expect(await opened.heard('silent', 'error')).toMatchObject({ code: 'no_answer', fatal: false });
    expect(warnings.join()).toContain('embedAllowedOrigins');
    await opened.context.close();
  });

  test('works if its properties were set before its script was loaded', async () => {
    const opened = await open();
    // The same as an element that is upgraded: its own properties hide those of the class.
    await opened.run(`{
      const element = document.createElement('oriel-dashboard');
      const own = { baseUrl, publicId: 'tabular', getSession: sessionFor('upgraded-corp') };
      for (const [name, value] of Object.entries(own))
        Object.defineProperty(element, name, { value, writable: true, configurable: true, enumerable: true });
      element.id = 'upgraded';
      listen(element);
      document.body.append(element);
    }`);
    expect(await opened.heard('upgraded', 'ready')).toMatchObject({ embedTenant: 'upgraded-corp' });
    await opened.context.close();
  });

  test('asks for its first session, gets another one if it is moved, and is gone if it is removed', async () => {
    const opened = await open();
    await opened.run(`document.body.append(make('moved', { getSession: sessionFor('moved-corp') }))`);
    await opened.heard('moved', 'dashboard-loaded');
    expect(await opened.run('calls')).toEqual(['moved-corp']);
    await opened.run(`document.querySelector('main').append(document.getElementById('moved'))`);
    await opened.heard('moved', 'dashboard-loaded', 2);
    expect(await opened.run('calls')).toHaveLength(2);
    await expect.poll(() => opened.frames().length).toBe(1);
    await opened.run(`window.kept = document.getElementById('moved'); kept.remove()`);
    await expect.poll(() => opened.frames().length).toBe(0);
    await opened.run(`kept.setLocale('de'); kept.refresh(); kept.navigate('/embed/dashboard/graphical')`);
    expect(await opened.run('kept.shadowRoot.childElementCount')).toBe(0);
    expect(await opened.run('calls')).toHaveLength(2);
    expect(await opened.events('moved', 'session-needed')).toEqual([]);
    expect(opened.errors).toEqual([]);
    await opened.context.close();
  });

  test('gets a fresh session before the old one ends, with one call at a time, and says if that fails', async () => {
    // The page asks five minutes before the end.
    const shorten = async (route: Route) => {
      const response = await route.fetch();
      const expiresAt = new Date(Date.now() + 301_000).toISOString();
      return route.fulfill({ response, json: { ...(await response.json()), expiresAt } });
    };
    const opened = await open('/', (context) =>
      context.route(/\/api\/v1\/embed\/session$/, shorten, { times: 1 }),
    );
    await opened.run(`window.failAt = 2;
      document.body.append(make('renewed', { getSession: sessionFor('renewed-corp') }))`);
    await opened.heard('renewed', 'ready');
    expect(await opened.heard('renewed', 'error')).toMatchObject({
      code: 'get_session_failed',
      message: 'getSession failed: no session today',
      fatal: false,
    });
    const exchanges = () => opened.requests.filter((url) => url.endsWith('/session/token')).length;
    await expect.poll(exchanges).toBe(2);
    expect(await opened.run('calls')).toHaveLength(3);
    // Nothing was drawn again.
    expect(await opened.events('renewed', 'view')).toHaveLength(1);
    // Calls at the same time are one.
    await opened.run(`{
      const element = document.getElementById('renewed');
      Promise.all([element.renew(), element.renew()]);
    }`);
    await expect.poll(exchanges).toBe(3);
    expect(await opened.run('calls')).toHaveLength(4);
    await opened.context.close();
  });

  test('asks again if a session is refused', async () => {
    const opened = await open();
    const used = await mint('used-corp');
    await host.world.client().postTokenBySessionId({ body: { sessionId: used } });
    await opened.run(
      `document.body.append(make('used', { session: '${used}', getSession: sessionFor('used-corp') }))`,
    );
    expect(await opened.heard('used', 'error')).toMatchObject({ code: 'invalid_session' });
    await opened.heard('used', 'dashboard-loaded');
    expect(await opened.run('calls')).toEqual(['used-corp']);
    await opened.context.close();
  });

  test('waits longer and longer before it asks again, and not at all once it is removed', async () => {
    const opened = await open('/', (context) => context.clock.install());
    const { clock } = opened.page;
    // From here on, time stands still unless it is told to go on.
    await clock.pauseAt(Date.now() + 60_000);
    await opened.run(`window.needed = 0;
      addEventListener('message', ({ data }) => { window.needed += data?.type === 'oriel:event:session-needed' });
      const refused = { calls: 0 }, failing = { calls: 0 };
      Object.assign(window, { refused, failing });
      document.body.append(
        make('failing', { getSession: () => { failing.calls++; throw new Error('no session today') } }),
        make('refused', { getSession: () => { refused.calls++; return '1.garbage' } }))`);
    const calls = () => opened.run('[failing.calls, refused.calls]');
    let count = 1;
    for (const pauseMs of [1000, 2000, 5000, 10_000, 30_000, 30_000]) {
      // Each frame says at first that it has no session, and one of them says so after each refusal.
      await expect.poll(() => opened.run('needed')).toBe(2 + count);
      await clock.runFor(pauseMs - 1);
      expect(await calls()).toEqual([count, count]);
      await clock.runFor(1);
      count++;
      await expect.poll(calls).toEqual([count, count]);
      await opened.heard('failing', 'error', count);
    }
    await opened.run(
      `document.getElementById('failing').remove(); document.getElementById('refused').remove()`,
    );
    await clock.runFor(120_000);
    expect(await calls()).toEqual([count, count]);
    await opened.context.close();
  });

  test('keeps all digits of large numbers, in rows and in filters', async () => {
    const opened = await open();
    const tenants = `{"sales.tenant_id":{"value":[9007199254740993]}}`;
    await opened.run(`{
      const element = make('large', { publicId: 'large', getSession: sessionFor('large-corp') });
      element.setAttribute('filters', '${tenants}');
      document.body.append(element);
    }`);
    await opened.heard('large', 'dashboard-loaded');
    const frame = await frameOf(opened, 'large');
    const rows = async () =>
      (await frame.getByRole('row').allInnerTexts()).slice(1).map((text) => text.split(/\s+/));
    const [bob, cyd] = ['Bob', 'Cyd'].map((name) => [name, '9007199254740993']);
    expect(await rows()).toEqual([bob, cyd]);
    const between = `{"sales.tenant_id":{"operator":"between","value":[9007199254740990,9007199254740992]}}`;
    await opened.run(`document.getElementById('large').setAttribute('filters', '${between}')`);
    await expect.poll(rows).toEqual([['Ada', '9007199254740992']]);
    const path = `/embed/dashboard/large?f_sales.tenant_id=${encodeURIComponent('{"value":9007199254740993}')}`;
    await opened.run(`document.getElementById('large').navigate('${path}')`);
    await expect.poll(rows).toEqual([bob, cyd]);
    await opened.context.close();
  });

  test('changes what its page shows', async () => {
    const opened = await open();
    // Calls before the page is ready are queued until it listens.
    await opened.run(`{
      const element = make('told', { getSession: sessionFor('told-corp') });
      document.body.append(element);
      element.setTheme({ primaryColor: '#ff6600', borderRadius: 3 });
      element.setFilter('sales.status', { value: ['done'] });
    }`);
    await opened.heard('told', 'dashboard-loaded');
    const frame = await frameOf(opened, 'told');
    await expect.poll(radiusIn(frame)).toBe('3px');
    await expect.poll(statusIn(frame)).toContain('done');
    const tell = (call: string) => opened.run(`document.getElementById('told').${call}`);
    await tell(`setColorScheme('dark')`);
    await frame.locator('html[data-scheme=dark]').waitFor();
    await tell(`setFilter('sales.status', null)`);
    await expect.poll(statusIn(frame)).toContain('All');
    await tell(`setLocale('fr')`);
    await frame.locator('html[lang=fr]').waitFor();
    const asks = (text: string) =>
      opened.page.waitForRequest(
        (request) => request.url().endsWith('/load') && request.postData()!.includes(text),
      );
    let sent = asks('Asia/Tokyo');
    await tell(`setTimezone('Asia/Tokyo')`);
    await sent;
    sent = asks('query');
    await tell('refresh()');
    await sent;
    await tell(`publicId = 'graphical'`);
    expect(await opened.heard('told', 'navigate')).toMatchObject({ path: '/embed/dashboard/graphical' });
    await frame.getByRole('heading', { name: 'Shop in pictures' }).waitFor();
    await tell(`navigate('/embed/dashboard/tabular')`);
    await expect.poll(async () => (await opened.events('told', 'navigate')).length).toBe(2);
    expect(await opened.run('calls')).toHaveLength(1);
    await opened.context.close();
  });
});

describe('messages', () => {
  /** Two messages, so that the first was seen or ignored when the second arrives. */
  const FORGED = `{
    const type = 'oriel:event:error';
    parent.postMessage({ source: 'oriel-embed', direction: 'event', type, payload: { message: 'forged' } }, '*');
    parent.postMessage('after', '*');
  }`;
  const COUNT = `window.after = 0; addEventListener('message', ({ data }) => { window.after += data === 'after' })`;

  test('of another window are not heard, even of the same origin', async () => {
    const opened = await open();
    await opened.run(COUNT);
    await opened.run(`document.body.append(
      make('one', { session: '${await mint('one-corp')}' }), make('two', { session: '${await mint('two-corp')}' }))`);
    await opened.heard('one', 'dashboard-loaded');
    await opened.heard('two', 'dashboard-loaded');
    await (await frameOf(opened, 'one')).evaluate(FORGED);
    expect(await opened.heard('one', 'error')).toEqual({ message: 'forged' });
    await expect.poll(() => opened.run('after')).toBe(1);
    await opened.run(FORGED);
    await expect.poll(() => opened.run('after')).toBe(2);
    expect(await opened.events('two', 'error')).toEqual([]);
    expect(await opened.events('one', 'error')).toHaveLength(1);
    await opened.context.close();
  });

  test('of another origin in the same frame are not heard, and it gets no session', async () => {
    const opened = await open();
    await opened.run(COUNT);
    await opened.run(`document.body.append(make('taken', { session: '${await mint('taken-corp')}' }))`);
    await opened.heard('taken', 'dashboard-loaded');
    const frame = await frameOf(opened, 'taken');
    await frame.goto(host.otherOrigin);
    await frame.evaluate(`window.got = []; addEventListener('message', ({ data }) => window.got.push(data))`);
    await frame.evaluate(FORGED);
    await expect.poll(() => opened.run('after')).toBe(1);
    expect(await opened.events('taken', 'error')).toEqual([]);
    await opened.run(`{
      const element = document.getElementById('taken');
      element.renew('a-session');
      element.shadowRoot.querySelector('iframe').contentWindow.postMessage('last', '*');
    }`);
    await expect.poll(() => frame.evaluate('window.got.at(-1)')).toBe('last');
    expect(await frame.evaluate('window.got')).toEqual(['last']);
    await opened.context.close();
  });
});

test.each(['18', '19'])(
  'the component passes properties, events and its element on in React %s',
  async (version) => {
    const opened = await open(`/react-${version}`);
    expect(await opened.run('reactVersion')).toMatch(new RegExp(`^${version}\\.`));
    expect(await opened.heard('react', 'ready')).toMatchObject({ embedTenant: 'react-corp' });
    await opened.heard('react', 'dashboard-loaded');
    const frame = await frameOf(opened, 'react');
    expect(
      await opened.run('[dashboard.current.className, dashboard.current.getAttribute("aria-label")]'),
    ).toEqual(['wide', 'Sales']);
    await opened.run(`change({ theme: 'dark', filters: { 'sales.status': { value: ['done'] } } })`);
    await frame.locator('html[data-scheme=dark]').waitFor();
    await expect.poll(statusIn(frame)).toContain('done');
    await opened.run(`change({ 'aria-label': 'Margin' })`);
    await expect.poll(() => opened.run('dashboard.current.getAttribute("aria-label")')).toBe('Margin');
    await opened.run(`dashboard.current.navigate('/embed/dashboard/graphical')`);
    await opened.heard('react', 'navigate');
    expect(await opened.events('react', 'ready')).toHaveLength(1);
    await opened.run(`change({ gone: true })`);
    await expect.poll(() => opened.frames().length).toBe(0);
    expect(opened.errors).toEqual([]);
    await opened.context.close();
  },
);

test('the component clears filters and a theme that are no longer given', async () => {
  const record = `window.told = []; addEventListener('message', ({ data }) => told.push(data.type))`;
  const opened = await open('/react-19', (context) => context.addInitScript(record));
  await opened.heard('react', 'dashboard-loaded');
  const frame = await frameOf(opened, 'react');
  const told = await frame.evaluate('told');
  expect(told).toContain('oriel:action:set-theme');
  expect(told).not.toContain('oriel:action:set-filter');
  const usual = await radiusIn(frame)();
  for (const without of ['{}', '{ filters: undefined, embedTheme: undefined }']) {
    await opened.run(
      `change({ filters: { 'sales.status': { value: ['done'] } }, embedTheme: { borderRadius: 3 } })`,
    );
    await expect.poll(statusIn(frame)).toContain('done');
    await expect.poll(radiusIn(frame)).toBe('3px');
    await opened.run(`change(${without})`);
    await expect.poll(statusIn(frame)).toContain('All');
    await expect.poll(radiusIn(frame)).toBe(usual);
  }
  await opened.context.close();
});

test('both are small', async () => {
  const size = async (name: string) => gzipSync(await readFile(join(DIST, name)), { level: 9 }).length;
  expect(await size('embed.js')).toBeLessThan(6_000);
  expect(await size('react.js')).toBeLessThan(1_000);
});

test('a server that renders pages can import both', async () => {
  // Its types exist only after the build, and types are checked without one.
  const { OrielDashboard } = await import('@oriel/viewer/react' as string);
  const { renderToString } = await import('react-dom/server' as string);
  const { createElement } = await import('react');
  const html = renderToString(
    createElement(OrielDashboard, { baseUrl: 'https://x', publicId: 'y', id: 'z' }),
  );
  expect(html).toBe('<oriel-dashboard id="z"></oriel-dashboard>');
});
