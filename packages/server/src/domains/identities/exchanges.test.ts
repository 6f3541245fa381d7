import { expect, test, vi } from 'vitest';
import { createExchanges } from './exchanges.ts';

/** Exchanges with a provider that answers at the end. */
function slowExchanges() {
  const { pass } = createExchanges(() => Object.assign(new Error(), { code: 'asked too often' }));
  const outcomes: string[] = [];
  let isSilent = true;
  const ends: (() => void)[] = [];
  const from = (ip: string, state = `state of ${ip}`) => {
    const exchange = async () => {
      outcomes.push(ip);
      if (isSilent) await new Promise<void>((resolve) => ends.push(resolve));
    };
    return pass(ip, state, exchange).catch(({ code }) => outcomes.push(`${ip} ${code}`));
  };
  const answerAll = () => {
    isSilent = false;
    for (const end of ends) end();
  };
  return { from, outcomes, answerAll };
}
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

test('one IPv6 site, with any number of networks, leaves places for others while the provider does not answer', async () => {
  const { from, outcomes } = slowExchanges();
  for (const i of range(300)) void from(`2001:db8:5:${i.toString(16)}::1`);
  void from('203.0.113.7');
  await vi.waitFor(() => expect(outcomes).toContain('203.0.113.7'));
  // Ten of the site are asked, 40 wait, and the others are refused.
  await vi.waitFor(() => expect(outcomes.filter((one) => one.endsWith('busy'))).toHaveLength(250));
  expect(outcomes.filter((one) => !one.endsWith('busy'))).toHaveLength(11);
});

test('a sign-in asks three times at most, and those that got no turn do not count', async () => {
  const { from, outcomes, answerAll } = slowExchanges();
  const ip = '203.0.113.7';
  const others = range(30).map((i) => from(ip, `other ${i}`));
  await vi.waitFor(() => expect(outcomes).toHaveLength(10));
  for (const _ of range(4)) await from(ip, 'own');
  expect(outcomes.splice(0).slice(10)).toEqual(range(4).map(() => `${ip} busy`));
  answerAll();
  await Promise.all(others);
  outcomes.length = 0;
  for (const _ of range(4)) await from(ip, 'own');
  expect(outcomes).toEqual([ip, ip, ip, `${ip} asked too often`]);
});
