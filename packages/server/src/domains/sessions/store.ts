import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export type SessionKind = 'login' | 'device' | 'console';

export interface SessionRow {
  id: number;
  kind: SessionKind;
  clientId: string | null;
  userAgent: string | null;
  ip: string | null;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string;
}

export interface OwnedSession extends SessionRow {
  userId: number;
}

const COLUMNS = sql`id, kind, client_id as "clientId", user_agent as "userAgent", ip, created_at as "createdAt",
  last_used_at as "lastUsedAt", expires_at as "expiresAt"`;

export interface NewSession {
  userId: number;
  kind: SessionKind;
  clientId: string | null;
  userAgent: string | null;
  ip: string;
  seconds: number;
  replaces?: number[];
}

const inSeconds = (seconds: number): Sql => sql`now() + ${seconds} * interval '1 second'`;

export const insertSession = (tx: Tx, session: NewSession) =>
  tx.one<OwnedSession>(sql`
    insert into sessions (user_id, kind, client_id, user_agent, ip, expires_at, replaces)
    values (${session.userId}, ${session.kind}, ${session.clientId}, ${session.userAgent}, ${session.ip},
            ${inSeconds(session.seconds)}, ${session.replaces ?? []})
    returning user_id as "userId", ${COLUMNS}`);

export const findSession = (tx: Tx, id: number) =>
  tx.one<OwnedSession>(sql`select user_id as "userId", ${COLUMNS} from sessions where id = ${id}`);

/** Returns undefined if this is no session of the user, or if it has ended. */
export const findOpen = (tx: Tx, userId: number, id: number) =>
  tx.maybeOne<{ kind: SessionKind; replaces: number[] }>(
    sql`select kind, to_json(replaces) as replaces from sessions where user_id = ${userId} and id = ${id} and expires_at > now()`,
  );

/** The token ends with the session, or earlier if it is given fewer seconds. */
export const insertToken = (tx: Tx, sessionId: number, tokenHash: Buffer, seconds: number) =>
  tx.one<{ expiresAt: string }>(sql`
    insert into session_tokens (token_hash, session_id, expires_at)
    select ${tokenHash}, id, least(expires_at, ${inSeconds(seconds)}) from sessions where id = ${sessionId}
    returning expires_at as "expiresAt"`);

/** Only the newest access tokens of a session stay. */
export const deleteOldTokens = (tx: Tx, sessionId: number, keep: number) =>
  tx.run(sql`
    delete from session_tokens where session_id = ${sessionId} and token_hash not in (
      select token_hash from session_tokens where session_id = ${sessionId} order by expires_at desc limit ${keep})`);

/** Of the sessions of a user, those that were used last stay. The caller has locked the user. */
export const deleteUnusedSessions = (tx: Tx, userId: number, keep: number) =>
  tx.run(sql`
    delete from sessions where user_id = ${userId} and id not in (
      select id from sessions where user_id = ${userId}
      order by greatest(created_at, last_used_at) desc, id desc limit ${keep})`);

export interface RefreshRow {
  userId: number;
  clientId: string | null;
  refreshHash: Buffer | null;
  isOver: boolean;
}

export const lockSession = (tx: Tx, id: number) =>
  tx.maybeOne<RefreshRow>(sql`
    select user_id as "userId", client_id as "clientId", refresh_hash as "refreshHash", expires_at <= now() as "isOver" from sessions where id = ${id} for update`);

/** Each use makes the session longer, up to the limit for the whole session. */
export const updateRefreshHash = (
  tx: Tx,
  id: number,
  refreshHash: Buffer,
  { idleSeconds, maxSeconds }: { idleSeconds: number; maxSeconds: number },
) =>
  tx.run(sql`
    update sessions
    set refresh_hash = ${refreshHash}, last_used_at = now(),
        expires_at = least(${inSeconds(idleSeconds)}, created_at + ${maxSeconds} * interval '1 second')
    where id = ${id}`);

export const listSessions = (db: Queryable, userId: number, page: PageById) =>
  db.many<SessionRow>(sql`
    select ${COLUMNS} from sessions
    where user_id = ${userId} and expires_at > now() and id > ${page.afterId} order by id limit ${page.limit}`);

/** If the session was renewed, this deletes the one that replaced it. */
export const deleteSession = (tx: Tx, userId: number, id: number) =>
  tx.maybeOne<SessionRow>(sql`
    delete from sessions where user_id = ${userId} and (id = ${id} or ${id} = any(replaces)) and expires_at > now()
    returning ${COLUMNS}`);

/** Returns undefined if the token is unknown. */
export const deleteSessionOfToken = (tx: Tx, tokenHash: Buffer) =>
  tx.maybeOne<{ sessionId: number; userId: number }>(sql`
    delete from sessions where id = (select session_id from session_tokens where token_hash = ${tokenHash})
    returning id as "sessionId", user_id as "userId"`);

export const deleteSessionsOf = (tx: Tx, userId: number) =>
  tx.many<SessionRow>(sql`delete from sessions where user_id = ${userId} returning ${COLUMNS}`);

/** More sessions than anybody begins between a backup and its restore. */
const SKIPPED_IDS = 1_000_000_000;

/** For a restored database: its next sessions get none of the ids that sessions got after the backup. */
export const skipSessionIds = (db: Queryable) =>
  db.run(sql`
    select setval(s, nextval(s) + ${SKIPPED_IDS}) from pg_get_serial_sequence('sessions', 'id') as s`);

/** A time that is older than the stored one changes nothing. */
export const updateLastUsed = (db: Queryable, uses: { id: number; at: string }[]) =>
  db.run(sql`
    update sessions s set last_used_at = u.at
    from unnest(${uses.map(({ id }) => id)}::bigint[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
    where s.id = u.id and (s.last_used_at is null or s.last_used_at < u.at)`);

/** Deletes up to this many rows that have expired, and returns how many. */
export const deleteExpiredSessions = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from sessions where id in (
      select id from sessions where expires_at < now() order by expires_at limit ${rows} for update skip locked)`);

export const deleteExpiredTokens = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from session_tokens where token_hash in (
      select token_hash from session_tokens where expires_at < now() order by expires_at limit ${rows}
      for update skip locked)`);
