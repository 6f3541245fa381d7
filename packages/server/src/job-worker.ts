/**
 * Runs jobs, by default in a child process of their own, so that a job that computes for a long time does not delay
 * requests. The child is this same program, started with the command below.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createModules, type ModuleSettings } from './app.ts';
import { openPlatform } from './open-platform.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { createMetrics } from './platform/http/metrics.ts';
import type { JobKind } from './platform/jobs/jobs.ts';
import { LANES } from './platform/jobs/lanes.ts';
import { pace } from './platform/jobs/pace.ts';
import { startWorker, type Worker } from './platform/jobs/worker.ts';
import { createLogger } from './platform/log.ts';
import type { MailSettings } from './platform/mail/settings.ts';
import type { Module, Platform } from './platform/module.ts';
import { startPresence } from './platform/presence/presence.ts';
import { yieldToOthers } from './platform/processes/priority.ts';
import { nodeProgram } from './platform/processes/program.ts';
import { serveParent } from './platform/processes/serve-parent.ts';
import { supervise } from './platform/processes/supervise.ts';
import { createKeyring, type Secrets } from './platform/secrets/keyring.ts';
import { createShutdown } from './platform/shutdown.ts';

export const JOB_WORKER_COMMAND = 'job-worker';
const NAME = 'job worker';

/** Jobs get less of the processor than requests: a caller waits for each request, and nobody waits for a job. */
const NICENESS = 10;
const TELL_MS = 250;

/** One connection for each running job, and two for schedules and leases. */
const POOLS = {
  dbConnections: Object.values(LANES).reduce((sum, atOnce) => sum + atOnce, 2),
  dbEssentialConnections: 2,
};

/** Sent to the child through its pipe, because other users of the machine could read its arguments. */
interface ChildSettings {
  connection: ConnectionSettings;
  secrets: Secrets;
  publicUrl: string;
  allowPrivateRemotes: boolean;
  mail: MailSettings | undefined;
  logLevel: string;
  modules: ModuleSettings;
  /** A child that replaces one that ended has the same id. */
  workerId: string;
}

export interface JobProcess {
  /** The file of this program. */
  script: string;
  /**
   * For example, the certificate authorities that Node trusts. Our settings are not here: the child gets them through
   * its pipe.
   */
  env: Record<string, string>;
}

export const startJobs = ({ db, listener, log }: Platform, modules: Module[], id?: string): Promise<Worker> =>
  startWorker({
    db,
    listener,
    log,
    id,
    kinds: modules.flatMap(({ jobs }) => jobs ?? []),
    schedules: modules.flatMap(({ schedules }) => schedules ?? []),
  });

/** Starts the child, and starts it again whenever it ends. The child hears how busy this process is. */
export async function superviseJobs(
  { log, metrics }: Pick<Platform, 'log' | 'metrics'>,
  { script, env }: JobProcess,
  settings: Omit<ChildSettings, 'workerId'>,
): Promise<Worker> {
  const child = await supervise({
    name: NAME,
    program: nodeProgram(script, { args: [JOB_WORKER_COMMAND], env, cwd: process.cwd() }),
    start: { ...settings, workerId: randomUUID() } satisfies ChildSettings,
    log,
    metrics: metrics.ofProcess(NAME),
  });
  let before = performance.eventLoopUtilization();
  const telling = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(now, before).utilization;
    before = now;
    if (child.isUp) child.request('busy', { share }, { timeoutMs: TELL_MS * 4 }).catch(() => {});
  }, TELL_MS).unref();
  return {
    async stop() {
      clearInterval(telling);
      await child.stop();
    },
  };
}

/**
 * Runs the child process. Throws if this process has no pipe to a parent. `more` is for kinds of jobs that only tests
 * have.
 */
export function serveJobs(more: JobKind[] = []) {
  yieldToOthers(NICENESS);
  let stop = async () => {};
  // The signal is sent to the child alone, and then the parent starts it again, or to all processes of the server.
  process.on('SIGTERM', () => void stop().finally(() => process.exit()));
  serveParent({
    async onStart({ secrets, logLevel, modules: settings, workerId, ...given }: ChildSettings) {
      const log = createLogger(logLevel, undefined, { atOnce: true });
      const shutdown = createShutdown(log);
      stop = async () => {
        await shutdown.run();
        await log.close();
      };
      const keyring = createKeyring(secrets);
      const metrics = createMetrics();
      const processName = `worker-${hostname()}-${workerId.slice(0, 8)}`;
      const platform = openPlatform({ ...given, processName, pools: POOLS, keyring, log, metrics, shutdown });
      const modules = createModules(platform, settings);
      for (const module of modules.list) if (module.stop) shutdown.add('a module', module.stop);
      const worker = await startJobs(platform, [...modules.list, { jobs: more }], workerId);
      shutdown.add('the jobs', () => worker.stop());
      await platform.listener.start();
      const containers = ['INIT', 'MAIN'];
      const presence = await startPresence(platform, { name: processName, type: 'worker', containers });
      shutdown.add('the reports of this process', presence.stop);
    },
    handlers: { busy: ({ share }: { share: number }) => pace.hear(share) },
    onStop: () => stop(),
  });
}
