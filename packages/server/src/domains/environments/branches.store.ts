/** Environments are branches of the data model, which `data-models` owns. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export type EnvironmentType = 'production' | 'staging' | 'development';

export interface EnvironmentRow {
  /** The id of the branch, which is also the id of the environment. */
  id: number;
  name: string;
  type: EnvironmentType;
  /** The username of the person whose dev mode it is. */
  user: string | null;
}

/** The user who looks at environments, and the deployment that they belong to. */
export interface EnvironmentScope {
  deploymentId: number;
  userId: number;
}

/** Branches `b` that are an environment for the user: of those in dev mode, only the user's own. */
const environmentsOf = ({ deploymentId, userId }: EnvironmentScope): Sql => sql`
  from branches b
  join deployments d on d.id = b.deployment_id
  left join dev_modes m on m.branch_id = b.id and m.user_id = ${userId}
  left join users u on u.id = m.user_id
  cross join lateral (select case
    when b.name = d.deploy_branch_name then 'production'
    when b.is_staging then 'staging'
    when m.user_id is not null then 'development' end) e (type)
  where b.deployment_id = ${deploymentId} and e.type is not null`;

const COLUMNS = sql`b.id, b.name, e.type, case when e.type = 'development' then u.username end as user`;

const ofType = (type: EnvironmentType | null): Sql => sql`(${type}::text is null or e.type = ${type})`;

/** In the order of their ids. */
export const listEnvironments = (
  db: Queryable,
  viewed: EnvironmentScope,
  type: EnvironmentType | null,
  page: PageById & { offset: number },
) =>
  db.many<EnvironmentRow>(sql`
    select ${COLUMNS} ${environmentsOf(viewed)} and ${ofType(type)} and b.id > ${page.afterId}
    order by b.id limit ${page.limit} offset ${page.offset}`);

export const countEnvironments = async (
  db: Queryable,
  viewed: EnvironmentScope,
  type: EnvironmentType | null,
) =>
  (await db.one<{ count: number }>(sql`select count(*) ${environmentsOf(viewed)} and ${ofType(type)}`)).count;

export const findEnvironment = (db: Queryable, viewed: EnvironmentScope, id: number) =>
  db.maybeOne<EnvironmentRow>(sql`select ${COLUMNS} ${environmentsOf(viewed)} and b.id = ${id}`);

/** Locks the branch of the environment against deletion until the transaction ends. */
export const lockEnvironment = (tx: Tx, viewed: EnvironmentScope, id: number | 'production') =>
  tx.maybeOne<EnvironmentRow>(sql`
    select ${COLUMNS} ${environmentsOf(viewed)}
      and ${id === 'production' ? ofType('production') : sql`b.id = ${id}`}
    for key share of b`);
