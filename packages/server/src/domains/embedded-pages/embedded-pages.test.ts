/** What single requests to the embedded pages get, and how much a browser has to load. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { policyFor } from './rules.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const PAGES = [
  '/embed/dashboard/x',
  '/embed/d/1/dashboard/x',
  '/embed/d/1/chat',
  '/embed/d/1/app',
  '/embed/d/1/app/workbooks/3/dashboard',
];
const get = (path: string, headers: Record<string, string> = {}) =>
  world.raw('GET', path, { apiKey: null, headers });

describe.each(PAGES)('%s', (path) => {
  test('is safe to show', async () => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain("; img-src 'self' data: blob:;");
    expect(policy).not.toMatch(/unsafe|script-src[^;]*(?:\*|data:|https:)/);
    expect(policy).toContain("base-uri 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toBeNull();
  });
});

test('the frame of applications has no origin and no network', async () => {
  const { status, headers } = await get('/embed/app-frame');
  const policy = headers.get('content-security-policy')!;
  expect([status, headers.get('referrer-policy')]).toEqual([200, 'no-referrer']);
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /);
  expect(policy).not.toMatch(/allow-same-origin|connect-src|frame-src|https?:|'self'/);
});

test('the page is the same for every dashboard, whether it exists or not', async () => {
  const [one, two] = await Promise.all(PAGES.slice(0, 2).map(async (path) => (await get(path)).text()));
  expect(one).toBe(two);
});

test('a policy names the allowed origins, and nothing else', () => {
  expect(policyFor([])).toMatch(/frame-ancestors \*$/);
  expect(policyFor(['https://app.example.com'])).toMatch(
    /frame-ancestors 'self' https:\/\/app\.example\.com$/,
  );
  // If no origin can be used, the policy allows no other site, instead of every site.
  expect(policyFor(['https://x; script-src *'])).toMatch(/frame-ancestors 'self'$/);
});

describe('the files', () => {
  const names = (text: string) => [...text.matchAll(/\/embed\/files\/([^"]+)/g)].map(([, name]) => name!);
  /** The file and what it imports at once, which a browser loads with it. */
  async function withImports(file: string, seen = new Map<string, number>()): Promise<Map<string, number>> {
    if (seen.has(file)) return seen;
    const text = await (await get(`/embed/files/${file}`)).text();
    seen.set(file, gzipSync(text, { level: 9 }).length);
    for (const [, name] of text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g))
      await withImports(name!, seen);
    return seen;
  }
  const total = (files: Map<string, number>) => [...files.values()].reduce((sum, size) => sum + size, 0);

  test('may be kept for ever, and come compressed', async () => {
    const found = names(await (await get(PAGES[0]!)).text());
    expect(found.length).toBeGreaterThan(1);
    for (const name of found) {
      const { status, headers } = await get(`/embed/files/${name}`, { 'accept-encoding': 'gzip' });
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-encoding')).toBe('gzip');
    }
    expect((await get('/embed/files/page-00000000.js')).status).toBe(404);
    expect((await get('/embed/files/manifest.json')).status).toBe(404);
  });

  test('are small: tables, figures and texts need 46,500 bytes of script, and charts 236,000', async () => {
    const page = await (await get(PAGES[0]!)).text();
    const script = names(page).find((name) => name.startsWith('page-'))!;
    const base = await withImports(script);
    const lazy = await Promise.all(
      [...base.keys()].map(async (name) => (await get(`/embed/files/${name}`)).text()),
    );
    const find = (start: string) => new RegExp(`\\./(${start}-[\\w]+\\.js)`).exec(lazy.join('\n'))![1]!;
    const withFilters = await withImports(find('filter'), new Map(base));
    const withCharts = await withImports(
      find('world-map'),
      await withImports(find('vega-chart'), new Map(withFilters)),
    );
    expect(total(withFilters)).toBeLessThan(46_500);
    expect(total(withCharts)).toBeLessThan(236_000);
  });
});

test('the app has pages at its own addresses only', async () => {
  expect((await get('/embed/d/1/app/explore')).status).toBe(200);
  for (const path of ['other', 'folders/x', 'workbooks/3/reports', 'a/b/c/d'])
    expect((await get(`/embed/d/1/app/${path}`)).status).toBe(404);
});
