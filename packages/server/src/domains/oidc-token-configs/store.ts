import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface TokenConfigRow {
  id: number;
  name: string;
  /** As it was sent, in any letter case. */
  audienceType: string;
  audience: string;
  subFormat: string | null;
  customClaims: Record<string, unknown> | null;
  targetEnvVar: string | null;
  isEnabled: boolean;
  createdAt: string;
  updatedAt: string;
}

export type WantedTokenConfig = Omit<TokenConfigRow, 'id' | 'createdAt' | 'updatedAt'>;

const COLUMNS = sql`
  id, name, audience_type as "audienceType", audience, sub_format as "subFormat", custom_claims as "customClaims",
  target_env_var as "targetEnvVar", is_enabled as "isEnabled", created_at as "createdAt", updated_at as "updatedAt"`;

/** Oldest first. There are few. */
export const listTokenConfigs = (db: Queryable) =>
  db.many<TokenConfigRow>(sql`select ${COLUMNS} from oidc_token_configs order by id`);

export const findTokenConfig = (db: Queryable, id: number) =>
  db.maybeOne<TokenConfigRow>(sql`select ${COLUMNS} from oidc_token_configs where id = ${id}`);

export const lockTokenConfig = (tx: Tx, id: number) =>
  tx.maybeOne<TokenConfigRow>(sql`select ${COLUMNS} from oidc_token_configs where id = ${id} for update`);

/** One transaction at a time creates configs, so that their number is exact. */
export const lockCreation = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('creation of token configs', 0))`);

const claimsOf = ({ customClaims }: WantedTokenConfig) => (customClaims === null ? null : json(customClaims));

export const insertTokenConfig = (tx: Tx, config: WantedTokenConfig) =>
  tx.one<TokenConfigRow>(sql`
    insert into oidc_token_configs
      (name, audience_type, audience, sub_format, custom_claims, target_env_var, is_enabled)
    values (${config.name}, ${config.audienceType}, ${config.audience}, ${config.subFormat}, ${claimsOf(config)},
            ${config.targetEnvVar}, ${config.isEnabled})
    returning ${COLUMNS}`);

export const updateTokenConfig = (tx: Tx, id: number, config: WantedTokenConfig) =>
  tx.one<TokenConfigRow>(sql`
    update oidc_token_configs
    set name = ${config.name}, audience = ${config.audience}, sub_format = ${config.subFormat},
        custom_claims = ${claimsOf(config)}, target_env_var = ${config.targetEnvVar},
        is_enabled = ${config.isEnabled}, updated_at = now()
    where id = ${id} returning ${COLUMNS}`);

export const deleteTokenConfig = (tx: Tx, id: number) =>
  tx.maybeOne<TokenConfigRow>(sql`delete from oidc_token_configs where id = ${id} returning ${COLUMNS}`);
