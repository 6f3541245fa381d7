import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('without any setting, the defaults are used', () => {
  expect(readConfig({})).toEqual({
    role: 'all',
    host: '127.0.0.1',
    port: 4000,
    publicUrl: undefined,
    dataDir: undefined,
    databaseUrl: undefined,
    dbConnections: 10,
    dbEssentialConnections: 10,
    secretKey: undefined,
    otherSecretKeys: [],
    hasNextSecretKey: false,
    tenant: 'oriel',
    plan: 'enterprise',
    admin: { email: undefined, apiKey: undefined },
    demo: true,
    maxExternalUsers: 10_000,
    deviceCodeSeconds: 600,
    embedQuerySeconds: 30,
    dataFilesMb: 10_240,
    limits: { connections: 2000, perEmbedToken: 32, perEmbedTenant: 128 },
    logLevel: 'info',
    trustProxy: [],
    metricsToken: undefined,
    allowPrivateRemotes: false,
    dbtPython: '/usr/bin/python3',
    githubApp: undefined,
    slackToken: undefined,
    oidc: undefined,
    unknown: [],
  });
});

test('on an external database, the demo is off unless it is switched on', () => {
  const ORIEL_DATABASE_URL = 'postgres://u:p@db.example.com/oriel';
  expect(readConfig({ ORIEL_DATABASE_URL }).demo).toBe(false);
  expect(readConfig({ ORIEL_DATABASE_URL, ORIEL_DEMO: 'true' }).demo).toBe(true);
});

test('a server that is only `web` or only `worker` needs an external database and the key of the other servers', () => {
  const given = {
    ORIEL_DATABASE_URL: 'postgres://u:p@db.example.com/oriel',
    ORIEL_SECRET_KEY: 'q8ZtV3nLw5RyB7kHc2XmJ9sDf4GpTa6E',
  };
  for (const role of ['web', 'worker']) {
    expect(readConfig({ ...given, ORIEL_ROLE: role }).role).toBe(role);
    const withoutKey = { ...given, ORIEL_SECRET_KEY: '', ORIEL_ROLE: role };
    expect(() => readConfig(withoutKey)).toThrow(`ORIEL_ROLE=${role} needs ORIEL_SECRET_KEY`);
    expect(() => readConfig({ ORIEL_ROLE: role })).toThrow(`ORIEL_ROLE=${role} needs ORIEL_DATABASE_URL`);
  }
});

test('an empty setting counts as unset, and a misspelt one is named', () => {
  expect(readConfig({ ORIEL_PORT: '', ORIEL_PROT: '5000', HOME: '/root' })).toMatchObject({
    port: 4000,
    unknown: ['ORIEL_PROT'],
  });
});

test('a sign-in provider needs an issuer, whose slashes count, and a client id', () => {
  const env = { ORIEL_OIDC_ISSUER: 'https://login.example.com/app/', ORIEL_OIDC_CLIENT_ID: 'oriel' };
  expect(readConfig(env).oidc).toEqual({
    issuer: 'https://login.example.com/app/',
    clientId: 'oriel',
    clientSecret: undefined,
    createUsers: false,
    groupsClaim: undefined,
    externalIdClaim: undefined,
    scope: 'openid profile email',
    name: 'login.example.com',
  });
  expect(readConfig({ ...env, ORIEL_OIDC_NAME: 'Acme' }).oidc?.name).toBe('Acme');
  const local = { ...env, ORIEL_OIDC_ISSUER: 'http://127.0.0.1:9000', ORIEL_ALLOW_PRIVATE_REMOTES: 'true' };
  expect(readConfig(local).oidc?.issuer).toBe('http://127.0.0.1:9000');
});

test.each([
  { ORIEL_OIDC_ISSUER: 'https://login.example.com' },
  { ORIEL_OIDC_CLIENT_ID: 'oriel' },
  { ORIEL_OIDC_CLIENT_SECRET: 'secret' },
  { ORIEL_OIDC_CREATE_USERS: 'true' },
  { ORIEL_OIDC_GROUPS_CLAIM: 'groups' },
])('half of the settings of a sign-in provider is refused: %o', (env) => {
  expect(() => readConfig(env)).toThrow('Set both ORIEL_OIDC_ISSUER and ORIEL_OIDC_CLIENT_ID');
});

test('the public address has no slash at its end', () => {
  expect(readConfig({ ORIEL_PUBLIC_URL: 'https://bi.example.com/' }).publicUrl).toBe(
    'https://bi.example.com',
  );
});

test.each([
  ['ORIEL_ROLE', 'both'],
  ['ORIEL_PORT', 'abc'],
  ['ORIEL_PORT', '70000'],
  ['ORIEL_PORT', '4e3'],
  ['ORIEL_PUBLIC_URL', 'ftp://x'],
  ['ORIEL_PUBLIC_URL', 'https://x/?a=b'],
  ['ORIEL_PUBLIC_URL', 'https://x/oriel'],
  ['ORIEL_PUBLIC_URL', 'https://me@x'],
  ['ORIEL_DATABASE_URL', 'mysql://localhost/x'],
  ['ORIEL_DATABASE_URL', 'localhost'],
  ['ORIEL_DATABASE_URL', 'postgres://u@h/d?sslmode=maybe'],
  ['ORIEL_DATABASE_URL', 'postgres://u@h/d?sslmode='],
  ['ORIEL_DATABASE_URL', 'postgres://u@h/d?sslmode=prefer'],
  ['ORIEL_DATABASE_URL', 'postgres://u@h/d?sslmode=verify-full&sslrootcert=/there/is/no/such/file.pem'],
  ['ORIEL_SECRET_KEY', 'short'],
  ['ORIEL_SECRET_KEY_NEXT', 'short'],
  ['ORIEL_SECRET_KEY_PREVIOUS', 'short'],
  ['ORIEL_SECRET_KEY', 'x'.repeat(64)],
  ['ORIEL_SECRET_KEY', 'change-me-change-me-change-me-please-1234567'],
  ['ORIEL_SECRET_KEY', 'your-super-secret-key-0000000000000000'],
  ['ORIEL_SECRET_KEY', '0123456789abcdef0123456789abcdef'],
  ['ORIEL_TENANT', 'Ab'],
  ['ORIEL_TENANT', 'acme-'],
  ['ORIEL_PLAN', 'gold'],
  ['ORIEL_ADMIN_EMAIL', 'x'],
  ['ORIEL_ADMIN_API_KEY', 'abc'],
  ['ORIEL_ADMIN_API_KEY', 'sk-with a space in it, but otherwise long enough'],
  ['ORIEL_ADMIN_API_KEY', 'sk-d8f0e2b7c19a4f6e8b3d5a7c9e1'],
  ['ORIEL_ADMIN_API_KEY', 'd8f0e2b7c19a4f6e8b3d5a7c9e1f0b2d4c6'],
  ['ORIEL_ADMIN_API_KEY', 'sk-change-me-to-your-very-secret-random-key'],
  ['ORIEL_ADMIN_API_KEY', 'sk-test-admin-api-key-00000123456789'],
  ['ORIEL_ADMIN_API_KEY', `sk-${'a'.repeat(60)}`],
  ['ORIEL_DEMO', 'yes'],
  ['ORIEL_DB_CONNECTIONS', '2'],
  ['ORIEL_DB_ESSENTIAL_CONNECTIONS', 'many'],
  ['ORIEL_MAX_EXTERNAL_USERS', '-1'],
  ['ORIEL_MAX_CONNECTIONS', '9'],
  ['ORIEL_MAX_REQUESTS_PER_EMBED_TOKEN', '0'],
  ['ORIEL_MAX_REQUESTS_PER_EMBED_TENANT', '1.5'],
  ['ORIEL_LOG_LEVEL', 'loud'],
  ['ORIEL_TRUST_PROXY', 'everyone'],
  ['ORIEL_TRUST_PROXY', '10.0.0.0/99'],
  ['ORIEL_METRICS_TOKEN', 'short'],
  ['ORIEL_ALLOW_PRIVATE_REMOTES', 'yes'],
  ['ORIEL_OIDC_ISSUER', 'http://login.example.com'],
  ['ORIEL_OIDC_ISSUER', 'https://login.example.com/?a=b'],
  ['ORIEL_OIDC_ISSUER', 'https://login.example.com/.well-known/openid-configuration'],
  ['ORIEL_OIDC_CREATE_USERS', 'yes'],
  ['ORIEL_OIDC_SCOPE', 'email'],
  ['ORIEL_SMTP_URL', 'mail.example.com'],
  ['ORIEL_SMTP_URL', 'smtp://user:pass@mail.example.com?tls=maybe'],
  ['ORIEL_SMTP_URL', 'smtp://mail.example.com'],
  ['ORIEL_MAIL_FROM', 'reports'],
  ['ORIEL_MAIL_FROM', 'reports@example.com'],
  ['ORIEL_DKIM_KEY_FILE', '/no/such/file'],
  ['ORIEL_DKIM_KEY_FILE', import.meta.filename],
  ['ORIEL_DKIM_SELECTOR', 's1'],
  ['ORIEL_OIDC_NAME', 'a name that is far too long for a button of the page'],
])('%s=%s is refused with one line that names the setting', (name, value) => {
  const attempt = () => readConfig({ [name]: value });
  expect(attempt).toThrow(name);
  expect(attempt).not.toThrow('\n');
});

test.each([
  ['ORIEL_PORT', 'abc', /whole number from 0 to 65535/],
  ['ORIEL_PORT', '70000', /whole number from 0 to 65535/],
  ['ORIEL_PLAN', 'gold', /one of .*enterprise/],
  ['ORIEL_LOG_LEVEL', 'loud', /one of .*info/],
  ['ORIEL_TENANT', 'Ab', /a-z/],
  ['ORIEL_PUBLIC_URL', 'ftp://x', /https:\/\//],
  ['ORIEL_PUBLIC_URL', 'https://x/oriel', /without a path/],
  ['ORIEL_ADMIN_EMAIL', 'x', /email address/],
  ['ORIEL_ADMIN_PASSWORD', 'short', /8 to 1024 characters/],
  ['ORIEL_ADMIN_PASSWORD', 'Password123', /not a common password/],
  ['ORIEL_ADMIN_PASSWORD', '12345678', /not a common password/],
  ['ORIEL_DEVICE_CODE_SECONDS', '5', /whole number from 30 to 3600/],
  ['ORIEL_EMBED_QUERY_SECONDS', '61', /whole number from 1 to 60/],
  ['ORIEL_ADMIN_API_KEY', 'abc', /sk-/],
  ['ORIEL_ADMIN_API_KEY', 'sk-shorter-than-it-must-be', /32 or more characters/],
  ['ORIEL_TRUST_PROXY', 'everyone', /addresses or networks/],
  ['ORIEL_METRICS_TOKEN', 'short', /16 or more characters/],
  ['ORIEL_DEMO', 'maybe', /true, false/],
  ['ORIEL_MAX_EXTERNAL_USERS', '-1', /whole number/],
  ['ORIEL_SECRET_KEY', 'short', /32 or more random characters/],
  ['ORIEL_SECRET_KEY', 'change-me-to-a-very-secret-random-value', /openssl rand/],
  ['ORIEL_SECRET_KEY', 'a'.repeat(64), /openssl rand/],
  ['ORIEL_DATABASE_URL', 'mysql://root@127.0.0.1/oriel', /postgres:\/\/user:password@host/],
  ['ORIEL_DATABASE_URL', 'postgres://oriel@127.0.0.1/oriel?sslmode=maybe', /sslmode.*verify-full/],
])('the refusal of %s=%s says what the setting takes, and shows no secret', (name, value, mend) => {
  const attempt = () => readConfig({ [name]: value });
  expect(attempt).toThrow(mend);
  if (/SECRET|TOKEN|API_KEY/.test(name)) expect(attempt).not.toThrow(` ${value} `);
});

test('valid values are accepted', () => {
  const ORIEL_ADMIN_API_KEY = 'sk-d8f0e2b7c19a4f6e8b3d5a7c9e1f0b2d';
  const config = readConfig({
    ORIEL_SECRET_KEY: '3f9c01d27be845a6f10293c8d4e5b7a6',
    ORIEL_TRUST_PROXY: '10.0.0.0/8, ::1, loopback',
    ORIEL_ADMIN_API_KEY,
  });
  expect(config.trustProxy).toEqual(['10.0.0.0/8', '::1', 'loopback']);
  expect(config.admin.apiKey).toBe(ORIEL_ADMIN_API_KEY);
});

test.each([
  ['disable', 'disable'],
  ['no-verify', 'no-verify'],
  ['require', 'verify-full'],
  ['verify-ca', 'verify-full'],
  ['verify-full', 'verify-full'],
])('sslmode=%s is passed to the driver as %s', (given, meant) => {
  const address = (mode: string) => `postgres://u:p@h/d?sslmode=${mode}&sslrootcert=/dev/null`;
  expect(readConfig({ ORIEL_DATABASE_URL: address(given) }).databaseUrl).toBe(address(meant));
});

test('a GitHub App needs its number, its name and a key that is one', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const app = {
    ORIEL_GITHUB_APP_ID: '1',
    ORIEL_GITHUB_APP_SLUG: 'oriel-of-acme',
    ORIEL_GITHUB_APP_PRIVATE_KEY: String(key).replaceAll('\n', '\\n'),
  };
  expect(readConfig(app).githubApp).toEqual({
    id: '1',
    slug: 'oriel-of-acme',
    privateKey: key,
    url: undefined,
  });
  expect(() => readConfig({ ...app, ORIEL_GITHUB_APP_ID: '' })).toThrow('ORIEL_GITHUB_APP_ID');
  expect(() => readConfig({ ...app, ORIEL_GITHUB_APP_PRIVATE_KEY: 'x' })).toThrow('PEM');
  expect(() => readConfig({ ORIEL_DBT_PYTHON: 'python3' })).toThrow('ORIEL_DBT_PYTHON');
});
