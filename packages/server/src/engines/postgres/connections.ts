/** Connections to one PostgreSQL. */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { DatabaseIdentity } from '../../platform/db/identity.ts';
import { GuardedSocket, rulesOf } from '../../platform/outbound/guard.ts';
import type { Server } from '../data-sources.ts';
import { EngineError } from '../engine.ts';
import { refusedAddress } from '../process/refused-address.ts';

export interface PostgresSettings extends Server {
  type: 'postgres';
  /** The limit of connections at once. */
  connections: number;
  /** See ORIEL_ALLOW_PRIVATE_REMOTES. */
  allowPrivate: boolean;
  /** Our own database, which no query may read, whatever address leads to it. */
  own: DatabaseIdentity;
}

const CONNECT_WITHIN_MS = 10_000;
const IDLE_MS = 60_000;
/** For statements of ours that take no time, on a connection that may be broken. */
const ANSWER_WITHIN_MS = 10_000;

export interface Connections {
  take(): Promise<pg.PoolClient>;
  /** Leaves nothing of the last query on the connection, such as settings and locks. */
  giveBack(client: pg.PoolClient): Promise<void>;
  /** Cancels the query that runs on the connection, and closes the connection. */
  drop(client: pg.PoolClient): void;
  close(): void;
}

export function createConnections(settings: PostgresSettings): Connections {
  const { host, port, database, user, password, tls } = settings;
  const rules = rulesOf(settings);
  const ssl = tls === 'off' ? false : { rejectUnauthorized: tls === 'verify' };
  const pool = new pg.Pool({
    host,
    port,
    database,
    user,
    // As a function, so that the driver does not look for a file with passwords.
    password: () => password,
    ssl,
    stream: () => new GuardedSocket(rules, refusedAddress),
    keepAlive: true,
    application_name: 'oriel',
    max: settings.connections,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    idleTimeoutMillis: IDLE_MS,
    async onConnect(client) {
      // An error event without a listener would end the process. The error also fails the query.
      client.on('error', () => {});
      await requireOther(client, settings.own);
    },
  });
  pool.on('error', () => {});

  /** Cancels the query. PostgreSQL takes such a request on a separate connection. */
  function cancel(client: pg.PoolClient) {
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const socket = new GuardedSocket(rules, refusedAddress);
    const connection = new pg.Connection({ stream: () => socket, ssl }) as unknown as RawConnection;
    const timer = setTimeout(() => socket.destroy(), CONNECT_WITHIN_MS).unref();
    const send = () => connection.cancel(processID, secretKey);
    connection.on('error', () => socket.destroy());
    connection.on('end', () => clearTimeout(timer));
    connection.on('connect', () => (ssl ? connection.requestSsl() : send()));
    connection.on('sslconnect', send);
    connection.connect(port, host);
  }

  return {
    take: () => pool.connect(),
    async giveBack(client) {
      try {
        await client.query(quick('rollback'));
        await client.query(quick('discard all'));
        client.release();
      } catch {
        client.release(true);
      }
    },
    drop(client) {
      cancel(client);
      client.release(true);
    },
    close: () => void pool.end().catch(() => {}),
  };
}

/** The parts of the driver's class that its types leave out. */
interface RawConnection extends pg.Connection {
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

export const socketOf = (client: pg.ClientBase) =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

const quick = (text: string) => ({ text, query_timeout: ANSWER_WITHIN_MS });

const MISSING_FUNCTION = '42883';

/** Refuses Oriel's own database. One that only speaks PostgreSQL's protocol lacks the function, and is not ours. */
async function requireOther(client: pg.ClientBase, own: DatabaseIdentity) {
  const { rows } = await client
    .query<{ id: string; name: string }>(
      quick('select system_identifier::text as id, current_database() as name from pg_control_system()'),
    )
    .catch((error: { code?: string }) => {
      if (error.code === MISSING_FUNCTION) return { rows: [] };
      throw error;
    });
  if (rows.some(({ id, name }) => id === own.systemIdentifier && name === own.database)) {
    throw new EngineError(
      'source_unavailable',
      'This is the database of the server itself, which no query may read.',
    );
  }
}
