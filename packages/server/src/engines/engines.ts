/**
 * The engines of all deployments. Each data source of a deployment has a process of its own, started by its first query
 * and stopped when nobody has used it for a while (docs/decisions/0011-engine-processes.md).
 */
import { createHash } from 'node:crypto';
import { createAdmission, type PreemptionLimits } from '../platform/admission/admission.ts';
import type { DatabaseIdentity } from '../platform/db/identity.ts';
import type { Logger } from '../platform/log.ts';
import { type Fence, inPlace } from '../platform/processes/fence.ts';
import { nodeProgram } from '../platform/processes/program.ts';
import { type SupervisedProcess, type SuperviseOptions, supervise } from '../platform/processes/supervise.ts';
import type { ClickhouseSettings } from './clickhouse/connection.ts';
import type { DataSource } from './data-sources.ts';
import { makeDemoFiles } from './demo-files.ts';
import type { DuckdbSettings } from './duckdb/database.ts';
import { type Engine, EngineError, PreemptedError } from './engine.ts';
import { type EngineIdentity, giveIdentity, type IdentityFiles } from './engine-identity.ts';
import { createEngineProgram, type FindProgram } from './engine-program.ts';
import { filesDirOf, makeFilesDir } from './engine-user.ts';
import type { PostgresSettings } from './postgres/connections.ts';
import type { SourceSettings } from './process/main.ts';
import { createProcessEngine, type WithProcess } from './process-engine.ts';
import { memoryOf } from './process-memory.ts';
import { createSourceHealth, type SourceHealth } from './source-health.ts';

export type { SourceHealth } from './source-health.ts';

export interface EnginesOptions {
  /** The program of an engine's process, as the build made it. */
  script: string;
  dataDir: string;
  /** See ORIEL_ALLOW_PRIVATE_REMOTES. */
  allowPrivateRemotes: boolean;
  /** The server's own database, which no query may read. */
  ownDatabase(): Promise<DatabaseIdentity>;
  log: Logger;
  limits?: Partial<EngineLimits>;
  /** For tests: another program of Node, and another one that makes the fence. */
  node?: string;
  bubblewrap?: string;
  /** For tests. */
  process?: Partial<SuperviseOptions>;
}

export interface EngineLimits {
  /** The limit of processes at once. At the limit, an idle process is stopped for a new one. */
  processes: number;
  /** One deployment has at most this many processes. */
  deploymentProcesses: number;
  /** How long a process stays after its last query. */
  idleMs: number;
  /** The memory and threads of one DuckDB. */
  memoryMb: number;
  threads: number;
  /**
   * Queries of one source that run at once, unless its settings say it. Others wait. Of several places, one sharer has all
   * but one at most.
   */
  atOnce: number;
  waiting: number;
  /** One sharer has at most this many queries that wait for a source. */
  sharerWaiting: number;
  waitMs: number;
  /** When the query of a sharer who has used much time is ended for a sharer without a place. */
  preemption: Pick<PreemptionLimits, 'afterMs' | 'ranMs' | 'leadTimes' | 'leadMs'>;
}

const LIMITS: EngineLimits = {
  processes: 16,
  deploymentProcesses: 6,
  idleMs: 5 * 60_000,
  memoryMb: 1024,
  threads: 4,
  atOnce: 4,
  waiting: 200,
  sharerWaiting: 50,
  waitMs: 30_000,
  preemption: { afterMs: 200, ranMs: 500, leadTimes: 4, leadMs: 3000 },
};

/** The memory for JavaScript, beside that of DuckDB itself. */
const HEAP_MB = 384;
/** What a process needs before it does anything, such as stacks of threads. */
const BASE_MB = 512;
/**
 * Options of DuckDB's allocator. By default it would keep the memory of a large query, which the limit of the process
 * counts, and smaller queries would find none. It still keeps memory for a few seconds: otherwise the next query would
 * have to wait for each page that it gets from the system.
 */
const GIVE_MEMORY_BACK = 'retain:false,dirty_decay_ms:3000,muzzy_decay_ms:0';
const OPEN_FILES = 1200;
const ANSWER_WITHIN_MS = 15_000;
/** Short pauses: one viewer's query may have ended the process, and all others wait for the next one. */
const PAUSES = { firstMs: 200, maxMs: 2000 };

/** The state of a process that runs queries, as lists show it. */
export interface EngineState {
  /** The id of the process, unique within this server process. */
  id: string;
  deploymentId: number;
  dataSource: string;
  type: string;
  state: 'starting' | 'busy' | 'idle' | 'down';
  memoryBytes: number | null;
  queries: number;
  startedAt: string;
}

export interface Engines {
  list(): Promise<EngineState[]>;
  /** How the sources that were used have answered. */
  health(): SourceHealth[];
  /** Sets the function that is called whenever a process is started. */
  onUse(listener: () => void): void;
  /** Costs nothing until the engine is used. The identity is that of the deployment, if it has one. */
  of(deploymentId: number, source: DataSource, identity?: EngineIdentity): Engine;
  /** Finds out now and not at the first query what engines can have on this machine, and warns if they have no fence. */
  look(): void;
  /** Does nothing if the files of the demo are there, with data up to this moment, `2026-12-31T15:00:00.000Z`. */
  makeDemoFiles(deploymentId: number, until: string): Promise<void>;
  stop(): Promise<void>;
}

/** What decides which process runs the queries. */
type Settings = DuckdbSettings | Omit<PostgresSettings, 'own'> | ClickhouseSettings;

interface EngineSpec {
  deploymentId: number;
  dataSource: string;
  key: string;
  settings: Settings;
  identity: EngineIdentity | undefined;
  /** Queries that run at once. */
  atOnce: number;
}

interface Entry {
  id: string;
  deploymentId: number;
  dataSource: string;
  type: string;
  startedAt: string;
  /** Once it was up. */
  supervised: SupervisedProcess | undefined;
  process: Promise<SupervisedProcess>;
  identity: Promise<IdentityFiles> | undefined;
  users: number;
  lastUsed: number;
  timer: NodeJS.Timeout | undefined;
}

export function createEngines(options: EnginesOptions): Engines {
  const { dataDir, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const program = createEngineProgram(options);
  const entries = new Map<string, Entry>();
  const health = createSourceHealth();
  let onUse = () => {};
  let count = 0;
  const stopping = new Set<Promise<void>>();
  let isStopped = false;
  let looking: Promise<void> | undefined;
  const places = createAdmission({
    places: limits.atOnce,
    waitingMax: limits.waiting,
    sharerWaitingMax: limits.sharerWaiting,
    waitMs: limits.waitMs,
    refusal: (excess) =>
      excess === 'sharer'
        ? new EngineError(
            'too_many_at_once',
            'Too many of your queries wait for this data source. Try again later.',
          )
        : new EngineError('busy', 'Too many queries wait for this data source. Try again later.'),
    preemption: {
      ...limits.preemption,
      reason: () => new PreemptedError(),
      onEnd: (ended, waiting) =>
        log.info({ ended, waiting }, 'a long query was ended because another caller had no place'),
    },
  });

  function end(key: string, entry: Entry): Promise<void> {
    if (entries.get(key) === entry) entries.delete(key);
    clearTimeout(entry.timer);
    const ended = entry.process
      .then((process) => process.stop())
      .catch((error) => options.log.warn({ err: error }, 'an engine could not be stopped'))
      .then(() => takeIdentity(entry));
    stopping.add(ended);
    return ended.finally(() => stopping.delete(ended));
  }

  /** Removes the identity files. If that fails, a later `giveIdentity` removes them as abandoned. */
  const takeIdentity = async ({ identity }: Entry) => {
    await identity
      ?.then(({ end }) => end())
      .catch((error) => log.warn({ err: error }, 'tokens of an engine could not be removed'));
  };

  function makeRoomFor(deploymentId: number) {
    const own = [...entries].filter(([, entry]) => entry.deploymentId === deploymentId);
    if (own.length >= limits.deploymentProcesses) {
      endIdle(own, 'Too many data sources of this deployment are in use. Try again later.');
    } else if (entries.size >= limits.processes) {
      endIdle([...entries], 'Too many data sources are in use. Try again later.');
    }
  }

  /** Ends the one that was not used for the longest time. */
  function endIdle(among: [string, Entry][], ifNone: string) {
    const [oldest] = among
      .filter(([, { users }]) => users === 0)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (!oldest) throw new EngineError('busy', ifNone);
    void end(...oldest);
  }

  function open({ deploymentId, dataSource, key, settings, identity, atOnce }: EngineSpec): Entry {
    makeRoomFor(deploymentId);
    const given = identity && program().then(({ user }) => giveIdentity(identity, { dataDir, user, log }));
    const entry: Entry = {
      deploymentId,
      // Not the key: that holds a hash of the password.
      id: String(++count),
      dataSource,
      type: settings.type,
      startedAt: new Date().toISOString(),
      supervised: undefined,
      process: startProcess(program, options, { deploymentId, settings, atOnce }, given),
      identity: given,
      users: 0,
      lastUsed: 0,
      timer: undefined,
    };
    entries.set(key, entry);
    onUse();
    entry.process.then(
      (process) => {
        entry.supervised = process;
      },
      () => {},
    );
    // The next query tries again.
    entry.process.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
      void takeIdentity(entry);
    });
    return entry;
  }

  const withProcessOf =
    (opened: EngineSpec): WithProcess =>
    async (work) => {
      if (isStopped) throw new EngineError('source_unavailable', 'The server stops.');
      const { key } = opened;
      const entry = entries.get(key) ?? open(opened);
      entry.users++;
      clearTimeout(entry.timer);
      try {
        return await work(await entry.process);
      } finally {
        entry.lastUsed = performance.now();
        if (--entry.users === 0 && entries.get(key) === entry) {
          entry.timer = setTimeout(() => void end(key, entry), limits.idleMs).unref();
        }
      }
    };

  return {
    of(deploymentId, source, identity) {
      const atOnce = source.concurrency ?? limits.atOnce;
      const settings = settingsOf(options, limits, deploymentId, source);
      // A source whose settings have changed gets another process. The old one is stopped when it is idle.
      const key = `${deploymentId} ${source.name} ${fingerprint([settings, identity?.version, atOnce])}`;
      const withProcess = withProcessOf({
        deploymentId,
        dataSource: source.name,
        key,
        settings,
        identity,
        atOnce,
      });
      const engine = createProcessEngine({
        withProcess,
        places,
        key,
        atOnce,
        sharesMemory: source.type === 'duckdb',
      });
      return health.watch(engine, { deploymentId, dataSource: source.name, type: source.type });
    },
    list: () => Promise.all([...entries.values()].map(stateOf)),
    health: health.list,
    onUse(listener) {
      onUse = listener;
    },
    look() {
      looking = program().then(
        () => {},
        (error) => log.warn({ err: error }, 'engines could not be looked at; the next query tries again'),
      );
    },
    makeDemoFiles: async (deploymentId, until) =>
      makeDemoFiles({ program: await program(), dataDir, deploymentId, until, log }),
    async stop() {
      isStopped = true;
      await looking;
      await Promise.all([...entries].map(([key, entry]) => end(key, entry)));
      await Promise.all(stopping);
    },
  };
}

async function stateOf(entry: Entry): Promise<EngineState> {
  const { id, deploymentId, dataSource, type, startedAt, supervised, users } = entry;
  const state = !supervised ? 'starting' : !supervised.isUp ? 'down' : users > 0 ? 'busy' : 'idle';
  const pid = supervised?.pid;
  const memoryBytes = pid === undefined ? null : await memoryOf(pid);
  return { id, deploymentId, dataSource, type, state, memoryBytes, queries: users, startedAt };
}

const fingerprint = (settings: unknown) =>
  createHash('sha256').update(JSON.stringify(settings)).digest('base64url');

function settingsOf(
  { dataDir, allowPrivateRemotes }: EnginesOptions,
  { memoryMb, threads, atOnce }: EngineLimits,
  deploymentId: number,
  source: DataSource,
): Settings {
  if (source.type === 'duckdb') {
    return { type: 'duckdb', filesDir: filesDirOf(dataDir, deploymentId), memoryMb, threads };
  }
  const { name: _name, oauth: _oauth, concurrency = atOnce, ...server } = source;
  return { ...server, connections: concurrency, allowPrivate: allowPrivateRemotes };
}

async function startProcess(
  program: FindProgram,
  options: EnginesOptions,
  { deploymentId, settings, atOnce }: Pick<EngineSpec, 'deploymentId' | 'settings' | 'atOnce'>,
  identity: Promise<IdentityFiles> | undefined,
): Promise<SupervisedProcess> {
  const { log } = options;
  const engineMb = settings.type === 'duckdb' ? settings.memoryMb : 0;
  try {
    const { script, fence, ...rest } = await program();
    const given = await identity;
    // The fence shows only a folder that is there.
    if (settings.type === 'duckdb') await makeFilesDir(rest.user, options.dataDir, deploymentId);
    return await supervise({
      name: `${settings.type} engine`,
      program: nodeProgram(script, {
        heapMb: HEAP_MB,
        ...rest,
        env: {
          ...given?.variables,
          // Node runs each query of DuckDB in a thread of its own pool.
          UV_THREADPOOL_SIZE: String(atOnce + 4),
          DUCKDB_JE_MALLOC_CONF: GIVE_MEMORY_BACK,
        },
        limits: { openFiles: OPEN_FILES, dataMb: HEAP_MB + BASE_MB + engineMb },
        ...(fence && { fence: fenceFor(settings, fence, given?.folder) }),
      }),
      start: await completed(settings, options),
      answerWithinMs: ANSWER_WITHIN_MS,
      pauses: PAUSES,
      log,
      ...options.process,
    });
  } catch (error) {
    log.error({ err: error }, 'an engine could not be started');
    throw new EngineError('source_unavailable', 'The engine could not be started.');
  }
}

/** DuckDB reads files and has no network. The other engines have one and read nothing but what identifies them. */
function fenceFor(settings: Settings, fence: Fence, identityFolder: string | undefined): Fence {
  const isDuckdb = settings.type === 'duckdb';
  const folders = [...(isDuckdb ? [settings.filesDir] : []), ...(identityFolder ? [identityFolder] : [])];
  return { ...fence, readable: [...fence.readable, ...folders.map(inPlace)], hasNetwork: !isDuckdb };
}

const completed = async (settings: Settings, { ownDatabase }: EnginesOptions): Promise<SourceSettings> =>
  settings.type === 'postgres' ? { ...settings, own: await ownDatabase() } : settings;
