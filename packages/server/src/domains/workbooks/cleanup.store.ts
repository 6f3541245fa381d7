/** What happens to workbooks when their owner, deployment, embed tenant or folder is deleted. */

import type { Cleanup } from '../../platform/cleanup.ts';
import { hasRows } from '../../platform/db/has-rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { isOfUsersIn, isRemoved } from '../access/index.ts';
import { foldersToRemove, isInRemoved } from '../folders/index.ts';

export const cleanup: Cleanup = {
  user: {
    owns: (tx, userId) =>
      hasRows(tx, sql`select from workbooks w where user_id = ${userId} and not ${isRemoved('w')}`),
    handOver: (tx, userId, heirId, rows) =>
      tx.run(sql`
        update workbooks set user_id = ${heirId}
        where id = any(array(select id from workbooks where user_id = ${userId} limit ${rows})) and user_id = ${userId}`),
    removeOf: [
      (db, userId, rows) =>
        db.run(sql`
          update workbooks set created_by = null
          where id = any(array(select id from workbooks where created_by = ${userId} limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from workbooks where id = any(array(
            select id from workbooks where deployment_id = ${deploymentId} order by created_at, id limit ${rows}))`),
    ],
    isLeft: (db, deploymentId) =>
      hasRows(db, sql`select from workbooks where deployment_id = ${deploymentId}`),
  },
  embedTenant: {
    removeOf: [
      (db, { contentKey }, rows) =>
        db.run(sql`
          delete from workbooks where id = any(array(
            select id from workbooks where embed_tenant = ${contentKey} limit ${rows}))`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from workbooks where id = any(array(
            select id from workbooks where ${isOfUsersIn(hiddenName)} limit ${rows}))`),
    ],
    // A request that held a lock on content of the tenant during the removal may have made a copy of it.
    isLeft: (db, { contentKey }) =>
      hasRows(db, sql`select from workbooks where embed_tenant = ${contentKey}`),
  },
  folder: {
    // The slugs can be used again at once.
    hideBelow: (tx, rootId) =>
      tx.run(
        sql`update workbooks set slug = null where slug is not null and folder_id ${isInRemoved(rootId)}`,
      ),
    removeOf: (db, rootId, rows) =>
      db.run(sql`
        delete from workbooks where id = any(array(
          select id from workbooks where folder_id in (${foldersToRemove(rootId)}) limit ${rows}))
        and folder_id ${isInRemoved(rootId)}`),
    returnToRoot: (tx, folderId, rows) =>
      tx.run(sql`
        update workbooks set folder_id = null, version = version + 1
        where id = any(array(
          select id from workbooks where folder_id = ${folderId} order by created_at, id limit ${rows}))
          and folder_id = ${folderId}`),
  },
};
