import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { CheckCommit } from '../builds/index.ts';
import { cleanup } from './cleanup.store.ts';
import { type ConnectionOptions, type Connections, createConnections, requestSync } from './connections.ts';
import { createGitHubApp, type GitHubApp, type GitHubAppSettings } from './github-app.ts';
import { createInstallations, type Installations } from './installations.ts';
import { gitHostRoutes } from './routes.ts';
import { createOpenSnapshot, type OpenSnapshot } from './snapshots.ts';
import { createStatusJob } from './statuses.ts';
import * as store from './store.ts';

export { requestSync } from './connections.ts';
export { type GitHubAppSettings, isPrivateKey } from './github-app.ts';
export { plainUrl, requireRepositoryName } from './rules.ts';
export type { OpenSnapshot, RepositoryPlace, Snapshot } from './snapshots.ts';
export { clearGitSecrets, lockInstallation } from './store.ts';

export interface GitHosts extends Connections {
  app: GitHubApp | undefined;
  installations: Installations;
  openSnapshot: OpenSnapshot;
}

export function createGitHosts(
  platform: Platform,
  options: Omit<ConnectionOptions, 'installations'> & {
    githubApp: GitHubAppSettings | undefined;
    /** ORIEL_ALLOW_PRIVATE_REMOTES. */
    allowPrivate: boolean;
  },
): GitHosts {
  const app = options.githubApp && createGitHubApp(platform.outbound, options.githubApp);
  const installations = createInstallations(platform, { app, allowPrivate: options.allowPrivate });
  const connections = createConnections(platform, { ...options, installations });
  const openSnapshot = createOpenSnapshot(platform, { installations, packs: connections.packs });
  return { app, installations, openSnapshot, ...connections };
}

/** How often repositories are polled: people may push without a webhook that says so. */
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
  { enqueueBuild, checkCommit }: Pick<ConnectionOptions, 'enqueueBuild'> & { checkCommit: CheckCommit },
): Module {
  const { app, installations, packs, job } = hosts;
  const statusJob = createStatusJob(platform, { installations, checkCommit });
  return {
    routes: gitHostRoutes(platform, { installations, connections: hosts, enqueueBuild, app }),
    jobs: [job as JobKind, statusJob as JobKind],
    schedules: [pollSchedule],
    cleanup,
    stop: () => packs.stop(),
  };
}
