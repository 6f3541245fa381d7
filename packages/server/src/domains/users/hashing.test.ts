import { expect, test, vi } from 'vitest';
import { createHashing } from './hashing.ts';

/** Work that goes on until the test ends it, for each call. */
function slowHashing() {
  const hashing = createHashing();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const from = (ip: string) => {
    const work = () => {
      begun.push(ip);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    hashing.pass(ip, work).catch(({ code }) => begun.push(`${ip} ${code}`));
  };
  /** Waits for the work that follows. */
  const endOne = async (following = 1) => {
    const before = begun.length;
    ends.shift()!();
    await vi.waitFor(() => expect(begun.length).toBeGreaterThanOrEqual(before + following));
  };
  return { hashing, from, begun, ends, endOne };
}
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

test('one IPv6 site, with any number of networks, does not keep others waiting', async () => {
  const { from, begun } = slowHashing();
  for (const i of range(300)) from(`2001:db8:5:${i.toString(16)}::1`);
  from('203.0.113.7');
  await vi.waitFor(() => expect(begun).toContain('203.0.113.7'));
  // One of the site is being hashed, 20 wait, and the others are refused.
  await vi.waitFor(() => expect(begun.filter((one) => one.endsWith('busy'))).toHaveLength(279));
});

test('nothing is kept of the networks of sites that have no call', async () => {
  const { hashing, from, ends } = slowHashing();
  for (const i of range(1500)) from(`2001:db8:${i.toString(16)}::1`);
  // Two are being hashed, and a thousand wait.
  await vi.waitFor(() => expect(hashing.sites).toBe(1002));
  for (let i = 0; i < 5000 && hashing.sites > 0; i++) {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  }
  expect(hashing.sites).toBe(0);
});

test('hundreds of addresses do not keep one waiting that comes for the first time', async () => {
  const { from, begun, endOne } = slowHashing();
  for (const i of range(400)) from(`198.51.${i >> 8}.${i & 255}`);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  from('203.0.113.7');
  await endOne();
  expect(begun[2]).toBe('203.0.113.7');
});

test('callers with a new site each time keep nobody waiting, whether they signed in before or not', async () => {
  const { from, begun, endOne } = slowHashing();
  const [known, fresh] = ['203.0.113.7', '203.0.113.8'];
  let sites = 0;
  const newSite = () => from(`2001:db8:${(++sites).toString(16)}::1`);
  from(known);
  await endOne(0);
  for (const _ of range(6)) newSite();
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  for (const victim of [known, fresh]) {
    from(victim);
    for (const _ of range(2)) {
      await endOne();
      newSite();
    }
    expect(begun.slice(-2)).toContain(victim);
  }
});

test('the networks of a site take turns, and one that comes for the first time is next', async () => {
  const { from, begun, endOne } = slowHashing();
  const [loud, quiet] = ['2001:db8:5:1::1', '2001:db8:5:2::1'];
  for (const _ of range(30)) from(loud);
  await vi.waitFor(() => expect(begun).toContain(loud));
  from(quiet);
  const served = () => begun.filter((one) => !one.endsWith('busy'));
  await endOne();
  await vi.waitFor(() => expect(served()).toEqual([loud, quiet]));
});
