/** What happens to dashboards when a user, a deployment, an embed tenant or a folder is deleted. */

import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';
import { isOfUsersIn } from '../access/index.ts';
import { foldersToRemove } from '../folders/index.ts';

export const cleanup: Cleanup = {
  user: {
    removeOf: [
      (db, userId, rows) =>
        db.run(sql`
          update dashboards set created_by = null
          where id = any(array(select id from dashboards where created_by = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update dashboard_versions set published_by = null
          where id = any(array(select id from dashboard_versions where published_by = ${userId} limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from dashboards where id = any(array(
            select d.id from workbooks w join dashboards d on d.workbook_id = w.id
            where w.deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
  embedTenant: {
    removeOf: [
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from dashboard_embed_access where embed_tenant = ${hiddenName} and dashboard_id = any(array(
            select dashboard_id from dashboard_embed_access where embed_tenant = ${hiddenName} limit ${rows}))`),
      (db, { contentKey }, rows) =>
        db.run(sql`
          delete from dashboards where id = any(array(
            select d.id from workbooks w join dashboards d on d.workbook_id = w.id
            where w.embed_tenant = ${contentKey} limit ${rows}))`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from dashboards where id = any(array(
            select d.id from (select id from workbooks where ${isOfUsersIn(hiddenName)}) w
            join dashboards d on d.workbook_id = w.id limit ${rows}))`),
    ],
  },
  folder: {
    // The lock keeps the workbooks where they are: one that a request has just moved out keeps its dashboard.
    removeOf: (db, rootId, rows) =>
      db.run(sql`
        delete from dashboards where id = any(array(
          select d.id from workbooks w join dashboards d on d.workbook_id = w.id
          where w.folder_id in (${foldersToRemove(rootId)}) limit ${rows} for share of w))`),
  },
};
