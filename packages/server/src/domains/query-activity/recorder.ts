/**
 * Knows the queries that this process answers now. Those that take a second are written to the database, so that other
 * processes list them and can ask this one to end them, and so are those that were slow, when they have ended. A query that
 * is answered sooner costs an entry in a map.
 */
import { randomBytes } from 'node:crypto';
import { type Actor, embedOf } from '../../platform/auth/actor.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import type { Usage } from '../usage/index.ts';
import * as store from './store.ts';

export const CHANNEL = 'oriel_queries';
/** From so many milliseconds on, a query is written where others see it, and is a slow one. */
const LONG_MS = 1000;
const WRITE_EVERY_MS = 1000;
/** How long a query counts as running after its process last said so. */
export const SEEN_MS = 10 * WRITE_EVERY_MS;
const QUERY_CHARACTERS = 4000;
/** How many slow queries wait to be written. Further ones are left out. */
const WAITING_MAX = 1000;

interface Entry {
  readonly id: string;
  readonly call: QueryCall;
  readonly kind: 'query' | 'sql';
  readonly asked: object | string;
  readonly startedAt: number;
  isRunning: boolean;
  isCached: boolean;
  /** Whether it is in the database. */
  isStored: boolean;
  answers: number;
  rows: number;
  readonly cancelled: AbortController;
}

export interface Recorder {
  /** The same queries, and each call of them is known while it runs. */
  watch<Api extends Queries>(api: Api): Api;
  /** Begins every id of this process. */
  readonly prefix: string;
  list(): store.RunningRow[];
  find(id: string): store.RunningRow | undefined;
  /** Nothing happens if this process does not run it. */
  cancel(id: string): void;
  /** Writes what waits. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

type RecorderPlatform = Pick<Platform, 'db' | 'listener' | 'log' | 'processName'>;

export function createRecorder({ db, listener, log, processName }: RecorderPlatform, usage: Usage): Recorder {
  const prefix = `${randomBytes(5).toString('hex')}-`;
  const entries = new Map<string, Entry>();
  let count = 0;
  let ended: string[] = [];
  let slow: store.NewSlowQuery[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isStopped = false;

  const cancel = (id: string) => entries.get(id)?.cancelled.abort(new ApiError('query_cancelled'));
  listener.on(CHANNEL, (id) => id !== undefined && cancel(id));

  const later = () => {
    if (!isStopped) timer ??= setTimeout(() => void flush(), WRITE_EVERY_MS).unref();
  };

  async function write() {
    const now = Date.now();
    const all = [...entries.values()];
    const stored = all.filter(({ isStored }) => isStored);
    const fresh = all.filter(({ isStored, startedAt }) => !isStored && now - startedAt >= LONG_MS);
    const [gone, slowOnes] = [ended, slow];
    [ended, slow] = [[], []];
    for (const entry of fresh) entry.isStored = true;
    if (fresh.length) await store.insertRunning(db.writes, fresh.map(rowOf));
    if (stored.length) {
      const ids = (isRunning: boolean) =>
        stored.filter((entry) => entry.isRunning === isRunning).map(({ id }) => id);
      // A notification tells it sooner, unless it was lost.
      for (const { id, isCancelled } of await store.renewRunning(db.writes, ids(true), ids(false)))
        if (isCancelled) cancel(id);
    }
    if (gone.length) await store.deleteRunning(db.writes, gone, 6 * SEEN_MS);
    if (slowOnes.length) await store.insertSlow(db.writes, slowOnes);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing
      .then(write)
      .catch((error) => log.warn({ err: error }, 'queries that run could not be written'))
      .then(() => {
        if (entries.size || ended.length || slow.length) later();
      });
    return writing;
  }

  const rowOf = (entry: Entry): store.RunningRow => ({
    id: entry.id,
    process: processName,
    deploymentId: entry.call.deploymentId,
    ...whoIs(entry.call.actor),
    kind: entry.kind,
    query: queryText(entry.asked),
    startedAt: new Date(entry.startedAt).toISOString(),
    isRunning: entry.isRunning,
  });

  function end(entry: Entry, error?: unknown) {
    entries.delete(entry.id);
    if (entry.isStored) ended.push(entry.id);
    const isAnswered = error === undefined;
    if (isAnswered && entry.answers)
      usage.countQueries(entry.call.actor, {
        queries: entry.answers,
        isCached: entry.isCached,
        rows: entry.rows,
      });
    const durationMs = Date.now() - entry.startedAt;
    if (durationMs >= LONG_MS && slow.length < WAITING_MAX) {
      const { id: _, isRunning: __, ...asked } = rowOf(entry);
      // The signal of a call is made when it is first asked for, so only calls that failed are asked.
      const isCancelled = !isAnswered && (isApiError(error, 'query_cancelled') || entry.call.signal.aborted);
      slow.push({
        ...asked,
        durationMs,
        outcome: isAnswered ? 'answered' : isCancelled ? 'cancelled' : 'failed',
        errorCode: isAnswered ? null : error instanceof ApiError ? error.code : 'internal_error',
        rows: isAnswered ? entry.rows : null,
        isCached: entry.isCached,
      });
    }
    if (ended.length || slow.length) later();
  }

  async function run<T>(
    call: QueryCall,
    kind: Entry['kind'],
    asked: object | string,
    work: (call: QueryCall) => Promise<T>,
  ): Promise<T> {
    const entry: Entry = {
      id: `${prefix}${++count}`,
      call,
      kind,
      asked,
      startedAt: Date.now(),
      isRunning: false,
      isCached: true,
      isStored: false,
      answers: 0,
      rows: 0,
      cancelled: new AbortController(),
    };
    entries.set(entry.id, entry);
    later();
    try {
      const result = await work(watched(entry));
      end(entry);
      return result;
    } catch (error) {
      end(entry, error ?? new Error('unknown'));
      throw error;
    }
  }

  return {
    prefix,
    watch: (api) => ({
      ...api,
      load: (call, query, options) => run(call, 'query', query, (seen) => api.load(seen, query, options)),
      run: (call, query) => run(call, 'query', query, (seen) => api.run(seen, query)),
      loadSql: (call, text, options) => run(call, 'sql', text, (seen) => api.loadSql(seen, text, options)),
      runSql: (call, text) => run(call, 'sql', text, (seen) => api.runSql(seen, text)),
      loadSourceSql: (call, dataSource, text) =>
        run(call, 'sql', text, (seen) => api.loadSourceSql(seen, dataSource, text)),
    }),
    list: () => [...entries.values()].filter(({ cancelled }) => !cancelled.signal.aborted).map(rowOf),
    find(id) {
      const entry = entries.get(id);
      return entry && rowOf(entry);
    },
    cancel,
    flush,
    async stop() {
      isStopped = true;
      ended.push(...[...entries.values()].filter(({ isStored }) => isStored).map(({ id }) => id));
      await flush();
    },
  };
}

/**
 * The call, with a signal that also ends when the query is cancelled. It is made when it is first read, as that of the
 * call is.
 */
function watched(entry: Entry): QueryCall {
  const { call, cancelled } = entry;
  let signal: AbortSignal | undefined;
  return {
    actor: call.actor,
    db: call.db,
    deploymentId: call.deploymentId,
    as: call.as,
    branchName: call.branchName,
    get signal() {
      signal ??= AbortSignal.any([call.signal, cancelled.signal]);
      return signal;
    },
    watch: {
      onAsk() {
        entry.isCached = false;
      },
      onRun() {
        entry.isRunning = true;
      },
      onAnswer(rowCount) {
        entry.answers++;
        entry.rows += rowCount;
      },
    },
    // A field of the call that is left out here would be lost to the query, such as whose rows it is about.
  } satisfies { [Field in keyof Required<QueryCall>]: QueryCall[Field] };
}

function whoIs(actor: Actor) {
  const isToken = actor.kind === 'tokenHolder' || actor.kind === 'nobody';
  return {
    userId: isToken ? null : actor.userId,
    embedTenantName: embedOf(actor)?.embedTenant ?? null,
    apiKeyId: actor.kind === 'person' ? actor.apiKeyId : null,
  };
}

const queryText = (asked: object | string) =>
  (typeof asked === 'string' ? asked : JSON.stringify(asked))
    .slice(0, QUERY_CHARACTERS)
    // PostgreSQL does not store a zero, and half a character is none.
    .replaceAll('\0', ' ')
    .toWellFormed();
