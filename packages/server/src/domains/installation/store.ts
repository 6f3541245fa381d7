import type { Queryable, Tx } from '../../platform/db/database.ts';
import { hasRows } from '../../platform/db/has-rows.ts';
import { sql } from '../../platform/db/sql.ts';

export interface InstallationRow {
  secretFingerprint: string;
  tenant: string;
  demoSeededAt: string | null;
}

/**
 * Creates the row of the installation if this is the first start, and locks it until the transaction ends. Older
 * databases have no tenant name and get the name of this start.
 */
export async function lockInstallation(
  tx: Tx,
  secretFingerprint: string,
  tenant: string,
): Promise<InstallationRow> {
  // Another server may be creating the installation and the demo. Wait until it is done, without a limit.
  await tx.run(sql`set local lock_timeout = 0`);
  await tx.run(sql`
    insert into installation (secret_fingerprint) values (${secretFingerprint}) on conflict (singleton) do nothing`);
  const row = await tx.one<Omit<InstallationRow, 'tenant'> & { tenant: string | null }>(sql`
    select secret_fingerprint as "secretFingerprint", tenant, demo_seeded_at as "demoSeededAt"
    from installation for update`);
  if (row.tenant === null) await tx.run(sql`update installation set tenant = ${tenant}`);
  return { ...row, tenant: row.tenant ?? tenant };
}

export const findInstallation = (db: Queryable) =>
  db.maybeOne<Pick<InstallationRow, 'secretFingerprint'>>(sql`
    select secret_fingerprint as "secretFingerprint" from installation`);

export const updateFingerprint = (db: Queryable, secretFingerprint: string) =>
  db.run(sql`update installation set secret_fingerprint = ${secretFingerprint}`);

export const hasApiKey = (db: Queryable, keyHash: Buffer) =>
  hasRows(
    db,
    sql`select from api_keys where key_hash = ${keyHash} and (expires_at is null or expires_at > now())`,
  );

export const hasUser = (db: Queryable, email: string) =>
  hasRows(db, sql`select from users where embed_tenant is null and lower(email) = lower(${email})`);

export const findPasswordHash = async (db: Queryable, email: string) =>
  (
    await db.maybeOne<{ passwordHash: string | null }>(sql`
      select password_hash as "passwordHash" from users
      where embed_tenant is null and deleted_at is null and lower(email) = lower(${email})`)
  )?.passwordHash;

export const noteBackup = (db: Queryable) => db.run(sql`update installation set last_backup_at = now()`);

export const findBackupTimes = (db: Queryable) =>
  db.one<{ createdAt: string; lastBackupAt: string | null }>(sql`
    select created_at as "createdAt", last_backup_at as "lastBackupAt" from installation`);

/** A start of the server does not add the demo again, also after it has been removed. */
export const noteDemoSeeded = (db: Queryable) => db.run(sql`update installation set demo_seeded_at = now()`);

const ADMINS = sql`
  select u.id from users u join user_roles ur on ur.user_id = u.id join roles r on r.id = ur.role_id
  where 'All' = any(r.actions)`;

export const findFirstAdminId = async (db: Queryable) =>
  (await db.maybeOne<{ id: number }>(sql`${ADMINS} order by u.id limit 1`))?.id;

/** The active admin with this username or email, or the first one. Nobody can delete them until the transaction ends. */
export const lockAdmin = (tx: Tx, user: string | undefined) =>
  tx.maybeOne<{ id: number; username: string }>(sql`
    select id, username from users
    where id in (${ADMINS}) and not is_deactivated and embed_tenant is null
      and (${user ?? null}::text is null or lower(${user ?? null}) in (lower(username), lower(email)))
    order by id limit 1 for share`);
