/** The pool, transactions and the few ways to run a query. */
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { Sql } from './sql.ts';

export interface Queryable {
  many<Row>(query: Sql): Promise<Row[]>;
  /** Exactly one row. */
  one<Row>(query: Sql): Promise<Row>;
  maybeOne<Row>(query: Sql): Promise<Row | undefined>;
  /** The number of rows that the statement touched. */
  run(query: Sql): Promise<number>;
}

declare const inTransaction: unique symbol;

/** A query interface whose changes stand or fall together. */
export interface Tx extends Queryable {
  readonly [inTransaction]: true;
  /** Work that can fail on its own: what it did is undone, and the transaction goes on. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

export interface Database extends Queryable {
  readonly pool: pg.Pool;
  /** May run `work` again after a deadlock or serialisation failure, so `work` does nothing but database work. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Fails where the database does not answer. */
  ping(): Promise<unknown>;
  end(): Promise<void>;
}

const TIMESTAMPTZ = 1184;
const INT8 = 20;

/** `2026-01-02 03:04:05.678901+00` (sessions run in UTC) as `2026-01-02T03:04:05.678Z`. */
export function isoTime(text: string): string {
  const fraction = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, isoTime],
  [INT8, Number],
]);

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

export type ConnectionSettings = Pick<
  pg.ClientConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'database'
>;

const SESSION_SETTINGS = [
  'timezone=UTC',
  // None of our statements runs long enough for compiling it to pay.
  'jit=off',
  // For solid disks, as PostgreSQL's own default is not: our lists are fast because they walk indexes.
  'random_page_cost=1.1',
];

/** What every connection of ours has in common. */
export const clientConfig = (connection: ConnectionSettings): pg.ClientConfig => ({
  ...connection,
  types,
  options: SESSION_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  application_name: 'oriel',
  keepAlive: true,
  connectionTimeoutMillis: 10_000,
});

const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 4;

/** For work that stands alone and was undone, as a statement or transaction is that met a deadlock. */
export async function retrying<T>(
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean = isConflict,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= MAX_TRIES || !isRetryable(error)) throw error;
    }
  }
}

/** A deadlock or serialisation failure. */
export const isConflict = (error: unknown) => RETRYABLE.has((error as { code?: string }).code ?? '');

type Runner = Pick<pg.ClientBase, 'query'>;

const queryable = (runner: Runner): Queryable => ({
  many: async <Row>(query: Sql) => (await runner.query(query)).rows as Row[],
  one: async <Row>(query: Sql) => {
    const { rows } = await runner.query(query);
    if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
    return rows[0] as Row;
  },
  maybeOne: async <Row>(query: Sql) => (await runner.query(query)).rows[0] as Row | undefined,
  run: async (query: Sql) => (await runner.query(query)).rowCount ?? 0,
});

function transactional(client: pg.ClientBase): Tx {
  let attempts = 0;
  return {
    ...queryable(client),
    async attempt(work) {
      const savepoint = `attempt_${++attempts}`;
      await client.query(`savepoint ${savepoint}`);
      try {
        const result = await work();
        await client.query(`release savepoint ${savepoint}`);
        return result;
      } catch (error) {
        await client.query(`rollback to savepoint ${savepoint}`);
        throw error;
      }
    },
  } as Tx;
}

export function openDatabase(
  connection: ConnectionSettings,
  log: Logger,
  options: { poolSize?: number } = {},
): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection),
    max: options.poolSize ?? 10,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 60_000,
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'));

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    // Without a listener, a connection that breaks between two queries would end the process.
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      await client.query('begin');
      const result = await work(transactional(client));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  return {
    pool,
    ...queryable(pool as unknown as Runner),
    transaction: (work) => retrying(() => attempt(work)),
    ping: () => pool.query('select 1'),
    end: () => pool.end(),
  };
}

/** The constraint that a statement violated, if that is why it failed. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;

/** Whether a statement failed because it refers to this user, who is gone. */
export function misses(error: unknown, userId: number): boolean {
  const [, column] =
    /_(user_id|(?:created|updated|refreshed)_by)_fkey$/.exec(violatedConstraint(error) ?? '') ?? [];
  // The detail is in the language of the database, except for columns and their values.
  return (error as pg.DatabaseError).detail?.includes(`(${column})=(${userId})`) === true;
}

/** The detail of an error that a function of ours raised with this code. */
export const raisedDetail = (error: unknown, code: string): string | undefined =>
  error instanceof pg.DatabaseError && error.code === code ? error.detail : undefined;

/** Whether a failure means that the database can not be reached right now, rather than that we asked wrongly. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof pg.DatabaseError) return /^(08|53|57P)/.test(code ?? '');
  if (/^E(CONN|PIPE|NOTFOUND|AI_AGAIN|NOENT|ACCES|TIMEDOUT)/.test(code ?? '')) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/.test(
    message ?? '',
  );
}
