import type { Cleanup } from '../../platform/cleanup.ts';
import type { Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  user: {
    removeOf: [
      (db, userId, rows) =>
        db.run(sql`
          delete from embed_sessions where id = any(array(
            select id from embed_sessions where user_id = ${userId} order by id limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: [
      (db, deploymentId, rows) => db.transaction((tx) => removeSessionsOfDeployment(tx, deploymentId, rows)),
    ],
    isLeft: async (db, deploymentId) =>
      (
        await db.one<{ left: boolean }>(sql`
          select exists (select from embed_sessions where deployment_id = ${deploymentId}) as left`)
      ).left,
  },
  embedTenant: {
    removeOf: [
      (db, { name, lastSessionId }, rows) =>
        db.run(sql`
          delete from embed_sessions where id = any(array(
            select id from embed_sessions where embed_tenant = ${name} and id <= ${lastSessionId}
            order by id limit ${rows}))`),
    ],
  },
};

/**
 * Also ends the tokens of sessions that were being exchanged when the deployment was deleted. Both happen in one
 * transaction: once the sessions are gone, a retry would not know that there were any.
 */
async function removeSessionsOfDeployment(tx: Tx, deploymentId: number, rows: number): Promise<number> {
  const removed = await tx.run(sql`
    delete from embed_sessions where id = any(array(
      select id from embed_sessions where deployment_id = ${deploymentId} order by id limit ${rows}))`);
  if (removed > 0) await tx.run(sql`insert into embed_revocations (deployment_id) values (${deploymentId})`);
  return removed;
}

/**
 * Ends the sessions of the tenant that had this name. Sessions that were not exchanged yet are only a few minutes old
 * and are deleted at once. The revocation ends the tokens of the other sessions. It is inserted last, because its time
 * must be later than the exchange of each session. Returns the id of the last session of the tenant.
 */
export async function endSessionsOfTenant(tx: Tx, name: string): Promise<number> {
  await tx.run(sql`
    delete from embed_sessions where embed_tenant = ${name} and exchanged_at is null and id > coalesce((
      select id from embed_sessions where embed_tenant = ${name} and created_at < now() - interval '10 minutes'
      order by id desc limit 1), 0)`);
  const { last } = await tx.one<{ last: number }>(
    sql`select coalesce(max(id), 0) as last from embed_sessions where embed_tenant = ${name}`,
  );
  await tx.run(sql`insert into embed_revocations (embed_tenant) values (${name})`);
  return last;
}
