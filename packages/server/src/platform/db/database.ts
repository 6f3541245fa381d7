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

/** A query interface whose changes are committed or undone together. */
export interface Tx extends Queryable {
  readonly [inTransaction]: true;
  /** Runs work that may fail. If it fails, its changes are undone and the transaction goes on. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

export interface Database extends Queryable {
  readonly pool: pg.Pool;
  /**
   * For single statements that may wait for locks of others. Like transactions, they leave some connections free for
   * requests that only read.
   */
  readonly writes: Queryable;
  /** How many requests wait for a connection. */
  readonly waiting: number;
  /** May run `work` again after a deadlock or serialisation failure, so `work` must do nothing but database work. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same database, for the work of one caller. No caller gets all connections. */
  as(sharer: string): Database;
  /** Rejects if the database does not answer. */
  ping(): Promise<unknown>;
  end(): Promise<void>;
}

const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 4;

/** Only for work that is undone as a whole when it fails, such as one statement or one transaction. */
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

/**
 * Uses plain promises because these run for every statement, and each async function would add a turn of the event
 * loop.
 */
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

/**
 * Longer than the limit for locks, so that a request is still served after the requests before it gave up waiting for a
 * lock.
 */
const WAIT_MS = 5000;
const WAITING_MAX = 4000;

/** How long a request waits for a lock, and for a connection. Tests that do not test this wait longer. */
export interface Waits {
  lockTimeout: string;
  connectionMs: number;
}
const WAITS: Waits = { lockTimeout: LIMITS.lock_timeout, connectionMs: WAIT_MS };

/**
 * One sharer gets at most half of the places and a quarter of the queue, which is enough for all requests that a busy
 * backend sends at once.
 */
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
  // Some connections stay free for reads, even if many requests wait for locks.
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

/** Returns the constraint that a statement violated, if that is why it failed. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;

/** True for a reference to a row that does not exist, and for the deletion of a row that others refer to. */
export const isForeignKeyViolation = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '23503';

/** Returns the detail of an error that one of our SQL functions raised with this code. */
export const raisedDetail = (error: unknown, code: string): string | undefined =>
  error instanceof pg.DatabaseError && error.code === code ? error.detail : undefined;

/** True if a lock was not free in time. */
export const isLocked = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03';

/** True if a statement was cancelled, for example because it ran for too long. */
export const isTimedOut = (error: unknown) => error instanceof pg.DatabaseError && error.code === '57014';

/**
 * By SQLSTATE: no connection, no resources (such as disk space), ended by an operator, a failing disk. Also problems of
 * the connection that did not exist when we started: user, password, database, a database that accepts no connections,
 * one that became read-only after a failover, a session that was idle for too long.
 */
const UNAVAILABLE = /^(08|53|57P|58|28|3D000|55000|25006|25P03|25P04)/;
const UNREACHABLE = /^E(CONN|PIPE|NOTFOUND|AI_AGAIN|NOENT|ACCES|TIMEDOUT|HOST|NET)/;

/** Whether a failure means that the database can not be used right now, and not that our statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof pg.DatabaseError) return UNAVAILABLE.test(code ?? '');
  if (UNREACHABLE.test(code ?? '')) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/.test(
    message ?? '',
  );
}
