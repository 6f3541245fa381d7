/** The product in `examples/host`, and the examples of docs/embedding.md, with the dashboards of the demo. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHost } from '../../../examples/host/server.mjs';
import { openBrowser } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { ADMIN_KEY, createOwnWorld, type World } from './world.ts';

const root = join(import.meta.dirname, '../../..');
const guide = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
const snippet = (language: string) =>
  new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``)
    .exec(guide)![1]!
    .replaceAll('https://oriel.example.com', world.url);

let world: World;
let browser: Browser;
const servers: Server[] = [];
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  browser = await openBrowser();
  await whenBuilt(world, 1);
});
afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close().closeAllConnections();
  await world?.stop();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test('two customers see the same dashboard with their own rows', async () => {
  const url = await listen(createHost({ oriel: world.url, apiKey: ADMIN_KEY }));
  const page = await browser.newPage({ viewport: { width: 1600, height: 1200 }, locale: 'en-US' });
  const queries = new Map<string, string>();
  page.on('response', async (response) => {
    if (!response.url().endsWith('/load')) return;
    const customer = await response.frame().locator('html').getAttribute('data-scheme');
    const text = await response.text();
    queries.set(customer!, (queries.get(customer!) ?? '') + text);
  });
  await page.goto(url);
  await expect.poll(() => page.getByText('Live', { exact: true }).count(), { timeout: 150_000 }).toBe(2);
  await expect.poll(() => queries.get('light')).toMatch(/"DE"|Germany/);
  await expect.poll(() => queries.get('dark')).toMatch(/"JP"|Japan/);
  expect(queries.get('light')).not.toMatch(/"JP"|Japan/);
  expect(queries.get('dark')).not.toMatch(/"DE"|Germany/);
  expect((await fetch(`${url}/session?customer=nobody`, { method: 'POST' })).status).toBe(404);
  await page.close();
});

test.each(['html', 'jsx'])('the %s of the guide shows a dashboard', async (language) => {
  const script = language === 'jsx' ? await bundle(snippet('jsx')) : '';
  const html =
    language === 'html' ? snippet('html') : '<main></main><script type=module src=/page.js></script>';
  const sdk = readFileSync(join(root, 'packages/viewer/dist/embed.js'));
  const answer: RequestListener = async ({ url }, response) => {
    if (url === '/session') return void response.end(await createSession());
    const isScript = url!.endsWith('.js');
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(url === '/page.js' ? script : isScript ? sdk : `<!doctype html>${html}`);
  };
  const page = await browser.newPage();
  await page.goto(await listen(createServer((request, response) => void answer(request, response))));
  const frame = page.frameLocator('oriel-dashboard iframe');
  await frame.getByRole('heading', { name: 'Commerce overview' }).first().waitFor();
  await page.close();
});

/** Runs the part of the backend. */
async function createSession(): Promise<string> {
  const run = new Function('apiKey', `return (async () => { ${snippet('js')}; return sessionId; })()`);
  return run(ADMIN_KEY);
}

async function bundle(component: string): Promise<string> {
  const contents = `${component}
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.querySelector('main')).render(createElement(Sales));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'jsx' },
    jsx: 'automatic',
    bundle: true,
    format: 'esm',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}
