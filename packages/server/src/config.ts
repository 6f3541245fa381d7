/** The settings, read from the environment once and checked. Nothing else reads the environment. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { PASSWORD_LENGTH } from '@oriel/contract';
import { looksLikeApiKey } from './domains/api-keys/index.ts';
import { type GitHubAppSettings, isPrivateKey } from './domains/git-hosts/index.ts';
import type { ProviderSettings } from './domains/identities/index.ts';
import { isEasyPassword } from './domains/users/index.ts';
import { isDkimKey, type MailSettings, parseMailbox, parseSmtpUrl } from './platform/mail/settings.ts';
import { StartupError } from './platform/startup-error.ts';

export interface Config {
  role: (typeof ROLES)[number];
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** Undefined if the default is used. */
  dataDir: string | undefined;
  databaseUrl: string | undefined;
  dbConnections: number;
  dbEssentialConnections: number;
  secretKey: string | undefined;
  /** The previous and the next secret key, while the key is being replaced. */
  otherSecretKeys: string[];
  /** The servers are being given the new key, and do not use it yet. */
  hasNextSecretKey: boolean;
  tenant: string;
  plan: (typeof PLANS)[number];
  admin: { email: string | undefined; password: string | undefined; apiKey: string | undefined };
  demo: boolean;
  maxExternalUsers: number;
  /** How long a device's code waits for approval. */
  deviceCodeSeconds: number;
  /** How long a query of an embed viewer may run. */
  embedQuerySeconds: number;
  /** The size limit of all uploaded files of a deployment together. */
  dataFilesMb: number;
  limits: { connections: number; perEmbedToken: number; perEmbedTenant: number };
  logLevel: string;
  trustProxy: string[];
  metricsToken: string | undefined;
  /** Outgoing requests may reach loopback and private addresses. */
  allowPrivateRemotes: boolean;
  /** The token of the bot that sends notifications to channels of Slack. */
  slackToken: string | undefined;
  /** The provider that people sign in with, if there is one. */
  oidc: ProviderSettings | undefined;
  /** How mail is sent, if it is. */
  mail: MailSettings | undefined;
  /** The GitHub App of this server, if it has one. */
  githubApp: GitHubAppSettings | undefined;
  /** The Python in which dbt is installed, if it is. */
  dbtPython: string;
  /** The newest release. The operator sets it: Oriel does not look it up anywhere. */
  latestRelease: string | undefined;
  /** Variables that look like settings but are not. */
  unknown: string[];
}

type Env = Record<string, string | undefined>;

const ROLES = ['all', 'web', 'worker'] as const;
const PLANS = ['free', 'starter', 'premium', 'enterprise'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/**
 * Every mode that verifies does so fully. `prefer` and `allow` are missing because an attacker on the network can turn
 * TLS off.
 */
const SSL_MODES = ['disable', 'no-verify', 'require', 'verify-ca', 'verify-full'];
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'];
const SECRET_MIN = 32;
/** A text made only of words that documentation uses as a placeholder for a secret. */
const PLACEHOLDER =
  /^(change|this|me|my|your|the|a|super|very|top|secret|key|password|default|insecure|example|oriel|please|to|something|random|value|sk|api|first|admin|test|demo|token|abcdef|xyz|x|here)+$/;
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
  const secret = (name: string) =>
    read(
      name,
      `${SECRET_MIN} or more random characters, such as \`openssl rand -base64 48\` prints`,
      (value) => (isStrongSecret(value) ? value : undefined),
    );
  const origin = (name: string) =>
    read(
      name,
      'an address that begins with http:// or https://, without a path, a query or a user: Oriel needs a host name or a port of its own',
      (value) => {
        const url = parseUrl(value, ['http:', 'https:']);
        const isOrigin = url && url.pathname === '/' && !url.search && !url.hash && !url.username;
        return isOrigin ? value.replace(/\/+$/, '') : undefined;
      },
    );

  const databaseUrl = read(
    'ORIEL_DATABASE_URL',
    'an address like postgres://user:password@host:5432/name',
    (value) => {
      const url = parseUrl(value, ['postgres:', 'postgresql:']);
      return url && withCheckedTls(value, url.searchParams);
    },
  );

  const role = oneOf('ORIEL_ROLE', ROLES) ?? 'all';
  if (role !== 'all' && databaseUrl === undefined) {
    throw new StartupError(
      `ORIEL_ROLE=${role} needs ORIEL_DATABASE_URL: the embedded database serves one server, and that server must do both.`,
    );
  }

  const secretKey = secret('ORIEL_SECRET_KEY');
  if (role !== 'all' && secretKey === undefined) {
    throw new StartupError(
      `ORIEL_ROLE=${role} needs ORIEL_SECRET_KEY: all servers of a database have the same key. If one of them has made a \`secret.key\` in its data dir, use the content of that file.`,
    );
  }
  const allowPrivateRemotes = flag('ORIEL_ALLOW_PRIVATE_REMOTES') ?? false;

  const readProvider = (): ProviderSettings | undefined => {
    const issuer = read(
      'ORIEL_OIDC_ISSUER',
      `an address that begins with ${allowPrivateRemotes ? 'http:// or https://' : 'https:// (see also ORIEL_ALLOW_PRIVATE_REMOTES)'}, exactly as the provider writes its \`issuer\`: without a query, and without /.well-known/openid-configuration`,
      (value) => {
        const url = parseUrl(value, allowPrivateRemotes ? ['http:', 'https:'] : ['https:']);
        // With the address of the document itself, nobody could check which issuer the document must name.
        const isIssuer = url && !url.search && !url.hash && !url.username && !value.includes('/.well-known/');
        return isIssuer ? value : undefined;
      },
    );
    const clientId = text('ORIEL_OIDC_CLIENT_ID');
    const others = {
      clientSecret: text('ORIEL_OIDC_CLIENT_SECRET'),
      createUsers: flag('ORIEL_OIDC_CREATE_USERS') ?? false,
      groupsClaim: text('ORIEL_OIDC_GROUPS_CLAIM'),
      externalIdClaim: text('ORIEL_OIDC_EXTERNAL_ID_CLAIM'),
      scope: read('ORIEL_OIDC_SCOPE', 'words separated by spaces, among them openid', (value) =>
        value.split(' ').includes('openid') ? value : undefined,
      ),
      name: read('ORIEL_OIDC_NAME', '1 to 40 characters', (value) =>
        value.trim() && value.length <= 40 ? value : undefined,
      ),
    };
    if (issuer && clientId) {
      const { scope = 'openid profile email', name = new URL(issuer).host, ...rest } = others;
      return { issuer, clientId, ...rest, scope, name };
    }
    if (issuer || clientId || Object.values(others).some(Boolean)) {
      throw new StartupError(
        'Set both ORIEL_OIDC_ISSUER and ORIEL_OIDC_CLIENT_ID, or none of the ORIEL_OIDC_… settings.',
      );
    }
    return undefined;
  };

  const readMail = (): MailSettings | undefined => {
    const server = read(
      'ORIEL_SMTP_URL',
      'an address like smtp://user:password@mail.example.com:587 or smtps://…:465, without a path; ?tls= may be required, no-verify or, with smtp:, off',
      parseSmtpUrl,
    );
    const from = read(
      'ORIEL_MAIL_FROM',
      'an email address, also with a name: Example Reports <reports@example.com>',
      parseMailbox,
    );
    const privateKey = read('ORIEL_DKIM_KEY_FILE', 'a file with an RSA key in PEM form', (file) => {
      const pem = readIfReadable(file);
      return pem !== undefined && isDkimKey(pem) ? pem : undefined;
    });
    const selector = read('ORIEL_DKIM_SELECTOR', 'letters, digits, dots and hyphens', (value) =>
      /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/i.test(value) ? value : undefined,
    );
    if ((privateKey === undefined) !== (selector === undefined)) {
      throw new StartupError('Set both ORIEL_DKIM_KEY_FILE and ORIEL_DKIM_SELECTOR, or neither.');
    }
    if (server && from)
      return { server, from, ...(privateKey && selector && { dkim: { privateKey, selector } }) };
    if (server || from || selector)
      throw new StartupError('Set both ORIEL_SMTP_URL and ORIEL_MAIL_FROM, or neither.');
    return undefined;
  };

  const readGitHubApp = (): GitHubAppSettings | undefined => {
    const id = read('ORIEL_GITHUB_APP_ID', 'the number of the app on GitHub', (value) =>
      /^\d{1,15}$/.test(value) ? value : undefined,
    );
    const slug = read('ORIEL_GITHUB_APP_SLUG', 'the name of the app in its address on GitHub', (value) =>
      /^[a-z0-9](-?[a-z0-9])*$/i.test(value) ? value : undefined,
    );
    const privateKey = read(
      'ORIEL_GITHUB_APP_PRIVATE_KEY',
      'the private key of the app as PEM, with \\n or line feeds between its lines',
      (value) => {
        const pem = value.replaceAll('\\n', '\n');
        return isPrivateKey(pem) ? pem : undefined;
      },
    );
    const url = origin('ORIEL_GITHUB_APP_URL');
    if (id && slug && privateKey) return { id, slug, privateKey, url };
    if (id || slug || privateKey || url) {
      throw new StartupError(
        'Set ORIEL_GITHUB_APP_ID, ORIEL_GITHUB_APP_SLUG and ORIEL_GITHUB_APP_PRIVATE_KEY, or none of the ORIEL_GITHUB_APP_… settings.',
      );
    }
    return undefined;
  };

  const nextSecretKey = secret('ORIEL_SECRET_KEY_NEXT');

  const config: Config = {
    role,
    host: text('ORIEL_HOST') ?? '127.0.0.1',
    port: integer('ORIEL_PORT', 0, 65_535) ?? 4000,
    publicUrl: origin('ORIEL_PUBLIC_URL'),
    dataDir: read('ORIEL_DATA_DIR', 'a folder', (value) => resolve(value)),
    databaseUrl,
    dbConnections: integer('ORIEL_DB_CONNECTIONS', 3, 500) ?? 10,
    dbEssentialConnections: integer('ORIEL_DB_ESSENTIAL_CONNECTIONS', 3, 500) ?? 10,
    secretKey,
    otherSecretKeys: [nextSecretKey, secret('ORIEL_SECRET_KEY_PREVIOUS')].filter((key) => key !== undefined),
    hasNextSecretKey: nextSecretKey !== undefined,
    tenant:
      read(
        'ORIEL_TENANT',
        '5 to 36 of a-z, 0-9 and -, beginning with a letter and ending with a letter or digit',
        (value) => (TENANT.test(value) ? value : undefined),
      ) ?? 'oriel',
    plan: oneOf('ORIEL_PLAN', PLANS) ?? 'enterprise',
    admin: {
      email: read('ORIEL_ADMIN_EMAIL', 'an email address', (value) =>
        EMAIL.test(value) ? value : undefined,
      ),
      password: read(
        'ORIEL_ADMIN_PASSWORD',
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters, not a common password, and not the email`,
        (value) => (isGoodPassword(value, env.ORIEL_ADMIN_EMAIL ?? '') ? value : undefined),
      ),
      apiKey: read(
        'ORIEL_ADMIN_API_KEY',
        `${SECRET_MIN} or more characters without spaces, \`sk-\` followed by random ones, such as \`sk-$(openssl rand -hex 32)\``,
        (value) => (looksLikeApiKey(value) && isStrongSecret(value) ? value : undefined),
      ),
    },
    demo: flag('ORIEL_DEMO') ?? databaseUrl === undefined,
    maxExternalUsers: integer('ORIEL_MAX_EXTERNAL_USERS', 0, 1_000_000_000) ?? 10_000,
    deviceCodeSeconds: integer('ORIEL_DEVICE_CODE_SECONDS', 30, 3600) ?? 600,
    embedQuerySeconds: integer('ORIEL_EMBED_QUERY_SECONDS', 1, 60) ?? 30,
    dataFilesMb: integer('ORIEL_DATA_FILES_MB', 1, 10_000_000) ?? 10_240,
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
    allowPrivateRemotes,
    githubApp: readGitHubApp(),
    dbtPython:
      read('ORIEL_DBT_PYTHON', 'the absolute path of a Python program in which dbt is installed', (value) =>
        isAbsolute(value) ? resolve(value) : undefined,
      ) ?? '/usr/bin/python3',
    latestRelease: read('ORIEL_LATEST_RELEASE', 'a release, such as 1.4.0', (value) =>
      /^v?\d{1,6}\.\d{1,6}\.\d{1,6}(-[\w.]{1,40})?$/.test(value) ? value : undefined,
    ),
    slackToken: read('ORIEL_SLACK_TOKEN', 'the token of a bot, which begins with xoxb-', (value) =>
      value.startsWith('xoxb-') ? value : undefined,
    ),
    oidc: readProvider(),
    mail: readMail(),
    unknown: [],
  };
  config.unknown = Object.keys(env).filter((name) => name.startsWith('ORIEL_') && !seen.has(name));
  return config;
}

/** Checks TLS settings at the start: the driver accepts an unknown mode, and reads the files only when it connects. */
function withCheckedTls(address: string, parameters: URLSearchParams): string {
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw new StartupError(
      `ORIEL_DATABASE_URL has the sslmode ${JSON.stringify(mode)}. It must be one of ${SSL_MODES.join(', ')}, or be left out.`,
    );
  }
  for (const name of SSL_FILES) requireReadable(name, parameters.get(name));
  // The driver treats all three modes the same way, and prints a warning for the first two.
  return address.replace(/([?&]sslmode=)(require|verify-ca)(?=&|$)/, '$1verify-full');
}

function requireReadable(name: string, file: string | null) {
  try {
    if (file) accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `ORIEL_DATABASE_URL has the ${name} ${file}, which cannot be read (${code}): check the path and its permissions.`,
    );
  }
}

function readIfReadable(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const isStrongSecret = (value: string) =>
  value.length >= SECRET_MIN &&
  new Set(value).size >= 10 &&
  !PLACEHOLDER.test(value.toLowerCase().replaceAll(/[^a-z]/g, ''));

const isGoodPassword = (value: string, email: string) =>
  [...value].length >= PASSWORD_LENGTH.min &&
  [...value].length <= PASSWORD_LENGTH.max &&
  !isEasyPassword(value, { email });

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
