/** Databases that run what the planner writes. Their answers are brought to one form, so that they can be compared. */
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import type { DialectName, Statement } from '../src/index.ts';

export type Cell = string | number | boolean | null;

export interface Engine {
  readonly dialect: DialectName;
  /** Statements that make tables and rows. */
  run(sql: string): Promise<void>;
  rows(statement: Statement): Promise<Cell[][]>;
  close(): Promise<void>;
}

export async function openDuckDb(): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run("set timezone = 'UTC'");
  return {
    dialect: 'duckdb',
    run: async (sql) => void (await connection.run(sql)),
    async rows({ sql, parameters }) {
      const reader = await connection.runAndReadAll(sql, [...parameters]);
      return (reader.getRowsJson() as Cell[][]).map((row) => row.map(plain));
    },
    async close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Tables that are made here are temporary: they end with the connection. */
export async function openPostgres(connectionString: string): Promise<Engine> {
  const asText = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;
  const client = new pg.Client({ connectionString, types: asText });
  await client.connect();
  await client.query("set timezone = 'UTC'");
  return {
    dialect: 'postgres',
    run: async (sql) => void (await client.query(sql.replaceAll('create table', 'create temporary table'))),
    async rows({ sql, parameters }) {
      const result = await client.query({ text: sql, values: [...parameters], rowMode: 'array' });
      const isBoolean = result.fields.map(({ dataTypeID }) => dataTypeID === 16);
      return (result.rows as (string | null)[][]).map((row) =>
        row.map((cell, i) => plain(isBoolean[i] && cell !== null ? cell === 't' : cell)),
      );
    },
    close: () => client.end(),
  };
}

/** Columns are made as other databases make them: with nulls, and with microseconds. */
const AS_OTHERS: [string, string][] = [
  ['data_type_default_nullable', '1'],
  ['default_table_engine', 'Memory'],
];

/** Tables that are made here are in a database of their own. */
export async function openClickHouse(url: string): Promise<Engine> {
  const { origin, username, password } = new URL(url);
  const database = `test_${process.pid}_${Date.now()}`;
  async function send(query: string, fields: [string, string][]) {
    const body = new FormData();
    for (const [name, text] of [['query', query], ...fields] as [string, string][]) body.append(name, text);
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const response = await fetch(origin, { method: 'POST', headers: { authorization }, body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }
  await send(`create database ${database}`, []);
  return {
    dialect: 'clickhouse',
    run: async (sql) =>
      void (await send(sql.replace(/timestamp(?=[,)])/g, "DateTime64(6, 'UTC')"), [
        ['database', database],
        ...AS_OTHERS,
      ])),
    async rows({ sql, parameters }) {
      const escaped = (text: string) =>
        text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
      const text = await send(sql, [
        ['database', database],
        ['default_format', 'JSONCompactEachRow'],
        ['output_format_json_quote_64bit_integers', '1'],
        ['output_format_json_quote_decimals', '1'],
        ...parameters.map((text, i): [string, string] => [`param_p${i + 1}`, escaped(text)]),
      ]);
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => (JSON.parse(line) as Cell[]).map(plain));
    },
    close: async () => void (await send(`drop database ${database}`, [])),
  };
}

const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?$/;

/** Whole numbers with all their digits, others rounded to what all databases agree on, times without trailing zeros. */
export function plain(cell: Cell): Cell {
  if (cell === null || typeof cell === 'boolean') return cell;
  const text = String(cell);
  if (/^-?\d+$/.test(text)) return text;
  if (/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text)) return String(Number(Number(text).toPrecision(10)));
  return text.replace(
    TIME,
    (_, date, time, fraction = '') => `${date} ${time}${fraction.replace(/\.?0+$/, '')}`,
  );
}
