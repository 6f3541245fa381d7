/** The data sources of a deployment, from its environment variables. */
import { isIP } from 'node:net';

interface AnySource {
  /** `default`, or the lower-cased name in `DS_<NAME>_DB_…`. Cubes name it as their `data_source`. */
  name: string;
  /** How many queries run at once. */
  concurrency?: number;
}

export interface DuckdbSource extends AnySource {
  /** Reads the files of the deployment. */
  type: 'duckdb';
}

export interface ServerSource extends AnySource, Server {
  type: 'postgres' | 'clickhouse';
  /** The access of people, if they query the source as themselves. */
  oauth?: PersonalAccess;
}

/** How people query a source with their own access to it. */
export interface PersonalAccess {
  integrationId: number;
  /** The name of a person's user in the source, with `{email}` or `{username}` in it. */
  user: string;
  /** Whether callers who are not persons, such as embed viewers, use the source's own user. */
  isOpenToOthers: boolean;
}

/** Where a database is, and who connects to it. */
export interface Server {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  /** `verify` checks the certificate and the name in it. */
  tls: 'verify' | 'no-verify' | 'off';
}

export type DataSource = DuckdbSource | ServerSource;

export interface DataSourceProblem {
  /** The name of the source. */
  source: string;
  /** The name of the variable. */
  variable: string;
  message: string;
}

export interface DataSources {
  /** By name. A source with a problem is left out. */
  sources: Map<string, DataSource>;
  problems: DataSourceProblem[];
}

export const DEFAULT_SOURCE = 'default';

const FIELDS = [
  'TYPE',
  'HOST',
  'PORT',
  'NAME',
  'USER',
  'PASS',
  'SSL',
  'CONCURRENCY',
  'OAUTH',
  'OAUTH_USER',
  'OAUTH_OTHERS',
] as const;
/** What every type of source has. */
const COMMON: readonly Field[] = ['TYPE', 'CONCURRENCY'];
type Field = (typeof FIELDS)[number];
type Variables = Partial<Record<Field, string>>;
/** Null: the value was lost with the secret key. */
type StoredVariables = Readonly<Record<string, string | null>>;

const VARIABLE = new RegExp(`^(?:DS_([A-Z0-9][A-Z0-9_]*?)_)?DB_(${FIELDS.join('|')})$`);
const LOST = 'was lost with the secret key: set it again';
const TYPES = ['duckdb', 'postgres', 'clickhouse'] as const;
const PORTS = { postgres: 5432, clickhouse: 8443 };
const CONCURRENCY_MAX = 64;
const TLS: Record<string, ServerSource['tls']> = { true: 'verify', 'no-verify': 'no-verify', false: 'off' };
/** Not a path, which would be a Unix socket of this machine. */
const HOST_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/;

/** Without variables that say where it is, the default source is DuckDB on the files of the deployment. */
export function dataSourcesOf(envVars: StoredVariables): DataSources {
  const sources = new Map<string, DataSource>();
  const problems: DataSourceProblem[] = [];
  for (const [name, given] of groupBySource(envVars)) {
    const prefix = name === DEFAULT_SOURCE ? 'DB_' : `DS_${name.toUpperCase()}_DB_`;
    const lost = FIELDS.filter((field) => given[field] === null).map((field): [Field, string] => [
      field,
      LOST,
    ]);
    const found = (lost.length ? lost : problemsOf(given as Variables)).map(([field, message]) => ({
      source: name,
      variable: prefix + field,
      message,
    }));
    problems.push(...found);
    if (found.length === 0) sources.set(name, sourceOf(name, given as Variables));
  }
  return { sources, problems: [...problems, ...smallLetters(envVars)] };
}

/** Reports variables such as `DS_eu_DB_HOST`, whose author would otherwise wonder why there is no source `eu`. */
function smallLetters(envVars: StoredVariables): DataSourceProblem[] {
  return Object.entries(envVars).flatMap(([variable, value]) => {
    const meant = variable.toUpperCase();
    const [, name] = VARIABLE.exec(meant) ?? [];
    if (variable === meant || name === undefined || value === '') return [];
    return [{ source: name.toLowerCase(), variable, message: `must be in capital letters: ${meant}` }];
  });
}

/** An empty variable counts as unset. */
function groupBySource(envVars: StoredVariables): Map<string, Partial<Record<Field, string | null>>> {
  const bySource = new Map<string, Partial<Record<Field, string | null>>>([[DEFAULT_SOURCE, {}]]);
  for (const [variable, value] of Object.entries(envVars)) {
    const [, name = DEFAULT_SOURCE, field] = VARIABLE.exec(variable) ?? [];
    if (field === undefined || value === '') continue;
    const key = name.toLowerCase();
    bySource.set(key, { ...bySource.get(key), [field]: value });
  }
  const given = bySource.get(DEFAULT_SOURCE)!;
  const isUnset = Object.keys(given).every((field) => field === 'CONCURRENCY');
  if (isUnset) bySource.set(DEFAULT_SOURCE, { TYPE: 'duckdb', ...given });
  return bySource;
}

function problemsOf(given: Variables): [Field, string][] {
  const { TYPE, HOST: host, PORT, SSL, CONCURRENCY } = given;
  const type = TYPES.find((known) => known === TYPE);
  if (!type) return [['TYPE', `must be one of ${TYPES.join(', ')}`]];
  const problems: [Field, string][] = [];
  if (CONCURRENCY !== undefined && !isWhole(CONCURRENCY, CONCURRENCY_MAX)) {
    problems.push(['CONCURRENCY', `must be a whole number from 1 to ${CONCURRENCY_MAX}`]);
  }
  if (type === 'duckdb') {
    const others = FIELDS.filter((field) => !COMMON.includes(field) && given[field] !== undefined);
    const message = 'is not for duckdb, which reads the files of the deployment';
    return [...problems, ...others.map((field): [Field, string] => [field, message])];
  }
  const missing = (['HOST', 'NAME', 'USER'] as const).filter((field) => given[field] === undefined);
  problems.push(...missing.map((field): [Field, string] => [field, `must be set for ${type}`]));
  if (host !== undefined && !HOST_NAME.test(host) && !isIP(host)) {
    problems.push(['HOST', 'must be a host name or an address, without a protocol, a port or a path']);
  }
  if (PORT !== undefined && !isWhole(PORT, 65_535)) {
    problems.push(['PORT', 'must be a whole number from 1 to 65535']);
  }
  if (SSL !== undefined && !Object.hasOwn(TLS, SSL)) {
    problems.push(['SSL', `must be one of ${Object.keys(TLS).join(', ')}`]);
  }
  return [...problems, ...problemsOfOAuth(given)];
}

function problemsOfOAuth({ OAUTH, OAUTH_USER, OAUTH_OTHERS }: Variables): [Field, string][] {
  if (OAUTH === undefined) {
    const lonely = Object.entries({ OAUTH_USER, OAUTH_OTHERS }).filter(([, value]) => value !== undefined);
    return lonely.map(([field]) => [field as Field, 'is only for a source with OAUTH']);
  }
  const problems: [Field, string][] = [];
  if (!/^[1-9]\d{0,14}$/.test(OAUTH)) problems.push(['OAUTH', 'must be the id of an OAuth integration']);
  if (OAUTH_USER !== undefined && /[{}]/.test(OAUTH_USER.replaceAll(PLACEHOLDER, ''))) {
    problems.push(['OAUTH_USER', 'may have no braces except {email} and {username}']);
  }
  if (OAUTH_OTHERS !== undefined && !['true', 'false'].includes(OAUTH_OTHERS)) {
    problems.push(['OAUTH_OTHERS', 'must be true or false']);
  }
  return problems;
}

const PLACEHOLDER = /\{(email|username)\}/g;

/** Returns the name of the person's user in the source. */
export const userOf = ({ user }: PersonalAccess, person: { email: string; username: string }) =>
  user.replaceAll(PLACEHOLDER, (_, name: 'email' | 'username') => person[name]);

const isWhole = (text: string, max: number) =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= max;

/** Only for variables without problems. */
function sourceOf(name: string, given: Variables): DataSource {
  const { TYPE, HOST: host, PORT, NAME, USER, PASS, SSL, CONCURRENCY } = given;
  const { OAUTH, OAUTH_USER, OAUTH_OTHERS } = given;
  const common = { name, ...(CONCURRENCY !== undefined && { concurrency: Number(CONCURRENCY) }) };
  if (TYPE === 'duckdb') return { ...common, type: 'duckdb' };
  const type = TYPE as ServerSource['type'];
  return {
    ...common,
    type,
    host: host!,
    port: PORT === undefined ? PORTS[type] : Number(PORT),
    database: NAME!,
    user: USER!,
    password: PASS ?? '',
    tls: TLS[SSL ?? 'true']!,
    ...(OAUTH !== undefined && {
      oauth: {
        integrationId: Number(OAUTH),
        user: OAUTH_USER ?? USER!,
        isOpenToOthers: OAUTH_OTHERS === 'true',
      },
    }),
  };
}
