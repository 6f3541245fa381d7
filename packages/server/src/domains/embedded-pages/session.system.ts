/** The embedded page in a real browser, when its session changes, ends or cannot be renewed. */
import type { Browser, BrowserContext, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { type Embedding, embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { tabular } from '../../../test/shop-dashboard.ts';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

/** Viewers see the customers of their region. */
const POLICY = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
`;

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  deploymentId = await createShop(world, shopWith(POLICY));
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

const mint = async (region: string, externalId = unique('viewer')) => {
  const body = { deploymentId, externalId, securityContext: { region } };
  return (await world.admin.generateSession({ body })).sessionId;
};

interface Options {
  sessionId?: string;
  settings?: object;
  prepare?(context: BrowserContext): Promise<unknown>;
}

async function show({ sessionId, settings, prepare }: Options = {}): Promise<Embedding> {
  const shown = tabular(deploymentId, 'shown');
  if (settings) Object.assign(shown.config, { settings });
  const address = `${world.url}/embed/dashboard/shown#session=${sessionId ?? (await mint('EMEA'))}`;
  return embed(browser, host.origin, [address], {
    async prepare(context) {
      await withDashboards({ shown })(context);
      await prepare?.(context);
    },
  });
}

const namesIn = async (embedding: Embedding) =>
  (await embedding.frame().locator('body').innerText()).match(/\b(?:Ada|Bob|Cyd)\b/g) ?? [];

/** Comes back when the page has done everything that it was given before. */
async function settled(embedding: Embedding) {
  await embedding.act('set-locale', { locale: 'de' });
  await embedding.frame().locator('html[lang=de]').waitFor();
}

/** Holds the requests that fit the pattern while the gate is closed. */
function gate(pattern: RegExp) {
  const held: Route[] = [];
  const state = { isClosed: false, held, open: () => Promise.all(held.map((route) => route.fallback())) };
  const prepare = (context: BrowserContext) =>
    context.route(pattern, (route) => (state.isClosed ? void held.push(route) : route.fallback()));
  return Object.assign(state, { prepare });
}

test('another viewer sees their own rows, and nothing of the viewer before', async () => {
  const loads = gate(/\/load$/);
  const embedding = await show({ prepare: loads.prepare });
  const frame = embedding.frame();
  await embedding.heard('dashboard-loaded');
  expect(new Set(await namesIn(embedding))).toEqual(new Set(['Ada', 'Cyd']));
  await frame.getByRole('group', { name: 'Orders by name' }).locator('.drill').first().click();
  await frame.getByRole('dialog').getByRole('row').nth(1).waitFor();
  // Answers for the first viewer are on their way while the second one comes.
  loads.isClosed = true;
  await embedding.act('refresh');
  await expect.poll(() => loads.held.length).toBe(3);
  loads.isClosed = false;
  await embedding.act('session', { sessionId: await mint('AMER') });
  await expect.poll(async () => (await embedding.events('dashboard-loaded')).length).toBe(2);
  expect(await embedding.events('ready')).toHaveLength(2);
  await loads.open();
  await settled(embedding);
  expect(new Set(await namesIn(embedding))).toEqual(new Set(['Bob']));
  expect(await frame.getByRole('dialog').count()).toBe(0);
  await embedding.close();
});

test('nothing of the viewer before is shown while the dashboard of another one is on its way', async () => {
  const dashboards = gate(/\/api\/v1\/embed\/dashboard\//);
  const embedding = await show({ prepare: dashboards.prepare });
  await embedding.heard('dashboard-loaded');
  dashboards.isClosed = true;
  await embedding.act('session', { sessionId: await mint('AMER') });
  await expect.poll(() => dashboards.held.length).toBe(1);
  await expect.poll(() => namesIn(embedding)).toEqual([]);
  await dashboards.open();
  await expect.poll(async () => new Set(await namesIn(embedding))).toEqual(new Set(['Bob']));
  await embedding.close();
});

test('a dashboard that comes after the end of the session is not shown', async () => {
  const dashboards = gate(/\/api\/v1\/embed\/dashboard\//);
  dashboards.isClosed = true;
  const embedding = await show({ prepare: dashboards.prepare });
  await expect.poll(() => dashboards.held.length).toBe(1);
  await world.admin.revokeEmbedSessions({ body: { deploymentId } });
  await embedding.heard('session-expired');
  await embedding.frame().getByText('This session has ended').waitFor();
  await dashboards.open();
  await settled(embedding);
  expect(await embedding.frame().locator('.grid').count()).toBe(0);
  expect(await embedding.events('ready')).toEqual([]);
  await embedding.close();
});

test('a renewal that fails leaves the page as it is', async () => {
  const externalId = unique('viewer');
  let isBroken = false;
  const embedding = await show({
    sessionId: await mint('EMEA', externalId),
    prepare: (context) =>
      context.route(/\/api\/v1\/embed\/session$/, (route) =>
        isBroken
          ? route.fulfill({ status: 500, json: { code: 'broken', message: 'Broken.' } })
          : route.fallback(),
      ),
  });
  await embedding.heard('dashboard-loaded');
  const loads = async () => {
    const answered = embedding.page.waitForResponse((response) => response.url().endsWith('/load'));
    await embedding.act('refresh');
    return (await answered).status();
  };
  await embedding.act('renew', { sessionId: '1.garbage' });
  expect(await embedding.heard('error')).toMatchObject({ context: 'session', fatal: false });
  expect(await loads()).toBe(200);
  // The exchange works, but not what comes after it.
  isBroken = true;
  await embedding.act('renew', { sessionId: await mint('AMER') });
  await expect.poll(async () => (await embedding.heard('error')).code).toBe('broken');
  expect(await loads()).toBe(200);
  await settled(embedding);
  expect(new Set(await namesIn(embedding))).toEqual(new Set(['Ada', 'Cyd']));
  isBroken = false;
  await embedding.act('renew', { sessionId: await mint('EMEA', externalId) });
  await expect.poll(() => embedding.requests.filter((url) => url.endsWith('/embed/session')).length).toBe(3);
  expect(await loads()).toBe(200);
  await embedding.close();
});

test('the host is asked for a session five minutes before the end, and the page is blank at the end', async () => {
  const externalId = unique('viewer');
  const embedding = await show({
    sessionId: await mint('EMEA', externalId),
    prepare: (context) => context.clock.install(),
  });
  const { clock } = embedding.page;
  const heading = embedding.frame().getByRole('heading', { name: 'Orders by name' });
  await embedding.heard('dashboard-loaded');
  await clock.fastForward('23:50:00');
  await settled(embedding);
  expect(await embedding.events('session-needed')).toEqual([]);
  await clock.fastForward('05:01');
  const { expiresAt } = await embedding.heard('session-needed');
  const leftMs = Date.parse(String(expiresAt)) - Number(await embedding.page.evaluate('Date.now()'));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(5 * 60_000);
  expect(await heading.count()).toBe(1);
  await clock.fastForward('05:00');
  expect(await embedding.heard('session-expired')).toEqual({ reason: 'expired' });
  await embedding.frame().locator('.notice').waitFor();
  expect(await heading.count()).toBe(0);
  expect(await namesIn(embedding)).toEqual([]);
  await embedding.act('renew', { sessionId: await mint('EMEA', externalId) });
  await heading.waitFor();
  expect(await embedding.events('session-needed')).toHaveLength(1);
  await embedding.close();
});

test('a dashboard that asks for a refresh after years does not ask all the time', async () => {
  const embedding = await show({ settings: { refreshSeconds: 3_000_000 } });
  await embedding.heard('dashboard-loaded');
  await settled(embedding);
  expect(embedding.requests.filter((url) => url.endsWith('/load'))).toHaveLength(3);
  await embedding.close();
});

test('viewers do not read what the server says to developers', async () => {
  const json = { code: 'odd', message: 'Send `Authorization: Api-Key <key>`.' };
  const embedding = await show({
    prepare: (context) => context.route(/\/load$/, (route) => route.fulfill({ status: 400, json })),
  });
  await embedding.heard('dashboard-loaded');
  const text = await embedding.frame().locator('body').innerText();
  expect(text).toContain('If it happens again, tell the people who run this page.');
  expect(text).not.toContain('Api-Key');
  expect(await embedding.heard('error')).toMatchObject(json);
  await embedding.close();
});

test('a session that is refused after the end is reported, and another one is asked for', async () => {
  const embedding = await show();
  await embedding.heard('dashboard-loaded');
  await world.admin.revokeEmbedSessions({ body: { deploymentId } });
  await embedding.heard('session-expired');
  await embedding.act('renew', { sessionId: '1.garbage' });
  expect(await embedding.heard('error')).toMatchObject({ context: 'session', fatal: true });
  await embedding.heard('session-needed');
  await embedding.frame().getByText('This session has ended').waitFor();
  await embedding.act('renew', { sessionId: await mint('EMEA') });
  await expect.poll(async () => (await embedding.events('dashboard-loaded')).length).toBe(2);
  await embedding.close();
});

test('of two sessions, the one that was given last is shown, whichever is exchanged first', async () => {
  const tokens = gate(/session\/token$/);
  const embedding = await show({ prepare: tokens.prepare });
  await embedding.heard('dashboard-loaded');
  tokens.isClosed = true;
  await embedding.act('session', { sessionId: await mint('EMEA') });
  await embedding.act('session', { sessionId: await mint('AMER') });
  await expect.poll(() => tokens.held.length).toBe(2);
  await tokens.held[1]!.fallback();
  await expect.poll(async () => (await embedding.events('dashboard-loaded')).length).toBe(2);
  const viewers = embedding.page.waitForResponse(/\/api\/v1\/embed\/session$/);
  await tokens.held[0]!.fallback();
  await viewers;
  await settled(embedding);
  expect(new Set(await namesIn(embedding))).toEqual(new Set(['Bob']));
  await embedding.close();
});

test('a token that was replaced does not end the page', async () => {
  const externalId = unique('viewer');
  const loads = gate(/\/load$/);
  const embedding = await show({ sessionId: await mint('EMEA', externalId), prepare: loads.prepare });
  await embedding.heard('dashboard-loaded');
  loads.isClosed = true;
  await embedding.act('refresh');
  await expect.poll(() => loads.held.length).toBe(3);
  const viewers = embedding.page.waitForResponse(/\/api\/v1\/embed\/session$/);
  await embedding.act('renew', { sessionId: await mint('EMEA', externalId) });
  await viewers;
  await settled(embedding);
  const json = { statusCode: 401, code: 'unauthorized', message: 'Over.' };
  await Promise.all(loads.held.map((route) => route.fulfill({ status: 401, json })));
  await expect.poll(async () => (await embedding.events('error')).length).toBe(3);
  expect(await embedding.events('session-expired')).toEqual([]);
  await embedding.close();
});

test('the language that was set last is shown, whichever texts come first', async () => {
  const texts = gate(/\/(?:de|fr)-\w+\.js$/);
  texts.isClosed = true;
  const embedding = await show({ prepare: texts.prepare });
  await embedding.heard('dashboard-loaded');
  await embedding.act('set-locale', { locale: 'de' });
  await expect.poll(() => texts.held.length).toBe(1);
  await embedding.act('set-locale', { locale: 'en' });
  const german = embedding.page.waitForResponse(/\/de-\w+\.js$/);
  await texts.held[0]!.fallback();
  await german;
  await embedding.act('set-locale', { locale: 'fr' });
  await expect.poll(() => texts.held.length).toBe(2);
  expect(await embedding.frame().locator('html').getAttribute('lang')).toBe('en');
  await embedding.close();
});

test('details can be asked for again after a failure', async () => {
  let isBroken = false;
  const json = { statusCode: 500, code: 'broken', message: 'Broken.' };
  const embedding = await show({
    prepare: (context) =>
      context.route(/\/load$/, (route) =>
        isBroken ? route.fulfill({ status: 500, json }) : route.fallback(),
      ),
  });
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  isBroken = true;
  await frame.getByRole('group', { name: 'Orders by name' }).locator('.drill').first().click();
  const dialog = frame.getByRole('dialog');
  await dialog.getByRole('alert').waitFor();
  isBroken = false;
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('row').nth(1).waitFor();
  await embedding.close();
});
