import type { Action } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export interface RoleRow {
  id: number;
  name: string;
  description: string | null;
  actions: Action[];
  isBuiltIn: boolean;
}

const COLUMNS = sql`id, name, description, actions, is_built_in as "isBuiltIn"`;

export const listRoles = (db: Queryable, page: PageById) =>
  db.many<RoleRow>(sql`
    select ${COLUMNS} from roles where id > ${page.afterId} order by id limit ${page.limit}`);

export const findRole = (db: Queryable, id: number) =>
  db.maybeOne<RoleRow>(sql`select ${COLUMNS} from roles where id = ${id}`.named('find-role'));

/** Nobody else can change the role, or give it to a user, until the transaction ends. */
export const lockRole = (tx: Tx, id: number) =>
  tx.maybeOne<RoleRow>(sql`select ${COLUMNS} from roles where id = ${id} for update`);

export const insertRole = (tx: Tx, role: Pick<RoleRow, 'name' | 'description' | 'actions'>) =>
  tx.one<RoleRow>(sql`
    insert into roles (name, description, actions)
    values (${role.name}, ${role.description}, ${role.actions})
    returning ${COLUMNS}`);

export const updateRole = (tx: Tx, role: Pick<RoleRow, 'id' | 'name' | 'description' | 'actions'>) =>
  tx.one<RoleRow>(sql`
    update roles set name = ${role.name}, description = ${role.description}, actions = ${role.actions}
    where id = ${role.id} returning ${COLUMNS}`);

export const deleteRole = (tx: Tx, id: number) => tx.run(sql`delete from roles where id = ${id}`);
