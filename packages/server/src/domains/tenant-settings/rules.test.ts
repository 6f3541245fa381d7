import { expect, test } from 'vitest';
import { fillLinkTemplate, toLinkTemplate } from './link-template.ts';
import { parseOrigin } from './origins.ts';

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

test('the link of a template leads to its own host, whatever the values are', () => {
  const values = {
    dashboardPublicId: 'a/../b',
    dashboardId: 7,
    deploymentId: 1,
    embedTenantName: 'a&b c#d@e',
  };
  const fill = (template: string) => fillLinkTemplate(toLinkTemplate(template), values);
  expect(fill('HTTPS://App.Example.com/r/{dashboardPublicId}?t={embedTenantName}#{dashboardId}')).toBe(
    'https://app.example.com/r/a%2F..%2Fb?t=a%26b%20c%23d%40e#7',
  );
  expect(fill('https://app.example.com')).toBe('https://app.example.com');
});

test.each([
  '',
  'app.example.com/{dashboardId}',
  'javascript:alert({dashboardId})',
  'https://{embedTenantName}.example.com/',
  'https://{embedTenantName}',
  'https://user@app.example.com/',
  'https://app.example.com/{externalId}',
  'https://app.example.com/{',
  'https://app.example.com/{{dashboardId}}',
  'https://app.example.com/a b',
  'https://app.example.com/\r\nBcc: x',
  'https://app.example.com/">',
])('%j is no template of a link', (text) => {
  expect(() => toLinkTemplate(text)).toThrow(expect.objectContaining({ statusCode: 400 }));
});
