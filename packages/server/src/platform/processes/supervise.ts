/**
 * Keeps a child process running: starts it, waits until it is ready, checks that it still answers, starts it again when
 * it ends, and stops it properly. If a child has no pipe, only its exit is watched.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Channel, ChildError, type RequestOptions } from './channel.ts';
import { type Exit, type LaunchedProcess, type LaunchOptions, launch } from './launch.ts';
import { STOP_STEPS, type StopStep, takeSteps } from './stop-steps.ts';

export interface SuperviseOptions extends LaunchOptions {
  /** Runs before each start. */
  prepare?(): Promise<void>;
  /** Resolves when the child can be used. By default, that is when the child says so through the pipe. */
  isReady?(signal: AbortSignal): Promise<void>;
  /** By default 30 seconds. */
  startWithinMs?: number;
  /** A child that does not answer for this long is killed. By default 30 seconds. */
  answerWithinMs?: number;
  /** Pauses between starts double from the first to the last. */
  pauses?: { firstMs: number; maxMs: number };
  /**
   * Called after each failed start. Returns an error if the start must not be tried again. By default only the very
   * first start must succeed, and a child that was up once is restarted forever.
   */
  giveUp?(failure: StartFailure): Promise<Error | undefined>;
  /** Called if a child that was up has ended and is given up. */
  onLost?(error: Error): void;
  stopSteps?: StopStep[];
  /** The stop steps for a child whose start failed or took too long. */
  abandonSteps?: StopStep[];
  metrics?: ProcessMetrics;
}

export interface StartFailure {
  error: Error;
  /** The exit of the process, if there was one. */
  exit: Exit | undefined;
  wasEverUp: boolean;
  /** The time since the first of these failed starts in a row. */
  failingForMs: number;
}

export interface ProcessMetrics {
  setUp(isUp: boolean): void;
  countRestart(): void;
  observeRequest(outcome: 'answered' | ChildError['code'] | 'cancelled', elapsedMs: number): void;
}

export interface SupervisedProcess {
  readonly isUp: boolean;
  readonly pid: number | undefined;
  /** Resolves when the child is up. Rejects when the signal is aborted, or if the child is given up. */
  whenUp(signal: AbortSignal): Promise<void>;
  /** Rejects with a `ChildError`, at once if the child is not up. */
  request<Result>(method: string, params: unknown, options: RequestOptions): Promise<Result>;
  /** Rejects if the child does not end. */
  stop(): Promise<void>;
}

const START_WITHIN_MS = 30_000;
const ANSWER_WITHIN_MS = 30_000;
const PAUSES = { firstMs: 200, maxMs: 30_000 };
const ABANDON: StopStep[] = [{ by: 'SIGKILL', withinMs: 5000 }];
/** If a child was up for this long, its failures are counted from the start again. */
const STEADY_AFTER_MS = 60_000;
/** A heartbeat is several pings, so that a child is not killed because one ping, or the parent, was delayed. */
const PINGS = 4;

/** No pause before the second start, then doubling pauses. */
export const pauseBefore = (failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }) =>
  failures <= 1 ? 0 : Math.min(firstMs * 2 ** (failures - 2), maxMs);

export async function supervise(options: SuperviseOptions): Promise<SupervisedProcess> {
  const { name, log, metrics, pauses = PAUSES } = options;
  const giveUp =
    options.giveUp ?? (async ({ wasEverUp, error }: StartFailure) => (wasEverUp ? undefined : error));
  const stopping = new AbortController();
  let current: LaunchedProcess | undefined;
  let isUp = false;
  let wasEverUp = false;
  /** How many ends and failed starts there were in a row. */
  let failures = 0;

  const waiting = new Set<{ resolve(): void; reject(error: Error): void }>();
  let lost: Error | undefined;

  const setUp = (value: boolean) => {
    isUp = value;
    if (value) for (const { resolve } of waiting) resolve();
    metrics?.setUp(value);
  };

  /** A child that has just ended is noticed here before its last lines have arrived. */
  const canBeAsked = () => isUp && current?.isRunning() === true;

  async function bringUp(): Promise<LaunchedProcess> {
    for (const since = performance.now(); ; ) {
      let child: LaunchedProcess | undefined;
      try {
        await options.prepare?.();
        stopping.signal.throwIfAborted();
        child = current = launch(options);
        await waitUntilReady(child, options, stopping.signal);
        setUp(true);
        wasEverUp = true;
        return child;
      } catch (error) {
        const exit = child && (await abandon(child, options));
        stopping.signal.throwIfAborted();
        failures++;
        const failingForMs = performance.now() - since;
        const last = await giveUp({ error: error as Error, exit, wasEverUp, failingForMs });
        if (last) throw last;
        log.warn({ err: error, failures }, `the ${name} could not be started; trying again`);
        await pause();
      }
    }
  }

  const pause = () => sleep(pauseBefore(failures, pauses), undefined, { signal: stopping.signal });

  async function keepUp(first: LaunchedProcess) {
    for (let child = first; ; child = await bringUp()) {
      const upSince = performance.now();
      const stopHeartbeat = startHeartbeat(child, options.answerWithinMs ?? ANSWER_WITHIN_MS);
      const { code, signal, reason, output } = await child.ended;
      stopHeartbeat();
      setUp(false);
      if (stopping.signal.aborted) return;
      failures = performance.now() - upSince >= STEADY_AFTER_MS ? 1 : failures + 1;
      metrics?.countRestart();
      const lastLines = output.trim().split('\n').slice(-5);
      log.error({ code, signal, reason, lastLines }, `the ${name} ended; starting it again`);
      await pause();
    }
  }

  const first = await bringUp();
  const kept = keepUp(first).catch((error: Error) => {
    lost = error;
    for (const { reject } of waiting) reject(error);
    if (stopping.signal.aborted) return;
    if (options.onLost) options.onLost(error);
    else log.error({ err: error }, `the ${name} is given up`);
  });

  return {
    get isUp() {
      return canBeAsked();
    },
    get pid() {
      return current?.pid;
    },
    async whenUp(signal) {
      signal.throwIfAborted();
      if (canBeAsked()) return;
      if (lost) throw lost;
      await new Promise<void>((resolve, reject) => {
        const leave = () => entry.reject(signal.reason as Error);
        const settle = () => {
          waiting.delete(entry);
          signal.removeEventListener('abort', leave);
        };
        const entry = {
          resolve: () => {
            settle();
            resolve();
          },
          reject: (error: Error) => {
            settle();
            reject(error);
          },
        };
        waiting.add(entry);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    request: <Result>(method: string, params: unknown, requestOptions: RequestOptions) =>
      measured(
        metrics,
        isUp ? current?.channel : undefined,
        name,
        method,
        params,
        requestOptions,
      ) as Promise<Result>,
    async stop() {
      stopping.abort();
      for (const { reject } of waiting) reject(new ChildError('gone', `the ${name} is stopped`));
      if (current && !(await end(current, options.stopSteps ?? STOP_STEPS))) {
        throw new Error(`its process ${current.pid} does not end`);
      }
      await kept;
    },
  };
}

async function waitUntilReady(child: LaunchedProcess, options: SuperviseOptions, stopping: AbortSignal) {
  const { startWithinMs = START_WITHIN_MS } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, stopping]);
  const tooLate = async () => {
    // Node does not accept a timer of more than 24 days, and treats `Infinity` as no delay.
    if (!Number.isFinite(startWithinMs)) return new Promise<never>(() => {});
    await sleep(startWithinMs, undefined, { signal });
    throw new Error(`it was not ready within ${startWithinMs} ms`);
  };
  const ended = async () => {
    const { code, signal, reason, output } = await child.ended;
    const said = reason ?? output.trim().split('\n').at(-1);
    throw new Error(said || `it ended with ${signal ?? `code ${code}`}`);
  };
  const stopped = new Promise<never>((_, reject) => {
    stopping.addEventListener('abort', () => reject(stopping.reason), { signal: over.signal });
  });
  try {
    await Promise.race([options.isReady?.(signal) ?? child.channel?.ready, tooLate(), ended(), stopped]);
  } finally {
    over.abort();
  }
}

async function abandon(child: LaunchedProcess, options: SuperviseOptions): Promise<Exit | undefined> {
  return (await end(child, options.abandonSteps ?? ABANDON)) ? child.ended : undefined;
}

const end = (child: LaunchedProcess, steps: StopStep[]) =>
  takeSteps(child.channel ? steps : steps.filter(({ by }) => by !== 'request'), {
    isRunning: child.isRunning,
    take(by) {
      // A child that does not read its pipe cannot be asked. The next step ends it.
      if (by === 'request') {
        try {
          child.channel?.send({ stop: true });
        } catch {}
      } else if (by === 'SIGKILL') child.kill('it did not end by itself');
      else child.signal(by);
    },
  });

function startHeartbeat({ channel, kill }: LaunchedProcess, answerWithinMs: number): () => void {
  if (!channel) return () => {};
  const timer = setInterval(() => {
    if (channel.ping() > PINGS) kill(`it did not answer for ${answerWithinMs} ms`);
  }, answerWithinMs / PINGS);
  return () => clearInterval(timer);
}

async function measured(
  metrics: ProcessMetrics | undefined,
  channel: Channel | undefined,
  name: string,
  method: string,
  params: unknown,
  options: RequestOptions,
): Promise<unknown> {
  const since = performance.now();
  let outcome: Parameters<ProcessMetrics['observeRequest']>[0] = 'answered';
  try {
    if (!channel) throw new ChildError('gone', `the ${name} is not running`);
    return await channel.request(method, params, options);
  } catch (error) {
    outcome = error instanceof ChildError ? error.code : 'cancelled';
    throw error;
  } finally {
    metrics?.observeRequest(outcome, performance.now() - since);
  }
}
