/**
 * Builds compile the newest state of a branch and record what is wrong with it. Jobs of one deployment build one branch
 * after the other: each returns to the end of the queue after a build, so that deployments take turns.
 */
import type { Tx } from '../../platform/db/database.ts';
import { violatedConstraint } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { enqueue, type JobContext, type JobKind } from '../../platform/jobs/jobs.ts';
import {
  type BranchRow,
  builtTree,
  type EnqueueBuild,
  findBranch,
  isBuilt,
  lockBranches,
  treeOfCommit,
} from '../data-models/index.ts';
import type { DeploymentLog } from '../deployment-logs/index.ts';
import type { Event, Events } from '../webhooks/index.ts';
import { type Compiler, CompilerError } from './compiler.ts';
import { compileProject, findProject, type Project } from './project.ts';
import { errorTextOf, lineOf } from './rules.ts';
import * as store from './store.ts';

/** A build that was begun this often without an end is given up. */
const ATTEMPTS_MAX = 5;
const GIVEN_UP: store.Outcome = {
  status: 'failed',
  reason: `The build was begun ${ATTEMPTS_MAX} times, and each time the server failed or stopped before it was done. The log of the server says why.`,
};
/** How many builds of a branch are kept, beside the last good one. */
const KEEP = 50;
/** How often a running build looks whether anybody still wants it. */
const LOOK_EVERY_MS = 1000;

type BuildJob = JobKind<{ deploymentId: number }>;

export interface Builds {
  enqueueBuild: EnqueueBuild;
  job: BuildJob;
}

interface BuildsOptions {
  log: DeploymentLog;
  compiler: Compiler;
  events: Pick<Events, 'record'>;
}

export function createBuilds({ log, compiler, events }: BuildsOptions): Builds {
  const job: BuildJob = {
    name: 'builds.build',
    lane: 'builds',
    // Builds count their own attempts (`ATTEMPTS_MAX`). The job itself goes on with the next build.
    maxAttempts: 1_000_000,
    async run({ deploymentId }, context) {
      const build = await claim(deploymentId, context);
      // If another job builds now, it goes on with the builds that wait.
      if (!build) return 'done';
      await runBuild(deploymentId, build, context);
      return (await store.isAnyWaiting(context.db, deploymentId)) ? 'unfinished' : 'done';
    },
  };

  async function runBuild(deploymentId: number, build: store.StartedBuild, context: JobContext) {
    const { db } = context;
    const branch = await findBranch(db, deploymentId, null, { branchId: build.branchId });
    if (!branch) return;
    const outcome =
      build.attempts > ATTEMPTS_MAX
        ? GIVEN_UP
        : await outcomeOf(branch, build, context, (message) =>
            log.add(deploymentId, [logLine(branch, message)]),
          ).catch((error) => {
            const message = `The build of ${branch.name} was interrupted, and will be begun again.`;
            log.add(deploymentId, [logLine(branch, message)]);
            throw error;
          });
    if (!outcome) return;
    const isOurs = await db.transaction(async (tx) => {
      const finished = await store.finishBuild(tx, build, outcome);
      if (finished) {
        await store.deleteOldBuilds(tx, build.branchId, KEEP);
        await events.record(tx, [eventOf(deploymentId, build, outcome)]);
      }
      return finished;
    });
    if (isOurs) log.add(deploymentId, linesOf(branch, outcome));
  }

  /** Returns nothing if the build is not wanted any more. */
  async function outcomeOf(
    { deploymentId, name }: BranchRow,
    build: store.StartedBuild,
    { db, signal }: JobContext,
    say: (message: string) => void,
  ): Promise<store.Outcome | undefined> {
    const recorded = await db.transaction((tx) => recordSubject(tx, deploymentId, build));
    if (!recorded) return { status: 'cancelled', reason: 'Branch is not active.' };
    const { subject, project } = recorded;
    say(`The build of ${name} at ${subject.commit.slice(0, 8)} begins.`);
    const wanted = whileWanted(() => store.isWanted(db, build));
    try {
      const until = AbortSignal.any([signal, wanted.signal]);
      const report = await compileProject(compiler, db, project, until);
      return { subject, status: report.errors.length ? 'failed' : 'built', ...report };
    } catch (error) {
      if (error instanceof CompilerError) return { subject, status: 'failed', reason: error.message };
      if (wanted.signal.aborted) return undefined;
      throw error;
    } finally {
      wanted.end();
    }
  }

  return {
    job,
    async enqueueBuild(tx: Tx, { deploymentId, branchId }) {
      if (!(await store.insertWaitingBuild(tx, deploymentId, branchId))) return;
      // The job of another waiting build goes on with this one: more jobs would give the deployment more turns.
      if (!(await store.lockOtherWaiting(tx, deploymentId, branchId)))
        await enqueue(tx, job, { deploymentId });
    },
  };
}

/**
 * Takes the newest state of the branch, unless it is not built any more. The branch is locked until the build refers to
 * that state. So the build has every change that was made before it, and a sweep finds the tree at the branch or at the
 * build.
 */
async function recordSubject(
  tx: Tx,
  deploymentId: number,
  build: store.StartedBuild,
): Promise<{ subject: store.Subject; project: Project } | undefined> {
  await lockBranches(tx, [build.branchId]);
  const branch = await findBranch(tx, deploymentId, null, { branchId: build.branchId });
  if (!branch || !isBuilt(branch)) return undefined;
  const objects = createObjects(tx, deploymentId);
  const whole = await builtTree(objects, branch);
  const isUncommitted = whole !== (await treeOfCommit(objects, branch.head));
  const project = await findProject(tx, deploymentId, whole);
  const subject = { commit: branch.head, tree: project.tree ?? whole, isUncommitted };
  await store.updateSubject(tx, build, subject);
  return { subject, project };
}

async function claim(
  deploymentId: number,
  { db, jobId }: JobContext,
): Promise<store.StartedBuild | undefined> {
  try {
    return await store.startBuild(db, deploymentId, jobId);
  } catch (error) {
    if (violatedConstraint(error) === 'builds_building_key') return undefined;
    throw error;
  }
}

/** Asks the question at intervals, and gives a signal that is aborted when the answer is no. */
function whileWanted(isWanted: () => Promise<boolean>) {
  const unwanted = new AbortController();
  const timer = setInterval(async () => {
    // If the database cannot be asked now, it can be asked again.
    if (!(await isWanted().catch(() => true))) unwanted.abort();
  }, LOOK_EVERY_MS);
  return { signal: unwanted.signal, end: () => clearInterval(timer) };
}

function eventOf(
  deploymentId: number,
  { id, branchId }: store.StartedBuild,
  { status }: store.Outcome,
): Event {
  const type = status === 'built' ? 'build.succeeded' : (`build.${status}` as const);
  return { type, resource: `build of branch:${branchId}`, data: { id: String(id), deploymentId, branchId } };
}

const logLine = ({ isDeploy }: BranchRow, message: string) => ({
  source: isDeploy ? ('production' as const) : ('dev' as const),
  container: 'INIT' as const,
  message,
});

function linesOf(branch: BranchRow, outcome: store.Outcome) {
  const { status, subject, reason = null, errors = [], warnings = [], cubesCount } = outcome;
  const changes = subject?.isUncommitted ? ' with uncommitted changes' : '';
  const about = `The build of ${branch.name} at ${(subject?.commit ?? branch.head).slice(0, 8)}${changes}`;
  const text =
    status === 'built'
      ? `${about} is done: ${cubesCount} ${cubesCount === 1 ? 'cube' : 'cubes'}.`
      : `${about} ${status === 'failed' ? 'failed' : 'was cancelled'}. ${errorTextOf({ reason, errors: [...errors] })}`;
  const lines = [...text.split('\n'), ...warnings.map((warning) => `Warning: ${lineOf(warning)}`)];
  return lines.map((message) => logLine(branch, message));
}
