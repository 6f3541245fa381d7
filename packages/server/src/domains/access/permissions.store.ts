import type { Action } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

/** What a person may do because of their roles and of policies on deployments. */
export interface PermissionRow {
  actions: Action[];
  deploymentActions: { deploymentId: number; action: Action }[];
}

/** The columns of a `PermissionRow`, for the user `u`. */
export const PERMISSIONS = sql`
  coalesce((select json_agg(distinct action)
            from user_roles ur join roles r on r.id = ur.role_id, unnest(r.actions) action
            where ur.user_id = u.id), '[]') as actions,
  coalesce((select json_agg(json_build_object('deploymentId', p.resource_id, 'action', p.action))
            from resource_policies p
            where p.resource_type = 'Deployment' and (
              p.user_id = u.id
              or p.group_id in (select group_id from user_group_members where user_id = u.id)
              or p.role_id in (select role_id from user_roles where user_id = u.id))),
           '[]') as "deploymentActions"`;

/** Returns nothing if the person is deactivated or does not exist. */
export const findPermissions = (db: Queryable, userId: number) =>
  db.maybeOne<PermissionRow>(
    sql`select ${PERMISSIONS} from users u
        where u.id = ${userId} and u.embed_tenant is null and not u.is_deactivated`.named('find-permissions'),
  );
