import type { Database, Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { storedBytes } from '../../platform/git/objects.store.ts';
import type { Roots } from '../../platform/git/reachable.ts';

export interface UnsweptModel {
  deploymentId: number;
  /** When the sweep begins. */
  now: string;
}

/**
 * A data model in which something may be left behind. A sweep leaves objects of the last hour alone, so the last change
 * needs another sweep an hour later. `except` are deployments that are left out.
 */
export const findUnswept = (db: Queryable, except: readonly number[]) =>
  db.maybeOne<UnsweptModel>(sql`
    select m.deployment_id as "deploymentId", now() as now from data_models m
    where m.deployment_id <> all(${except}::bigint[])
      and m.swept_at < now() - interval '50 minutes' and m.swept_at < interval '1 hour' + greatest(
      m.changed_at, (select max(b.updated_at) from branches b where b.deployment_id = m.deployment_id))
    order by m.swept_at limit 1`);

export const updateSwept = (db: Database, { deploymentId, now }: UnsweptModel) =>
  db.writes.run(sql`
    update data_models set swept_at = ${now}, stored_bytes = ${storedBytes(deploymentId)}, written_bytes = 0
    where deployment_id = ${deploymentId}`);

/**
 * Everything that is in use: commits and trees of branches, trees that are being built, the tree of the last
 * good build, which serves queries whatever its branch holds now, files of uploads that are not finished, and what was
 * generated last from a dbt project.
 */
export async function listRoots(db: Queryable, deploymentId: number): Promise<Required<Roots>> {
  const roots = await db.many<{ kind: keyof Roots; hash: string }>(sql`
    select 'commits' as kind, head as hash from branches where deployment_id = ${deploymentId}
    union all
    select 'trees', t.hash from branches b cross join unnest(array[b.working_tree, b.uploaded_tree]) t (hash)
    where b.deployment_id = ${deploymentId} and t.hash is not null
    union all
    select 'trees', b.tree_hash from (
      select distinct on (branch_id, status) deployment_id, tree_hash from builds
      where deployment_id = ${deploymentId} and status in ('building', 'built')
      order by branch_id, status, id desc) b
    where exists (
      select from git_objects o where o.deployment_id = b.deployment_id and o.hash = decode(b.tree_hash, 'hex'))
    union all
    select 'commits', generated_head from model_sync_sources
    where deployment_id = ${deploymentId} and generated_head is not null
    union all
    select 'blobs', f.blob from uploads u join upload_files f on f.upload_id = u.id
    where u.deployment_id = ${deploymentId}`);
  const of = (kind: keyof Roots) => roots.filter((root) => root.kind === kind).map(({ hash }) => hash);
  return { commits: of('commits'), trees: of('trees'), blobs: of('blobs') };
}
