import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export interface BranchRow {
  id: number;
  deploymentId: number;
  name: string;
  /** Null for the deploy branch. */
  parentName: string | null;
  head: string;
  workingTree: string | null;
  uploadedTree: string | null;
  /** With which branch its last merge was in conflict. */
  conflictBranchId: number | null;
  isStaging: boolean;
  /** Whether it is the deploy branch. */
  isDeploy: boolean;
  /** Whether the caller is in dev mode on it. */
  isActive: boolean;
  /** Whether anybody is in dev mode on it. */
  isDevMode: boolean;
}

const columnsFor = (userId: number | null) => sql`
  b.id, b.deployment_id as "deploymentId", b.name, b.head, b.working_tree as "workingTree",
  b.uploaded_tree as "uploadedTree", b.conflict_branch_id as "conflictBranchId", b.is_staging as "isStaging",
  b.name = d.deploy_branch_name as "isDeploy",
  case when b.name <> d.deploy_branch_name
    then coalesce((select p.name from branches p where p.id = b.parent_id), d.deploy_branch_name) end as "parentName",
  exists (select from dev_modes m where m.branch_id = b.id and m.user_id = ${userId}::bigint) as "isActive",
  exists (select from dev_modes m where m.branch_id = b.id) as "isDevMode"`;

const FROM = sql`from branches b join deployments d on d.id = b.deployment_id`;

export const listBranches = (db: Queryable, deploymentId: number, userId: number | null, page: PageById) =>
  db.many<BranchRow>(sql`
    select ${columnsFor(userId)} ${FROM}
    where b.deployment_id = ${deploymentId} and b.id > ${page.afterId} order by b.id limit ${page.limit}`);

/** Which branch is meant. If both are given, both must be right. */
export interface BranchSelector {
  branchId?: number | null | undefined;
  branchName?: string | null | undefined;
}

export const findBranch = (
  db: Queryable,
  deploymentId: number,
  userId: number | null,
  { branchId = null, branchName = null }: BranchSelector,
) =>
  db.maybeOne<BranchRow>(sql`
    select ${columnsFor(userId)} ${FROM}
    where b.deployment_id = ${deploymentId} and (${branchId}::bigint is null or b.id = ${branchId})
      and (${branchName}::text is null or b.name = ${branchName})
      and (${branchId}::bigint is not null or ${branchName}::text is not null)`);

export const findDeployBranch = (db: Queryable, deploymentId: number, userId: number | null) =>
  db.maybeOne<BranchRow>(sql`
    select ${columnsFor(userId)} ${FROM}
    where b.deployment_id = ${deploymentId} and b.name = d.deploy_branch_name`);

/** The branch on which the user entered dev mode last. */
export const findEnteredBranch = (db: Queryable, deploymentId: number, userId: number) =>
  db.maybeOne<BranchRow>(sql`
    select ${columnsFor(userId)} ${FROM} join dev_modes m on m.branch_id = b.id and m.user_id = ${userId}
    where b.deployment_id = ${deploymentId} order by m.since desc, b.id desc limit 1`);

/** The branch for dev mode that belongs to the user. */
export const findOwnBranch = (db: Queryable, deploymentId: number, userId: number) =>
  db.maybeOne<BranchRow>(sql`
    select ${columnsFor(userId)} ${FROM} where b.deployment_id = ${deploymentId} and b.owner_id = ${userId}`);

/**
 * Locks the rows in the order of their ids, so that two merges cannot wait for each other. A new branch may refer to
 * them meanwhile.
 */
export const lockBranches = (tx: Tx, ids: readonly number[]) =>
  tx.many<{ id: number }>(sql`
    select id from branches where id = any(${ids}::bigint[]) order by id for no key update`);

/** The branches that are built when they change. No build of them begins until the transaction ends. */
export const lockBuiltBranches = (tx: Tx, deploymentId: number) =>
  tx.many<{ id: number }>(sql`
    select b.id ${FROM}
    where b.deployment_id = ${deploymentId} and (b.name = d.deploy_branch_name or b.is_staging
      or exists (select from dev_modes m where m.branch_id = b.id))
    order by b.id for no key update of b`);

/** Locks the data model. Requests that create branches need it, so that no two branches exclude each other. */
export const lockDataModel = (tx: Tx, deploymentId: number) =>
  tx.maybeOne<{ deploymentId: number }>(sql`
    select deployment_id as "deploymentId" from data_models where deployment_id = ${deploymentId} for update`);

export const countBranches = async (db: Queryable, deploymentId: number) =>
  (
    await db.one<{ count: number }>(
      sql`select count(*)::int from branches where deployment_id = ${deploymentId}`,
    )
  ).count;

/** A branch that would be a folder of the one with the new name, or have it as a folder. */
export const findNameClash = (
  db: Queryable,
  deploymentId: number,
  name: string,
  above: readonly string[],
  renamedId: number | null,
) =>
  db.maybeOne<{ name: string }>(sql`
    select name from branches
    where deployment_id = ${deploymentId} and id is distinct from ${renamedId}::bigint and (name = any(${above}::text[]) or starts_with(name, ${`${name}/`}))
    limit 1`);

export interface NewBranch {
  deploymentId: number;
  name: string;
  parentId: number | null;
  head: string;
  ownerId?: number | null;
}

export const insertDataModel = (tx: Tx, deploymentId: number) =>
  tx.run(sql`insert into data_models (deployment_id) values (${deploymentId})`);

export const insertBranch = (tx: Tx, { deploymentId, name, parentId, head, ownerId = null }: NewBranch) =>
  tx.one<{ id: number }>(sql`
    insert into branches (deployment_id, name, parent_id, head, owner_id)
    values (${deploymentId}, ${name}, ${parentId}, ${head}, ${ownerId}) returning id`);

export const removeOwner = (tx: Tx, id: number) =>
  tx.run(sql`update branches set owner_id = null where id = ${id}`);

export interface BranchState {
  head: string;
  workingTree: string | null;
  uploadedTree: string | null;
}

export const updateBranch = (tx: Tx, id: number, { head, workingTree, uploadedTree }: BranchState) =>
  tx.run(sql`
    update branches
    set head = ${head}, working_tree = ${workingTree}, uploaded_tree = ${uploadedTree}, updated_at = now()
    where id = ${id}`);

/** Null says that there is no conflict any more. */
export const updateConflict = (db: Queryable, id: number, conflictBranchId: number | null) =>
  db.run(sql`
    update branches set conflict_branch_id = ${conflictBranchId}
    where id = ${id} and conflict_branch_id is distinct from ${conflictBranchId}::bigint`);

export const renameBranch = (tx: Tx, id: number, name: string) =>
  tx.run(sql`update branches set name = ${name}, updated_at = now() where id = ${id}`);

/** All branches but those for dev mode that belong to one person. */
export const listSharedBranches = (db: Queryable, deploymentId: number) =>
  db.many<BranchRow>(sql`
    select ${columnsFor(null)} ${FROM} where b.deployment_id = ${deploymentId} and b.owner_id is null order by b.id`);

export const updateStaging = (tx: Tx, id: number, isStaging: boolean) =>
  tx.run(sql`update branches set is_staging = ${isStaging}, updated_at = now() where id = ${id}`);

/** The objects that only this branch referred to are removed by the next sweep. */
export async function deleteBranch(tx: Tx, { id, deploymentId }: Pick<BranchRow, 'id' | 'deploymentId'>) {
  await tx.run(sql`delete from branches where id = ${id}`);
  await markChanged(tx, deploymentId);
}

export const markChanged = (db: Queryable, deploymentId: number) =>
  db.run(sql`update data_models set changed_at = now() where deployment_id = ${deploymentId}`);

/** Counts what was written, and returns what the data model takes now. */
export const addWritten = (db: Database, deploymentId: number, bytes: number) =>
  db.writes.maybeOne<{ bytes: number }>(sql`
    update data_models set written_bytes = written_bytes + ${bytes} where deployment_id = ${deploymentId}
    returning stored_bytes + written_bytes as bytes`);

export const enterDevMode = (tx: Tx, branchId: number, userId: number) =>
  tx.run(sql`
    insert into dev_modes (branch_id, user_id, since) values (${branchId}, ${userId}, clock_timestamp())
    on conflict (branch_id, user_id) do update set since = excluded.since`);

/** The branches on which the user is in dev mode. Without `branchId`, all branches of the deployment count. */
interface DevModeFilter {
  deploymentId: number;
  userId: number;
  branchId?: number | null | undefined;
}

const isEntered = ({ deploymentId, userId, branchId = null }: DevModeFilter) => sql`
  b.id = m.branch_id and b.deployment_id = ${deploymentId} and m.user_id = ${userId}
    and (${branchId}::bigint is null or b.id = ${branchId})`;

export const lockEnteredBranches = (tx: Tx, entered: DevModeFilter) =>
  tx.run(sql`
    select from branches b join dev_modes m on ${isEntered(entered)} order by b.id for no key update of b`);

/** Returns the branches that the user left. */
export const leaveDevMode = (tx: Tx, entered: DevModeFilter) =>
  tx.many<{ id: number; name: string }>(sql`
    delete from dev_modes m using branches b where ${isEntered(entered)} returning b.id, b.name`);

export interface ModelSettings {
  deploymentName: string;
  deployBranchName: string;
  deployMode: string | null;
  deployProjectRoot: string;
  isReadOnly: boolean;
  isMergeAllowed: boolean;
}

/** The settings of the deployment that decide what happens to its branches. */
export const findModelSettings = (db: Queryable, deploymentId: number) =>
  db.maybeOne<ModelSettings>(sql`
    select name as "deploymentName", deploy_branch_name as "deployBranchName", deploy_mode as "deployMode",
           deploy_project_root as "deployProjectRoot", deploy_branch_read_only as "isReadOnly",
           deploy_branch_merge_allowed as "isMergeAllowed"
    from deployments where id = ${deploymentId}`);

/** Sets the deploy mode if the deployment has none yet, and returns the one that it has. */
export const settleDeployMode = async (tx: Tx, deploymentId: number, mode: 'cli' | 'git') =>
  (
    await tx.one<{ deployMode: string | null }>(
      sql`select settle_deploy_mode(${deploymentId}, ${mode}) as "deployMode"`,
    )
  ).deployMode;

export const findPerson = (db: Queryable, userId: number) =>
  db.maybeOne<{ username: string; firstName: string | null; email: string }>(sql`
    select username, first_name as "firstName", shown_email as email from users where id = ${userId}`);
