/** The embedded page in a real browser: how it gets its session, what it says to its host, and what it hears. */
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { type Embedding, embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { graphical, tabular } from '../../../test/shop-dashboard.ts';
import { createShop } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
beforeAll(async () => {
  // A world of its own, because the tests change its settings.
  world = await createOwnWorld();
  browser = await openBrowser();
  host = await startHost();
  deploymentId = await createShop(world);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

/** Answers the address of dashboards. */
const prepare = (context: BrowserContext) =>
  withDashboards({
    tabular: tabular(deploymentId, 'tabular'),
    graphical: graphical(deploymentId, 'graphical'),
  })(context);

const mint = async (more: object = {}) =>
  (await world.admin.generateSession({ body: { deploymentId, externalId: unique('viewer'), ...more } }))
    .sessionId;

async function show(publicId: string, { session = '', query = '', count = 1 } = {}): Promise<Embedding> {
  const addresses = await Promise.all(
    Array.from(
      { length: count },
      async () => `${world.url}/embed/dashboard/${publicId}?session=${session || (await mint())}${query}`,
    ),
  );
  return embed(browser, host.origin, addresses, { prepare });
}

describe('a session', () => {
  test('becomes a dashboard, leaves the address bar, and nothing is stored', async () => {
    const sessionId = await mint({ embedTenantName: 'acme-corp' });
    const embedding = await show('tabular', { session: sessionId });
    expect(await embedding.heard('ready')).toEqual({
      embedTenant: 'acme-corp',
      deploymentId,
      mode: 'signed',
      surface: 'dashboard',
      publicId: 'tabular',
      settings: { showDashboardChat: true },
    });
    expect(await embedding.heard('view')).toEqual({
      surface: 'dashboard',
      path: '/embed/dashboard/tabular',
      publicId: 'tabular',
      title: 'Shop',
    });
    expect(await embedding.heard('dashboard-loaded')).toMatchObject({ publicId: 'tabular', widgetCount: 3 });
    const frame = embedding.frame();
    expect(frame.url()).toBe(`${world.url}/embed/dashboard/tabular`);
    // A browser that blocks what is stored by others throws.
    const stored = `try { [localStorage.length, sessionStorage.length, document.cookie].join() } catch { '0,0,' }`;
    expect(await frame.evaluate(stored)).toBe('0,0,');
    expect(await embedding.context.cookies()).toEqual([]);
    expect(embedding.errors).toEqual([]);
    for (const url of embedding.requests.slice(2)) expect(url.split('?')[1] ?? '').not.toMatch(/eyJ|token/);
    // One request for each widget.
    expect(embedding.requests.filter((url) => url.endsWith('/load'))).toHaveLength(3);
    expect(embedding.requests.filter((url) => /vega|world/.test(url))).toEqual([]);
    await embedding.close();
  });

  test('is taken from the fragment, and by message', async () => {
    const sessionId = await mint();
    const addresses = [
      `${world.url}/embed/dashboard/tabular#session=${sessionId}`,
      `${world.url}/embed/d/${deploymentId}/dashboard/tabular`,
    ];
    const embedding = await embed(browser, host.origin, addresses, { prepare });
    await embedding.heard('dashboard-loaded', 0);
    expect(embedding.frame(0).url()).not.toContain('session');
    expect(await embedding.heard('session-needed', 1)).toEqual({});
    await embedding.act('session', { sessionId: await mint() }, 1);
    await embedding.heard('dashboard-loaded', 1);
    await embedding.close();
  });

  test('that was used before is refused with a plain notice, and another one is asked for', async () => {
    const sessionId = await mint();
    await world.client().postTokenBySessionId({ body: { sessionId } });
    const embedding = await show('tabular', { session: sessionId });
    expect(await embedding.heard('error')).toMatchObject({ code: 'invalid_session', fatal: true });
    await embedding.heard('session-needed');
    await embedding.frame().getByText('This link cannot be used any more').waitFor();
    await embedding.act('session', { sessionId: await mint() });
    await embedding.heard('dashboard-loaded');
    await embedding.close();
  });

  test('that is revoked blanks the page, and the host can renew it', async () => {
    const externalId = unique('viewer');
    const sessionId = await mint({ externalId });
    const embedding = await show('tabular', { session: sessionId });
    await embedding.heard('dashboard-loaded');
    await embedding.frame().getByRole('heading', { name: 'Orders by name' }).waitFor();
    await world.admin.revokeEmbedSessions({ body: { deploymentId } });
    expect(await embedding.heard('session-expired')).toEqual({ reason: 'revoked' });
    await embedding.frame().getByText('This session has ended').waitFor();
    expect(await embedding.frame().getByRole('heading', { name: 'Orders by name' }).count()).toBe(0);
    await embedding.act('renew', { sessionId: await mint({ externalId }) });
    await embedding.frame().getByRole('heading', { name: 'Orders by name' }).waitFor();
    await embedding.close();
  });

  test('is renewed without losing what the viewer chose', async () => {
    const externalId = unique('viewer');
    const embedding = await show('tabular', {
      session: await mint({ externalId }),
      query: `&f_sales.status=${encodeURIComponent('{"value":"done"}')}`,
    });
    await embedding.heard('dashboard-loaded');
    const loads = () => embedding.requests.filter((url) => url.endsWith('/load')).length;
    const before = loads();
    await embedding.act('renew', { sessionId: await mint({ externalId }) });
    await expect
      .poll(() => embedding.requests.filter((url) => url.endsWith('/session/token')).length)
      .toBe(2);
    await embedding.act('refresh');
    await expect.poll(loads).toBe(before * 2);
    expect(
      await embedding
        .frame()
        .getByRole('button', { name: /Status/ })
        .innerText(),
    ).toContain('done');
    // Another viewer starts afresh.
    await embedding.act('renew', { sessionId: await mint() });
    await expect
      .poll(() =>
        embedding
          .frame()
          .getByRole('button', { name: /Status/ })
          .innerText(),
      )
      .toContain('All');
    await embedding.close();
  });
});

describe('the host', () => {
  test('of another origin is not heard, and hears nothing', async () => {
    const embedding = await show('tabular');
    await embedding.heard('dashboard-loaded');
    // Another page in a frame of the same host sends actions to the dashboard.
    await embedding.page.evaluate(`new Promise((resolve) => {
      const other = document.createElement('iframe');
      other.src = '${host.otherOrigin}';
      other.onload = resolve;
      document.body.append(other);
    })`);
    const stranger = embedding.page.frames().find((frame) => frame.url().startsWith(host.otherOrigin))!;
    await stranger.evaluate(`for (const type of ['set-color-scheme', 'set-filter']) {
      const payload = { scheme: 'dark', filterUrlParameter: 'f_sales.status={"value":"done"}' };
      const message = { source: 'oriel-embed', direction: 'action', type: 'oriel:action:' + type, payload };
      parent.frames[0].postMessage(message, '*');
    }`);
    await embedding.act('set-locale', { locale: 'de' });
    await embedding.frame().getByText('Gruppieren nach').waitFor();
    expect(await embedding.frame().locator('html').getAttribute('data-scheme')).toBe('light');
    expect(
      await embedding
        .frame()
        .getByRole('button', { name: /Status/ })
        .innerText(),
    ).toContain('Alle');
    expect(await stranger.evaluate('window.events ?? []')).toEqual([]);
    await embedding.close();
  });

  test('must be allowed where the account says who is', async () => {
    await world.admin.updateTenantSettings({ body: { embedAllowedOrigins: [host.otherOrigin] } });
    try {
      await expect
        .poll(async () =>
          (await fetch(`${world.url}/embed/dashboard/x`)).headers.get('content-security-policy'),
        )
        .toContain(`frame-ancestors 'self' ${host.otherOrigin}`);
      const refused = await show('tabular');
      await expect.poll(() => refused.errors.join()).toContain('frame-ancestors');
      expect(await refused.events()).toEqual([]);
      await refused.close();
    } finally {
      await world.admin.updateTenantSettings({ body: { embedAllowedOrigins: [] } });
    }
  });

  test('changes theme, scheme, zone, filters and the dashboard', async () => {
    const embedding = await show('tabular');
    await embedding.heard('dashboard-loaded');
    const frame = embedding.frame();
    await embedding.act('set-color-scheme', { scheme: 'dark' });
    await frame.locator('html[data-scheme=dark]').waitFor();
    await embedding.act('set-theme', { primaryColor: '#ff6600', font: 'Georgia, serif', borderRadius: 3 });
    const token = (name: string) =>
      frame.evaluate(`document.documentElement.style.getPropertyValue('${name}')`);
    await expect.poll(() => token('--radius')).toBe('3px');
    expect(await token('--font')).toMatch(/^"Georgia", serif/);
    await embedding.act('set-filter', { filterUrlParameter: 'f_sales.status={"value":["done"]}' });
    await expect.poll(() => frame.getByRole('button', { name: /Status/ }).innerText()).toContain('done');
    // There is no filter widget for this member.
    await embedding.act('set-filter', { filterUrlParameter: 'f_sales.name={"value":["Ada"]}' });
    const sent = embedding.page.waitForRequest(
      (request) => request.url().endsWith('/load') && request.postData()!.includes('Asia/Tokyo'),
    );
    await embedding.act('set-timezone', { timezone: 'Asia/Tokyo' });
    const { query } = JSON.parse((await sent).postData()!);
    expect(JSON.stringify(query)).toContain('"values":["done"]');
    expect(JSON.stringify(query)).not.toContain('Ada');
    await embedding.act('navigate', { path: '/embed/dashboard/graphical' });
    expect(await embedding.heard('navigate')).toEqual({
      path: '/embed/dashboard/graphical',
      previousPath: '/embed/dashboard/tabular',
    });
    await frame.getByRole('heading', { name: 'Shop in pictures' }).waitFor();
    await embedding.act('navigate', { path: 'https://evil.example/' });
    await embedding.act('navigate', { path: '/embed/dashboard/missing' });
    await frame.getByText('This dashboard is not available').waitFor();
    await embedding.close();
  });

  test('shows two customers side by side, who never mix', async () => {
    const ids = await Promise.all([
      mint({ embedTenantName: 'acme-corp' }),
      mint({ embedTenantName: 'beta-corp' }),
    ]);
    const addresses = ids.map((id) => `${world.url}/embed/dashboard/tabular?session=${id}`);
    const embedding = await embed(browser, host.origin, addresses, { prepare });
    await embedding.heard('dashboard-loaded', 0);
    await embedding.heard('dashboard-loaded', 1);
    expect(await embedding.heard('ready', 0)).toMatchObject({ embedTenant: 'acme-corp' });
    expect(await embedding.heard('ready', 1)).toMatchObject({ embedTenant: 'beta-corp' });
    await world.admin.revokeEmbedSessions({ body: { embedTenantName: 'acme-corp' } });
    await embedding.heard('session-expired', 0);
    expect(await embedding.events('session-expired', 1)).toEqual([]);
    await embedding.frame(1).getByRole('heading', { name: 'Orders by name' }).waitFor();
    await embedding.close();
  });
});
