/** The pool, transactions and the few ways to run a query. */
import { channel } from 'node:diagnostics_channel';
import pg from 'pg';
import { type Admission, createAdmission, type Sharer } from '../admission/admission.ts';
import type { Logger } from '../log.ts';
import {
  type ConnectionSettings,
  clientConfig,
  LIMITS,
  prepareSession,
  SESSION_SETTINGS,
} from './connection.ts';
import { type BoundValue, type Sql, sql } from './sql.ts';

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
  /**
   * Calls `onNotified` for what a committed statement has changed: the setting `oriel.told` at its end; see `tell_servers`.
   * Transactions do it themselves.
   */
  notify(told: string | null): void;
  /** The same database, for the work of one caller. No caller gets all connections. */
  as(sharer: string): Database;
  /** Rejects if the database does not answer. */
  ping(): Promise<unknown>;
  end(): Promise<void>;
}

const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 4;

/** Retries work, which must be undone as a whole when it fails, such as one statement or one transaction. */
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

/** Tests listen here, and compare the columns of each result with the row type that the caller named. */
const results = channel('oriel:results');

/** Tests listen here, and count the statements that are sent outside of transactions. */
const singleStatements = channel('oriel:single-statements');

export interface SingleStatement {
  pool: pg.Pool;
  query: Sql;
  result: Promise<pg.QueryResult>;
}

/**
 * Every request makes one of these, so it is a class: its methods are made once. They use plain promises, because each
 * async function would add a turn of the event loop to every statement.
 */
abstract class Queries implements Queryable {
  protected abstract send(query: Sql): Promise<pg.QueryResult>;

  many<Row>(query: Sql): Promise<Row[]> {
    return this.#read(query).then(({ rows }) => rows as Row[]);
  }

  one<Row>(query: Sql): Promise<Row> {
    return this.#read(query).then(({ rows }) => {
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
      return rows[0] as Row;
    });
  }

  maybeOne<Row>(query: Sql): Promise<Row | undefined> {
    return this.#read(query).then(({ rows }) => rows[0] as Row | undefined);
  }

  run(query: Sql): Promise<number> {
    return this.send(query).then(({ rowCount }) => rowCount ?? 0);
  }

  #read(query: Sql): Promise<pg.QueryResult> {
    const result = this.send(query);
    if (results.hasSubscribers) results.publish(result);
    return result;
  }
}

/** Sends statements on a connection that the caller opened and closes. */
export class ClientQueries extends Queries {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    super();
    this.#client = client;
  }

  protected send({ text, values }: Sql) {
    return this.#client.query(text, values as unknown[]);
  }
}

/**
 * Sends a statement on a connection that is not used by others. The driver's own `client.query(config)` copies the
 * statement with all property descriptors, which costs more than the rest of the call.
 */
function send(client: pg.ClientBase, { text, values, name }: Sql, done: QueryCallback): void {
  const query = new pg.Query(text, values as BoundValue[], done as never);
  Object.assign(query, { name });
  client.query(query);
}

type QueryCallback = (error: Error | undefined, result: pg.QueryResult) => void;

/** Adds the caller's stack to an error whose own stack ends where the driver read it from the network. */
function withOwnStack(error: Error): never {
  Error.captureStackTrace(error);
  throw error;
}

class Transaction extends Queries implements Tx {
  declare readonly [inTransaction]: true;
  readonly #client: pg.ClientBase;
  #attempts = 0;

  constructor(client: pg.ClientBase) {
    super();
    this.#client = client;
  }

  protected send(query: Sql) {
    return new Promise<pg.QueryResult>((resolve, reject) => {
      send(this.#client, query, (error, result) => (error ? reject(error) : resolve(result)));
    }).catch(withOwnStack);
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    const savepoint = `attempt_${++this.#attempts}`;
    await this.#client.query(`savepoint ${savepoint}`);
    try {
      const result = await work();
      await this.#client.query(`release savepoint ${savepoint}`);
      return result;
    } catch (error) {
      await this.#client.query(`rollback to savepoint ${savepoint}`);
      throw error;
    }
  }
}

/**
 * How long a request waits for a connection: longer than the limit for locks, so that it is still served after the
 * requests before it gave up waiting for a lock.
 */
const WAIT_MS = 5000;
const WAITING_MAX = 4000;
/**
 * How long a request waits for an answer: longer than the database's own limit for a statement, so it is reached only
 * if the database hangs. The connection is then closed.
 */
const ANSWER_MAX_MS = 40_000;

/** How long a request waits for a lock, for a connection and for an answer. Tests that do not test this wait longer. */
export interface WaitLimits {
  lockTimeout: string;
  connectionMs: number;
  answerMs?: number;
}
const WAITS: WaitLimits = { lockTimeout: LIMITS.lock_timeout, connectionMs: WAIT_MS };

/**
 * One sharer gets about three quarters of the places and a quarter of the queue, which is enough for all requests that
 * a busy backend sends at once. If there are two places or more, one stays for others.
 */
const connectionsOf = (places: number, waitMs: number) =>
  createAdmission({
    places,
    sharerPlaces: Math.max(1, Math.min(Math.ceil(places * 0.75), places - 1)),
    waitingMax: WAITING_MAX,
    sharerWaitingMax: WAITING_MAX / 4,
    waitMs,
  });

export interface DatabaseOptions {
  poolSize?: number;
  waits?: WaitLimits;
  /** Called after each change of ours that notified servers, with the subject of each notification. */
  onNotified?: (subject: string) => void;
}

export function openDatabase(
  connection: ConnectionSettings,
  log: Logger,
  { poolSize = 10, waits = WAITS, onNotified = () => {} }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection),
    max: poolSize,
    // Connections stay open: opening one costs more than keeping one, and a timer per statement would cost time too.
    idleTimeoutMillis: 0,
    query_timeout: waits.answerMs ?? ANSWER_MAX_MS,
    onConnect: (client) =>
      prepareSession(client, { ...SESSION_SETTINGS, ...LIMITS, lock_timeout: waits.lockTimeout }),
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'));

  // Some connections stay free for reads, even if many requests wait for locks.
  const reserved = Math.max(1, Math.floor(poolSize / 4));
  return new SharedDatabase(
    {
      pool,
      onNotified,
      all: connectionsOf(poolSize, waits.connectionMs),
      changes: connectionsOf(Math.max(1, poolSize - reserved), waits.connectionMs),
    },
    null,
  );
}

interface SharedPool {
  readonly pool: pg.Pool;
  readonly onNotified: (subject: string) => void;
  readonly all: Admission;
  readonly changes: Admission;
}

class SharedDatabase extends Queries implements Database {
  readonly #shared: SharedPool;
  readonly #sharer: Sharer;

  constructor(shared: SharedPool, sharer: Sharer) {
    super();
    this.#shared = shared;
    this.#sharer = sharer;
  }

  protected send(query: Sql) {
    const { all, pool } = this.#shared;
    return all.pass(this.#sharer, () => sendOnce(pool, query));
  }

  get pool() {
    return this.#shared.pool;
  }

  get writes() {
    return new Writes(this.#shared.changes, this.#sharer, (query) => this.send(query));
  }

  get waiting() {
    return this.#shared.all.waiting + this.#shared.changes.waiting;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { all, changes } = this.#shared;
    const sharer = this.#sharer;
    const notify = (told: string | null) => this.notify(told);
    return retrying(() =>
      changes.pass(sharer, () => all.pass(sharer, () => transact(this.pool, work, notify))),
    );
  }

  notify(told: string | null) {
    for (const subject of told?.split(' ') ?? []) {
      if (subject) this.#shared.onNotified(subject === '*' ? '' : subject);
    }
  }

  as(sharer: string): Database {
    return new SharedDatabase(this.#shared, sharer);
  }

  ping() {
    return this.send(PING);
  }

  end() {
    return this.pool.end();
  }
}

const PING = sql`select 1`;

class Writes extends Queries {
  readonly #admission: Admission;
  readonly #sharer: Sharer;
  readonly #write: (query: Sql) => Promise<pg.QueryResult>;

  constructor(admission: Admission, sharer: Sharer, write: (query: Sql) => Promise<pg.QueryResult>) {
    super();
    this.#admission = admission;
    this.#sharer = sharer;
    this.#write = write;
  }

  protected send(query: Sql) {
    return this.#admission.pass(this.#sharer, () => this.#write(query));
  }
}

/** Sends one statement on any free connection. */
function sendOnce(pool: pg.Pool, query: Sql): Promise<pg.QueryResult> {
  const result = new Promise<pg.QueryResult>((resolve, reject) => {
    pool.connect((failure, client) => {
      if (!client) return reject(failure);
      send(client, query, (error, result) => {
        client.release(error && !isRefusal(error) ? error : undefined);
        if (error) reject(error);
        else resolve(result);
      });
    });
  }).catch(withOwnStack);
  if (singleStatements.hasSubscribers)
    singleStatements.publish({ pool, query, result } satisfies SingleStatement);
  return result;
}

/** True if the database refused the statement, so that the connection can be used again. */
const isRefusal = (error: Error) => error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** One round trip: reads the subjects that `tell_servers` collected in the transaction, and commits. */
const COMMIT = "select current_setting('oriel.told', true) as told; commit";

async function transact<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T>,
  notify: (told: string | null) => void,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(new Transaction(client));
    const [{ rows }] = (await client.query(COMMIT)) as unknown as [pg.QueryResult<{ told: string | null }>];
    notify(rows[0]?.told ?? null);
    return result;
  } catch (error) {
    // A database that does not answer would not answer the rollback either. Closing the connection rolls back.
    if (isUnavailable(error)) broken = error as Error;
    else await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
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

/** Whether a failure means that the database cannot be used right now, and not that our statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof pg.DatabaseError) return UNAVAILABLE.test(code ?? '');
  if (UNREACHABLE.test(code ?? '')) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout/.test(
    message ?? '',
  );
}
