import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { isPerson } from '../users/index.ts';

export type LinkKind = 'invitation' | 'reset';

export interface NewLink {
  userId: number;
  kind: LinkKind;
  secretHash: Buffer;
  seconds: number;
  /** The secret, encrypted, if it is to be mailed. */
  mailSecret: Buffer | null;
}

/** Replaces an earlier link of the user. */
export const upsertLink = (tx: Tx, link: NewLink) =>
  tx.one<{ expiresAt: string }>(sql`
    insert into password_links (user_id, kind, secret_hash, expires_at, mail_secret)
    values (${link.userId}, ${link.kind}, ${link.secretHash}, now() + ${link.seconds} * interval '1 second',
      ${link.mailSecret})
    on conflict (user_id) do update
    set kind = excluded.kind, secret_hash = excluded.secret_hash, created_at = now(), expires_at = excluded.expires_at,
      mail_secret = excluded.mail_secret
    returning expires_at as "expiresAt"`);

export interface LinkRow {
  userId: number;
  kind: LinkKind;
  username: string;
  email: string;
  firstName: string | null;
}

/** The link, and the active person whom it is for. */
export const findLink = (db: Queryable, userId: number, secretHash: Buffer) =>
  db.maybeOne<LinkRow>(sql`
    select u.id as "userId", l.kind, u.username, u.shown_email as email, u.first_name as "firstName"
    from password_links l join users u on u.id = l.user_id
    where l.user_id = ${userId} and l.secret_hash = ${secretHash} and l.expires_at > now()
      and ${isPerson} and not u.is_deactivated`);

export interface LinkToMail {
  kind: LinkKind;
  mailSecret: Buffer;
  createdAt: string;
  expiresAt: string;
  email: string;
  firstName: string | null;
}

export const findLinkToMail = (db: Queryable, userId: number) =>
  db.maybeOne<LinkToMail>(sql`
    select l.kind, l.mail_secret as "mailSecret", l.created_at as "createdAt", l.expires_at as "expiresAt",
      u.shown_email as email, u.first_name as "firstName"
    from password_links l join users u on u.id = l.user_id
    where l.user_id = ${userId} and l.mail_secret is not null and l.expires_at > now()
      and ${isPerson} and not u.is_deactivated`);

/** Removes the sealed secret, unless a newer link has taken its place. */
export const noteMailed = (db: Queryable, userId: number, mailSecret: Buffer) =>
  db.run(sql`
    update password_links set mail_secret = null where user_id = ${userId} and mail_secret = ${mailSecret}`);

/** The link of the user that works now. */
export const findCurrentLink = (db: Queryable, userId: number, recentMinutes: number) =>
  db.maybeOne<{ kind: LinkKind; isRecent: boolean; secondsLeft: number }>(sql`
    select kind, created_at > now() - ${recentMinutes} * interval '1 minute' as "isRecent",
      ceil(extract(epoch from expires_at - now()))::int as "secondsLeft"
    from password_links where user_id = ${userId} and expires_at > now()`);

/** Returns whether the link still worked. Of two calls, only one gets it. */
export const deleteLink = async (tx: Tx, userId: number, secretHash: Buffer) =>
  (await tx.run(sql`
    delete from password_links where user_id = ${userId} and secret_hash = ${secretHash} and expires_at > now()`)) ===
  1;

/** Deletes up to this many links that have expired, and returns how many. */
export const deleteExpiredLinks = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from password_links where user_id in (
      select user_id from password_links where expires_at < now() order by expires_at limit ${rows}
      for update skip locked)`);
