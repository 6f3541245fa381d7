/** Runs queries in DuckDB, within the engine's process. */
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import type { Write } from '../../platform/processes/serve-parent.ts';
import { CALL_TIMEOUT_MS, type Column, EngineError, type Summary, type Table } from '../engine.ts';
import { ROW_BYTES_MAX, rowTooLarge, startRows } from '../process/row-text.ts';
import { type Run, requireSelect, type Source } from '../process/source.ts';
import { createAllowedStatements } from './allowed.ts';
import { type DuckdbSettings, openDatabase, withConnection } from './database.ts';
import { explain } from './errors.ts';
import { createFileTables } from './files.ts';
import { giveBackAll, noteUnused, releaseAll } from './release.ts';
import { type ColumnTexts, columnTypeOf, textsOf } from './texts.ts';

/** An interrupt is lost if the query has not started yet, so it is repeated. */
const INTERRUPT_EVERY_MS = 50;
/**
 * A few functions cannot be interrupted. This long after its time limit, such a query kills the process, and another
 * one is started. The process is not killed sooner, because it also runs queries of other callers, who have not left.
 */
const INTERRUPT_WITHIN_MS = 2000;

export async function openDuckdb(settings: DuckdbSettings): Promise<Source> {
  const instance = await openDatabase(settings);
  const files = createFileTables(instance, settings.filesDir);
  const allowed = createAllowedStatements();

  async function run<T>(
    signal: AbortSignal,
    timeoutMs: number,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    try {
      await files.refresh();
      return await withConnection(instance, (connection) =>
        interruptible(connection, signal, deadline, () => work(connection)),
      );
    } catch (error) {
      const failure = explain(error, files.failures);
      // What the query had computed until then may be large.
      if (failure.code === 'query_too_large') await giveBackAll();
      else setImmediate(releaseAll);
      signal.throwIfAborted();
      throw failure;
    }
  }

  return {
    run: (given, signal, write) =>
      run(signal, given.timeoutMs, async (connection) => {
        requireSelect(given.query.sql);
        await allowed.require(connection, given.query.sql);
        return sendRows(connection, given, signal, write);
      }),
    listTables: (signal) => run(signal, CALL_TIMEOUT_MS, listTables),
    test: (signal) =>
      run(signal, CALL_TIMEOUT_MS, async (connection) => {
        const [row] = (await connection.runAndReadAll(COUNT_FILES)).getRowsJS();
        const count = Number(row?.[0]);
        const unread = files.failures.size ? `, and ${files.failures.size} that cannot be read` : '';
        return `DuckDB reads ${count} ${count === 1 ? 'file' : 'files'}${unread}.`;
      }),
    async close() {
      instance.closeSync();
    },
  };
}

async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  deadline: number,
  work: () => Promise<T>,
): Promise<T> {
  const timers: NodeJS.Timeout[] = [];
  const interrupt = () => {
    connection.interrupt();
    timers.push(setInterval(() => connection.interrupt(), INTERRUPT_EVERY_MS));
    const left = Math.max(0, deadline - performance.now()) + INTERRUPT_WITHIN_MS;
    timers.push(setTimeout(() => process.kill(process.pid, 'SIGKILL'), left));
  };
  signal.throwIfAborted();
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', interrupt);
    for (const timer of timers) clearInterval(timer);
  }
}

/**
 * The driver loses errors that come after the first rows of a streamed result: the rows just end. So the result is
 * computed as a whole before the first row is sent, and DuckDB itself must limit the rows, or they would not fit into
 * the memory.
 */
async function compute(connection: DuckDBConnection, { query, maxRows }: Run) {
  const inner = query.sql.replace(/[\s;]+$/, '');
  const limited = `select * from (\n${inner}\n) as answer limit ${maxRows + 1}`;
  const statement = await prepareLimited(connection, query.sql, limited);
  bind(statement, query.parameters ?? []);
  const result = await statement.run();
  const names = query.keys ?? namesOf(await connection.prepare(query.sql));
  // The outer statement renames columns that have the same name.
  const columnNames = names.length === result.columnCount ? names : result.columnNames();
  return { result, columnNames };
}

/** To prepare a statement takes a while, so the given one is prepared only if its own error or names are needed. */
async function prepareLimited(
  connection: DuckDBConnection,
  given: string,
  limited: string,
): Promise<DuckDBPreparedStatement> {
  try {
    return await connection.prepare(limited);
  } catch (error) {
    await connection.prepare(given);
    throw error;
  }
}

const namesOf = (statement: DuckDBPreparedStatement) =>
  Array.from({ length: statement.columnCount }, (_, i) => statement.columnName(i));

function bind(statement: DuckDBPreparedStatement, parameters: readonly (string | null)[]) {
  if (statement.parameterCount !== parameters.length) {
    throw new EngineError(
      'query_invalid',
      `The statement has ${statement.parameterCount} parameters, but ${parameters.length} values were given.`,
    );
  }
  parameters.forEach((value, i) => {
    if (value === null) statement.bindNull(i + 1);
    else statement.bindVarchar(i + 1, value);
  });
}

async function sendRows(
  connection: DuckDBConnection,
  run: Run,
  signal: AbortSignal,
  write: Write,
): Promise<Summary> {
  const { result, columnNames } = await compute(connection, run);
  const types = result.columnTypes();
  const columns = columnNames.map(
    (name, i): Column => ({ name, type: columnTypeOf(types[i]!), nativeType: types[i]!.toString() }),
  );
  const rows = await startRows(columns, run, write);
  for (;;) {
    signal.throwIfAborted();
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    const texts = types.map((type, i) => textsOf(chunk, i, type));
    for (let row = 0; row < chunk.rowCount; row++) {
      requireShort(texts, row);
      if (!rows.add(texts.map(({ textAt }) => textAt(row)))) break;
      if (rows.isPieceFull) await rows.send();
    }
  }
  // The driver also returns an empty chunk if there is no memory for the next one.
  if (rows.rowCount < Math.min(result.rowCount, run.maxRows)) {
    throw new EngineError(
      'query_too_large',
      'The answer needs more memory than it may have: ask for less at once.',
    );
  }
  const summary = await rows.end();
  noteUnused(summary.bytes);
  return summary;
}

function requireShort(texts: ColumnTexts[], row: number) {
  let bytes = 0;
  for (const { bytesAt } of texts) bytes += bytesAt(row);
  if (bytes > ROW_BYTES_MAX) throw rowTooLarge();
}

const COUNT_FILES = "select count(*) from duckdb_views() where schema_name = 'files'";

/** Files have no keys. */
async function listTables(connection: DuckDBConnection): Promise<Table[]> {
  const reader = await connection.runAndReadAll(
    "select table_name from information_schema.tables where table_schema = 'files' order by 1",
  );
  const tables: Table[] = [];
  for (const [name] of reader.getRowsJS() as [string][]) {
    const { columnNames, columnTypes } = await describe(connection, name);
    const columns = columnNames.map((column, i) => ({
      name: column,
      type: columnTypeOf(columnTypes[i]!),
      nativeType: columnTypes[i]!.toString(),
      isNullable: true,
    }));
    tables.push({ schema: 'files', name, columns, primaryKey: [], foreignKeys: [] });
  }
  return tables;
}

async function describe(connection: DuckDBConnection, table: string) {
  const result = await connection.run(`select * from files."${table.replaceAll('"', '""')}" limit 0`);
  return { columnNames: result.columnNames(), columnTypes: result.columnTypes() };
}
