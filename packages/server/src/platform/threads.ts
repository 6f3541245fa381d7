/**
 * Runs expensive work in threads, so that it does not block the event loop. A thread is ended if its task takes too
 * much time or memory, or if nobody waits for the answer any more. A script in a thread answers each message with one
 * message. What could end the process of all threads runs in a process of its own instead (`task-process.ts`).
 */
import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TaskProcess } from './task-process.ts';

export interface ThreadLimits {
  /** CPU time of the thread, because on a busy machine a task takes longer. Where the system does not tell it: time. */
  timeMs: number;
  memoryMb: number;
}

/** The task needed more than the limits allow. */
export class ThreadLimitError extends Error {
  readonly limit: keyof ThreadLimits;

  constructor(limit: keyof ThreadLimits) {
    super(`a task in a thread reached its limit ${limit}`);
    this.limit = limit;
  }
}

export interface Threads<Task, Answer> {
  /** Rejects with `ThreadLimitError`, or with the reason of the signal if that is aborted. */
  run(task: Task, signal: AbortSignal): Promise<Answer>;
  stop(): Promise<void>;
}

/** Tests listen here, to know what runs in threads and how it ends. */
const events = channel('oriel:threads');

export interface ThreadEvent {
  script: string;
  event: 'started' | 'answered' | 'ended';
}

/** How long an idle thread is kept for the next task, because a warm one is much faster. */
const KEEP_MS = 30_000;

/** Threads get less of the processor than the event loop, for which all requests wait, and than other processes. */
const NICENESS = 5;

/**
 * The build makes a file of its own for each thread, beside the bundle (`scripts/build.mjs`). Tests, which run the
 * sources, use these files too.
 */
const DIST = import.meta.url.endsWith('.ts') ? '../../dist/' : './';
export const threadScript = (name: string) => new URL(`${DIST}${name}.js`, import.meta.url);

/** How often, at most, the CPU time of a thread is looked at. */
const LOOK_EVERY_MS = 10;
/** A caller waits at most this many times the limit, however little CPU time the thread gets. */
const PATIENCE = 10;

/** The number of a thread where the system does not tell it. */
const UNKNOWN = -1;

/**
 * Writes the number that Linux has for the thread before it runs the script, because Node.js does not tell it. Linux takes
 * this number for a process of its own, with a priority of its own.
 */
const BOOT = `
const { readlinkSync } = require('node:fs');
const { setPriority } = require('node:os');
const { workerData: { script, number } } = require('node:worker_threads');
try {
  number[0] = Number(/[0-9]+$/.exec(readlinkSync('/proc/thread-self'))[0]);
  setPriority(number[0], ${NICENESS});
} catch {
  number[0] ||= ${UNKNOWN};
}
import(script);`;

interface Thread {
  worker: Worker | TaskProcess;
  /** Its number on Linux, or `UNKNOWN`; 0 until it starts, for which a busy machine may take seconds. */
  number: Int32Array;
}

/** The CPU time that the thread has used since it began, if the system tells it. */
function cpuMs({ worker, number: [number] }: Thread): number | undefined {
  if (number === 0) return 0;
  try {
    const folder = worker instanceof TaskProcess ? `/proc/${number}` : `/proc/self/task/${number}`;
    const stat = readFileSync(`${folder}/stat`, 'latin1');
    // The name, in brackets, may have blanks. Later fields have none; times are in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

/** Removes our listeners, but not those of the worker itself, without which it gets no messages. */
function stopListening(worker: Thread['worker']) {
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
}

async function end(worker: Thread['worker']) {
  stopListening(worker);
  worker.on('error', () => {});
  await worker.terminate();
}

interface IdleThreads {
  threads: { thread: Thread; timer: NodeJS.Timeout }[];
  /** How many pools take threads from here. */
  pools: number;
}

/**
 * Idle threads by script and memory. The pools of a process share their idle threads, because starting one takes longer
 * than most tasks. Only tests have several servers in a process.
 */
const idleThreads = new Map<string, IdleThreads>();

/** Up to `idleMax` threads of all pools with this script and memory stay for later tasks. With `apart`, they are processes. */
export function createThreads<Task, Answer>(
  script: URL,
  { timeMs, memoryMb }: ThreadLimits,
  { idleMax = 1, apart = false } = {},
): Threads<Task, Answer> {
  const key = `${memoryMb} ${apart} ${script.href}`;
  const shared = idleThreads.get(key) ?? { threads: [], pools: 0 };
  idleThreads.set(key, shared);
  shared.pools++;
  let isStopped = false;
  const idle = shared.threads;
  const report = (event: ThreadEvent['event']) => events.publish({ script: script.pathname, event });

  function start(): Thread {
    const number = new Int32Array(new SharedArrayBuffer(4));
    if (apart) {
      const worker = new TaskProcess(script, { memoryMb, niceness: NICENESS });
      number[0] = worker.pid ?? UNKNOWN;
      return { worker, number };
    }
    const worker = new Worker(BOOT, {
      eval: true,
      workerData: { script: script.href, number },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    return { worker, number };
  }

  function take(): Thread {
    const kept = idle.pop();
    if (!kept) return start();
    clearTimeout(kept.timer);
    stopListening(kept.thread.worker);
    kept.thread.worker.ref();
    return kept.thread;
  }

  function giveBack(thread: Thread) {
    const { worker } = thread;
    if (idle.length >= idleMax || !shared.pools) return void end(worker);
    const drop = () => {
      const at = idle.indexOf(kept);
      if (at < 0) return;
      idle.splice(at, 1);
      clearTimeout(kept.timer);
      void end(worker);
    };
    const kept = { thread, timer: setTimeout(drop, KEEP_MS).unref() };
    idle.push(kept);
    worker.unref();
    worker.once('error', drop).once('exit', drop);
  }

  async function stop() {
    if (isStopped) return;
    isStopped = true;
    if (--shared.pools) return;
    idleThreads.delete(key);
    const all = idle.splice(0);
    for (const { timer } of all) clearTimeout(timer);
    await Promise.all(all.map(({ thread }) => end(thread.worker)));
  }

  return {
    async run(task, signal) {
      signal.throwIfAborted();
      const thread = take();
      const { worker } = thread;
      const before = cpuMs(thread) ?? 0;
      const startedAt = performance.now();
      report('started');
      return new Promise((resolve, reject) => {
        const release = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          stopListening(worker);
        };
        /** Rejects after the thread has ended, so that no more threads run than callers wait. */
        const refuse = (error: unknown) => {
          release();
          void end(worker).finally(() => {
            report('ended');
            reject(error);
          });
        };
        const onAbort = () => refuse(signal.reason);
        const look = () => {
          const waitedMs = performance.now() - startedAt;
          const usedMs = (cpuMs(thread) ?? before + waitedMs) - before;
          if (usedMs >= timeMs || waitedMs >= PATIENCE * timeMs) refuse(new ThreadLimitError('timeMs'));
          else timer = setTimeout(look, Math.max(timeMs - usedMs, LOOK_EVERY_MS));
        };
        let timer = setTimeout(look, timeMs);
        signal.addEventListener('abort', onAbort);
        worker.once('message', (answer: Answer) => {
          release();
          giveBack(thread);
          report('answered');
          resolve(answer);
        });
        worker.once('error', (error: NodeJS.ErrnoException) =>
          refuse(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadLimitError('memoryMb') : error),
        );
        worker.once('exit', (code) => refuse(new Error(`the thread ended with code ${code}`)));
        worker.postMessage(task);
      });
    },
    stop,
  };
}
