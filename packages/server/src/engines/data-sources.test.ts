import { expect, test } from 'vitest';
import { dataSourcesOf } from './data-sources.ts';

const SERVER = { DB_TYPE: 'postgres', DB_HOST: 'db.example.com', DB_NAME: 'shop', DB_USER: 'reader' };
const problemsOf = (envVars: Record<string, string>) =>
  dataSourcesOf(envVars).problems.map(({ variable, message }) => `${variable} ${message}`);

test('without variables the default source is DuckDB on the files of the deployment', () => {
  const expected = new Map([['default', { name: 'default', type: 'duckdb' }]]);
  expect(dataSourcesOf({})).toEqual({ sources: expected, problems: [] });
  expect(dataSourcesOf({ DB_TYPE: 'duckdb', DB_HOST: '', MY_DB_HOST: 'x', DS_DB_HOST: 'x' })).toEqual({
    sources: expected,
    problems: [],
  });
});

test('a server has a default port, and TLS with a checked certificate', () => {
  expect(dataSourcesOf(SERVER).sources.get('default')).toEqual({
    name: 'default',
    type: 'postgres',
    host: 'db.example.com',
    port: 5432,
    database: 'shop',
    user: 'reader',
    password: '',
    tls: 'verify',
  });
  const more = { DB_PORT: '6543', DB_PASS: ' secret ', DB_SSL: 'false', DB_HOST: '2001:db8::1' };
  expect(dataSourcesOf({ ...SERVER, ...more }).sources.get('default')).toMatchObject({
    host: '2001:db8::1',
    port: 6543,
    password: ' secret ',
    tls: 'off',
  });
});

test('a source of any type may say how many queries run at once', () => {
  const all = { DB_CONCURRENCY: '1', DS_EU_DB_CONCURRENCY: '64' };
  const second = Object.fromEntries(Object.entries(SERVER).map(([name, value]) => [`DS_EU_${name}`, value]));
  const { sources, problems } = dataSourcesOf({ ...all, ...second });
  expect(problems).toEqual([]);
  expect(sources.get('default')).toEqual({ name: 'default', type: 'duckdb', concurrency: 1 });
  expect(sources.get('eu')).toMatchObject({ type: 'postgres', concurrency: 64 });
});

test('a second source has its own variables, and the default one stays', () => {
  const second = Object.fromEntries(
    Object.entries(SERVER).map(([name, value]) => [`DS_EU_WEST_${name}`, value]),
  );
  const { sources, problems } = dataSourcesOf(second);
  expect(problems).toEqual([]);
  expect([...sources.keys()]).toEqual(['default', 'eu_west']);
  expect(sources.get('eu_west')).toMatchObject({ type: 'postgres', host: 'db.example.com' });
});

test.each<[Record<string, string>, string]>([
  [{ DB_TYPE: 'oracle' }, 'DB_TYPE must be one of duckdb, postgres, clickhouse'],
  [{ DB_HOST: 'db.example.com' }, 'DB_TYPE must be one of duckdb, postgres, clickhouse'],
  [{ DS_EU_DB_HOST: 'x' }, 'DS_EU_DB_TYPE must be one of duckdb, postgres, clickhouse'],
  [{ DS_eu_DB_HOST: 'x' }, 'DS_eu_DB_HOST must be in capital letters: DS_EU_DB_HOST'],
  [{ DB_TYPE: 'duckdb', DB_NAME: 'x' }, 'DB_NAME is not for duckdb, which reads the files of the deployment'],
  [{ ...SERVER, DB_NAME: '' }, 'DB_NAME must be set for postgres'],
  ...['/var/run/postgresql', '@abstract', 'https://x', 'x:5432', 'ab:5432', 'x/y', 'a b', '-x', '%2Frun'].map(
    (host): [Record<string, string>, string] => [
      { ...SERVER, DB_HOST: host },
      'DB_HOST must be a host name or an address, without a protocol, a port or a path',
    ],
  ),
  [{ ...SERVER, DB_PORT: '0' }, 'DB_PORT must be a whole number from 1 to 65535'],
  [{ ...SERVER, DB_PORT: '5432 ' }, 'DB_PORT must be a whole number from 1 to 65535'],
  [{ ...SERVER, DB_SSL: 'maybe' }, 'DB_SSL must be one of true, no-verify, false'],
  ...['0', '65', '2.5', '-1', 'many'].map((value): [Record<string, string>, string] => [
    { DB_TYPE: 'duckdb', DB_CONCURRENCY: value },
    'DB_CONCURRENCY must be a whole number from 1 to 64',
  ]),
  [{ ...SERVER, DB_OAUTH: 'Warehouse' }, 'DB_OAUTH must be the id of an OAuth integration'],
  [{ ...SERVER, DB_OAUTH_OTHERS: 'true' }, 'DB_OAUTH_OTHERS is only for a source with OAUTH'],
  [{ ...SERVER, DB_OAUTH: '1', DB_OAUTH_OTHERS: 'yes' }, 'DB_OAUTH_OTHERS must be true or false'],
  [
    { ...SERVER, DB_OAUTH: '1', DB_OAUTH_USER: '{password}' },
    'DB_OAUTH_USER may have no braces except {email} and {username}',
  ],
  [
    { DB_TYPE: 'duckdb', DB_OAUTH: '1' },
    'DB_OAUTH is not for duckdb, which reads the files of the deployment',
  ],
])('%j is refused with one clear problem', (envVars, problem) => {
  expect(problemsOf(envVars)).toEqual([problem]);
});

test('a problem of one source leaves the others usable, and tells no secret', () => {
  const { sources, problems } = dataSourcesOf({
    ...SERVER,
    DB_PASS: 'hunter2',
    DB_SSL: 'x',
    DS_EU_DB_TYPE: 'duckdb',
  });
  expect([...sources.keys()]).toEqual(['eu']);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});

test('a variable in small letters that can belong to anything else is no problem', () => {
  expect(problemsOf({ db_name: 'x', ds_limit: '5' })).toEqual([]);
});

test('a source whose variables were lost is not replaced by another one', () => {
  const lost = { ...SERVER, DB_TYPE: null, DB_PASS: null };
  expect(dataSourcesOf(lost).sources.size).toBe(0);
  expect(dataSourcesOf(lost).problems.map(({ variable, message }) => `${variable} ${message}`)).toEqual([
    'DB_TYPE was lost with the secret key: set it again',
    'DB_PASS was lost with the secret key: set it again',
  ]);
});
