import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface InstallationRow {
  secretFingerprint: string;
  demoSeededAt: string | null;
}

/** Creates the installation's row if this is the first start, and holds it until the end of the transaction. */
export async function lockInstallation(tx: Tx, secretFingerprint: string): Promise<InstallationRow> {
  // Another server may be setting up, with the demo. What it makes is worth the wait.
  await tx.run(sql`set local lock_timeout = 0`);
  await tx.run(sql`
    insert into installation (secret_fingerprint) values (${secretFingerprint}) on conflict (singleton) do nothing`);
  return tx.one<InstallationRow>(sql`
    select secret_fingerprint as "secretFingerprint", demo_seeded_at as "demoSeededAt" from installation for update`);
}

export const noteDemoSeeded = (db: Queryable) => db.run(sql`update installation set demo_seeded_at = now()`);

export const findFirstAdminId = async (db: Queryable) =>
  (
    await db.maybeOne<{ id: number }>(sql`
      select u.id from users u join user_roles ur on ur.user_id = u.id join roles r on r.id = ur.role_id
      where 'All' = any(r.actions) order by u.id limit 1`)
  )?.id;
