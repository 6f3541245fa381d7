/** Pages of a host that use `@oriel/viewer/embed` and `@oriel/viewer/react`, in a real browser. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from './browser.ts';
import { graphical, large, tabular } from './shop-dashboard.ts';
import { createShop, SHOP_MODEL } from './shops.ts';
import { createOwnWorld, unique, type World } from './world.ts';

const ROOT = join(import.meta.dirname, '../../..');
export const DIST = join(ROOT, 'packages/viewer/dist');
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

/** `/react-18` and `/react-19` are pages with these versions. */
const REACTS = ['packages/react-18/node_modules', 'node_modules'];

type Make = (deploymentId: number, publicId: string) => object;
const DASHBOARDS: Partial<Record<string, Make>> = { tabular, graphical, large };

/** The shop, with the ids of tenants that its customers have. */
const MODEL = {
  'model/cubes/shop.yml': SHOP_MODEL['model/cubes/shop.yml'].replace(
    '      - { name: region, sql: region, type: string }\n',
    '$&      - { name: tenant_id, sql: tenant_id, type: number }\n',
  ),
  'model/views/sales.yml': SHOP_MODEL['model/views/sales.yml'].replace(
    '[name, region]',
    '[name, region, tenant_id]',
  ),
};

interface HostEvent {
  name: string;
  type: string;
  detail: Record<string, unknown>;
}
export interface HostTab {
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

export interface SdkHost {
  world: World;
  otherOrigin: string;
  /** A session of the one viewer of an embed tenant. */
  mint(embedTenantName: string): Promise<string>;
  open(path?: string, prepare?: (context: BrowserContext) => Promise<unknown>): Promise<HostTab>;
  stop(): Promise<void>;
}

export async function startSdkHost(): Promise<SdkHost> {
  const world = await createOwnWorld();
  const browser = await openBrowser();
  const deploymentId = await createShop(world, MODEL);
  const reactPages = await Promise.all(
    REACTS.map((folder) => bundleReactPage(world.url, join(ROOT, folder))),
  );
  const viewers = new Map<string, string>();
  const server = createServer((request, response) => void answer(request.url!, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [origin, otherOrigin] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];

  async function answer(address: string, response: import('node:http').ServerResponse) {
    const { pathname, searchParams } = new URL(address, 'http://host');
    const script = async (text: string | Promise<string>) =>
      void response.setHeader('content-type', 'text/javascript').end(await text);
    if (pathname === '/host.js') return script(`window.baseUrl = ${JSON.stringify(world.url)};${SCRIPT}`);
    if (pathname === '/embed.js') return script(readFile(join(DIST, 'embed.js'), 'utf8'));
    if (pathname === '/react-18.js') return script(reactPages[0]!);
    if (pathname === '/react-19.js') return script(reactPages[1]!);
    if (pathname === '/session') return void response.end(await mint(searchParams.get('tenant')!));
    const file = pathname.startsWith('/react') ? `${pathname.slice(1)}.js` : 'host.js';
    response.setHeader('content-type', 'text/html').setHeader('content-security-policy', POLICY);
    response.end(
      `<!doctype html><meta charset=utf-8><script type=module src=/${file}></script><main></main>`,
    );
  }

  async function mint(embedTenantName: string): Promise<string> {
    const externalId = viewers.get(embedTenantName) ?? unique('viewer');
    viewers.set(embedTenantName, externalId);
    const body = { deploymentId, externalId, embedTenantName };
    return (await world.admin.generateSession({ body })).sessionId;
  }

  async function open(path = '/', prepare?: (context: BrowserContext) => Promise<unknown>): Promise<HostTab> {
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
      ((await page.evaluate('window.heard')) as HostEvent[])
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

  return {
    world,
    otherOrigin,
    mint,
    open,
    async stop() {
      await browser.close();
      await new Promise((resolve) => void server.close(resolve).closeAllConnections());
      await world.stop();
    },
  };
}

/** The page of a host that uses the component, with the React that is in this folder. */
async function bundleReactPage(baseUrl: string, folder: string): Promise<string> {
  const contents = `
import { createElement, createRef, StrictMode, useState, version } from 'react';
import { createRoot } from 'react-dom/client';
import { OrielDashboard } from ${JSON.stringify(join(DIST, 'react.js'))};
window.heard = [];
window.reactVersion = version;
window.dashboard = createRef();
const say = (type) => ({ detail }) => window.heard.push({ name: 'react', type, detail });
function Page() {
  const [props, change] = useState({});
  window.change = change;
  return props.gone ? null : createElement(OrielDashboard, {
    ref: window.dashboard, id: 'react', className: 'wide', baseUrl: ${JSON.stringify(baseUrl)}, publicId: 'tabular',
    getSession: async () => (await fetch('/session?tenant=react-corp')).text(), label: 'Sales',
    onReady: say('ready'), onDashboardLoaded: say('dashboard-loaded'), onNavigate: say('navigate'), onError: say('error'),
    ...props,
  });
}
createRoot(document.querySelector('main')).render(createElement(StrictMode, null, createElement(Page)));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    alias: { react: join(folder, 'react'), 'react-dom': join(folder, 'react-dom') },
    format: 'esm',
    write: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

export const frameOf = async ({ page }: HostTab, name: string) => {
  const handle = await page.evaluateHandle(
    `document.getElementById('${name}').shadowRoot.querySelector('iframe')`,
  );
  return (await handle.asElement()!.contentFrame())!;
};

/** The corners that the page has, and what its filter of the status shows. */
export const radiusIn = (frame: Frame) => () =>
  frame.evaluate(`document.documentElement.style.getPropertyValue('--radius')`);
export const statusIn = (frame: Frame) => () => frame.getByRole('button', { name: /Status/ }).innerText();
