import type { Action } from '@oriel/contract';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

export interface CredentialRow {
  userId: number;
  apiKeyId: number;
  deploymentIds: number[] | null;
  expiresAt: string | null;
  actions: Action[];
  deploymentActions: { deploymentId: number; action: Action }[];
}

/** The key with this hash, unless it has expired or its user is deactivated. */
export const findCredential = (db: Queryable, keyHash: Buffer) =>
  db.maybeOne<CredentialRow>(
    sql`select k.user_id as "userId", k.id as "apiKeyId", k.expires_at as "expiresAt",
               to_json(k.deployment_ids) as "deploymentIds",
               coalesce((select json_agg(distinct action)
                         from user_roles ur join roles r on r.id = ur.role_id, unnest(r.actions) action
                         where ur.user_id = k.user_id), '[]') as actions,
               coalesce((select json_agg(json_build_object('deploymentId', p.resource_id, 'action', p.action))
                         from resource_policies p
                         where p.resource_type = 'Deployment' and (
                           p.user_id = k.user_id
                           or p.group_id in (select group_id from user_group_members where user_id = k.user_id)
                           or p.role_id in (select role_id from user_roles where user_id = k.user_id))),
                        '[]') as "deploymentActions"
        from api_keys k join users u on u.id = k.user_id
        where k.key_hash = ${keyHash} and not u.is_deactivated
          and (k.expires_at is null or k.expires_at > now())`.named('find-credential'),
  );

/** Times that are older than what is stored change nothing. */
export const updateKeysLastUsed = (db: Queryable, uses: { apiKeyId: number; at: string }[]) =>
  db.run(sql`
    update api_keys k set last_used_at = u.at
    from unnest(${uses.map((use) => use.apiKeyId)}::bigint[], ${uses.map((use) => use.at)}::timestamptz[]) as u (id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`);
