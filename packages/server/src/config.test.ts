import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('without any setting the defaults hold', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 4000,
    publicUrl: undefined,
    dataDir: undefined,
    databaseUrl: undefined,
    secretKey: undefined,
    tenant: 'oriel',
    plan: 'enterprise',
    admin: { email: 'admin@example.com', password: undefined, apiKey: undefined },
    demo: true,
    maxExternalUsers: 10_000,
    limits: { connections: 2000, perEmbedToken: 32, perEmbedTenant: 128 },
    logLevel: 'info',
    trustProxy: [],
    metricsToken: undefined,
    oidc: undefined,
    allowPrivateRemotes: false,
    unknown: [],
  });
});

test('the demo is off on an external database unless asked for', () => {
  const ORIEL_DATABASE_URL = 'postgres://u:p@db.example.com/oriel';
  expect(readConfig({ ORIEL_DATABASE_URL }).demo).toBe(false);
  expect(readConfig({ ORIEL_DATABASE_URL, ORIEL_DEMO: 'true' }).demo).toBe(true);
});

test('an empty setting counts as unset, and a misspelt one is named', () => {
  expect(readConfig({ ORIEL_PORT: '', ORIEL_PROT: '5000', HOME: '/root' })).toMatchObject({
    port: 4000,
    unknown: ['ORIEL_PROT'],
  });
});

test('the public address has no slash at its end', () => {
  expect(readConfig({ ORIEL_PUBLIC_URL: 'https://bi.example.com/' }).publicUrl).toBe(
    'https://bi.example.com',
  );
});

test.each([
  ['ORIEL_PORT', 'abc'],
  ['ORIEL_PORT', '70000'],
  ['ORIEL_PORT', '4e3'],
  ['ORIEL_PUBLIC_URL', 'ftp://x'],
  ['ORIEL_PUBLIC_URL', 'https://x/?a=b'],
  ['ORIEL_DATABASE_URL', 'mysql://localhost/x'],
  ['ORIEL_DATABASE_URL', 'localhost'],
  ['ORIEL_SECRET_KEY', 'short'],
  ['ORIEL_SECRET_KEY', 'x'.repeat(64)],
  ['ORIEL_SECRET_KEY', 'change-me-change-me-change-me-please-1234567'],
  ['ORIEL_SECRET_KEY', 'your-super-secret-key-0000000000000000'],
  ['ORIEL_TENANT', 'Ab'],
  ['ORIEL_TENANT', 'acme-'],
  ['ORIEL_PLAN', 'gold'],
  ['ORIEL_ADMIN_EMAIL', 'x'],
  ['ORIEL_ADMIN_PASSWORD', '1234567'],
  ['ORIEL_ADMIN_API_KEY', 'abc'],
  ['ORIEL_ADMIN_API_KEY', 'sk-with a space in it'],
  ['ORIEL_DEMO', 'yes'],
  ['ORIEL_MAX_EXTERNAL_USERS', '-1'],
  ['ORIEL_MAX_CONNECTIONS', '9'],
  ['ORIEL_MAX_REQUESTS_PER_EMBED_TOKEN', '0'],
  ['ORIEL_MAX_REQUESTS_PER_EMBED_TENANT', '1.5'],
  ['ORIEL_LOG_LEVEL', 'loud'],
  ['ORIEL_TRUST_PROXY', 'everyone'],
  ['ORIEL_TRUST_PROXY', '10.0.0.0/99'],
  ['ORIEL_METRICS_TOKEN', 'short'],
  ['ORIEL_OIDC_ISSUER', 'https://id.example.com'],
  ['ORIEL_ALLOW_PRIVATE_REMOTES', '1'],
])('%s=%s is refused in one line that names it', (name, value) => {
  const attempt = () => readConfig({ [name]: value });
  expect(attempt).toThrow(name);
  expect(attempt).not.toThrow('\n');
});

test('good values are taken', () => {
  const config = readConfig({
    ORIEL_SECRET_KEY: '0123456789abcdef0123456789abcdef',
    ORIEL_TRUST_PROXY: '10.0.0.0/8, ::1, loopback',
    ORIEL_OIDC_ISSUER: 'https://id.example.com',
    ORIEL_OIDC_CLIENT_ID: 'oriel',
    ORIEL_OIDC_CLIENT_SECRET: 's',
    ORIEL_ADMIN_API_KEY: 'sk-0123456789',
  });
  expect(config.trustProxy).toEqual(['10.0.0.0/8', '::1', 'loopback']);
  expect(config.oidc?.clientId).toBe('oriel');
});
