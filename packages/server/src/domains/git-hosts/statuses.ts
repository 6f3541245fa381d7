/** Tells the git host of each commit that came together on both sides whether it builds, and which reports it breaks. */
import type { Database, Tx } from '../../platform/db/database.ts';
import { MissingObject } from '../../platform/git/objects.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import type { CheckCommit } from '../builds/index.ts';
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
      const status = await statusOf(db, checkCommit, deploymentId, commit, signal);
      const about = { context: `oriel/deployment-${deploymentId}`, targetUrl: publicUrl };
      await setCommitStatus(outbound, host, connection.repository, commit, { ...about, ...status });
    } catch (error) {
      // The branch went another way meanwhile, and what it left was swept.
      if (error instanceof MissingObject) return;
      // People mend these. Of a host that cannot be reached, the job is tried again.
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
): Promise<Pick<CommitStatus, 'isGood' | 'description'>> {
  const { problem, members } = await checkCommit(db, deploymentId, commit, signal);
  if (problem !== null) return { isGood: false, description: `The model does not build: ${problem}` };
  const broken = await findBroken(db, deploymentId, members, signal);
  if (!broken.count)
    return { isGood: true, description: 'The model builds, and no report names what it does not have' };
  const names = broken.names.length ? `: ${broken.names.join(', ')}` : '';
  const reports = broken.count === 1 ? '1 report' : `${broken.count} reports`;
  return { isGood: false, description: `It builds, but breaks ${reports}${names}` };
}

/** Each has a query of at most 256 KB. */
const REPORTS_PAGE = 50;
const REPORTS_MAX = 20_000;
const NAMES_MAX = 3;

/** Who reads the repository may not know the customers, so reports of embed tenants are counted and not named. */
async function findBroken(
  db: Database,
  deploymentId: number,
  members: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<{ count: number; names: string[] }> {
  const names: string[] = [];
  let [count, after, seen] = [0, 0, 0];
  while (seen < REPORTS_MAX) {
    signal.throwIfAborted();
    const page = await store.listReportQueries(db, deploymentId, after, REPORTS_PAGE);
    for (const { jsonQuery, name, isOfTenant } of page) {
      if (membersIn(jsonQuery).every((member) => members.has(member))) continue;
      count++;
      if (!isOfTenant && names.length < NAMES_MAX) names.push(name.slice(0, 40));
    }
    if (page.length < REPORTS_PAGE) break;
    seen += page.length;
    after = page.at(-1)!.id;
  }
  return { count, names };
}

/** The members that a query names. What is no query names none: it is broken with every model. */
export function membersIn(jsonQuery: string): string[] {
  const found = new Set<string>();
  const add = (name: unknown) => {
    // A third part is a granularity.
    const [cube, member] = typeof name === 'string' ? name.split('.') : [];
    if (cube && member) found.add(`${cube}.${member}`);
  };
  const addFilters = (filters: unknown, depth = 0) => {
    if (!Array.isArray(filters) || depth > 20) return;
    for (const filter of filters) {
      const { member, dimension, and, or } = Object(filter);
      add(member ?? dimension);
      addFilters(and, depth + 1);
      addFilters(or, depth + 1);
    }
  };
  try {
    for (const query of [JSON.parse(jsonQuery)].flat()) {
      const { measures, dimensions, segments, timeDimensions, filters } = Object(query);
      for (const names of [measures, dimensions, segments]) if (Array.isArray(names)) names.forEach(add);
      if (Array.isArray(timeDimensions)) for (const each of timeDimensions) add(Object(each).dimension);
      addFilters(filters);
    }
  } catch {}
  return [...found];
}
