/** Which requests with a cookie count as those of our own pages. */
import { expect, test } from 'vitest';
import { createCsrf } from './csrf.ts';

const [key, oldKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const csrf = createCsrf([key, oldKey], 'https://oriel.example.com');
const REFUSED = expect.objectContaining({ code: 'forbidden' });

test('a token is good for its own session, also with an older key, and nothing else is', () => {
  const old = createCsrf([oldKey], 'https://oriel.example.com');
  for (const token of [csrf.tokenOf(7), old.tokenOf(7)])
    expect(() => csrf.requireToken(7, token)).not.toThrow();
  const foreign = createCsrf([Buffer.alloc(32, 3)], 'https://oriel.example.com');
  const whole = csrf.tokenOf(7);
  const bad = [
    csrf.tokenOf(8),
    foreign.tokenOf(7),
    whole.slice(0, -4),
    `${whole}AAAA`,
    '',
    undefined,
    [whole],
  ];
  for (const token of bad) expect(() => csrf.requireToken(7, token)).toThrow(REFUSED);
});

test.each([
  ['our address', 'https://oriel.example.com', 'oriel.example.com', true],
  ['our address, whatever the host is called', 'https://oriel.example.com', undefined, true],
  ['another name of ours', 'https://localhost:4000', 'localhost:4000', true],
  ['another name of ours, without TLS', 'http://localhost:4000', 'localhost:4000', false],
  ['another site', 'https://evil.example.com', 'oriel.example.com', false],
  ['a page without an origin', 'null', 'oriel.example.com', false],
  ['no page', undefined, 'oriel.example.com', false],
  ['no page, and no host', undefined, undefined, false],
])('a request from %s', (_, origin, host, isOurs) => {
  expect(csrf.isOurs({ origin, host })).toBe(isOurs);
  if (isOurs) expect(() => csrf.requireOrigin({ origin, host })).not.toThrow();
  else expect(() => csrf.requireOrigin({ origin, host })).toThrow(REFUSED);
});

test.each([
  [undefined, true],
  ['none', true],
  ['same-origin', true],
  ['same-site', false],
  ['cross-site', false],
])('a request that changes nothing, and comes from %s', (site, isOpen) => {
  const ask = () => csrf.refuseOtherSites({ 'sec-fetch-site': site });
  if (isOpen) expect(ask).not.toThrow();
  else expect(ask).toThrow(REFUSED);
});
