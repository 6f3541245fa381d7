import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

/** The theme that the host has given to the session. */
export const findEmbedTheme = async (db: Queryable, sessionId: number) =>
  (
    await db.maybeOne<{ embedTheme: object | null }>(
      sql`select embed_theme as "embedTheme" from embed_sessions where id = ${sessionId}`,
    )
  )?.embedTheme ?? null;
