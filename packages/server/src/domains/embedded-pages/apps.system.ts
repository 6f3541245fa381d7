/** Dashboards that are applications, in a real browser: what they show, and what they cannot reach. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { type Embedding, embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

/** Viewers see the customers of their region. */
const POLICY = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
`;
const position = { x: 0, y: 0, w: 4, h: 4 };

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
let reportId: number;
/** More reports than an application gets rows of at once, each with a query of its own. */
let reportIds: number[];
/** A server that nothing may reach, and what reached it. */
let outside: Server;
let outsideUrl: string;
const reached: string[] = [];

beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  outside = createServer((request, response) => {
    reached.push(request.url!);
    response.setHeader('access-control-allow-origin', '*').end('x');
  });
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  outsideUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  deploymentId = await createShop(world, shopWith(POLICY));
  const report = async (limit: number) => {
    const dimensions = ['sales.name', 'sales.status'];
    const jsonQuery = JSON.stringify({ measures: ['sales.amount'], dimensions, limit });
    return (await world.admin.createReport({ deploymentId, body: { name: 'Sales by name', jsonQuery } })).id;
  };
  reportIds = await Promise.all([100, 101, 102, 103, 104, 105].map(report));
  reportId = reportIds[0]!;
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  outside?.close();
  await world?.stop();
});

type Config = NonNullable<Parameters<World['admin']['publishDashboard']>[0]['body']['config']>;

const publish = (app: NonNullable<Config['app']>, others: number[] = []) =>
  publishConfig({
    kind: 'APP',
    app,
    widgets: [
      { id: 'sales', type: 'CHART', position, config: { reportId } },
      { id: 'status', type: 'FILTER', position, config: { member: 'sales.status', title: 'State' } },
      ...others.map((id, i) => ({
        ...{ id: `other-${i}`, type: 'CHART' as const, position },
        config: { reportId: id },
      })),
    ],
  });

/** Publishes the config for all embed tenants, except those in `without`. */
async function publishConfig(config: Config, without: string[] = []) {
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'App' } });
  const at = { deploymentId, workbookId };
  const { publicId } = await world.admin.publishDashboard({
    ...at,
    body: { workbookId, config, allowEmbed: true },
  });
  const access = (body: Parameters<World['admin']['updateEmbedAccess']>[0]['body']) =>
    world.admin.updateEmbedAccess({ ...at, body });
  await access({ allowEmbed: true, allEmbedUsers: true, action: 'read' });
  for (const embedTenantName of without) {
    await world.embedded({ deploymentId, externalId: unique('viewer'), embedTenantName });
    await access({ embedTenantName, action: 'none' });
  }
  return publicId;
}

async function show(publicId: string, regions: string[]): Promise<Embedding> {
  const addresses = await Promise.all(
    regions.map(async (region) => {
      const body = {
        deploymentId,
        externalId: unique('viewer'),
        embedTenantName: `tenant-${region.toLowerCase()}`,
        securityContext: { region },
      };
      const { sessionId } = await world.admin.generateSession({ body });
      return `${world.url}/embed/dashboard/${publicId}#session=${sessionId}`;
    }),
  );
  return embed(browser, host.origin, addresses);
}

/** The frame of the application in the embedded page. */
const inside = (embedding: Embedding, index = 0): Frame => embedding.frame(index).childFrames()[0]!;

/** Lists the names in its rows, in a document, a style, and modules that import each other. */
const LIST = {
  entry: 'index.html',
  files: {
    'index.html': `<!doctype html><title>List</title><link rel="stylesheet" href="style.css">
      <h1>Names</h1><ul></ul><script type="module" src="./main.js"></script>`,
    'style.css': 'li { color: rgb(1, 2, 3) }',
    'main.js': `import { draw } from 'lib/draw.js';
      const show = async () => draw(await oriel.load('sales'));
      oriel.addEventListener('change', show);
      await show();`,
    'lib/draw.js': `export const draw = ({ rows }) => {
      document.querySelector('ul').replaceChildren(...rows.map((row) =>
        Object.assign(document.createElement('li'), { textContent: row['sales.name'] + ' ' + row['sales.status'] })));
      document.body.dataset.drawn = Number(document.body.dataset.drawn ?? 0) + 1;
    };`,
  },
};
const namesIn = async (frame: Frame) =>
  (await frame.locator('li').allInnerTexts()).map((text) => text.split(' ')[0]).sort();

test('an application shows each viewer their own rows, and follows filters and refreshes', async () => {
  const embedding = await show(await publish(LIST), ['EMEA', 'AMER']);
  expect(await embedding.heard('dashboard-loaded', 0)).toMatchObject({ widgetCount: 1 });
  await embedding.heard('dashboard-loaded', 1);
  const [first, second] = [inside(embedding, 0), inside(embedding, 1)];
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  await expect.poll(() => namesIn(second)).toEqual(['Bob']);
  expect(await first.evaluate("getComputedStyle(document.querySelector('li')).color")).toBe('rgb(1, 2, 3)');
  expect(await first.evaluate('oriel.dashboard')).toEqual({
    title: 'App',
    description: null,
    charts: [{ id: 'sales', title: 'Sales by name', kind: 'table' }],
    filters: [{ member: 'sales.status', title: 'State' }],
  });
  expect(await first.evaluate("oriel.load('sales').then(({ columns }) => columns[0])")).toEqual({
    member: 'sales.name',
    title: expect.any(String),
    type: 'string',
  });
  await first.evaluate("oriel.setFilter('sales.status', { value: 'done' })");
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Cyd']);
  expect(await first.evaluate("oriel.settings.filters['sales.status'].value")).toBe('done');
  // A member without a filter of the dashboard stays as it is.
  await first.evaluate("oriel.setFilter('sales.name', { value: 'Ada' })");
  await first.evaluate("oriel.setFilter('sales.status')");
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  expect(await first.evaluate('oriel.settings.filters')).toEqual({});
  const drawn = Number(await second.locator('body').getAttribute('data-drawn'));
  await embedding.act('refresh', {}, 1);
  await expect
    .poll(async () => Number(await second.locator('body').getAttribute('data-drawn')))
    .toBe(drawn + 1);
  expect(await namesIn(second)).toEqual(['Bob']);
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});

test('an application in a widget shows each viewer their own rows, and shares the filters of its dashboard', async () => {
  const publicId = await publish(LIST);
  const board = await publishConfig({
    title: 'Board',
    widgets: [
      { id: 'app', type: 'APP', position, config: { publicId, title: 'Our names' } },
      {
        id: 'chart',
        type: 'CHART',
        position: { ...position, x: 4 },
        config: { reportId, title: 'Beside it' },
      },
      {
        id: 'status',
        type: 'FILTER',
        position: { ...position, y: 4, h: 1 },
        config: { member: 'sales.status' },
      },
      {
        id: 'name',
        type: 'FILTER',
        position: { ...position, x: 4, y: 4, h: 1 },
        config: { member: 'sales.name', default: { operator: 'equals', value: ['Ada'] }, widgets: ['chart'] },
      },
    ],
  });
  const embedding = await show(board, ['EMEA', 'AMER']);
  await embedding.frame(0).getByRole('group', { name: 'Our names' }).locator('iframe').waitFor();
  await embedding.frame(1).getByRole('group', { name: 'Our names' }).locator('iframe').waitFor();
  const [first, second] = [inside(embedding, 0), inside(embedding, 1)];
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  await expect.poll(() => namesIn(second)).toEqual(['Bob']);
  expect(await embedding.frame().locator('iframe').getAttribute('sandbox')).toBe('allow-scripts');
  expect(await first.evaluate('self.origin')).toBe('null');
  // It knows its own charts and filters, and nothing of the dashboard around it.
  expect(await first.evaluate('oriel.dashboard')).toMatchObject({ title: 'App', charts: [{ id: 'sales' }] });
  expect(await first.evaluate("oriel.load('chart').catch(({ code }) => code)")).toBe('chart_not_found');
  expect(await first.evaluate('oriel.settings.filters')).toEqual({});

  const rowsBeside = () =>
    embedding.frame().getByRole('group', { name: 'Beside it' }).locator('tbody tr').count();
  await expect.poll(rowsBeside).toBe(2);
  await first.evaluate("oriel.setFilter('sales.status', { value: 'done' })");
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Cyd']);
  await expect.poll(rowsBeside).toBe(1);
  await embedding.act('set-filter', { filterUrlParameter: 'f_sales.status={"value":null}' });
  await expect.poll(() => namesIn(first)).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  await expect.poll(rowsBeside).toBe(2);
  expect(await namesIn(second)).toEqual(['Bob']);
  const drawn = Number(await first.locator('body').getAttribute('data-drawn'));
  await embedding.act('refresh');
  await expect
    .poll(async () => Number(await first.locator('body').getAttribute('data-drawn')))
    .toBeGreaterThan(drawn);
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});

test('an application in a widget is there after its card has moved, but not after it has left its page', async () => {
  const publicId = await publish(LIST);
  const at = (wide: number, narrow: number) => ({
    position: { ...position, y: wide },
    responsiveLayouts: { sm: { ...position, y: narrow } },
  });
  const board = await publishConfig({
    widgets: [
      { id: 'app', type: 'APP', ...at(0, 20), config: { publicId } },
      ...['one', 'two', 'three'].map((id, i) => ({
        ...{ id, type: 'TEXT' as const, ...at(4 + 4 * i, 4 * i) },
        config: { markdown: id },
      })),
    ],
  });
  const embedding = await show(board, ['EMEA']);
  const page = embedding.frame();
  await page.locator('iframe').waitFor();
  await expect.poll(() => namesIn(inside(embedding))).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  // As in browsers that cannot move a frame without loading it again.
  await page.evaluate('delete Element.prototype.moveBefore');
  await inside(embedding).evaluate('window.hasMoved = false');
  await embedding.page.evaluate("document.querySelector('iframe').width = 900");
  await expect.poll(() => inside(embedding).evaluate('window.hasMoved ?? true')).toBe(true);
  await expect.poll(() => namesIn(inside(embedding))).toEqual(['Ada', 'Ada', 'Cyd', 'Cyd']);
  await inside(embedding).evaluate("oriel.setFilter('sales.status', { value: 'done' })");
  await expect.poll(() => namesIn(inside(embedding))).toEqual(['Ada', 'Cyd']);
  await page.evaluate(`
    window.ports = 0;
    window.loads = 0;
    window.MessageChannel = class extends MessageChannel { constructor() { super(); ports++; } };
    document.querySelector('iframe').addEventListener('load', () => { loads++; });
  `);
  await inside(embedding).evaluate('setTimeout(() => location.reload()) && undefined');
  await expect.poll(() => page.evaluate('loads')).toBe(1);
  expect(await page.evaluate('ports')).toBe(0);
  expect(await inside(embedding).evaluate('typeof oriel')).toBe('undefined');
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});

test('an application in a widget is not there for viewers who may not see it, and a fixed filter stays as it is', async () => {
  const html = '<p id="here">here</p>';
  const application: Config = {
    kind: 'APP',
    app: { html },
    widgets: [
      { id: 'sales', type: 'CHART', position, config: { reportId } },
      { id: 'status', type: 'FILTER', position, config: { member: 'sales.status' } },
    ],
  };
  const publicId = await publishConfig(application, ['tenant-amer']);
  const board = await publishConfig({
    widgets: [
      { id: 'app', type: 'APP', position, config: { publicId } },
      {
        id: 'status',
        type: 'FILTER',
        position: { ...position, y: 4 },
        config: {
          member: 'sales.status',
          visibility: 'disabled',
          default: { operator: 'equals', value: ['done'] },
        },
      },
    ],
  });
  const embedding = await show(board, ['EMEA', 'AMER']);
  await embedding.frame(1).getByText('This could not be loaded').waitFor();
  expect(embedding.frame(1).childFrames()).toEqual([]);
  await embedding.frame(0).locator('iframe').waitFor();
  const frame = inside(embedding);
  await frame.locator('#here').waitFor();
  const fixed = { 'sales.status': { operator: 'equals', value: ['done'] } };
  expect(await frame.evaluate('oriel.settings.filters')).toEqual(fixed);
  await frame.evaluate("oriel.setFilter('sales.status')");
  expect(
    await frame.evaluate("oriel.load('sales').then(({ rows }) => rows.map((row) => row['sales.status']))"),
  ).toEqual(['done', 'done']);
  expect(await frame.evaluate('oriel.settings.filters')).toEqual(fixed);
  await embedding.close();
});

test('a script alone is an application too, and a revoked session removes it', async () => {
  const files = { 'main.js': "document.getElementById('root').textContent = oriel.dashboard.title;" };
  const embedding = await show(await publish({ entry: 'main.js', files }), ['EMEA']);
  await embedding.heard('dashboard-loaded');
  await inside(embedding).locator('#root', { hasText: 'App' }).waitFor();
  await world.admin.revokeEmbedSessions({ body: { deploymentId } });
  await embedding.heard('session-expired');
  await expect.poll(() => embedding.frame().childFrames().length).toBe(0);
  await embedding.close();
});

const attempt = (frame: Frame, code: string) =>
  frame.evaluate(
    `(async () => { try { await (async () => { ${code} })(); return 'done'; } catch (error) { return error.name; } })()`,
  );

test('an application reaches nothing of the page, the browser or the network', async () => {
  const embedding = await show(await publish({ html: '<p id="here">here</p>' }), ['EMEA']);
  await embedding.heard('dashboard-loaded');
  const frame = inside(embedding);
  await frame.locator('#here').waitFor();
  expect(await frame.evaluate('self.origin')).toBe('null');
  // The policy of the frame says the same, but other pages of this server, where it may go, have another policy.
  expect(await embedding.frame().locator('iframe').getAttribute('sandbox')).toBe('allow-scripts');
  for (const code of [
    'parent.document',
    'top.document',
    'parent.location.href',
    'parent.fetch',
    'document.cookie',
    'localStorage.x',
    'sessionStorage.x',
    'await caches.keys()',
    "indexedDB.open('x')",
    'navigator.serviceWorker.register("/x")',
    `top.location.href = '${outsideUrl}/top'`,
    `parent.location.href = '${outsideUrl}/parent'`,
  ])
    expect([code, await attempt(frame, code)]).toEqual([
      code,
      expect.stringMatching(/^(?:SecurityError|TypeError)$/),
    ]);
  const out = (name: string) => `'${outsideUrl}/${name}'`;
  const own = `'${world.url}/readyz'`;
  for (const code of [
    `await fetch(${out('fetch')})`,
    `await fetch(${own})`,
    `await fetch(${out('no-cors')}, { mode: 'no-cors' })`,
    `await new Promise((resolve, reject) => Object.assign(new Image(), { onload: resolve, onerror: () => reject(new TypeError()), src: ${out('image')} }))`,
    `await new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement('script'), { onload: resolve, onerror: () => reject(new TypeError()), src: ${out('script')} })))`,
    `await new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', onload: resolve, onerror: () => reject(new TypeError()), href: ${out('style')} })))`,
    `await import(${out('module')})`,
    `await new Promise((resolve, reject) => { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); worker.onmessage = resolve; worker.onerror = () => reject(new TypeError()); })`,
    `await new Promise((resolve, reject) => { const stream = new EventSource(${out('events')}); stream.onopen = resolve; stream.onerror = () => reject(new TypeError()); })`,
    `await new Promise((resolve, reject) => { const socket = new WebSocket(${out('socket')}.replace('http', 'ws')); socket.onopen = resolve; socket.onerror = () => reject(new TypeError()); })`,
    `if (!open(${out('popup')})) throw new TypeError()`,
    // Removed, which only makes it harder: browsers have no policy for it.
    `if (typeof RTCPeerConnection === 'undefined') throw new TypeError()`,
  ])
    expect([code, await attempt(frame, code)]).toEqual([
      code,
      expect.stringMatching(/^(?:SecurityError|TypeError)$/),
    ]);
  await attempt(frame, `navigator.sendBeacon(${out('beacon')}, 'x')`);
  await attempt(
    frame,
    `const form = Object.assign(document.createElement('form'), { action: ${out('form')} }); document.body.append(form); form.submit()`,
  );
  await attempt(
    frame,
    `const link = Object.assign(document.createElement('a'), { href: ${out('link')}, target: '_top' }); document.body.append(link); link.click()`,
  );
  await attempt(
    frame,
    `document.body.append(Object.assign(document.createElement('iframe'), { src: ${out('frame')} }))`,
  );
  // At last it leaves its own page, for another server. The policy of the page around it refuses this, and its message
  // quotes this rule. The message for the frame above quotes a rule of the application's own policy.
  await attempt(frame, `location.href = ${out('self')}`).catch(() => 'gone');
  await expect.poll(() => embedding.errors.some((text) => /"frame-src 'self'"/.test(text))).toBe(true);
  await expect.poll(() => embedding.page.url()).toContain(host.origin);
  expect(reached).toEqual([]);
  await embedding.close();
});

test('an application gets the rows of four charts at once, and of others after them', async () => {
  const publicId = await publish({ html: '<p id="here">here</p>' }, reportIds.slice(1));
  const embedding = await show(publicId, ['EMEA']);
  await embedding.heard('dashboard-loaded');
  const held: Route[] = [];
  await embedding.context.route(/\/load$/, (route) => void held.push(route));
  const frame = inside(embedding);
  // A hundred may wait. Messages are read in their order, so the refusal of the last one comes after all others were read.
  await frame.evaluate(`(async () => {
    const ids = oriel.dashboard.charts.map(({ id }) => id);
    window.refused = 0;
    const asked = Array.from({ length: 110 }, (_, i) => oriel.load(ids[i % ids.length]).catch(() => { refused++; }));
    await asked.at(-1);
    window.all = Promise.all(asked);
  })()`);
  expect(await frame.evaluate('refused')).toBe(110 - 4 - 100);
  await expect.poll(() => held.length).toBe(4);
  await embedding.context.unroute(/\/load$/);
  for (const route of held) await route.fallback();
  expect(
    await frame.evaluate('all.then((answers) => answers.filter((answer) => answer?.rows.length).length)'),
  ).toBe(104);
  await embedding.close();
});

test('an application can ask for charts of its dashboard only, a few at once, and not without end', async () => {
  const embedding = await show(await publish({ html: '<p id="here">here</p>' }), ['EMEA']);
  await embedding.heard('dashboard-loaded');
  const frame = inside(embedding);
  for (const chart of ['status', 'other', '__proto__'])
    expect(await frame.evaluate(`oriel.load('${chart}').catch(({ code }) => code)`)).toBe('chart_not_found');
  const codes = await frame.evaluate(
    `Promise.all(Array.from({ length: 200 }, () => oriel.load('sales').then(() => 'rows', ({ code }) => code)))`,
  );
  expect(new Set(codes as string[])).toEqual(new Set(['rows', 'busy']));
  // What it says to the page beside its port is not heard, even if it looks like an action of the host.
  await frame.evaluate(
    `parent.postMessage({ source: 'oriel-embed', direction: 'action', type: 'oriel:action:set-locale', payload: { locale: 'de' } }, '*')`,
  );
  await frame.evaluate(
    `setTimeout(() => { for (let i = 0; i < 1000; i++) oriel.setFilter('x'); }) && undefined`,
  );
  await embedding.frame().getByText('This application was stopped').waitFor();
  expect(embedding.frame().childFrames()).toEqual([]);
  expect(await embedding.frame().locator('html').getAttribute('lang')).toBe('en-US');
  await embedding.close();
});

test('an application that sends one very large message, or something else than a text, is stopped', async () => {
  const publicId = await publish({ html: '<p id="here">here</p>' });
  for (const code of [
    "oriel.setFilter('x'.repeat(2_000_000))",
    `const post = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function () { post.call(this, { type: 'started' }); };
      oriel.setFilter('x')`,
  ]) {
    const embedding = await show(publicId, ['EMEA']);
    await embedding.heard('dashboard-loaded');
    await inside(embedding).evaluate(`setTimeout(() => { ${code} }) && undefined`);
    await embedding.frame().getByText('This application was stopped').waitFor();
    await embedding.close();
  }
});
