/** Runs queries in PostgreSQL, within the engine's process. */
import pg from 'pg';
import type { Write } from '../../platform/processes/serve-parent.ts';
import type { Column, Summary } from '../engine.ts';
import { type RowText, startRows } from '../process/row-text.ts';
import { type Run, requireSelect, type Source } from '../process/source.ts';
import { listTables } from './catalogue.ts';
import { createConnections, type PostgresSettings } from './connections.ts';
import { explain } from './errors.ts';
import { readRows } from './rows.ts';
import { columnTypeOf, toTextOf, typeNameOf } from './texts.ts';

/** The time limit of lists of tables and tests of a connection. */
const CALL_MS = 30_000;
/** Lengths and the like, which arrive beside the values themselves. */
const EXTRA_BYTES = 1024 * 1024;

/** The settings decide how values are written, whatever the settings of the user or the database are. */
const begin = (timeoutMs: number) => `
  begin transaction isolation level repeatable read read only;
  set local statement_timeout = ${Math.ceil(timeoutMs)};
  set local timezone = 'UTC';
  set local datestyle = 'ISO, MDY';
  set local intervalstyle = 'postgres';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1;
  set local standard_conforming_strings = on`;

export async function openPostgres(settings: PostgresSettings): Promise<Source> {
  const connections = createConnections(settings);

  async function run<T>(
    signal: AbortSignal,
    timeoutMs: number,
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> {
    let client: pg.PoolClient | undefined;
    /** Drops the connection, but only once: afterwards it may serve another query. */
    const leave = () => {
      if (client) connections.drop(client);
      client = undefined;
    };
    try {
      const taken = await connections.take();
      client = taken;
      signal.throwIfAborted();
      signal.addEventListener('abort', leave, { once: true });
      await taken.query(begin(timeoutMs));
      return await work(taken);
    } catch (error) {
      // After an error of the database itself, the connection still works.
      if (!(error instanceof pg.DatabaseError)) leave();
      signal.throwIfAborted();
      throw explain(error);
    } finally {
      signal.removeEventListener('abort', leave);
      if (client) void connections.giveBack(client);
    }
  }

  return {
    async run(given, signal, write) {
      requireSelect(given.query.sql);
      return run(signal, given.timeoutMs, (client) => sendRows(client, given, write));
    },
    listTables: (signal) => run(signal, CALL_MS, listTables),
    test: (signal) =>
      run(signal, CALL_MS, async (client) => {
        const { rows } = await client.query<{ server_version: string }>('show server_version');
        return `PostgreSQL ${rows[0]?.server_version} answers.`;
      }),
    async close() {
      connections.close();
    },
  };
}

async function sendRows(client: pg.PoolClient, run: Run, write: Write): Promise<Summary> {
  const { sql, parameters = [] } = run.query;
  // PostgreSQL itself limits the rows, so that it does not compute what nobody reads.
  const limited = `select * from (\n${sql.replace(/[\s;]+$/, '')}\n) as answer limit ${run.maxRows + 1}`;
  const portions = readRows(client, limited, parameters, 2 * run.maxBytes + EXTRA_BYTES);
  let rows: RowText | undefined;
  for await (const { fields, rows: portion } of portions) {
    rows ??= await startRows(fields.map(columnOf), run, write);
    const toTexts = fields.map(({ dataTypeID }) => toTextOf(dataTypeID));
    for (const row of portion) {
      if (!rows.add(row.map((value, i) => (value === null ? 'null' : toTexts[i]!(value))))) break;
      if (rows.isPieceFull) await rows.send();
    }
  }
  return rows!.end();
}

const columnOf = ({ name, dataTypeID }: pg.FieldDef): Column => ({
  name,
  type: columnTypeOf(dataTypeID),
  nativeType: typeNameOf(dataTypeID),
});
