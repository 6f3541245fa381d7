/** What the app is measured with: a signed-in browser, a large dashboard, a long answer and a model with many members. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { ADMIN_PASSWORD, type Oriel } from '../harness/oriel.ts';

export const DEPLOYMENT_ID = 1;
export const WIDGETS = 200;
export const ROWS = 100_000;
export const MEMBERS = 5000;
const VIEWPORT = { width: 1440, height: 900 };
const CHARTS_OF = 5;

type State = Awaited<ReturnType<BrowserContext['storageState']>>;

export async function signIn(browser: Browser, { url }: Oriel): Promise<State> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.fill('#username', 'admin@example.com');
  await page.fill('#password', ADMIN_PASSWORD);
  await page.locator('#password').press('Enter');
  await page.waitForURL((address) => address.pathname !== '/sign-in');
  const state = await context.storageState();
  await context.close();
  return state;
}

/** What waits in the pages is a text, which their policy would not run. */
export const openContext = (browser: Browser, storageState?: State) =>
  browser.newContext({
    viewport: VIEWPORT,
    locale: 'en-US',
    bypassCSP: true,
    ...(storageState && { storageState }),
  });

/** Charts, figures and texts, three beside each other. */
export async function makeDashboard(oriel: Oriel): Promise<number> {
  const send = async (method: string, path: string, body: object) => {
    const reply = await fetch(`${oriel.url}/api/v1/deployments/${DEPLOYMENT_ID}${path}`, {
      method,
      headers: { ...oriel.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as { id: number };
  };
  const { id: workbookId } = await send('POST', '/workbooks', { name: 'Large' });
  const reports: number[] = [];
  for (const [i, type] of (['column', 'line', 'kpi', 'table', 'donut'] as const).entries()) {
    const query = {
      measures: ['sales.revenue'],
      ...(type === 'line'
        ? { timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'month' }] }
        : type === 'kpi'
          ? {}
          : { dimensions: ['sales.status'] }),
    };
    const body = {
      workbookId,
      name: `Report ${i}`,
      jsonQuery: JSON.stringify(query),
      meta: { visualization: { type } },
    };
    reports.push((await send('POST', '/reports', body)).id);
  }
  const widgets = Array.from({ length: WIDGETS }, (_, i) => ({
    id: `w${i}`,
    position: { x: (i % 3) * 4, y: Math.floor(i / 3) * 4, w: 4, h: 4 },
    ...(i % 2
      ? { type: 'TEXT', config: { markdown: `**Text ${i}**` } }
      : { type: 'CHART', config: { reportId: reports[(i / 2) % CHARTS_OF] } }),
  }));
  await send('PUT', `/workbooks/${workbookId}/dashboard`, { dashboardDraft: { widgets } });
  return workbookId;
}

/** The answer to a question has as many rows as explore is to scroll, which is more than the server sends. */
export async function openLongTable(page: Page, { url }: Oriel): Promise<void> {
  await page.route(/\/load$/, async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as { results?: { data: object[] }[] };
    for (const result of reply.results ?? []) {
      const [first] = result.data;
      result.data = Array.from({ length: ROWS }, (_, i) => ({
        ...first,
        'sales.status': `status ${i}`,
        'sales.revenue': String(i * 1.5),
      }));
    }
    await route.fulfill({ response, json: reply });
  });
  const query = {
    measures: ['sales.revenue'],
    dimensions: ['sales.status', 'sales.channel', 'sales.product_category'],
  };
  await page.goto(
    `${url}/d/${DEPLOYMENT_ID}/explore?q=${encodeURIComponent(JSON.stringify({ ...query, limit: 50_000 }))}`,
  );
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.locator('.result-table tbody tr:not(.space)').first().waitFor();
}

/** Opens a view with so many members that only a search finds them. */
export async function openManyMembers(page: Page, { url }: Oriel): Promise<void> {
  await page.route(/\/meta(\?|$)/, async (route) => {
    const response = await route.fetch();
    const meta = (await response.json()) as { cubes: { name: string; dimensions: { name: string }[] }[] };
    const sales = meta.cubes.find(({ name }) => name === 'sales')!;
    const [one] = sales.dimensions;
    for (let i = sales.dimensions.length; i < MEMBERS; i++)
      sales.dimensions.push({
        ...one!,
        ...{ name: `sales.member_${i}`, title: `Sales Member ${i}`, shortTitle: `Member ${i} of ${i % 97}` },
      });
    await route.fulfill({ response, json: meta });
  });
  await page.goto(`${url}/d/${DEPLOYMENT_ID}/explore?q={"measures":["sales.revenue"]}`);
  await page.getByRole('searchbox', { name: 'Search fields' }).waitFor();
}
