/** The pool, transactions and the few ways to run a query. */
import { channel } from 'node:diagnostics_channel';
import pg from 'pg';
import type { Logger } from '../log.ts';
import {
  type ConnectionSettings,
  clientConfig,
  LIMITS,
  prepareSession,
  SESSION_SETTINGS,
} from './connection.ts';
import { createGate, type Sharer } from './gate.ts';
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
  /**
   * For single statements that may wait for what others have locked. Like transactions, they leave some connections
   * to those who only read.
   */
  readonly writes: Queryable;
  /** How many wait for a connection. */
  readonly waiting: number;
  /** May run `work` again after a deadlock or serialisation failure, so `work` does nothing but database work. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same database, for the work of one of many callers: none of them gets all connections. */
  as(sharer: string): Database;
  /** Fails where the database does not answer. */
  ping(): Promise<unknown>;
  end(): Promise<void>;
}

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

/** Tests listen here, and compare the columns of each result with the row type that the caller named. */
const results = channel('oriel:results');

function read(runner: Runner, query: Sql): Promise<pg.QueryResult> {
  const result = runner.query(query);
  if (results.hasSubscribers) results.publish(result);
  return result;
}

/** Plain promises: these run for every statement, and async functions would add a turn each. */
const queryable = (runner: Runner): Queryable => ({
  many: <Row>(query: Sql) => read(runner, query).then(({ rows }) => rows as Row[]),
  one: <Row>(query: Sql) =>
    read(runner, query).then(({ rows }) => {
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
      return rows[0] as Row;
    }),
  maybeOne: <Row>(query: Sql) => read(runner, query).then(({ rows }) => rows[0] as Row | undefined),
  run: (query: Sql) => runner.query(query).then(({ rowCount }) => rowCount ?? 0),
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

/** Longer than the limit for locks: who waits behind those who wait for one is served when they have given up. */
const WAIT_MS = 5000;
const WAITING_MAX = 4000;

/** How long a request waits for a lock, and for a connection. Tests that are not about it wait longer. */
export interface Waits {
  lockTimeout: string;
  connectionMs: number;
}
const WAITS: Waits = { lockTimeout: LIMITS.lock_timeout, connectionMs: WAIT_MS };

/** One sharer gets half of the places, and a quarter of the queue: as many as come at once from a busy backend. */
const gateOf = (atOnce: number, waitMs: number) =>
  createGate({
    atOnce,
    shareMax: Math.ceil(atOnce / 2),
    waitingMax: WAITING_MAX,
    waitingShareMax: WAITING_MAX / 4,
    waitMs,
  });

export function openDatabase(
  connection: ConnectionSettings,
  log: Logger,
  { poolSize = 10, waits = WAITS }: { poolSize?: number; waits?: Waits } = {},
): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection),
    max: poolSize,
    onConnect: (client) =>
      prepareSession(client, { ...SESSION_SETTINGS, ...LIMITS, lock_timeout: waits.lockTimeout }),
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'));

  const all = gateOf(poolSize, waits.connectionMs);
  // However many wait for locks, some connections stay for those who do not.
  const reserved = Math.max(1, Math.floor(poolSize / 4));
  const changes = gateOf(Math.max(1, poolSize - reserved), waits.connectionMs);

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
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
      client.release(broken);
    }
  }

  function sharedBy(sharer: Sharer): Database {
    const query = (text: Sql) => all.pass(sharer, () => pool.query(text));
    const write = (text: Sql) => changes.pass(sharer, () => query(text));
    return {
      pool,
      ...queryable({ query } as Runner),
      get writes() {
        return queryable({ query: write } as Runner);
      },
      get waiting() {
        return all.waiting + changes.waiting;
      },
      transaction: (work) =>
        retrying(() => changes.pass(sharer, () => all.pass(sharer, () => attempt(work)))),
      as: sharedBy,
      ping: () => all.pass(sharer, () => pool.query('select 1')),
      end: () => pool.end(),
    };
  }

  return sharedBy(null);
}

/** The constraint that a statement violated, if that is why it failed. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;

/** A reference to a row that is not there, or the deletion of a row that others refer to. */
export const isForeignKeyViolation = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '23503';

/** The detail of an error that a function of ours raised with this code. */
export const raisedDetail = (error: unknown, code: string): string | undefined =>
  error instanceof pg.DatabaseError && error.code === code ? error.detail : undefined;

/** A lock that was not free in time. */
export const isLocked = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03';

/** A statement that was cut off, as all are that run for too long. */
export const isTimedOut = (error: unknown) => error instanceof pg.DatabaseError && error.code === '57014';

/**
 * By SQLSTATE: no connection, no resources (such as room on the disk), ended by an operator, a failing disk; and what can
 * only be wrong with our connection, since it was right when we started: user, password, database, a database that
 * takes no connections, one that has become read-only by a failover, a session that was idle for too long.
 */
const UNAVAILABLE = /^(08|53|57P|58|28|3D000|55000|25006|25P03|25P04)/;
const UNREACHABLE = /^E(CONN|PIPE|NOTFOUND|AI_AGAIN|NOENT|ACCES|TIMEDOUT|HOST|NET)/;

/** Whether a failure means that the database can not be used right now, rather than that we asked wrongly. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof pg.DatabaseError) return UNAVAILABLE.test(code ?? '');
  if (UNREACHABLE.test(code ?? '')) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/.test(
    message ?? '',
  );
}
