/** A schedule with many readers, from the request to the last mail, and what it does to others meanwhile. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import { openBrowser } from '../packages/server/test/browser.ts';
import { requireChromium } from '../scripts/chromium.ts';
import { startHostPages } from './embed/host-pages.ts';
import type { Anchor, Benchmark, Contender, RunOptions, Sample } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';

const PUBLIC_ID = 'DemoCommerce';
const TENANT = 'acme-corp';
const OTHER_TENANT = 'beta-corp';
const REGIONS = ['EU', 'US', 'APAC', 'LATAM', 'MEA'];
const READERS = 200;
const CONNECTIONS = 8;

export const notifications: Benchmark = {
  name: 'notifications',
  description: `a schedule with ${READERS} readers in ${REGIONS.length} regions, against as many bare screenshots in Chromium`,
  run,
};

async function run(options: RunOptions) {
  const mails = await startMails();
  const oriel = await startOriel({
    settings: { ORIEL_DEMO: 'true', ORIEL_SMTP_URL: mails.url, ORIEL_MAIL_FROM: 'bench@example.com' },
  });
  const api = apiOf(oriel);
  await whenBuilt(api);
  await api('PUT', '/api/v1/tenant/settings', { embedNotificationsPerHour: 1_000_000 });
  const path = '/api/v1/deployments/1/notifications';
  const { id } = await api('POST', path, { dashboardPublicId: PUBLIC_ID, scheduleType: 'DAILY', hour: 3 });
  const recipients = Array.from({ length: READERS }, (_, i) => ({
    type: 'EMBED_USER',
    embedTenantName: TENANT,
    externalId: `reader-${i}`,
    email: `reader-${i}@example.com`,
    userAttributes: [{ name: 'region', value: REGIONS[i % REGIONS.length] }],
  }));
  await api('POST', `${path}/${id}/recipients`, { recipients });
  let renderings = 0;
  const send = async () => {
    const begun = performance.now();
    const all = mails.next(READERS);
    const { id: runId } = await api('POST', `${path}/${id}/run`, {});
    const doneMs = (await all) - begun;
    for (;;) {
      const { items } = await api('GET', `${path}/${id}/runs?first=1`);
      if (items[0].id === runId && items[0].state !== 'running') {
        if (items[0].sent !== READERS) throw new Error(`only ${items[0].sent} were sent: ${items[0].reason}`);
        renderings = items[0].renderings;
        return doneMs;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  const browser = await openBrowser([], requireChromium());
  undoAtEnd(() => browser.close());
  const host = await startHostPages([], []);
  const schedule: Contender = { name: 'Oriel, to the last mail', measure: repeated(send) };
  const screenshots: Anchor = {
    name: `Chromium, ${REGIONS.length} screenshots`,
    measure: repeated(() => shoot(api, browser, host, oriel)),
    does: `opens the embedded page of the same dashboard for one reader of each region, one after the other in a browser that runs already, waits until it is loaded, and takes a picture of the whole page, 1200 wide, at twice the density. It groups no readers and sends nothing.`,
  };
  const rounds = await measureInTurns(schedule, [screenshots], { ...options, runUpSeconds: 0 });

  const mint = mintFor(api);
  const alone: Anchor = {
    name: 'minting alone',
    measure: mint,
    does: `generate-session for another embed tenant with ${CONNECTIONS} requests at once, while nothing else runs.`,
  };
  const beside: Contender = {
    name: 'minting beside a run',
    async measure(seconds) {
      let isOver = false;
      const running = (async () => {
        while (!isOver) await send();
      })();
      const sample = await mint(seconds);
      isOver = true;
      await running;
      return sample;
    },
  };
  const minted = await measureInTurns(beside, [alone], { ...options, runUpSeconds: 0 });
  return {
    measured: [...rounds.measured, ...minted.measured],
    comparisons: [
      rounds.compare(screenshots, { metric: 'meanMs', asked: { atMost: 1.5 } }),
      minted.compare(alone, { asked: { atLeast: 0.8 } }),
    ],
    facts: {
      run: `${READERS} readers, ${renderings} renderings, PNG, mails accepted by a server in the process of the benchmark`,
      browser: `Chromium ${browser.version()}`,
    },
  };
}

/** Accepts every mail. */
async function startMails() {
  let waiting: { left: number; done(at: number): void } | undefined;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, callback) {
      stream.resume().on('end', () => {
        callback();
        if (waiting && --waiting.left === 0) waiting.done(performance.now());
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  undoAtEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    /** When so many more were accepted. */
    next: (count: number) =>
      new Promise<number>((resolve) => {
        waiting = { left: count, done: resolve };
      }),
  };
}

type Api = ReturnType<typeof apiOf>;
const apiOf =
  ({ url, headers }: Oriel) =>
  // biome-ignore lint/suspicious/noExplicitAny: replies of several operations
  async (method: string, path: string, body?: object): Promise<any> => {
    const reply = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!reply.ok)
      throw new Error(`${method} ${path} answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
    return reply.json();
  };

/** The demo is built some seconds after the start. */
async function whenBuilt(api: Api) {
  const query = { measures: ['sales.revenue'] };
  for (let attempt = 0; ; attempt++) {
    try {
      return await api('POST', '/query/api/v1/deployments/1/load', { query });
    } catch (error) {
      if (attempt === 240) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

const sessionFor = (api: Api, embedTenantName: string, externalId: string, region: string) =>
  api('POST', '/api/v1/embed/generate-session', {
    deploymentId: 1,
    externalId,
    embedTenantName,
    userAttributes: [{ name: 'region', value: region }],
  });

async function shoot(api: Api, browser: Browser, host: string, { url }: Oriel): Promise<number> {
  const begun = performance.now();
  for (const region of REGIONS) {
    const { sessionId } = await sessionFor(api, TENANT, `shot-${region.toLowerCase()}`, region);
    const address = `${url}/embed/dashboard/${PUBLIC_ID}#session=${sessionId}`;
    const context = await browser.newContext({
      viewport: { width: 1200, height: 960 },
      deviceScaleFactor: 2,
      locale: 'en-US',
    });
    const page = await context.newPage();
    await page.goto(`${host}/frame?address=${encodeURIComponent(address)}`);
    await page.waitForFunction('window.doneMs', undefined, { polling: 50 });
    await page.screenshot({ fullPage: true });
    await context.close();
  }
  return performance.now() - begun;
}

/** Mints for viewers who are known. */
const mintFor =
  (api: Api) =>
  async (seconds: number): Promise<Sample> => {
    const end = performance.now() + seconds * 1000;
    let count = 0;
    const one = async (_: unknown, i: number) => {
      while (performance.now() < end) {
        await sessionFor(api, OTHER_TENANT, `minted-${i}`, 'EU');
        count++;
      }
    };
    const begun = performance.now();
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
    return { perSecond: (count * 1000) / (performance.now() - begun) };
  };

/** One after the other until the time is over. */
const repeated =
  (act: () => Promise<number>) =>
  async (seconds: number): Promise<Sample> => {
    const times: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end || !times.length; )
      times.push(await act());
    const meanMs = times.reduce((sum, time) => sum + time, 0) / times.length;
    return { perSecond: 1000 / meanMs, meanMs };
  };
