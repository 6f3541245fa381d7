/** Texts that try to run as script, through every field that users of the platform write, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { BARS, graphical, tabular } from '../../../test/shop-dashboard.ts';
import { deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

/** Each sets `window.hacked`, or asks `evil.invalid` for something, if it gets its way. */
const HOSTILE = [
  '<script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '<img src="https://evil.invalid/pixel.png">',
  '<svg onload="window.hacked=1"><script>window.hacked=1</script></svg>',
  '"><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<a href="javascript:window.hacked=1" id="bait">press</a>',
  '[press](javascript:window.hacked=1)',
  '![x](https://evil.invalid/markdown.png)',
  '<style>@import url(https://evil.invalid/a.css);*{background:url(https://evil.invalid/b.png)}</style>',
  '<div style="background:url(https://evil.invalid/c.png);position:fixed;inset:0">x</div>',
  '<math><mtext></mtext><mglyph><style><img src=x onerror="window.hacked=1"></style></mglyph></math>',
  '<form action="https://evil.invalid"><button formaction="javascript:window.hacked=1">x</button></form>',
  '<link rel=stylesheet href="https://evil.invalid/d.css"><base href="https://evil.invalid/">',
  '<object data="https://evil.invalid/e"></object><embed src="https://evil.invalid/f">',
  '{{constructor.constructor("window.hacked=1")()}}',
  'red;}*{background:url(https://evil.invalid/g.png)}',
  '</title><script>window.hacked=1</script>',
];
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

test.each([
  ['tables, texts and filters', tabular, {}],
  ['charts, maps, templates and threads', graphical, {}],
  ['specs of charts', graphical, { spec: SPEC }],
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
  expect(embedding.requests.filter((url) => url.startsWith('https://evil.invalid'))).toEqual([]);
  // Templates are parsed in a document that runs nothing, but the browser reports what it would refuse there.
  const isParsed = made.reportSnapshots.some(({ kind }) => kind === 'html');
  if (!isParsed) expect(embedding.errors.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
  await embedding.close();
});
