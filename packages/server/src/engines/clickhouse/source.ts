/** Runs queries in ClickHouse, within the engine's process. */
import { parseError } from '@clickhouse/client';
import type { Write } from '../../platform/processes/serve-parent.ts';
import type { Summary } from '../engine.ts';
import { ROW_BYTES_MAX, type RowText, rowTooLarge, startRows } from '../process/row-text.ts';
import { type Run, requireSelect, type Source } from '../process/source.ts';
import { listTables } from './catalogue.ts';
import { type ClickhouseSettings, type Connection, createConnection } from './connection.ts';
import { explain, notClickhouse } from './errors.ts';
import { columnTypeOf, toTextOf, type Value } from './texts.ts';

/** The time limit of lists of tables and tests of a connection. */
const CALL_MS = 30_000;
/** In the memory of ClickHouse, values can be larger than their text. */
const BYTES_FACTOR = 4;

export async function openClickhouse(settings: ClickhouseSettings): Promise<Source> {
  const connection = createConnection(settings);
  const read = async (sql: string, signal: AbortSignal) => {
    const rows: Value[][] = [];
    for await (const texts of connection.ask({ sql, timeoutMs: CALL_MS }, signal)) {
      rows.push(...texts.map(rowOf));
    }
    return rows.slice(2);
  };
  return {
    async run(run, signal, write) {
      requireSelect(run.query.sql);
      return sendRows(connection, run, signal, write);
    },
    listTables: (signal) => listTables((sql) => read(sql, signal)),
    async test(signal) {
      const [row] = await read('select version()', signal);
      return `ClickHouse ${row?.[0]} answers.`;
    },
    close: () => connection.close(),
  };
}

/** The first two rows are the names and the types of the columns. */
async function sendRows(
  connection: Connection,
  run: Run,
  signal: AbortSignal,
  write: Write,
): Promise<Summary> {
  const { query, timeoutMs, maxRows, maxBytes } = run;
  const settings = {
    // ClickHouse itself limits the rows, so that it does not compute what nobody reads.
    limit: String(maxRows + 1),
    max_result_bytes: String(BYTES_FACTOR * maxBytes),
  };
  let names: Value[] | undefined;
  let rows: RowText | undefined;
  let toTexts: ((value: Value) => string)[] = [];
  for await (const texts of connection.ask({ ...query, timeoutMs, settings }, signal)) {
    for (const text of texts) {
      if (text.length > ROW_BYTES_MAX) throw rowTooLarge();
      const row = rowOf(text);
      if (!names) names = row;
      else if (!rows) {
        const types = row.map(String);
        toTexts = types.map(toTextOf);
        const columns = types.map((nativeType, i) => {
          return { name: String(names![i]), type: columnTypeOf(nativeType), nativeType };
        });
        rows = await startRows(columns, run, write);
      } else {
        if (!rows.add(row.map((value, i) => toTexts[i]!(value)))) return rows.end();
        if (rows.isPieceFull) await rows.send();
      }
    }
  }
  if (!rows) throw notClickhouse();
  return rows.end();
}

/** If ClickHouse fails half-way, it writes why where the next row would stand. */
function rowOf(text: string): Value[] {
  const row = parsed(text);
  if (!Array.isArray(row)) throw explain(parseError(text));
  return row;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
