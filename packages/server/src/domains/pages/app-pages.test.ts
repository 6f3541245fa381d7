/** Where the app is served, and how. Its pages have stories of their own in a browser (`app*.system.ts`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browse, browsingPerson } from '../../../test/browsing.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { APP_DIR } from '../../build-info.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.stop());

const manifest = () => JSON.parse(readFileSync(join(APP_DIR, 'manifest.json'), 'utf8'));

test('whoever is signed in gets the app at its own addresses, and at no others', async () => {
  const someone = await browsingPerson(world);
  for (const path of [
    '/',
    '/?notice=welcome',
    '/d/1',
    '/d/1/explore',
    '/d/1/admin',
    '/d/1/admin/audit-log',
    '/d/1/folders/2',
    '/d/1/workbooks/3',
  ]) {
    const response = await someone.get(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https:|\*/);
    expect(await response.text()).toContain(`/embed/files/${manifest().script}`);
  }
  expect((await someone.get('/d/1/workbooks/3/dashboard')).status).toBe(200);
  // The scripts of a page are loaded with those of the app.
  const explore = await (await someone.get('/d/1/explore')).text();
  const { pages, script } = manifest();
  for (const file of pages['packages/app/src/explore/page.tsx'])
    if (file !== script) expect(explore).toContain(`<link rel="modulepreload" href="/embed/files/${file}">`);
  expect((await someone.get('/d/1/workbooks/3/reports/4')).status).toBe(200);
  for (const path of [
    '/d',
    '/d/1/other',
    '/d/1/admin/other',
    '/d/1/folders/x',
    '/d/1/workbooks/3/reports',
    '/d/1/a/b/c/d',
    '/d/1/a/b/c/d/e',
  ]) {
    const response = await someone.get(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.text()).not.toContain(manifest().script);
  }
  expect((await someone.post('/d/1', {})).status).toBe(405);
});

test('the token in its page allows changes in this session only', async () => {
  const [one, other] = [await browsingPerson(world), await browsingPerson(world)];
  const tokenOf = async (browsing: typeof one) =>
    /name="csrf-token" content="([^"]+)"/.exec(await (await browsing.get('/')).text())![1]!;
  const change = (browsing: typeof one, token: string) =>
    fetch(`${world.url}/api/v1/users/me`, {
      method: 'PUT',
      headers: { ...browsing.headers(), 'content-type': 'application/json', 'x-csrf-token': token },
      body: JSON.stringify({ firstName: 'Ada' }),
    });
  expect((await change(one, await tokenOf(one))).status).toBe(200);
  expect((await change(one, await tokenOf(other))).status).toBe(403);
});

test('whoever is not signed in signs in first and comes back, and programs go to the reference', async () => {
  const visitor = browse(world);
  expect((await visitor.get('/')).headers.get('location')).toBe('/sign-in');
  const asked = await visitor.get('/d/1/explore?q=1');
  expect(asked.status).toBe(401);
  expect(await asked.text()).toContain('name="next" value="/d/1/explore?q=1"');
  const program = await fetch(world.url, { redirect: 'manual' });
  expect(program.headers.get('location')).toBe('/docs');
});

test('its files may be kept for ever, and home loads at most 60 KB of scripts', async () => {
  const { script, pages } = manifest();
  const file = await fetch(`${world.url}/embed/files/${script}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(file.headers.get('cache-control')).toContain('immutable');
  const sizeOf = (name: string) => readFileSync(join(APP_DIR, `${name}.gz`)).length;
  const size = (page: string) => {
    const files: string[] = pages[page];
    expect(files.length).toBeGreaterThan(1);
    return files.map(sizeOf).reduce((sum, bytes) => sum + bytes, 0);
  };
  expect(size('packages/app/src/home/page.tsx')).toBeLessThan(60 * 1024);
  expect(size('packages/app/src/explore/page.tsx')).toBeLessThan(120 * 1024);
});
