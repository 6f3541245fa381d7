import type { operations, ReplyOf } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export type CreationStep = ReplyOf<typeof operations.getDeployment>['creationStep'];

export interface DeploymentRow {
  id: number;
  name: string;
  region: string;
  cloudProvider: string;
  creationMethod: string | null;
  creationStep: CreationStep;
  deployMode: string | null;
  isManaged: boolean;
  targetPlatform: string;
  createdBy: number | null;
  createdAt: string;
  updatedAt: string;
}

export type NewDeployment = Omit<DeploymentRow, 'id' | 'createdAt' | 'updatedAt'>;

const COLUMNS = sql`
  id, name, region, cloud_provider as "cloudProvider", creation_method as "creationMethod",
  creation_step as "creationStep", deploy_mode as "deployMode", is_managed as "isManaged",
  target_platform as "targetPlatform", created_by as "createdBy", created_at as "createdAt", updated_at as "updatedAt"`;

export interface DeploymentFilter {
  /** The deployments that the caller may read; null for all. */
  reach: readonly number[] | null;
  creationSteps: CreationStep[] | null;
}

const matching = ({ reach, creationSteps }: DeploymentFilter): Sql => sql`
  (${reach}::bigint[] is null or id = any(${reach}::bigint[]))
  and (${creationSteps}::text[] is null or creation_step = any(${creationSteps}::text[]))`;

/** In the order of their ids, after `afterId`. */
export const listDeployments = (
  db: Queryable,
  filter: DeploymentFilter,
  page: PageById & { offset: number },
) =>
  db.many<DeploymentRow>(sql`
    select ${COLUMNS} from deployments
    where ${matching(filter)} and id > ${page.afterId}
    order by id limit ${page.limit} offset ${page.offset}`);

export const countDeployments = async (db: Queryable, filter: DeploymentFilter) =>
  (await db.one<{ count: number }>(sql`select count(*) from deployments where ${matching(filter)}`)).count;

export const findDeployment = (db: Queryable, id: number) =>
  db.maybeOne<DeploymentRow>(sql`select ${COLUMNS} from deployments where id = ${id}`);

/** Returns those of the ids that exist. */
export const listExistingIds = async (db: Queryable, ids: readonly number[]) =>
  (await db.many<{ id: number }>(sql`select id from deployments where id = any(${ids}::bigint[])`)).map(
    ({ id }) => id,
  );

export const insertDeployment = (tx: Tx, deployment: NewDeployment) =>
  tx.one<DeploymentRow>(sql`
    insert into deployments (name, region, cloud_provider, creation_method, creation_step, deploy_mode, is_managed,
                             target_platform, created_by)
    values (${deployment.name}, ${deployment.region}, ${deployment.cloudProvider}, ${deployment.creationMethod},
            ${deployment.creationStep}, ${deployment.deployMode}, ${deployment.isManaged},
            ${deployment.targetPlatform}, ${deployment.createdBy})
    returning ${COLUMNS}`);

/** Nobody can see the content of the deployment from now on. A job removes it later. */
export const deleteDeployment = (tx: Tx, id: number) =>
  tx.maybeOne<DeploymentRow>(sql`delete from deployments where id = ${id} returning ${COLUMNS}`);

export const countAllDeployments = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*) from deployments`)).count;

/** The next deployment gets the id 1, even after attempts that were rolled back. The table must be empty. */
export const restartDeploymentIds = (tx: Tx) =>
  tx.run(sql`select setval(pg_get_serial_sequence('deployments', 'id'), 1, false)`);
