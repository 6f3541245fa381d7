import { type Mutant, SERVER } from './mutant.ts';

const ENGINE = `${SERVER}engines/clickhouse/`;
const tests = [`${ENGINE}clickhouse.test.ts`];
const DIALECT = 'packages/semantic/src/plan/dialects/clickhouse';
const dialectTests = [`${DIALECT}.test.ts`];

export const clickhouse: Mutant[] = [
  {
    name: 'a statement can not write to ClickHouse',
    file: `${ENGINE}connection.ts`,
    from: "readonly: '2',",
    to: '',
    tests,
  },
  {
    name: 'ClickHouse ends a query whose caller has left',
    file: `${ENGINE}connection.ts`,
    from: 'cancel_http_readonly_queries_on_client_close: 1,',
    to: '',
    tests,
  },
  {
    name: 'an answer of ClickHouse that hangs half-way ends when its time is over',
    file: `${ENGINE}connection.ts`,
    from: "signal.addEventListener('abort', leave, { once: true });",
    to: '',
    tests,
  },
  {
    name: 'an answer of ClickHouse that was cut off does not look complete',
    file: `${ENGINE}connection.ts`,
    from: "if (coding !== 'chunked' && length === undefined) throw notClickhouse();",
    to: '',
    tests,
  },
  {
    name: 'a row of ClickHouse that never ends does not fill the memory',
    file: `${ENGINE}connection.ts`,
    from: 'if (bytes > ROW_BYTES_MAX) stream.destroy(rowTooLarge());',
    to: '',
    tests,
  },
  {
    name: 'an error of ClickHouse that stands among the rows is no row',
    file: `${ENGINE}source.ts`,
    from: 'if (!Array.isArray(row)) throw explain(parseError(text));',
    to: 'if (!Array.isArray(row)) return [];',
    tests,
  },
  {
    name: 'ClickHouse at a private address is refused',
    file: `${ENGINE}connection.ts`,
    from: 'if (isIP(host) && !rules.isAllowed(host)) throw refusedAddress();',
    to: '',
    tests,
  },
  {
    name: 'a name can not lead ClickHouse to a private address',
    file: `${ENGINE}connection.ts`,
    from: 'lookup: checkedLookup(rules, refusedAddress),',
    to: '',
    tests,
  },
  {
    name: 'the certificate of ClickHouse is checked',
    file: `${ENGINE}connection.ts`,
    from: "rejectUnauthorized: tls === 'verify',",
    to: 'rejectUnauthorized: false,',
    tests,
  },
  {
    name: 'what another server answers is told to nobody',
    file: `${ENGINE}errors.ts`,
    from: '.code ? unreachable(error) : notClickhouse();',
    to: '.message ? unreachable(error) : notClickhouse();',
    tests,
  },
  {
    name: 'an error of ClickHouse does not repeat the values of a statement',
    file: `${ENGINE}errors.ts`,
    from: 'words.trim()',
    to: 'message.trim()',
    tests,
  },
  {
    name: 'a primary key of ClickHouse that rows share is no key',
    file: `${ENGINE}catalogue.ts`,
    from: 'WITH_UNIQUE_KEYS.test(engine) ? columnsOf(key) : []',
    to: 'columnsOf(key)',
    tests,
  },
  {
    name: 'a comment that only ClickHouse knows can not swallow a policy',
    file: 'packages/semantic/src/sql-texts.ts',
    from: '|\\/\\/[^\\n]*|#[ !][^\\n]*',
    to: '',
    tests: dialectTests,
  },
  {
    name: 'ids of 64 bits are bound to ClickHouse with all digits',
    file: `${DIALECT}.ts`,
    from: "integer: 'Int64',",
    to: "integer: 'Float64',",
    tests: dialectTests,
  },
];
