import type { Problem } from '@oriel/semantic';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

/** Adds a build that waits, unless one waits already. Returns whether one was added. */
export const insertWaitingBuild = async (tx: Tx, deploymentId: number, branchId: number) =>
  (await tx.run(sql`
    insert into builds (deployment_id, branch_id, status) values (${deploymentId}, ${branchId}, 'waiting')
    on conflict (branch_id) where status = 'waiting' do nothing`)) === 1;

/**
 * Returns another build of the deployment that waits. No job can begin it before this transaction has ended, so the job
 * that does sees everything that this transaction adds.
 */
export const lockOtherWaiting = (tx: Tx, deploymentId: number, branchId: number) =>
  tx.maybeOne<{ id: number }>(sql`
    select id from builds where deployment_id = ${deploymentId} and branch_id <> ${branchId} and status = 'waiting'
    order by id limit 1 for share`);

export interface StartedBuild {
  id: number;
  branchId: number;
  /** How often it was begun, this time included. */
  attempts: number;
}

/**
 * Takes the build that this job had begun before, or the one of the deployment that waits for longest. Violates
 * `builds_building_key` while another job builds for the deployment.
 */
export const startBuild = (db: Queryable, deploymentId: number, jobId: number) =>
  db.maybeOne<StartedBuild>(sql`
    update builds set status = 'building', job_id = ${jobId}, attempts = attempts + 1, started_at = now()
    where id = (
      select id from builds
      where deployment_id = ${deploymentId} and (status = 'waiting' or status = 'building' and job_id = ${jobId})
      order by status = 'building' desc, id limit 1 for update)
    returning id, branch_id as "branchId", attempts`);

/** Matches the build for the run that began it last: an interrupted build can be begun again. */
const mine = ({ id, attempts }: StartedBuild) =>
  sql`id = ${id} and attempts = ${attempts} and status = 'building'`;

/** What is built. */
export interface Subject {
  commit: string;
  tree: string;
  /** Whether the tree has changes that are in no commit. */
  isUncommitted: boolean;
}

export const updateSubject = (tx: Tx, build: StartedBuild, { commit, tree, isUncommitted }: Subject) =>
  tx.run(sql`
    update builds set commit_hash = ${commit}, tree_hash = ${tree}, is_uncommitted = ${isUncommitted}
    where ${mine(build)}`);

/** Whether the build still has its branch and its deployment. */
export const isWanted = async (db: Queryable, build: StartedBuild) =>
  (
    await db.one<{ isWanted: boolean }>(sql`
      select exists (
        select from builds b where ${mine(build)}
          and exists (select from deployments d where d.id = b.deployment_id)) as "isWanted"`)
  ).isWanted;

export interface Outcome {
  subject?: Subject;
  status: 'built' | 'failed' | 'cancelled';
  reason?: string | undefined;
  errors?: readonly Problem[];
  warnings?: readonly Problem[];
  cubesCount?: number;
  /** Whether what was built differs from the commit. */
  isUncommitted?: boolean;
}

/** Ends the build. Returns whether it still belonged to this run. */
export const finishBuild = async (tx: Tx, build: StartedBuild, outcome: Outcome) => {
  const { status, reason = null, errors = [], warnings = [], cubesCount = null } = outcome;
  const finished = await tx.run(sql`
    update builds set status = ${status}, reason = ${reason}, errors = ${json(errors)}, warnings = ${json(warnings)},
      cubes_count = ${cubesCount}, finished_at = now(), job_id = null
    where ${mine(build)}`);
  return finished === 1;
};

/** Keeps the newest builds of a branch, and the last good one. */
export const deleteOldBuilds = (tx: Tx, branchId: number, keep: number) =>
  tx.run(sql`
    delete from builds
    where branch_id = ${branchId} and status in ('built', 'failed', 'cancelled')
      and id < (select id from builds where branch_id = ${branchId} order by id desc offset ${keep - 1} limit 1)
      and id <> coalesce((select max(id) from builds where branch_id = ${branchId} and status = 'built'), 0)`);

export const isAnyWaiting = async (db: Queryable, deploymentId: number) =>
  (
    await db.one<{ isWaiting: boolean }>(sql`
      select exists (select from builds where deployment_id = ${deploymentId} and status = 'waiting') as "isWaiting"`)
  ).isWaiting;

export interface BuildRow {
  id: number;
  status: 'waiting' | 'building' | 'built' | 'failed' | 'cancelled';
  commit: string | null;
  tree: string | null;
  isUncommitted: boolean;
  reason: string | null;
  errors: Problem[] | null;
  updatedAt: string;
}

const COLUMNS = sql`
  id, status, commit_hash as commit, tree_hash as tree, is_uncommitted as "isUncommitted", reason, errors,
  coalesce(finished_at, started_at, created_at) as "updatedAt"`;

export const findNewestBuild = (db: Queryable, branchId: number) =>
  db.maybeOne<BuildRow>(
    sql`select ${COLUMNS} from builds where branch_id = ${branchId} order by id desc limit 1`,
  );

/** The build that serves queries: a broken one does not replace it. */
export const findLastGoodBuild = (db: Queryable, branchId: number) =>
  db.maybeOne<BuildRow>(sql`
    select ${COLUMNS} from builds where branch_id = ${branchId} and status = 'built' order by id desc limit 1`);

export interface ListedBuild extends BuildRow {
  cubesCount: number | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** Returns the builds before this id, newest first. */
export const listBuilds = (
  db: Queryable,
  branchId: number,
  { beforeId, limit }: { beforeId: number | null; limit: number },
) =>
  db.many<ListedBuild>(sql`
    select ${COLUMNS}, cubes_count as "cubesCount", created_at as "createdAt", started_at as "startedAt",
      finished_at as "finishedAt"
    from builds where branch_id = ${branchId} and (${beforeId}::bigint is null or id < ${beforeId})
    order by id desc limit ${limit}`);
