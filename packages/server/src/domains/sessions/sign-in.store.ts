import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { isPerson, usernameKey } from '../users/index.ts';

export interface Candidate {
  /** The name in the form in which names are compared. */
  key: string;
  /** Null if no person has the name. */
  userId: number | null;
  /** Null if the person may not sign in with a password. */
  passwordHash: string | null;
}

/** The person with this email or username. No two people have the same one. */
export const findCandidate = (db: Queryable, name: string) =>
  db.one<Candidate>(
    sql`select k.key, u.id as "userId",
          case when not u.is_deactivated then u.password_hash end as "passwordHash"
        from (select ${usernameKey(name)} as key) k
        left join sign_in_names n on n.name = k.key
        left join users u on u.id = n.user_id and ${isPerson}`.named('find-candidate'),
  );

export const findPasswordHash = async (db: Queryable, userId: number) =>
  (
    await db.maybeOne<{ passwordHash: string | null }>(
      sql`select password_hash as "passwordHash" from users where id = ${userId} and not is_deactivated`,
    )
  )?.passwordHash ?? null;
