/** `@oriel/viewer/embed` and `@oriel/viewer/react` in pages of a host, in a real browser. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Frame, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { graphical, tabular } from './shop-dashboard.ts';
import { createShop } from './shops.ts';
import { createOwnWorld, unique, type World } from './world.ts';

const DIST = join(import.meta.dirname, '../../viewer/dist');
const SCRIPT = `
import { OrielDashboardElement } from '/embed.js';
window.heard = [];
window.calls = [];
window.make = (name, more = {}) => {
  const element = document.createElement('oriel-dashboard');
  element.id = name;
  listen(element);
  Object.assign(element, { baseUrl: window.baseUrl, publicId: 'tabular', ...more });
  return element;
};
window.listen = (element) => {
  for (const type of ['ready', 'view', 'navigate', 'dashboard-loaded', 'error', 'session-needed', 'session-expired'])
    element.addEventListener(type, ({ detail }) => window.heard.push({ name: element.id, type, detail }));
};
window.sessionFor = (tenant) => async () => {
  window.calls.push(tenant);
  if (window.calls.length === window.failAt) throw new Error('no session today');
  return (await fetch('/session?tenant=' + tenant)).text();
};
window.isDefined = customElements.get('oriel-dashboard') === OrielDashboardElement;
`;
/** A customer's page may be this strict. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src http:";

let world: World;
let browser: Browser;
let deploymentId: number;
let host: Server;
let origin: string;
let otherOrigin: string;
let reactPage: string;
const viewers = new Map<string, string>();
beforeAll(async () => {
  world = await createOwnWorld();
  browser = await openBrowser();
  deploymentId = await createShop(world);
  reactPage = await bundleReactPage();
  host = createServer((request, response) => void answer(request.url!, response));
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const { port } = host.address() as AddressInfo;
  [origin, otherOrigin] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
});
afterAll(async () => {
  await browser?.close();
  await new Promise((resolve) => void host?.close(resolve).closeAllConnections());
  await world?.stop();
});

async function answer(address: string, response: import('node:http').ServerResponse) {
  const { pathname, searchParams } = new URL(address, 'http://host');
  const script = async (text: string | Promise<string>) =>
    void response.setHeader('content-type', 'text/javascript').end(await text);
  if (pathname === '/host.js') return script(`window.baseUrl = ${JSON.stringify(world.url)};${SCRIPT}`);
  if (pathname === '/embed.js') return script(readFile(join(DIST, 'embed.js'), 'utf8'));
  if (pathname === '/react.js') return script(reactPage);
  if (pathname === '/session') return void response.end(await mint(searchParams.get('tenant')!));
  const file = pathname === '/react' ? 'react.js' : 'host.js';
  response.setHeader('content-type', 'text/html').setHeader('content-security-policy', POLICY);
  response.end(`<!doctype html><meta charset=utf-8><script type=module src=/${file}></script><main></main>`);
}

async function mint(embedTenantName: string): Promise<string> {
  const externalId = viewers.get(embedTenantName) ?? unique('viewer');
  viewers.set(embedTenantName, externalId);
  const body = { deploymentId, externalId, embedTenantName };
  return (await world.admin.generateSession({ body })).sessionId;
}

async function bundleReactPage(): Promise<string> {
  const contents = `
import { createElement, createRef, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { OrielDashboard } from ${JSON.stringify(join(DIST, 'react.js'))};
window.heard = [];
window.dashboard = createRef();
const say = (type) => ({ detail }) => window.heard.push({ name: 'react', type, detail });
function Page() {
  const [props, change] = useState({});
  window.change = change;
  return props.gone ? null : createElement(OrielDashboard, {
    ref: window.dashboard, id: 'react', className: 'wide', baseUrl: ${JSON.stringify(world.url)}, publicId: 'tabular',
    getSession: async () => (await fetch('/session?tenant=react-corp')).text(), label: 'Sales',
    onReady: say('ready'), onDashboardLoaded: say('dashboard-loaded'), onNavigate: say('navigate'), onError: say('error'),
    ...props,
  });
}
createRoot(document.querySelector('main')).render(createElement(StrictMode, null, createElement(Page)));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    write: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

const DASHBOARDS: Partial<Record<string, typeof tabular | typeof graphical>> = { tabular, graphical };

interface Heard {
  name: string;
  type: string;
  detail: Record<string, unknown>;
}
interface Opened {
  context: BrowserContext;
  page: Page;
  requests: string[];
  errors: string[];
  run<T = unknown>(script: string): Promise<T>;
  /** The events of an element. */
  events(name: string, type: string): Promise<Record<string, unknown>[]>;
  heard(name: string, type: string, count?: number): Promise<Record<string, unknown>>;
  frames(): Frame[];
}

async function open(path = '/', prepare?: (context: BrowserContext) => Promise<unknown>): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1240, height: 960 }, locale: 'en-US' });
  await context.route(/\/api\/v1\/embed\/dashboard\//, (route) => {
    const publicId = route.request().url().split('/').at(-1)!;
    const json = DASHBOARDS[publicId]?.(deploymentId, publicId);
    return json
      ? route.fulfill({ json })
      : route.fulfill({
          status: 404,
          json: { statusCode: 404, code: 'dashboard_not_found', message: 'No.' },
        });
  });
  await prepare?.(context);
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${origin}${path}`);
  await page.waitForFunction('window.heard');
  const events = async (name: string, type: string) =>
    ((await page.evaluate('window.heard')) as Heard[])
      .filter((one) => one.name === name && one.type === type)
      .map(({ detail }) => detail);
  return {
    context,
    page,
    requests,
    errors,
    run: (script) => page.evaluate(script),
    events,
    async heard(name, type, count = 1) {
      const message = `${name}: ${type}`;
      await expect
        .poll(async () => (await events(name, type)).length, { message })
        .toBeGreaterThanOrEqual(count);
      return (await events(name, type)).at(-1)!;
    },
    frames: () => page.frames().filter((frame) => frame.parentFrame() === page.mainFrame()),
  };
}

const frameOf = async ({ page }: Opened, name: string) => {
  const handle = await page.evaluateHandle(
    `document.getElementById('${name}').shadowRoot.querySelector('iframe')`,
  );
  return (await handle.asElement()!.contentFrame())!;
};

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
    await world.admin.revokeEmbedSessions({ body: { embedTenantName: 'one-corp' } });
    expect(await opened.heard('one', 'session-expired')).toEqual({ reason: 'revoked' });
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
    // Without anybody who can be asked for a session, the host is told.
    await opened.run(`document.body.append(make('none'))`);
    expect(await opened.heard('none', 'session-needed')).toEqual({});
    await opened.run(`document.getElementById('none').session = '${await mint('none-corp')}'`);
    await opened.heard('none', 'dashboard-loaded');
    await opened.run(`document.body.append(make('wrong', { baseUrl: 'javascript:alert(1)' }))`);
    expect(await opened.heard('wrong', 'error')).toMatchObject({ code: 'invalid_base_url' });
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

  test('asks again if a session is refused, without end but with pauses', async () => {
    const opened = await open();
    const used = await mint('used-corp');
    await world.client().postTokenBySessionId({ body: { sessionId: used } });
    await opened.run(
      `document.body.append(make('used', { session: '${used}', getSession: sessionFor('used-corp') }))`,
    );
    expect(await opened.heard('used', 'error')).toMatchObject({ code: 'invalid_session' });
    await opened.heard('used', 'dashboard-loaded');
    expect(await opened.run('calls')).toEqual(['used-corp']);
    await opened.context.close();
  });

  test('changes what its page shows', async () => {
    const opened = await open();
    // Before the page is ready: what is said is kept until it can be heard.
    await opened.run(`{
      const element = make('told', { getSession: sessionFor('told-corp') });
      document.body.append(element);
      element.setTheme({ primaryColor: '#ff6600', borderRadius: 3 });
      element.setFilter('sales.status', { value: ['done'] });
    }`);
    await opened.heard('told', 'dashboard-loaded');
    const frame = await frameOf(opened, 'told');
    const radius = () => frame.evaluate(`document.documentElement.style.getPropertyValue('--radius')`);
    const status = () => frame.getByRole('button', { name: /Status/ }).innerText();
    await expect.poll(radius).toBe('3px');
    await expect.poll(status).toContain('done');
    const tell = (call: string) => opened.run(`document.getElementById('told').${call}`);
    await tell(`setColorScheme('dark')`);
    await frame.locator('html[data-scheme=dark]').waitFor();
    await tell(`setFilter('sales.status', null)`);
    await expect.poll(status).toContain('All');
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
    await frame.goto(otherOrigin);
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

test('the React component passes properties, events and its element on', async () => {
  const opened = await open('/react');
  expect(await opened.heard('react', 'ready')).toMatchObject({ embedTenant: 'react-corp' });
  await opened.heard('react', 'dashboard-loaded');
  const frame = await frameOf(opened, 'react');
  expect(
    await opened.run('[dashboard.current.className, dashboard.current.getAttribute("aria-label")]'),
  ).toEqual(['wide', 'Sales']);
  await opened.run(`change({ theme: 'dark', filters: { 'sales.status': { value: ['done'] } } })`);
  await frame.locator('html[data-scheme=dark]').waitFor();
  await expect.poll(() => frame.getByRole('button', { name: /Status/ }).innerText()).toContain('done');
  await opened.run(`dashboard.current.navigate('/embed/dashboard/graphical')`);
  await opened.heard('react', 'navigate');
  expect(await opened.events('react', 'ready')).toHaveLength(1);
  await opened.run(`change({ gone: true })`);
  await expect.poll(() => opened.frames().length).toBe(0);
  expect(opened.errors).toEqual([]);
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
