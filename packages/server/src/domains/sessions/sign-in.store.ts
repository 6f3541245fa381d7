import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface Candidate {
  userId: number;
  passwordHash: string | null;
}

/** The active person with this email or, if nobody has it as email, with this username. */
export const findCandidate = (db: Queryable, name: string) =>
  db.maybeOne<Candidate>(
    sql`select id as "userId", password_hash as "passwordHash" from users
        where embed_tenant is null and deleted_at is null and not is_deactivated
          and (lower(email) = lower(${name}) or lower(username) = lower(${name}))
        order by lower(email) = lower(${name}) desc limit 1`.named('find-candidate'),
  );

export const findPasswordHash = async (db: Queryable, userId: number) =>
  (
    await db.maybeOne<Pick<Candidate, 'passwordHash'>>(
      sql`select password_hash as "passwordHash" from users where id = ${userId} and not is_deactivated`,
    )
  )?.passwordHash ?? null;

/** Whether the user has a session that began in this network. */
export const hasSessionFrom = async (db: Queryable, userId: number, network: string) =>
  (
    await db.one<{ exists: boolean }>(sql`
      select exists (select from sessions where user_id = ${userId} and network = ${network} and expires_at > now())`)
  ).exists;
