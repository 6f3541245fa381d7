import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface UserRow {
  id: number;
  username: string;
  email: string;
  firstName: string | null;
  title: string | null;
  picture: string | null;
  externalId: string | null;
  isDeactivated: boolean;
  notifications: object;
  createdAt: string;
  updatedAt: string;
  lastLogin: string | null;
  /** Names, sorted. */
  roles: string[];
  isAdmin: boolean;
}

export interface NewUser {
  username: string;
  email: string;
  passwordHash: string | null;
  firstName: string | null;
  picture: string | null;
  externalId: string | null;
}

export const findUser = (db: Queryable, id: number) =>
  db.maybeOne<UserRow>(
    sql`select u.id, u.username, u.email, u.first_name as "firstName", u.title, u.picture,
               u.external_id as "externalId", u.is_deactivated as "isDeactivated", u.notifications,
               u.created_at as "createdAt", u.updated_at as "updatedAt", u.last_login as "lastLogin",
               r.names as roles, r.admin as "isAdmin"
        from users u, lateral (
          select coalesce(json_agg(r.name order by r.name collate "C"), '[]') as names,
                 coalesce(bool_or('All' = any(r.actions)), false) as admin
          from user_roles ur join roles r on r.id = ur.role_id
          where ur.user_id = u.id) r
        where u.id = ${id}`.named('find-user'),
  );

export const insertUser = async (tx: Tx, user: NewUser) =>
  (
    await tx.one<{ id: number }>(sql`
      insert into users (username, email, password_hash, first_name, picture, external_id)
      values (${user.username}, ${user.email}, ${user.passwordHash}, ${user.firstName}, ${user.picture}, ${user.externalId})
      returning id`)
  ).id;

/** Gives the user the roles with these names, and answers the names of those that exist. */
export const insertUserRoles = async (tx: Tx, userId: number, roleNames: string[]) =>
  (
    await tx.many<{ name: string }>(sql`
      with given as (
        insert into user_roles (user_id, role_id)
        select ${userId}, id from roles where name = any(${roleNames}) returning role_id)
      select name from roles where id in (select role_id from given)`)
  ).map(({ name }) => name);

export const countUsers = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*) from users`)).count;
