/** Tells the git host of each commit that came together on both sides whether it builds, and which reports it breaks. */
import type { Database, Tx } from '../../platform/db/database.ts';
import { MissingObjectError } from '../../platform/git/objects.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import type { CheckCommit } from '../builds/index.ts';
import { findBrokenReports } from '../merge-previews/index.ts';
import { type CommitStatus, hasStatuses, setCommitStatus } from './hosts.ts';
import type { Installations } from './installations.ts';
import * as store from './store.ts';

interface StatusPayload {
  deploymentId: number;
  commit: string;
}

/** What is enqueued. The kind that runs is made by `createStatusJob`. */
const STATUS_JOB: JobKind<StatusPayload> = {
  name: 'git-hosts.status',
  lane: 'remotes',
  maxAttempts: 5,
  timeLimitMs: 2 * 60_000,
  run: () => Promise.reject(new Error('this kind of job is only for enqueuing')),
};

export const requestStatus = (tx: Tx, deploymentId: number, commit: string) =>
  enqueue(tx, STATUS_JOB, { deploymentId, commit });

export interface StatusOptions {
  installations: Installations;
  checkCommit: CheckCommit;
}

export const createStatusJob = (
  { outbound, publicUrl }: Pick<Platform, 'outbound' | 'publicUrl'>,
  { installations, checkCommit }: StatusOptions,
): JobKind<StatusPayload> => ({
  ...STATUS_JOB,
  async run({ deploymentId, commit }, { db, signal, log }) {
    const connection = await store.findConnection(db, deploymentId);
    if (!connection) return;
    const host = await installations.open(db, connection.installationId);
    if (!hasStatuses(host)) return;
    try {
      const about = { context: `oriel/deployment-${deploymentId}`, targetUrl: publicUrl };
      const tell = (status: Pick<CommitStatus, 'state' | 'description'>) =>
        setCommitStatus(outbound, host, connection.repository, commit, { ...about, ...status });
      await tell({ state: 'pending', description: 'The model is being built' });
      await tell(await statusOf(db, checkCommit, deploymentId, commit, signal));
    } catch (error) {
      // The branch went another way meanwhile, and what it left was swept.
      if (error instanceof MissingObjectError) return;
      // A person must fix these errors. If the host cannot be reached, the job is retried.
      if (!(error instanceof RemoteError) || error.failure === 'unreachable') throw error;
      log.warn({ deploymentId, failure: error.failure }, 'the git host did not take the status of a commit');
    }
  },
});

async function statusOf(
  db: Database,
  checkCommit: CheckCommit,
  deploymentId: number,
  commit: string,
  signal: AbortSignal,
): Promise<Pick<CommitStatus, 'state' | 'description'>> {
  const { problem, meaning } = await checkCommit(db, deploymentId, commit, signal);
  if (!meaning) return { state: 'failure', description: `The model does not build: ${problem}` };
  const { count, names: broken } = await findBrokenReports(db, deploymentId, meaning.members, signal);
  if (!count)
    return { state: 'success', description: 'The model builds, and no report names what it does not have' };
  const names = broken.length ? `: ${broken.join(', ')}` : '';
  const reports = count === 1 ? '1 report' : `${count} reports`;
  return { state: 'failure', description: `It builds, but breaks ${reports}${names}` };
}
