/** Makes the first connection of a start to a database that may still be starting, and explains failures. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.ts';
import { StartupError } from '../startup-error.ts';
import { type ConnectionSettings, openClient } from './connection.ts';

/** 57P0x: the database is starting or stopping. 53300: it has no connection left. */
const PASSING_STATES = /^(57P0[123]|53300)$/;
const PASSING_ERRORS =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOENT|EPIPE)$/;
const CUT_OFF = /^(Connection terminated|timeout e)/;

const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 8000;

/** Tries `work` until it succeeds, fails for a reason that waiting does not solve, or the time is over. */
export async function whileDatabaseStarts<T>(
  work: () => Promise<T>,
  options: { log: Logger; withinMs: number; signal?: AbortSignal },
): Promise<T> {
  const { log, withinMs, signal } = options;
  const deadline = Date.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      const leftMs = deadline - Date.now();
      if (!isPassing(causeOf(error)) || leftMs <= 0) throw explainDatabaseError(error);
      log.warn(
        `waiting for the database, for ${Math.ceil(leftMs / 1000)} more seconds: ${reasonOf(causeOf(error))}`,
      );
      await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
    }
  }
}

type Failure = NodeJS.ErrnoException;

/** A failed migration carries the database's own error. */
const causeOf = (error: unknown) =>
  ((error as Error).cause instanceof Error ? (error as Error).cause : error) as Failure;

const isPassing = (cause: Failure) =>
  cause instanceof pg.DatabaseError
    ? PASSING_STATES.test(cause.code ?? '')
    : PASSING_ERRORS.test(cause.code ?? '') || CUT_OFF.test(cause.message);

/** If several addresses were tried, the error has no message of its own. */
const reasonOf = ({ message, code, name }: Failure) => (message || code || name).replaceAll(/\s+/g, ' ');

/** A missing file has the same code as a missing socket, so the system call is checked too. */
const isOfDatabase = (cause: Failure) =>
  cause instanceof pg.DatabaseError ||
  (isPassing(cause) && (cause.code !== 'ENOENT' || cause.syscall === 'connect'));

/** Turns an error from the database into one line for the operator. Returns other errors unchanged. */
export const explainIfOfDatabase = (error: unknown): unknown =>
  isOfDatabase(causeOf(error)) ? explainDatabaseError(error) : error;

/** Connects once, for commands, which do not wait. Explains every failure: it can only be about the database. */
export async function requireReachable(connection: ConnectionSettings): Promise<void> {
  try {
    await (await openClient(connection)).end();
  } catch (error) {
    throw explainDatabaseError(error);
  }
}

/** Explains in one line why the database cannot be used. */
function explainDatabaseError(error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const cause = causeOf(error);
  const [what, mend] = explanation(cause, cause instanceof pg.DatabaseError ? (cause.code ?? '') : '');
  const where = cause === error ? '' : ` ${reasonOf(error as Failure)}`;
  return new StartupError(`${what} (${where.trim() || reasonOf(cause)}): ${mend}.`, { cause: error });
}

function explanation(cause: Failure, state: string): [what: string, mend: string] {
  if (/^(28|3D)/.test(state)) {
    return ['The database refuses the connection', 'check user, password and name in ORIEL_DATABASE_URL'];
  }
  if (/^5330/.test(state)) {
    return [
      'The database has no connection left for us',
      'raise its max_connections or the limit of its user, or close other connections',
    ];
  }
  if (/^57P/.test(state)) {
    return ['The database is starting or stopping', 'look at its log, and start Oriel when it runs'];
  }
  if (state === '42501') {
    return [
      'The database user may not create tables',
      'make it the owner of the database in ORIEL_DATABASE_URL',
    ];
  }
  if (state === '0A000') {
    return [
      'The database lacks something that Oriel needs',
      "install PostgreSQL's contrib package, which brings pg_trgm",
    ];
  }
  if (/^08/.test(state)) {
    return [
      'The database, or a pooler in front of it, does not accept our connection',
      'see "External database" in docs/operating.md',
    ];
  }
  if (state) {
    return [
      `The database cannot be used, error ${state}`,
      'fix that, or point ORIEL_DATABASE_URL at another database',
    ];
  }
  if (/does not support SSL/.test(cause.message)) {
    return [
      'The database does not support TLS',
      'turn TLS on there, or set sslmode=disable in ORIEL_DATABASE_URL where the network is safe',
    ];
  }
  if (/CERT|SIGNATURE|ERR_TLS|ERR_SSL|EPROTO/.test(cause.code ?? '')) {
    return [
      "The database's certificate is not accepted",
      'name the authority that issued it with sslrootcert in ORIEL_DATABASE_URL, see "External database" in docs/operating.md',
    ];
  }
  if (isPassing(cause)) {
    return ['The database cannot be reached', 'check that it runs and that ORIEL_DATABASE_URL is right'];
  }
  return ['The database cannot be used', 'check ORIEL_DATABASE_URL'];
}
