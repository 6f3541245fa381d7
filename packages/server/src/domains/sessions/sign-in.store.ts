import type { Queryable } from '../../platform/db/database.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { isPerson, usernameKey } from '../users/index.ts';

export interface Candidate {
  userId: number;
  passwordHash: string | null;
}

/** The active person with this email or, if nobody has it as email, with this username. */
export const findCandidate = (db: Queryable, name: string) =>
  db.maybeOne<Candidate>(
    sql`select u.id as "userId", u.password_hash as "passwordHash" from users u
        where ${isPerson} and not u.is_deactivated
          and (lower(u.email) = lower(${name}) or ${usernameKey(raw('u.username'))} = ${usernameKey(name)})
        order by lower(u.email) = lower(${name}) desc limit 1`.named('find-candidate'),
  );

export const findPasswordHash = async (db: Queryable, userId: number) =>
  (
    await db.maybeOne<Pick<Candidate, 'passwordHash'>>(
      sql`select password_hash as "passwordHash" from users where id = ${userId} and not is_deactivated`,
    )
  )?.passwordHash ?? null;
