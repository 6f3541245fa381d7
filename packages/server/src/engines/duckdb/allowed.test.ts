/** What statements may contain, by DuckDB's own parser. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CASES } from '../../../../semantic/test/golden/cases.ts';
import { createAllowedStatements } from './allowed.ts';
import { ALLOWED_FUNCTIONS } from './allowed-functions.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { autoload_known_extensions: 'false' });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const check = (sql: string) => createAllowedStatements().require(connection, sql);

const FUNCTIONS = [
  "getenv('HOME')",
  "getvariable('x')",
  "current_setting('memory_limit')",
  'current_query()',
  'current_query_id()',
  'current_connection_id()',
  'current_transaction_id()',
  'current_database()',
  'current_schemas(true)',
  "in_search_path('memory', 'main')",
  'txid_current()',
  'version()',
  "nextval('s')",
  "currval('s')",
  'setseed(0.5)',
  'sleep_ms(10000)',
  'pg_sleep(10)',
  "write_log('x')",
  "json_serialize_sql('select 1')",
  "json_serialize_plan('select 1')",
  "json_deserialize_sql('{}')",
  "parse_duckdb_log_message('x', 'y')",
  'stats(1)',
  'vector_type(1)',
  'pg_get_viewdef(1)',
  "has_table_privilege('t', 'select')",
  'pg_postmaster_start_time()',
  'inet_server_addr()',
  "get_block_size('memory')",
  "create_sort_key(1, 'asc')",
  "cast_to_type('1', 1)",
  'system.main.version()',
  "main.getenv('HOME')",
  'upper(GETENV($$HOME$$))',
  "files.upper('x')",
  'other.main.upper(1)',
];
const TABLES = [
  "read_csv('/etc/passwd')",
  "read_csv_auto('x')",
  "read_parquet('x')",
  "parquet_scan('x')",
  "read_json('x')",
  "read_ndjson_objects('x')",
  "read_text('/etc/passwd')",
  "read_blob('/proc/self/environ')",
  "read_duckdb('x')",
  "glob('/etc/*')",
  "sniff_csv('/etc/passwd')",
  "parquet_metadata('x')",
  "parquet_schema('x')",
  "parquet_kv_metadata('x')",
  "parquet_file_metadata('x')",
  "parquet_bloom_probe('x', 'a', 1)",
  "query('select 1')",
  "query_table('files.orders')",
  "json_execute_serialized_sql('{}')",
  'enable_logging()',
  'disable_logging()',
  'truncate_duckdb_logs()',
  "enable_profiling('json')",
  'enable_peg_parser()',
  'checkpoint()',
  'force_checkpoint()',
  'duckdb_settings()',
  'duckdb_logs()',
  'duckdb_tables()',
  'duckdb_views()',
  'duckdb_columns()',
  'duckdb_functions()',
  'duckdb_secrets()',
  'duckdb_extensions()',
  'duckdb_variables()',
  'duckdb_prepared_statements()',
  'duckdb_external_file_cache()',
  'duckdb_temporary_files()',
  'duckdb_memory()',
  "pragma_table_info('files.orders')",
  "pragma_storage_info('files.orders')",
  'pragma_database_size()',
  'pragma_version()',
  'pragma_user_agent()',
  "which_secret('s3://x', 's3')",
  "sql_auto_complete('sel')",
  'test_all_types()',
  'arrow_scan(1, 2, 3)',
  // Also the name of a function of texts, which may be used.
  'repeat(1, 5)',
  'seq_scan()',
  'repeat_row(1, num_rows := 10)',
  "'/etc/passwd'",
  "'/etc/*.csv'",
  '"data.parquet"',
  'duckdb_settings',
  'sqlite_master',
  'pg_catalog.pg_settings',
  'pg_class',
  'information_schema.tables',
  'main.orders',
  'system.main.duckdb_tables',
  'other.files.orders',
  'orders',
];
const STATEMENTS = [
  'select 1; select 2',
  'describe select 1',
  'describe files.orders',
  'summarize files.orders',
  'show tables',
  'pivot files.orders on status',
  "copy (select 1) to '/tmp/x'",
  'call checkpoint()',
  'create table t (a int)',
  "attach 'x'",
  "set memory_limit = '1GB'",
  'pragma database_list',
  'explain select 1',
  'delete from files.orders',
  'select * from (describe files.orders)',
  'select * from (show tables)',
  'select (select count(*) from duckdb_logs())',
  "select 1 where exists (select 1 from read_text('/etc/passwd'))",
  "select 1 from files.orders order by getenv('x')",
  "select 1 limit (select length(getenv('x')))",
  "select sum(1) over (order by getenv('x'))",
  "select count(*) filter (where getenv('x') = 'y')",
  "select list_transform([1], lambda x: getenv('a'))",
  "select [getenv('x') for x in [1]]",
  "select case when true then getenv('x') end",
  "values (getenv('x'))",
  "select 1 union all select length(getenv('x'))",
  "with a as (select getenv('x')) select * from a",
  'with duckdb_settings as (select 1) select * from duckdb_settings',
  'select * from (with a as (select 1) select * from a) b, duckdb_settings',
  'with recursive a as (select 1 union all select 1 from duckdb_logs) select * from a',
  'select * from files.orders, lateral (select * from glob(status))',
  'from duckdb_secrets()',
  'select (1).getenv()',
];

test.each([
  ...FUNCTIONS.map((call) => `select ${call}`),
  ...TABLES.map((table) => `select * from ${table}`),
  ...STATEMENTS,
])('%s is refused', async (sql) => {
  await expect(check(sql)).rejects.toMatchObject({ name: 'EngineError', code: 'query_refused' });
});

test('the error names the function or the table', async () => {
  await expect(check("select GetEnv('x')")).rejects.toThrow(/The function `getenv` cannot be used/i);
  await expect(check('select * from pg_catalog.pg_class')).rejects.toThrow('`pg_catalog.pg_class`');
});

test.each([
  'select * from files.orders',
  'select * from memory.files.orders',
  'with recursive t as (select 1 as n union all select n + 1 from t where n < 9) select sum(n) from t',
  'with a as (select 1 as x), b as materialized (select x from a) select * from A join b using (x)',
  'select unnest([1, 2]), * from range(3) r, generate_series(1, 2) g, unnest([1]) u',
  "select 1::decimal(3, 2), 'a'::json, [1]::int[], {'a': 1}, map {'a': 1}, x'00', 1e300, null, true, $1::bigint",
  "select 'x' collate nocase, try_cast('x' as int), try(1), x.a[1], x.b[1:2], interval '1 day', timestamp '2024-01-01'",
  'select count(*), count(distinct a) filter (where b), rank() over w, lag(a, 1) over w from files.t window w as (order by a)',
  'select * exclude (a) replace (b + 1 as b) from files.t where a not in (1) and b not between 1 and 2 and c is distinct from d',
  "select extract(year from t), t at time zone 'UTC', a like 'x%' escape '\\', a ilike 'b', a similar to 'c', a ~ 'd', not a",
  'select a, grouping(a), sum(b) from files.t group by rollup (a) having sum(b) > 1 order by all limit 10 offset 2',
  'select distinct on (a) a, coalesce(b, c), nullif(a, b), greatest(a, b), ifnull(a, 1), if(a, 1, 2) from files.t',
  'select current_date, current_timestamp, now(), today()',
  'select * from (values (1, 2)) as v(a, b) full join files.t on v.a = t.a qualify row_number() over () = 1',
  'select x from files.t using sample 10',
  'select list_transform([1], lambda x: x + 1), [y for y in [1]], columns(*) from files.t',
  'from files.t',
])('%s is allowed', (sql) => check(sql));

test('a statement that cannot be read is wrong, in the words of DuckDB', async () => {
  await expect(check('select from where')).rejects.toMatchObject({
    code: 'query_invalid',
    message: expect.stringContaining('syntax error'),
  });
});

test('the statements of the golden files are allowed', async () => {
  const folder = join(import.meta.dirname, '../../../../semantic/test/golden');
  let found = 0;
  for (const name of Object.keys(CASES)) {
    const text = await readFile(join(folder, `${name.replace(/\W+/g, '-')}.sql`), 'utf8');
    const [, statements] = /^-- duckdb\n([\s\S]*?)^-- postgres$/m.exec(text) ?? [];
    for (const statement of statements!.split(/^-- .*$/m).filter((part) => part.trim())) {
      // The tables of the golden files have no schema.
      await check(
        statement
          .replace(/\b(from|join) (\w+) as/g, '$1 files.$2 as')
          .replace('from items', 'from files.items'),
      );
      found++;
    }
  }
  expect(found).toBeGreaterThan(25);
});

test('every function in the list exists, so that a mistyped name is noticed', async () => {
  const reader = await connection.runAndReadAll(
    'select distinct lower(function_name) from duckdb_functions()',
  );
  const known = new Set(reader.getRowsJS().map(([name]) => String(name)));
  // The parser makes operators and other functions of these.
  const written = [
    'coalesce',
    'ifnull',
    'if',
    'grouping',
    'grouping_id',
    'current_time',
    'current_timestamp',
    '->',
    'unnest',
  ];
  expect([...ALLOWED_FUNCTIONS].filter((name) => !known.has(name) && !written.includes(name))).toEqual([]);
});

test('a statement is parsed once, as long as it is kept', async () => {
  const statements = createAllowedStatements();
  let parsed = 0;
  const counting = new Proxy(connection, {
    get: (target, key) => {
      if (key === 'runAndReadAll') parsed++;
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  for (let i = 0; i < 3; i++) await statements.require(counting, 'select 1');
  expect(parsed).toBe(1);
  for (let i = 0; i < 1000; i++) await statements.require(counting, `select ${i + 2}`);
  await statements.require(counting, 'select 1');
  expect(parsed).toBe(1002);
});
