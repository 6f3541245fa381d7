import { expect, test } from 'vitest';
import { parseOrigin } from './rules.ts';

test.each([
  ['https://app.example.com', 'https://app.example.com'],
  ['HTTPS://App.Example.COM', 'https://app.example.com'],
  ['https://app.example.com:443', 'https://app.example.com'],
  ['https://app.example.com:8443', 'https://app.example.com:8443'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://192.168.0.1', 'http://192.168.0.1'],
  ['http://[::1]:3000', 'http://[::1]:3000'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  ['https://my_app.example.com', 'https://my_app.example.com'],
])('%s is the origin %s', (text, origin) => {
  expect(parseOrigin(text)).toBe(origin);
});

test.each([
  '',
  '*',
  'null',
  'app.example.com',
  '//app.example.com',
  'https://',
  'https:app.example.com',
  'https:///app.example.com',
  'https://app.example.com/',
  'https://app.example.com/path',
  'https://app.example.com?x',
  'https://app.example.com#x',
  'https://user@app.example.com',
  'https://user:password@app.example.com',
  'https://app.example.com\\x',
  ' https://app.example.com',
  'https://app.example.com\n',
  'https://app.example.com https://other.example.com',
  'https://app.example.com:port',
  'https://app.example.com:65536',
  'https://*.example.com',
  "https://a.example.com;script-src'",
  'https://a,b',
  'https://a..b',
  'https://.example.com',
  'https://%00',
  'https://[::1',
  'ftp://app.example.com',
  'javascript:alert(1)',
  'file:///etc/passwd',
])('%j is not an origin', (text) => {
  expect(parseOrigin(text)).toBeUndefined();
});
