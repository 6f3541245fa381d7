import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { literal, sql } from '../../platform/db/sql.ts';

export interface UploadRow {
  id: string;
  branchId: number;
  baseHead: string;
  baseWorkingTree: string | null;
  isLive: boolean;
  root: string;
  usesRoot: boolean;
  /** The newest commit of the branch after the finish; null if the upload is not finished. */
  finishedHead: string | null;
  /** A digest of what the finish asked for. */
  finishedRequest: string | null;
}

const COLUMNS = sql`
  id, branch_id as "branchId", base_head as "baseHead", base_working_tree as "baseWorkingTree", is_live as "isLive",
  root, uses_root as "usesRoot", finished_head as "finishedHead", finished_request as "finishedRequest"`;

/** Uploads whose time is not over, and which belong to this user. */
const kept = (deploymentId: number, userId: number) => sql`
  deployment_id = ${deploymentId} and user_id = ${userId} and branch_id is not null and expires_at > now()`;

export const findUpload = (db: Queryable, deploymentId: number, userId: number, id: string) =>
  db.maybeOne<UploadRow>(sql`
    select ${COLUMNS} from uploads where id = ${id} and ${kept(deploymentId, userId)}`);

export const lockUpload = (tx: Tx, deploymentId: number, userId: number, id: string) =>
  tx.maybeOne<UploadRow>(sql`
    select ${COLUMNS} from uploads where id = ${id} and ${kept(deploymentId, userId)} for update`);

const LIFE_MINUTES = 60;

export const insertUpload = (
  tx: Tx,
  upload: Omit<UploadRow, 'id' | 'finishedHead' | 'finishedRequest'> & {
    deploymentId: number;
    userId: number;
  },
) =>
  tx.one<UploadRow>(sql`
    insert into uploads
      (deployment_id, branch_id, user_id, base_head, base_working_tree, is_live, root, uses_root, expires_at)
    values (${upload.deploymentId}, ${upload.branchId}, ${upload.userId}, ${upload.baseHead},
            ${upload.baseWorkingTree}, ${upload.isLive}, ${upload.root}, ${upload.usesRoot},
            now() + interval '1 minute' * ${literal(LIFE_MINUTES)})
    returning ${COLUMNS}`);

/** Ends all uploads to the branch that are not finished, except for the newest ones. */
export const endOldest = (tx: Tx, branchId: number, kept: number) =>
  tx.run(sql`
    update uploads set expires_at = now()
    where id = any(array(
      select id from uploads where branch_id = ${branchId} and expires_at > now() and finished_head is null
      order by created_at desc, id offset ${kept}))`);

/** The files that were sent are removed by a job. The upload itself stays, for a tool that lost the reply. */
export const finishUpload = (tx: Tx, { id, finishedHead, finishedRequest }: UploadRow) =>
  tx.run(sql`
    update uploads set finished_head = ${finishedHead}, finished_request = ${finishedRequest},
      expires_at = now() + interval '1 minute' * ${literal(LIFE_MINUTES)}
    where id = ${id}`);

/** Counts a file that is about to be stored. Returns false if the upload cannot take it. */
export const countSent = async (
  db: Database,
  id: string,
  bytes: number,
  max: { files: number; bytes: number },
) =>
  (await db.writes.run(sql`
    update uploads set files = files + 1, bytes = bytes + ${bytes}
    where id = ${id} and files < ${max.files} and bytes + ${bytes} <= ${max.bytes}`)) === 1;

export interface SentFile {
  path: string;
  blob: string;
  digest: string;
  bytes: number;
}

/** Returns false if the upload has ended or is finished. */
export const upsertFile = async (db: Database, id: string, file: SentFile) =>
  (await db.writes.run(sql`
    insert into upload_files (upload_id, path, blob, digest, bytes)
    select id, ${file.path}, ${file.blob}, ${file.digest}, ${file.bytes}::int
    from uploads where id = ${id} and finished_head is null and expires_at > now() for key share
    on conflict (upload_id, path) do update
    set blob = excluded.blob, digest = excluded.digest, bytes = excluded.bytes`)) === 1;

export const listFiles = (db: Queryable, uploadId: string) =>
  db.many<{ blob: string; digest: string }>(sql`
    select blob, digest from upload_files where upload_id = ${uploadId}`);

/** Removes up to this many files of uploads that have ended or are finished, and returns how many. */
export const deleteEndedFiles = (db: Database, rows: number) =>
  db.writes.run(sql`
    delete from upload_files f
    using (select f.upload_id, f.path from uploads u join upload_files f on f.upload_id = u.id
           where u.expires_at <= now() or u.finished_head is not null or u.branch_id is null or u.user_id is null
           limit ${rows}) ended
    where f.upload_id = ended.upload_id and f.path = ended.path`);

/** Removes up to this many uploads that have ended and hold nothing any more, and returns their deployments. */
export const deleteEnded = (db: Database, rows: number) =>
  db.writes.many<{ deploymentId: number }>(sql`
    delete from uploads where id = any(array(
      select u.id from uploads u
      where (u.expires_at <= now() or u.branch_id is null or u.user_id is null)
        and not exists (select from upload_files f where f.upload_id = u.id)
      limit ${rows}))
    returning deployment_id as "deploymentId"`);
