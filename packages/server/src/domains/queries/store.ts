import type { Queryable } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';
import { type RightsRow, rightsOf } from '../embed-sessions/index.ts';

/** The files of the last good build of a branch; without an id, of the branch that is deployed. */
export const findServedTree = async (db: Queryable, deploymentId: number, branchId: number | null) =>
  (
    await db.maybeOne<{ tree: string }>(sql`
      select b.tree_hash as tree
      from builds b
      where b.status = 'built' and b.branch_id = coalesce(${branchId}::bigint, (
          select br.id from branches br join deployments d on d.id = br.deployment_id
          where br.deployment_id = ${deploymentId} and br.name = d.deploy_branch_name))
        and b.deployment_id = ${deploymentId}
      order by b.id desc limit 1`)
  )?.tree;

export interface ViewerRow extends RightsRow {
  roles: string[];
  securityContext: object | null;
}

export interface ViewerKey {
  userId: number;
  /** Where the groups and attributes come from: the embed tenant, or null for the account. */
  embedTenant: string | null;
  sessionId: number | null;
}

const toColumns = ({ userId, embedTenant, sessionId }: ViewerKey) => ({
  user_id: userId,
  embed_tenant: embedTenant,
  session_id: sessionId,
});

/**
 * One row for each of the keys, in their order. The keys are JSON, because the database would plan the statement again
 * for each length of an array.
 */
export const listViewers = (db: Queryable, keys: readonly ViewerKey[]) =>
  db.many<ViewerRow>(
    sql`select ${rightsOf(sql`given.user_id`, sql`given.embed_tenant`)},
          coalesce((select json_agg(r.name order by r.name collate "C")
                    from user_roles ur join roles r on r.id = ur.role_id
                    where ur.user_id = given.user_id), '[]') as roles,
          (select s.security_context from embed_sessions s where s.id = given.session_id) as "securityContext"
        from rows from (jsonb_to_recordset(${json(keys.map(toColumns))}) as (user_id bigint, embed_tenant text, session_id bigint))
          with ordinality as given (user_id, embed_tenant, session_id, n)
        order by given.n`.named('list-viewers'),
  );

/**
 * Whether this is a person of the account, and not a user of an embed tenant: those have the rights of their sessions.
 */
export const isPerson = async (db: Queryable, userId: number) =>
  (
    await db.one<{ found: boolean }>(sql`
    select exists (select from users where id = ${userId} and embed_tenant is null) as found`)
  ).found;
