/** The page of a dashboard in the browser of a person who is signed in: without a session, and never for other sites. */
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { browsingPerson } from '../../../test/browsing.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { createShop } from '../../../test/shops.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createWorld, type World } from '../../../test/world.ts';

type Config = NonNullable<Parameters<World['admin']['publishDashboard']>[0]['body']['config']>;
type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

const position = { x: 0, y: 0, w: 6, h: 6 };
/** The application tries what it can to be this person at the API. */
const APP = `<!doctype html><title>App</title><script>
  fetch('/api/v1/users/me', { credentials: 'include' }).catch(() => location.assign('/api/v1/users/me'));
</script>`;

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
let personId: number;
let address: string;
let appAddress: string;
let filteredAddress: string;
/** What the browser keeps of the person's sign-in. */
let storageState: StorageState;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  deploymentId = await createShop(world);
  const person = await createSignable(world);
  personId = person.id;
  const jsonQuery = JSON.stringify({ measures: ['sales.amount'], dimensions: ['sales.name'] });
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: { name: 'Sales by name', jsonQuery },
  });
  address = await publish({ widgets: [{ id: 'a', type: 'CHART', position, config: { reportId } }] });
  const comparison = {
    measure: 'sales.amount',
    timeDimension: 'sales.ordered_at',
    offset: { amount: 1, unit: 'year' },
  };
  const { id: comparedId } = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Sales compared',
      jsonQuery: JSON.stringify({
        ...JSON.parse(jsonQuery),
        timeDimensions: [{ dimension: 'sales.ordered_at', dateRange: ['2000-01-01', '2100-01-01'] }],
      }),
      meta: { chart: { kind: 'table', periodComparisons: [comparison] } },
    },
  });
  filteredAddress = await publish({
    widgets: [
      { id: 'a', type: 'CHART', position, config: { reportId: comparedId } },
      { id: 'f', type: 'FILTER', position, config: { member: 'sales.name' } },
    ],
  });
  appAddress = await publish({ kind: 'APP', app: { html: APP }, widgets: [] });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.fill('#username', person.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('cell', { name: 'Ada' }).waitFor();
  storageState = await context.storageState();
  await context.close();
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

async function publish(config: Config): Promise<string> {
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Board' } });
  const body = { workbookId, config };
  const { publicId, id } = await world.admin.publishDashboard({ deploymentId, workbookId, body });
  await world.admin.setUserPolicy({
    body: { resourceType: 'Dashboard', resourceId: id, userId: personId, action: 'WorkbookRead' },
  });
  return `${world.url}/embed/dashboard/${publicId}`;
}

/** A page at the address of this server. The server itself has none that holds frames of its own. */
const showAround = (context: BrowserContext) =>
  context.route(`${world.url}/around`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<script>events = []; addEventListener('message', ({ data }) => events.push(data))</script>
        <iframe src="${address}"></iframe>`,
    }),
  );

test('the page shows nothing more once the person has signed out in another tab', async () => {
  const context = await browser.newContext({ locale: 'en-US', storageState });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('cell', { name: 'Ada' }).waitFor();
  expect(await page.evaluate('document.cookie')).toBe('');
  await context.clearCookies();
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByText('This session has ended').waitFor();
  expect(await page.getByText('Ada').count()).toBe(0);
  await page.reload();
  await page.getByText('You are not signed in').waitFor();
  await context.close();
});

test('the page ends once somebody else has signed in in another tab', async () => {
  const context = await browser.newContext({ locale: 'en-US', storageState });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('cell', { name: 'Ada' }).waitFor();
  const [name, value] = (await browsingPerson(world)).headers().cookie!.split('=', 2);
  await context.addCookies([{ name: name!, value: value!, url: world.url }]);
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByText('This session has ended').waitFor();
  await context.close();
});

test('a refresh asks for no rows if somebody else has signed in', async () => {
  const context = await browser.newContext({ locale: 'en-US', storageState });
  await showAround(context);
  const page = await context.newPage();
  await page.goto(`${world.url}/around`);
  const inner = page.frameLocator('iframe');
  await inner.getByRole('cell', { name: 'Ada' }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1)!));
  const refresh = () =>
    page.evaluate(`frames[0].postMessage(
      { source: 'oriel-embed', direction: 'action', type: 'oriel:action:refresh', payload: {} }, location.origin)`);
  await refresh();
  await expect.poll(() => asked).toEqual(['me', 'load']);
  const [name, value] = (await browsingPerson(world)).headers().cookie!.split('=', 2);
  await context.addCookies([{ name: name!, value: value!, url: world.url }]);
  await refresh();
  await inner.getByText('This session has ended').waitFor();
  expect(asked).toEqual(['me', 'load', 'me']);
  await context.close();
});

test('a filter with very many values is asked for in several requests, or refused clearly', async () => {
  const context = await browser.newContext({ locale: 'en-US', storageState });
  const page = await context.newPage();
  const values = (length: number) =>
    encodeURIComponent(JSON.stringify({ value: ['Ada', ...Array(12).fill('x'.repeat(length))] }));
  await page.goto(`${filteredAddress}?f_sales.name=${values(600)}`);
  await page.getByRole('cell', { name: 'Ada' }).waitFor();
  await page.goto(`${filteredAddress}?f_sales.name=${values(1150)}`);
  await page.getByText('There are too many filter values').waitFor();
  await context.close();
});

test('a page of this server that holds the dashboard hears that it is private', async () => {
  const context = await browser.newContext({ storageState });
  await showAround(context);
  const page = await context.newPage();
  await page.goto(`${world.url}/around`);
  const ready = `events.find(({ type }) => type === 'oriel:event:ready')?.payload`;
  await expect
    .poll(() => page.evaluate(ready))
    .toMatchObject({ mode: 'private', embedTenant: null, deploymentId });
  await context.close();
});

// A browser sends the cookie in frames of the second one, which is the same site at another port.
test.each(['origin', 'otherOrigin'] as const)('a frame of another site needs a session: %s', async (name) => {
  const embedding = await embed(browser, host[name], [address], { storageState });
  await embedding.heard('session-needed');
  expect(embedding.requests.filter((url) => url.includes('/api/v1/'))).toEqual([]);
  expect(await embedding.events('ready')).toEqual([]);
  await embedding.close();
});

test('so does a frame of this server within a page of another site', async () => {
  const embedding = await embed(browser, host.otherOrigin, [`${world.url}/around`], {
    storageState,
    prepare: showAround,
  });
  const inner = embedding.frame().childFrames()[0]!;
  await inner.getByText('Waiting for the page that shows this dashboard').waitFor();
  expect(embedding.requests.filter((url) => url.includes('/api/v1/'))).toEqual([]);
  await embedding.close();
});

test('an application of the dashboard does not send the cookie', async () => {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  const left = page.waitForResponse(
    (response) => response.url().endsWith('/users/me') && response.request().isNavigationRequest(),
  );
  await page.goto(appAddress);
  const response = await left;
  expect(await response.request().headerValue('cookie')).toBeNull();
  expect(response.status()).toBe(401);
  await context.close();
});

test('a link on another site runs no query', async () => {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  await page.goto(host.origin);
  const query = encodeURIComponent(JSON.stringify({ measures: ['sales.amount'] }));
  const path = `/query/api/v1/deployments/${deploymentId}/load?query=${query}`;
  const answered = page.waitForResponse((response) => response.url().includes('/load?'));
  await page.evaluate(`location.assign('${world.url}${path}')`);
  const response = await answered;
  expect([await response.request().headerValue('cookie'), response.status()]).toEqual([
    expect.stringContaining('oriel'),
    403,
  ]);
  await context.close();
});

test('the cookie alone runs queries by GET only', async () => {
  const [{ name, value } = { name: '', value: '' }] = storageState.cookies;
  const query = { measures: ['sales.amount'] };
  const path = `/query/api/v1/deployments/${deploymentId}/load`;
  const headers = {
    cookie: `${name}=${value}`,
    origin: world.url,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ query });
  const asked = `${path}?query=${encodeURIComponent(JSON.stringify(query))}`;
  expect((await world.raw('GET', asked, { apiKey: null, headers })).status).toBe(200);
  for (const [site, status] of Object.entries({
    'same-origin': 200,
    none: 200,
    'same-site': 403,
    'cross-site': 403,
  })) {
    const from = { ...headers, 'sec-fetch-site': site };
    expect([site, (await world.raw('GET', asked, { apiKey: null, headers: from })).status]).toEqual([
      site,
      status,
    ]);
  }
  expect((await world.raw('POST', path, { apiKey: null, headers, body })).status).toBe(403);
});
