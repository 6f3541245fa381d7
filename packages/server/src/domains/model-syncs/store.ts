import type { DbtConversion, DbtNote } from '@oriel/semantic';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';
import type { SourceSettings } from './source.ts';

export interface SourceRow {
  settings: SourceSettings | null;
  generatedHead: string | null;
  /** The token of an address, encrypted, and the key of the row that it is bound to. */
  tokenId: string | null;
  token: Buffer | null;
}

/** Nobody deletes the deployment until the transaction ends, so that nothing is added to one that is gone. */
export const holdDeployment = (tx: Tx, id: number) =>
  tx.maybeOne<{ id: number }>(sql`select id from deployments where id = ${id} for key share`);

const NO_SOURCE: SourceRow = { settings: null, generatedHead: null, tokenId: null, token: null };
const SOURCE = sql`settings, generated_head as "generatedHead", token_id as "tokenId", token`;

export const findSource = async (db: Queryable, deploymentId: number): Promise<SourceRow> =>
  (await db.maybeOne<SourceRow>(sql`
    select ${SOURCE} from model_sync_sources where deployment_id = ${deploymentId}`)) ?? NO_SOURCE;

export const lockSource = async (tx: Tx, deploymentId: number): Promise<SourceRow> =>
  (await tx.maybeOne<SourceRow>(sql`
    select ${SOURCE} from model_sync_sources where deployment_id = ${deploymentId} for update`)) ?? NO_SOURCE;

export const upsertSource = (
  tx: Tx,
  deploymentId: number,
  { settings, tokenId, token }: Omit<SourceRow, 'generatedHead'>,
) =>
  tx.run(sql`
    insert into model_sync_sources (deployment_id, settings, token_id, token)
    values (${deploymentId}, ${json(settings)}, ${tokenId}, ${token})
    on conflict (deployment_id) do update
    set settings = excluded.settings, token_id = excluded.token_id, token = excluded.token, updated_at = now()`);

/** Clears the tokens of a database whose secret key is lost. */
export const clearModelSyncSecrets = (tx: Tx) =>
  tx.run(sql`update model_sync_sources set token = '' where token is not null`);

export const updateGenerated = (tx: Tx, deploymentId: number, head: string, defaults: SourceSettings) =>
  tx.run(sql`
    insert into model_sync_sources (deployment_id, settings, generated_head)
    values (${deploymentId}, ${json(defaults)}, ${head})
    on conflict (deployment_id) do update set generated_head = excluded.generated_head`);

/** What is known of a manifest without reading it. */
export interface ManifestSummary {
  projectName: string | null;
  dbtVersion: string | null;
  schemaVersion: number;
  models: number;
  sources: number;
  bytes: number;
  hasCatalog: boolean;
  digest: string;
}

export interface ManifestRow {
  summary: ManifestSummary;
  uploadedAt: string;
}

const SHOWN = sql`summary, uploaded_at as "uploadedAt"`;

export const findManifest = (db: Queryable, deploymentId: number) =>
  db.maybeOne<ManifestRow>(sql`
    select ${SHOWN} from model_sync_manifests where deployment_id = ${deploymentId}`);

export const lockManifest = (tx: Tx, deploymentId: number) =>
  tx.maybeOne<ManifestRow>(sql`
    select ${SHOWN} from model_sync_manifests where deployment_id = ${deploymentId} for update`);

export interface ManifestFiles {
  manifest: Buffer;
  catalog: Buffer | null;
}

/** Both files, compressed. */
export const findManifestFiles = (db: Queryable, deploymentId: number) =>
  db.maybeOne<ManifestFiles>(sql`
    select manifest, catalog from model_sync_manifests where deployment_id = ${deploymentId}`);

export const upsertManifest = (
  tx: Tx,
  deploymentId: number,
  { manifest, catalog }: ManifestFiles,
  summary: ManifestSummary,
) =>
  tx.one<ManifestRow>(sql`
    insert into model_sync_manifests (deployment_id, manifest, catalog, summary)
    values (${deploymentId}, ${manifest}, ${catalog}, ${json(summary)})
    on conflict (deployment_id) do update
    set manifest = excluded.manifest, catalog = excluded.catalog, summary = excluded.summary, uploaded_at = now()
    returning ${SHOWN}`);

export interface SyncConflict {
  path: string;
  kind: 'marked' | 'kept' | 'kept_deleted';
  message: string;
}

export interface SyncResult {
  modelCount: number;
  manifestStats: DbtConversion['counts'];
  generatedFiles: { path: string }[];
  commit: string | null;
  /** Results that were stored before there were repositories do not have it. */
  sourceCommit?: string | null;
  changedFiles: string[];
  removedFiles: string[];
  conflicts: SyncConflict[];
  notes: DbtNote[];
  notesCount: number;
}

export type SyncState = 'running' | 'completed' | 'failed' | 'cancelled';

export interface SyncRow {
  id: string;
  deploymentId: number;
  /** Null if the branch was deleted. */
  branchId: number | null;
  branchName: string;
  userId: number | null;
  apiKeyId: number | null;
  ip: string | null;
  requestId: string | null;
  jobId: number;
  state: SyncState;
  error: string | null;
  createdAt: string;
  finishedAt: string | null;
}

const COLUMNS = sql`
  s.id, s.deployment_id as "deploymentId", s.branch_id as "branchId", s.branch_name as "branchName",
  s.user_id as "userId", s.api_key_id as "apiKeyId", s.ip, s.request_id as "requestId", s.job_id as "jobId",
  s.state, s.error, s.created_at as "createdAt", s.finished_at as "finishedAt"`;

/** Whether a sync still has a job that will end it. A job that was given up ends nothing. */
const HAS_JOB = sql`
  exists (select from jobs j where j.id = s.job_id and j.state in ('waiting', 'running'))`;

export const findSync = (db: Queryable, deploymentId: number, id: string) =>
  db.maybeOne<SyncRow & { hasJob: boolean }>(sql`
    select ${COLUMNS}, ${HAS_JOB} as "hasJob" from model_syncs s
    where s.id = ${id} and s.deployment_id = ${deploymentId}`);

export const lockSync = (tx: Tx, deploymentId: number, id: string) =>
  tx.maybeOne<SyncRow & { hasJob: boolean }>(sql`
    select ${COLUMNS}, ${HAS_JOB} as "hasJob" from model_syncs s
    where s.id = ${id} and s.deployment_id = ${deploymentId} for update of s`);

export const findResult = (db: Queryable, deploymentId: number, id: string) =>
  db.maybeOne<{ result: SyncResult | null; durationMs: number | null }>(sql`
    select result, (extract(epoch from finished_at - created_at) * 1000)::int as "durationMs"
    from model_syncs where id = ${id} and deployment_id = ${deploymentId}`);

export const isRunning = async (db: Queryable, id: string) =>
  (await db.maybeOne<{ id: string }>(sql`
    select id from model_syncs where id = ${id} and state = 'running'`)) !== undefined;

/** Ends syncs to a branch whose job was given up, so that the next one can begin. */
export const endAbandoned = (tx: Tx, branchId: number, error: string) =>
  tx.run(sql`
    update model_syncs s set state = 'failed', error = ${error}, finished_at = now()
    where s.branch_id = ${branchId} and s.state = 'running' and not ${HAS_JOB}`);

export type NewSync = Pick<
  SyncRow,
  'deploymentId' | 'branchName' | 'userId' | 'apiKeyId' | 'ip' | 'requestId' | 'jobId'
> & { id: string; branchId: number };

export const insertSync = (tx: Tx, sync: NewSync) =>
  tx.run(sql`
    insert into model_syncs (id, deployment_id, branch_id, branch_name, user_id, api_key_id, ip, request_id, job_id)
    values (${sync.id}, ${sync.deploymentId}, ${sync.branchId}, ${sync.branchName}, ${sync.userId}, ${sync.apiKeyId},
            ${sync.ip}, ${sync.requestId}, ${sync.jobId})`);

/** Removes all but the newest syncs of the deployment that have ended. */
export const deleteOldSyncs = (tx: Tx, deploymentId: number, kept: number) =>
  tx.run(sql`
    delete from model_syncs where id = any(array(
      select id from model_syncs where deployment_id = ${deploymentId} and state <> 'running'
      order by created_at desc, id offset ${kept}))`);

/** Returns false if it has ended already. */
export const endSync = async (
  db: Queryable,
  id: string,
  {
    state,
    error = null,
    result = null,
  }: { state: SyncState; error?: string | null; result?: SyncResult | null },
) =>
  (await db.run(sql`
    update model_syncs set state = ${state}, error = ${error}, result = ${json(result)}, finished_at = now()
    where id = ${id} and state = 'running'`)) === 1;

/** The deployments that a valid key is limited to, null for all. Returns nothing if the key has ended. */
export const findKeyScope = (db: Queryable, apiKeyId: number) =>
  db.maybeOne<{ deploymentIds: number[] | null }>(sql`
    select to_json(deployment_ids) as "deploymentIds" from api_keys
    where id = ${apiKeyId} and (expires_at is null or expires_at > now())`);
