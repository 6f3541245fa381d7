/** A schedule with many readers, from the request to the last mail, and what it does to others meanwhile. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../packages/server/test/browser.ts';
import { requireChromium } from '../scripts/chromium.ts';
import { startHostPages } from './embed/host-pages.ts';
import type { Anchor, Benchmark, Contender, RunOptions, Sample } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';
import { runWrk } from './harness/wrk.ts';
import { startMails } from './notifications/mails.ts';

const PUBLIC_ID = 'DemoCommerce';
const TENANT = 'acme-corp';
const OTHER_TENANT = 'beta-corp';
const REGIONS = ['EU', 'US', 'APAC', 'LATAM', 'MEA'];
const READERS = 200;
const VIEWERS = 100;
const CONNECTIONS = [1, 8] as const;
const WHAT_OF = {
  1: 'This is what a product asks for that mints one session after the other without a pause: some hundred in a second.',
  8: 'This takes as much of both cores as it can get, so whatever else runs is felt.',
};

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

  const minting = await mintingOf(oriel);
  const besides = [];
  for (const connections of CONNECTIONS) {
    const mint = minting(connections);
    const alone: Anchor = {
      name: `minting alone, ${connections} at once`,
      measure: mint,
      does: `generate-session for ${VIEWERS} known viewers of another embed tenant, ${connections} at once, each after the answer to the one before, by wrk, while nothing else runs. ${WHAT_OF[connections]}`,
    };
    const beside = { name: `minting beside runs, ${connections} at once`, measure: besideRuns(send, mint) };
    const minted = await measureInTurns(beside, [alone], { ...options, runUpSeconds: 0 });
    besides.push({
      measured: minted.measured,
      comparison: minted.compare(alone, { asked: { atLeast: 0.8 } }),
    });
  }
  return {
    measured: [rounds, ...besides].flatMap(({ measured }) => measured),
    comparisons: [
      rounds.compare(screenshots, { metric: 'meanMs', asked: { atMost: 1.5 } }),
      ...besides.map(({ comparison }) => comparison),
    ],
    facts: {
      run: `${READERS} readers, ${renderings} renderings, PNG; the mail server is another process, which looks for nothing but the end of each mail`,
      browser: `Chromium ${browser.version()}`,
    },
  };
}

/** Measures minting while runs follow each other. */
const besideRuns =
  (send: () => Promise<number>, mint: (seconds: number) => Promise<Sample>) => async (seconds: number) => {
    let isOver = false;
    const running = (async () => {
      while (!isOver) await send();
    })();
    const sample = await mint(seconds);
    isOver = true;
    await running;
    return sample;
  };

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

/** Mints for viewers who are known. The load is made by another process. */
async function mintingOf({ url, headers }: Oriel) {
  const dir = await mkdtemp(join(tmpdir(), 'oriel-bench-minting-'));
  undoAtEnd(() => rm(dir, { recursive: true, force: true }));
  const body = JSON.stringify({
    deploymentId: 1,
    externalId: 'VIEWER',
    embedTenantName: OTHER_TENANT,
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  const [before, after] = body.split('VIEWER');
  const script = join(dir, 'mint.lua');
  await writeFile(
    script,
    `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  return wrk.format(nil, nil, nil, [==[${before}]==] .. "minted-" .. math.random(1, ${VIEWERS}) .. [==[${after}]==])
end
`,
  );
  const load = { url: `${url}/api/v1/embed/generate-session`, headers, script };
  return (connections: number) => (seconds: number) => runWrk({ ...load, connections }, seconds);
}

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
