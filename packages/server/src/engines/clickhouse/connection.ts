/** Requests to one ClickHouse. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Readable } from 'node:stream';
import { ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import { guardAgent, rulesOf } from '../../platform/outbound/guard.ts';
import type { Server } from '../data-sources.ts';
import { EngineError } from '../engine.ts';
import { refusedAddress } from '../process/refused-address.ts';
import { ROW_BYTES_MAX, rowTooLarge } from '../process/row-text.ts';
import { explain, notClickhouse } from './errors.ts';

export interface ClickhouseSettings extends Server {
  type: 'clickhouse';
  /** The limit of connections at once. */
  connections: number;
  /** See ORIEL_ALLOW_PRIVATE_REMOTES. */
  allowPrivate: boolean;
}

export interface Request {
  sql: string;
  parameters?: readonly (string | null)[];
  timeoutMs: number;
  /** The settings of this request, beside those that every request has. */
  settings?: ClickHouseSettings;
}

export interface Connection {
  /** Rows as ClickHouse writes them, a JSON array each. The first two are the names and the types of the columns. */
  ask(request: Request, signal: AbortSignal): AsyncGenerator<string[], void>;
  close(): Promise<void>;
}

const CONNECT_WITHIN_MS = 10_000;
/** The driver's own timeout, which never applies: the signal of a request ends it much earlier. */
const REQUEST_MS = 60 * 60_000;
/** Less than the time after which ClickHouse closes a connection that is not used. */
const IDLE_MS = 2500;
/** Statements above this size need more than ClickHouse allows by default. */
const LARGE_SQL = 50_000;

/**
 * With `readonly`, a statement cannot write, and ClickHouse ends it if we close the connection. A user who is limited to
 * `readonly = 1` cannot send settings, so 2 is what such a user needs.
 */
const SETTINGS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  timeout_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  session_timezone: 'UTC',
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
};

export function createConnection(given: ClickhouseSettings): Connection {
  const { host, port, database, user, password, tls, connections } = given;
  const agent = new (tls === 'off' ? HttpAgent : HttpsAgent)({
    keepAlive: true,
    maxSockets: connections,
    rejectUnauthorized: tls === 'verify',
  } as object);
  const client = createClient({
    url: `${tls === 'off' ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    database,
    username: user,
    password,
    application: 'oriel',
    http_agent: limitConnecting(guardAgent(agent, rulesOf(given), refusedAddress)),
    request_timeout: REQUEST_MS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_MS },
    // Values of many members would be too long for an address.
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
  });

  async function* ask({ sql, parameters = [], timeoutMs, settings }: Request, signal: AbortSignal) {
    const answer = await client.query({
      query: sql,
      format: 'JSONCompactEachRowWithNamesAndTypes',
      query_params: Object.fromEntries(parameters.map((text, i) => [`p${i + 1}`, text])),
      clickhouse_settings: {
        ...SETTINGS,
        max_execution_time: Math.ceil(timeoutMs / 1000),
        ...(sql.length > LARGE_SQL && {
          max_query_size: String(2 * sql.length),
          max_ast_elements: String(sql.length),
          max_expanded_ast_elements: String(sql.length),
        }),
        ...settings,
      },
      abort_signal: signal,
    });
    // The driver looks at the signal only until the answer begins.
    const leave = () => answer.close();
    signal.addEventListener('abort', leave, { once: true });
    try {
      // Without a length or chunks, only the closed connection ends an answer, as the death of the server would.
      const { 'transfer-encoding': coding, 'content-length': length } = answer.response_headers;
      if (coding !== 'chunked' && length === undefined) throw notClickhouse();
      const rowsInPieces = answer.stream();
      limitRows(answer);
      for await (const rows of rowsInPieces) yield rows.map(({ text }) => text);
    } finally {
      signal.removeEventListener('abort', leave);
      answer.close();
    }
  }

  return {
    async *ask(request, signal) {
      try {
        yield* ask(request, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw explain(error);
      }
    },
    close: () => client.close(),
  };
}

const NEWLINE = 0x0a;

/** The driver buffers the bytes of a row until its end, however many they are. */
function limitRows(answer: object) {
  const { _stream: stream } = answer as { _stream: Readable };
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE);
    bytes = end < 0 ? bytes + chunk.length : chunk.length - end - 1;
    if (bytes > ROW_BYTES_MAX) stream.destroy(rowTooLarge());
  });
}

/** A server that does not answer at all must not use up the time of the query. */
function limitConnecting(agent: HttpAgent): HttpAgent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    const socket = connect(...args);
    const late = () =>
      socket?.destroy(new EngineError('source_unavailable', 'The database does not answer.'));
    const timer = setTimeout(late, CONNECT_WITHIN_MS);
    const stop = () => clearTimeout(timer);
    socket?.once(agent instanceof HttpsAgent ? 'secureConnect' : 'connect', stop).once('close', stop);
    return socket;
  };
  return agent;
}
