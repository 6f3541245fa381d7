/** Pages of other origins that call the API themselves: the examples of docs/embedding.md, in a real browser. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { allOperations } from '@oriel/contract';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildClient } from '../../../scripts/packages/client.ts';
import { openBrowser } from './browser.ts';
import { browsingPerson } from './browsing.ts';
import { whenBuilt } from './shops.ts';
import { ADMIN_KEY, createOwnWorld, unique, type World } from './world.ts';

const ROOT = join(import.meta.dirname, '../../..');
const [, section] = readFileSync(join(ROOT, 'docs/embedding.md'), 'utf8').split('## Your own charts');
const example = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section!)![1]!;

let world: World;
let browser: Browser;
/** Two origins that show the same pages: with our own client, and with hooks. */
let origin: string;
let otherOrigin: string;
let stopHost: () => Promise<void>;

beforeAll(async () => {
  [world, browser] = await Promise.all([createOwnWorld({ env: { ORIEL_DEMO: 'true' } }), openBrowser()]);
  await Promise.all([whenBuilt(world, 1), buildClient()]);
  const files: Record<string, string> = {
    '/client.js': await bundle(
      `${example('js')}\nwindow.rows = data; window.oriel = oriel; window.token = token;`,
    ),
    '/hooks.js': await bundle(`${example('jsx')}
      import { createRoot } from 'react-dom/client';
      createRoot(document.querySelector('main')).render(<App />);`),
  };
  const server = createServer(async ({ url }, response) => {
    if (url === '/session') return void response.end((await mint()).sessionId);
    const script = files[url!];
    if (script) return void response.setHeader('content-type', 'text/javascript').end(script);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><main></main><script type=module src=${url!.slice(1)}.js></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  [origin, otherOrigin] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  stopHost = () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections());
});
afterAll(async () => {
  await browser?.close();
  await stopHost?.();
  await world?.stop();
});

/** Viewers see the customers of their region. */
const mint = (region = 'EU') =>
  world.admin.generateSession({
    body: {
      deploymentId: 1,
      externalId: unique('viewer'),
      embedTenantName: 'other-origins',
      userAttributes: [{ name: 'region', value: region }],
    },
  });

async function bundle(code: string): Promise<string> {
  const contents = code.replaceAll('https://oriel.example.com', world.url);
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'jsx' },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
    // As the package ships.
    alias: { '@oriel/client': join(ROOT, 'packages/client/dist/index.js') },
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

const load = '/query/api/v1/deployments/1/load';
const QUERY = { measures: ['orders.count'], dimensions: ['orders.status'] };
const address = `${load}?query=${encodeURIComponent(JSON.stringify(QUERY))}`;
const allow = (...embedAllowedOrigins: string[]) =>
  world.admin.updateTenantSettings({ body: { embedAllowedOrigins } });

async function rowsOfViewer() {
  const { client } = await world.embedded({
    deploymentId: 1,
    externalId: unique('viewer'),
    embedTenantName: 'other-origins',
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  return (
    (await client.load({ deploymentId: 1, body: { query: QUERY } })) as { data: Record<string, string>[] }
  ).data;
}

async function open(path: string, from = origin): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(from + path);
  return page;
}

test('a page of another origin queries with our own client, and hears what is wrong', async () => {
  const page = await open('/client');
  await page.waitForFunction('window.rows');
  expect(await page.evaluate('window.rows')).toEqual(await rowsOfViewer());
  const known = (await page.evaluate(`oriel.withHeaders.getDashboard({ publicId: 'DemoCommerce' })`)) as {
    etag: string;
    body: { publicId: string };
  };
  expect(known).toMatchObject({
    etag: expect.stringMatching(/^(W\/)?"/),
    body: { publicId: 'DemoCommerce' },
  });
  expect(await page.evaluate('oriel.getAppConfig()')).toHaveProperty('embedding');
  expect(await page.evaluate('oriel.getEmbedSession()')).toMatchObject({ embedTenantName: 'other-origins' });
  // A stream of events begins, and the page can end it.
  expect(
    await page.evaluate(`(async () => {
      const stop = new AbortController();
      const response = await fetch('${world.url}/api/v1/embed/session/events',
        { headers: { authorization: 'Bearer ' + token }, signal: stop.signal });
      const { value } = await response.body.getReader().read();
      stop.abort();
      return new TextDecoder().decode(value);
    })()`),
  ).toBe(':\n\n');
  // Errors can be read, with their headers.
  const failure = (code: string) =>
    page.evaluate(`${code}.catch(({ status, code, requestId }) => ({ status, code, requestId }))`);
  expect(
    await failure(`oriel.load({ deploymentId: 1, body: { query: { measures: ['no.such'] } } })`),
  ).toEqual({
    status: 400,
    code: 'unknown_member',
    requestId: expect.stringMatching(/./),
  });
  // Also that there is no such operation, or not with this method.
  const status = (path: string, method: string) =>
    page.evaluate(`fetch('${world.url}${path}', { method: '${method}', headers: { authorization: 'Bearer ' + token } })
      .then(async (response) => [response.status, response.headers.get('x-error-code') ?? (await response.json()).code])`);
  for (const [path, method, code] of [
    ['/query/api/v1/deployments/1/lode', 'POST', 'route_not_found'],
    ['/query/api/v1/nothing', 'GET', 'route_not_found'],
    ['/api/v1/embed/session/nothing', 'GET', 'route_not_found'],
    ['/api/v1/embed/dashboard/DemoCommerce/nothing', 'GET', 'route_not_found'],
    ['/api/v1/embed/dashboard/DemoCommerce', 'POST', 'method_not_allowed'],
    ['/api/v1/embed/session', 'POST', 'method_not_allowed'],
    ['/api/v1/app-config', 'POST', 'method_not_allowed'],
  ] as const)
    expect([path, await status(path, method)]).toEqual([
      path,
      [code === 'route_not_found' ? 404 : 405, code],
    ]);
  await world.admin.revokeEmbedSessions({ body: { deploymentId: 1 } });
  expect(await failure('oriel.getEmbedSession()')).toMatchObject({ status: 401, code: 'unauthenticated' });
  await page.close();
});

test('the hooks of @cubejs-client/react run in it', async () => {
  const page = await open('/hooks');
  await page.locator('li').first().waitFor();
  const rows = await rowsOfViewer();
  const shown = await page.locator('li').allInnerTexts();
  expect(shown.sort()).toEqual(rows.map((row) => `${row['orders.status']}: ${row['orders.count']}`).sort());
  expect(shown.length).toBeGreaterThan(1);
  await page.close();
});

test('a list of origins shuts out all others, from the next request on', async () => {
  onTestFinished(async () => void (await allow()));
  await allow(origin);
  const inside = await open('/client');
  await inside.waitForFunction('window.rows');
  const outside = await open('/hooks', otherOrigin);
  await outside.getByRole('alert').waitFor();
  const asking = `oriel.getAppConfig().then(() => 'read', ({ name }) => name)`;
  expect(await inside.evaluate(asking)).toBe('read');
  await allow(otherOrigin);
  expect(await inside.evaluate(asking)).toBe('TypeError');
  await allow();
  expect(await inside.evaluate(asking)).toBe('read');
  await Promise.all([inside.close(), outside.close()]);
});

/** What a browser sends, but with any header. */
const asked = (path: string, headers: Record<string, string>, method = 'GET') =>
  fetch(world.url + path, { method, headers: { origin, ...headers } });
const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');

test('an API key in a page is refused, and a cookie is no credential there', async () => {
  const { token } = await world.embedded({ deploymentId: 1, externalId: unique('viewer') });
  expect((await asked(address, { authorization: `Bearer ${token}` })).status).toBe(200);
  for (const authorization of [`Api-Key ${ADMIN_KEY}`, `Bearer ${ADMIN_KEY}`, ADMIN_KEY]) {
    for (const path of [
      address,
      '/api/v1/app-config',
      '/api/v1/embed/session',
      '/api/v1/embed/dashboard/DemoCommerce',
    ]) {
      const refused = await asked(path, { authorization });
      // A refusal holds no data, and the page must be able to say why.
      expect([path, refused.status, allowed(refused)]).toEqual([path, 403, '*']);
      expect(await refused.text()).toContain('An API key belongs to a server');
    }
  }
  // A server that calls with its key sends no origin, and our own pages send ours.
  const own = { authorization: `Api-Key ${ADMIN_KEY}`, origin: world.url };
  expect((await asked(address, own)).status).toBe(200);
  const cookie = (await browsingPerson(world)).headers().cookie!;
  expect((await asked('/api/v1/app-config', { cookie, origin: world.url })).status).toBe(200);
  const elsewhere = await asked('/api/v1/app-config', { cookie });
  expect([elsewhere.status, allowed(elsewhere)]).toEqual([401, '*']);
  expect(elsewhere.headers.get('access-control-allow-credentials')).toBeNull();
  expect(await elsewhere.json()).toMatchObject({
    code: 'unauthenticated',
    message: expect.not.stringMatching(/sk-|cookie/),
  });
});

test('a preflight is answered without a credential, for what pages may call and for nothing else', async () => {
  const preflight = (path: string, headers: Record<string, string> = {}) =>
    asked(path, { 'access-control-request-method': 'POST', ...headers }, 'OPTIONS');
  const answered = await preflight(load, { 'access-control-request-headers': 'authorization,x-other' });
  expect(answered.status).toBe(204);
  expect(Object.fromEntries(answered.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST, GET',
    'access-control-allow-headers': expect.stringMatching(/^Authorization, Content-Type,.*\*$/),
    'access-control-max-age': '600',
    vary: expect.stringContaining('Origin'),
  });
  expect(answered.headers.get('access-control-allow-credentials')).toBeNull();
  expect((await preflight('/api/v1/embed/generate-session')).status).toBe(405);
  expect((await preflight('/api/v1/deployments')).status).toBe(405);
  expect((await fetch(world.url + load, { method: 'OPTIONS' })).status).toBe(405);
  // Errors beside what pages may call can be read, and nothing is opened by that.
  const beside = await preflight('/query/api/v1/deployments/1/nothing');
  expect([beside.status, allowed(beside)]).toEqual([204, '*']);
  const closed = allOperations.filter(
    (op) => !op.crossOrigin && /^\/(query\/api\/v1|api\/v1\/embed\/(session|dashboard))\//.test(op.path),
  );
  for (const { path } of closed.filter(
    (op) => !allOperations.some((o) => o.crossOrigin && o.path === op.path),
  ))
    expect([path, (await preflight(path.replaceAll(/\{\w+\}/g, '1'))).status]).toEqual([path, 405]);
  const key = await asked('/query/api/v1/deployments/1/nothing', { authorization: `Api-Key ${ADMIN_KEY}` });
  expect([key.status, key.headers.get('access-control-allow-credentials')]).toEqual([403, null]);
  onTestFinished(async () => void (await allow()));
  await allow('https://other.example');
  const refused = await preflight(load);
  expect([refused.status, allowed(refused)]).toEqual([403, null]);
  const named = await preflight(load, { origin: 'https://other.example' });
  expect([named.status, allowed(named)]).toEqual([204, 'https://other.example']);
  expect((await preflight(load, { origin: 'null' })).status).toBe(403);
  await allow();
  expect(allowed(await preflight(load, { origin: 'null' }))).toBe('*');
});

test('errors of any kind can be read by the page', async () => {
  const { token } = await world.embedded({ deploymentId: 1, externalId: unique('viewer') });
  const authorization = `Bearer ${token}`;
  const send = (init: RequestInit) =>
    fetch(world.url + load, { method: 'POST', ...init, headers: { origin, authorization, ...init.headers } });
  const json = { 'content-type': 'application/json' };
  const replies = await Promise.all([
    asked(address, { authorization: 'Bearer nonsense' }),
    send({ headers: { 'content-type': 'text/plain' }, body: 'x' }),
    send({ headers: json, body: '{' }),
    send({ headers: json, body: JSON.stringify({ query: QUERY, text: 'x'.repeat(2 ** 20) }) }),
    fetch(`${world.url}/query/api/v1/deployments/999/load`, {
      method: 'POST',
      headers: { origin, authorization },
    }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([401, 415, 400, 413, 403]);
  for (const reply of replies) {
    expect(allowed(reply)).toBe('*');
    expect(reply.headers.get('access-control-expose-headers')).toBe(
      'X-Request-Id, X-Error-Code, Retry-After, ETag',
    );
    expect(reply.headers.get('x-error-code')).toMatch(/./);
  }
});
