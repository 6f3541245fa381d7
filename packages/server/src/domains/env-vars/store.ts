import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface EnvVariableRow {
  id: string;
  name: string;
  /** The sealed value; empty if it was lost. */
  value: Buffer;
  updatedAt: string;
}

export const isLost = ({ value }: EnvVariableRow) => value.length === 0;

const COLUMNS = sql`id, name, value, updated_at as "updatedAt"`;

/** In the order of their names, after `afterName`. */
export const listEnvVariables = (
  db: Queryable,
  deploymentId: number,
  page: { afterName: string; limit: number },
) =>
  db.many<EnvVariableRow>(sql`
    select ${COLUMNS} from env_variables where deployment_id = ${deploymentId} and name > ${page.afterName}
    order by name limit ${page.limit}`);

export const listEnvVariablesByName = (db: Queryable, deploymentId: number, names: readonly string[]) =>
  db.many<EnvVariableRow>(sql`
    select ${COLUMNS} from env_variables where deployment_id = ${deploymentId} and name = any(${names}::text[])`);

export const countEnvVariables = async (db: Queryable, deploymentId: number) =>
  (
    await db.one<{ count: number }>(
      sql`select count(*) from env_variables where deployment_id = ${deploymentId}`,
    )
  ).count;

export const upsertEnvVariables = (
  tx: Tx,
  deploymentId: number,
  variables: readonly Pick<EnvVariableRow, 'id' | 'name' | 'value'>[],
) =>
  tx.many<EnvVariableRow>(sql`
    insert into env_variables (id, deployment_id, name, value)
    select id, ${deploymentId}, name, value
    from unnest(${variables.map(({ id }) => id)}::uuid[], ${variables.map(({ name }) => name)}::text[],
                ${variables.map(({ value }) => value)}::bytea[]) as v (id, name, value)
    on conflict (id) do update set value = excluded.value, updated_at = now()
    returning ${COLUMNS}`);

export const deleteEnvVariable = (tx: Tx, deploymentId: number, name: string) =>
  tx.maybeOne<EnvVariableRow>(sql`
    delete from env_variables where deployment_id = ${deploymentId} and name = ${name} returning ${COLUMNS}`);

/** Clears all values, for a database whose secret key is lost. Returns the names, so that people can set them again. */
export const clearEnvVariables = (tx: Tx) =>
  tx.many<{ deploymentId: number; names: string[] }>(sql`
    with cleared as (update env_variables set value = '' returning deployment_id, name)
    select deployment_id as "deploymentId", array_agg(name order by name) as names from cleared
    group by deployment_id order by deployment_id`);
