/** What happens to reports when their owner, deployment, embed tenant or folder is deleted. */

import type { Cleanup } from '../../platform/cleanup.ts';
import { hasRows } from '../../platform/db/has-rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { isOfUsersIn, isRemoved } from '../access/index.ts';
import { foldersToRemove, isInRemoved } from '../folders/index.ts';

export const cleanup: Cleanup = {
  user: {
    owns: (tx, userId) =>
      hasRows(tx, sql`select from reports r where user_id = ${userId} and not ${isRemoved('r')}`),
    handOver: (tx, userId, heirId, rows) =>
      tx.run(sql`
        update reports set user_id = ${heirId}
        where id = any(array(select id from reports where user_id = ${userId} limit ${rows})) and user_id = ${userId}`),
    removeOf: [
      (db, userId, rows) =>
        db.run(sql`
          delete from report_views where user_id = ${userId} and report_id = any(array(
            select report_id from report_views where user_id = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update reports set created_by = null
          where id = any(array(select id from reports where created_by = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update reports set refreshed_by = null
          where id = any(array(select id from reports where refreshed_by = ${userId} limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: [
      // The order is that of an index.
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from reports where id = any(array(
            select id from reports where deployment_id = ${deploymentId} and embed_tenant is null order by id limit ${rows}))`),
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from reports where id = any(array(
            select id from reports where deployment_id = ${deploymentId} and embed_tenant is not null order by embed_tenant, created_at, id limit ${rows}))`),
      // The counts come last, because removing reports changes them.
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from report_counts where ctid = any(array(
            select ctid from report_counts where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
    isLeft: (db, deploymentId) =>
      hasRows(
        db,
        sql`select from reports where deployment_id = ${deploymentId}
            union all select from report_counts where deployment_id = ${deploymentId}`,
      ),
  },
  embedTenant: {
    removeOf: [
      (db, { contentKey }, rows) =>
        db.run(sql`
          delete from reports where id = any(array(
            select id from reports where embed_tenant = ${contentKey} limit ${rows}))`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from reports where id = any(array(
            select id from reports where ${isOfUsersIn(hiddenName)} limit ${rows}))`),
    ],
    // A request that held a lock on content of the tenant during the removal may have made a copy of it.
    isLeft: (db, { contentKey }) => hasRows(db, sql`select from reports where embed_tenant = ${contentKey}`),
  },
  folder: {
    removeOf: (db, rootId, rows) =>
      db.run(sql`
        delete from reports where id = any(array(
          select id from reports where scope_folder_id in (${foldersToRemove(rootId)}) limit ${rows}))
        and scope_folder_id ${isInRemoved(rootId)}`),
    // Reports in workbooks stay there. From now on, viewers reach them only through their workbook.
    returnToRoot: (tx, folderId, rows) =>
      tx.run(sql`
        update reports set folder_id = null, scope_folder_id = null,
          version = version + case when folder_id is null then 0 else 1 end
        where id = any(array(
          select id from reports where scope_folder_id = ${folderId} order by created_at, id limit ${rows}))
          and scope_folder_id = ${folderId}`),
  },
};
