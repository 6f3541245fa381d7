/** The settings that all our connections share, and how to open one. */
import pg from 'pg';

export type ConnectionSettings = Pick<
  pg.ClientConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'database'
>;

const TIMESTAMPTZ = 1184;
const INT8 = 20;

const TIME = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/;

/** `2026-01-02 03:04:05.678901+00` as `2026-01-02T03:04:05.678Z`, whatever time zone the session has. */
export function isoTime(text: string): string {
  if (text.endsWith('+00') && text[10] === ' ') {
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0').slice(0, 3)}Z`;
  }
  const [, date, time, fraction = '', sign, hours, minutes = 0, seconds = 0] = TIME.exec(text) ?? [];
  if (!date) throw new Error(`"${text}" is not a time`);
  const local = Date.parse(`${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return new Date(local - (sign === '-' ? -offset : offset) * 1000).toISOString();
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, isoTime],
  [INT8, Number],
]);

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

export const clientConfig = (connection: ConnectionSettings): pg.ClientConfig => ({
  ...connection,
  types,
  application_name: 'oriel',
  keepAlive: true,
  connectionTimeoutMillis: 10_000,
});

/**
 * These are set by SQL on each connection, because a pooler may drop settings that are sent when connecting. Then the
 * settings of the role or of the database would apply.
 */
export const SESSION_SETTINGS = {
  timezone: 'UTC',
  datestyle: 'ISO',
  // None of our statements runs long enough to be worth compiling.
  jit: 'off',
  // A value for solid-state disks. The default of PostgreSQL is for spinning disks, and our lists are fast only if they
  // use indexes.
  random_page_cost: '1.1',
};

/** Limits that prevent one request from holding a connection for a long time. */
export const LIMITS = {
  /** Shorter than the wait for a connection, so that requests that wait for locks do not starve the others. */
  lock_timeout: '3s',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '60s',
};

export async function prepareSession(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  // An error event without a listener would end the process. The error also fails the running query, or the next one if
  // none runs.
  client.on('error', () => {});
  await client.query(
    Object.entries(settings)
      .map(([name, value]) => `set ${name} = '${value}'`)
      .join(';'),
  );
}

/** A connection outside of the pools, without a limit on how long it may wait and work. */
export async function openClient(connection: ConnectionSettings): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(connection));
  client.on('error', () => {});
  try {
    await client.connect();
    await prepareSession(client, SESSION_SETTINGS);
    return client;
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}
