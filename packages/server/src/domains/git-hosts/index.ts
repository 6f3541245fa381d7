import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { type ConnectionOptions, type Connections, createConnections, requestSync } from './connections.ts';
import { createInstallations, type Installations } from './installations.ts';
import { leftovers } from './leftovers.store.ts';
import { gitHostRoutes } from './routes.ts';
import * as store from './store.ts';

export { requestSync } from './connections.ts';
export { clearGitSecrets } from './store.ts';

export interface GitHosts extends Connections {
  installations: Installations;
}

export function createGitHosts(
  platform: Platform,
  options: Omit<ConnectionOptions, 'installations'>,
): GitHosts {
  const installations = createInstallations(platform);
  return { installations, ...createConnections(platform, { ...options, installations }) };
}

/** Others may push without a webhook that says so. */
const POLL_SECONDS = 300;
const POLLED_AT_ONCE = 200;

const pollJob: JobKind = {
  name: 'git-hosts.poll',
  async run(_payload, { db }) {
    await store.deleteOldDeliveries(db);
    for (const { deploymentId } of await store.listUnchecked(db, POLL_SECONDS, POLLED_AT_ONCE)) {
      await db.transaction(async (tx) => {
        await store.forgetRequest(tx, deploymentId);
        await requestSync(tx, deploymentId, true);
      });
    }
  },
};

const pollSchedule: Schedule = { name: 'git-hosts.poll', kind: pollJob, everySeconds: 60 };

export function gitHosts(
  platform: Platform,
  hosts: GitHosts,
  { enqueueBuild }: Pick<ConnectionOptions, 'enqueueBuild'>,
): Module {
  const { installations, packs, job } = hosts;
  return {
    routes: gitHostRoutes(platform, { installations, connections: hosts, enqueueBuild }),
    jobs: [job as JobKind],
    schedules: [pollSchedule],
    leftovers,
    stop: () => packs.stop(),
  };
}
