/** The settings, read from the environment once and checked. Nothing else reads the environment. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { looksLikeApiKey } from './platform/auth/api-keys.ts';
import { StartupError } from './platform/startup-error.ts';

export interface Config {
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** Undefined where the default is to be found. */
  dataDir: string | undefined;
  databaseUrl: string | undefined;
  secretKey: string | undefined;
  tenant: string;
  plan: (typeof PLANS)[number];
  admin: { email: string; password: string | undefined; apiKey: string | undefined };
  demo: boolean;
  maxExternalUsers: number;
  limits: { connections: number; perEmbedToken: number; perEmbedTenant: number };
  logLevel: string;
  trustProxy: string[];
  metricsToken: string | undefined;
  oidc: { issuer: string; clientId: string; clientSecret: string } | undefined;
  allowPrivateRemotes: boolean;
  /** Variables that look like settings and are none. */
  unknown: string[];
}

type Env = Record<string, string | undefined>;

const PLANS = ['free', 'starter', 'premium', 'enterprise'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const SECRET_MIN = 32;
/** Letters that spell nothing but what documentation puts where a secret belongs. */
const PLACEHOLDER =
  /^(change|this|me|my|your|the|a|super|very|top|secret|key|password|default|insecure|example|oriel|please|to|something|random|value)+$/;
const TENANT = /^[a-z][a-z0-9-]{3,34}[a-z0-9]$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

export function readConfig(env: Env): Config {
  const seen = new Set<string>();

  /** Reads one setting. An empty variable counts as unset; `takes` completes "must be …". */
  function read<T>(name: string, takes: string, parse: (text: string) => T | undefined): T | undefined {
    seen.add(name);
    const text = env[name];
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    if (value === undefined) throw new StartupError(`${name} must be ${takes}.`);
    return value;
  }

  const text = (name: string) => read(name, 'text', (value) => value);
  const oneOf = <const T extends string>(name: string, values: readonly T[]) =>
    read(name, `one of ${values.join(', ')}`, (value) => values.find((known) => known === value));
  const flag = (name: string) => {
    const value = oneOf(name, ['true', 'false']);
    return value === undefined ? undefined : value === 'true';
  };
  const integer = (name: string, min: number, max: number) =>
    read(name, `a whole number from ${min} to ${max}`, (value) => {
      const number = Number(value);
      return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined;
    });
  const webAddress = (name: string) =>
    read(name, 'an address that begins with http:// or https://, without query', (value) => {
      const url = parseUrl(value, ['http:', 'https:']);
      return url && !url.search && !url.hash ? value.replace(/\/+$/, '') : undefined;
    });

  const databaseUrl = read(
    'ORIEL_DATABASE_URL',
    'an address like postgres://user:password@host:5432/name',
    (value) => (parseUrl(value, ['postgres:', 'postgresql:']) ? value : undefined),
  );

  const config: Config = {
    host: text('ORIEL_HOST') ?? '127.0.0.1',
    port: integer('ORIEL_PORT', 0, 65_535) ?? 4000,
    publicUrl: webAddress('ORIEL_PUBLIC_URL'),
    dataDir: read('ORIEL_DATA_DIR', 'a folder', (value) => resolve(value)),
    databaseUrl,
    secretKey: read(
      'ORIEL_SECRET_KEY',
      `${SECRET_MIN} or more random characters, such as \`openssl rand -base64 48\` prints`,
      (value) => (isStrongSecret(value) ? value : undefined),
    ),
    tenant:
      read(
        'ORIEL_TENANT',
        '5 to 36 of a-z, 0-9 and -, beginning with a letter and ending with a letter or digit',
        (value) => (TENANT.test(value) ? value : undefined),
      ) ?? 'oriel',
    plan: oneOf('ORIEL_PLAN', PLANS) ?? 'enterprise',
    admin: {
      email:
        read('ORIEL_ADMIN_EMAIL', 'an email address', (value) => (EMAIL.test(value) ? value : undefined)) ??
        'admin@example.com',
      password: read('ORIEL_ADMIN_PASSWORD', '8 or more characters', (value) =>
        value.length >= 8 ? value : undefined,
      ),
      apiKey: read(
        'ORIEL_ADMIN_API_KEY',
        '`sk-` and 8 or more characters behind it, without spaces',
        (value) => (looksLikeApiKey(value) ? value : undefined),
      ),
    },
    demo: flag('ORIEL_DEMO') ?? databaseUrl === undefined,
    maxExternalUsers: integer('ORIEL_MAX_EXTERNAL_USERS', 0, 1_000_000_000) ?? 10_000,
    limits: {
      connections: integer('ORIEL_MAX_CONNECTIONS', 10, 1_000_000) ?? 2000,
      perEmbedToken: integer('ORIEL_MAX_REQUESTS_PER_EMBED_TOKEN', 1, 1_000_000) ?? 32,
      perEmbedTenant: integer('ORIEL_MAX_REQUESTS_PER_EMBED_TENANT', 1, 1_000_000) ?? 128,
    },
    logLevel: oneOf('ORIEL_LOG_LEVEL', LOG_LEVELS) ?? 'info',
    trustProxy:
      read(
        'ORIEL_TRUST_PROXY',
        'addresses or networks of proxies, or `loopback`, `linklocal`, `uniquelocal`, separated by commas',
        (value) => {
          const proxies = value.split(',').map((part) => part.trim());
          return proxies.every(isProxy) ? proxies : undefined;
        },
      ) ?? [],
    metricsToken: read('ORIEL_METRICS_TOKEN', '16 or more characters without spaces', (value) =>
      /^\S{16,}$/.test(value) ? value : undefined,
    ),
    oidc: readOidc(
      webAddress('ORIEL_OIDC_ISSUER'),
      text('ORIEL_OIDC_CLIENT_ID'),
      text('ORIEL_OIDC_CLIENT_SECRET'),
    ),
    allowPrivateRemotes: flag('ORIEL_ALLOW_PRIVATE_REMOTES') ?? false,
    unknown: [],
  };
  config.unknown = Object.keys(env).filter((name) => name.startsWith('ORIEL_') && !seen.has(name));
  return config;
}

function readOidc(issuer?: string, clientId?: string, clientSecret?: string): Config['oidc'] {
  if (!issuer && !clientId && !clientSecret) return undefined;
  if (issuer && clientId && clientSecret) return { issuer, clientId, clientSecret };
  throw new StartupError(
    'ORIEL_OIDC_ISSUER, ORIEL_OIDC_CLIENT_ID and ORIEL_OIDC_CLIENT_SECRET must be set together, or none of them.',
  );
}

const isStrongSecret = (value: string) =>
  value.length >= SECRET_MIN &&
  new Set(value).size >= 10 &&
  !PLACEHOLDER.test(value.toLowerCase().replaceAll(/[^a-z]/g, ''));

function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address, bits, ...rest] = text.split('/');
  const family = isIP(address ?? '');
  if (!family || rest.length) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function parseUrl(text: string, protocols: string[]): URL | undefined {
  try {
    const url = new URL(text);
    return protocols.includes(url.protocol) && (url.hostname || url.search) ? url : undefined;
  } catch {
    return undefined;
  }
}
