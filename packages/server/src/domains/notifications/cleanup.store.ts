/** What happens to notifications when a user, a deployment, an embed tenant or a folder is deleted. */

import type { Cleanup } from '../../platform/cleanup.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { isOfUsersIn } from '../access/index.ts';
import { foldersToRemove } from '../folders/index.ts';

/** Deletes up to this many rows that hang on these notifications, deepest first, and then the notifications. */
const removals = (ids: Sql) => [
  (db: Database, rows: number) =>
    db.run(sql`
      delete from notification_deliveries where id = any(array(
        select x.id from notification_deliveries x join notification_runs r on r.id = x.run_id
        where r.notification_id in (${ids}) limit ${rows}))`),
  (db: Database, rows: number) =>
    db.run(sql`
      delete from notification_runs where id = any(array(
        select id from notification_runs where notification_id in (${ids}) limit ${rows}))`),
  (db: Database, rows: number) =>
    db.run(sql`
      delete from notification_recipients where id = any(array(
        select id from notification_recipients where notification_id in (${ids}) limit ${rows}))`),
  (db: Database, rows: number) =>
    db.run(sql`delete from notifications where id = any(array(${ids} limit ${rows}))`),
];
const STEPS = [0, 1, 2, 3];

const ofDeployment = (deploymentId: number) => sql`
  select n.id from workbooks w join dashboards d on d.workbook_id = w.id join notifications n on n.dashboard_id = d.id
  where w.deployment_id = ${deploymentId}`;
const ofTenant = (contentKey: string) => sql`
  select n.id from notifications n where n.embed_tenant = ${contentKey}`;
/** The notifications of dashboards that are deleted with the embed tenant. */
const ofContent = ({ contentKey, hiddenName }: { contentKey: string; hiddenName: string }) => sql`
  select n.id from (select id from workbooks where embed_tenant = ${contentKey} or ${isOfUsersIn(hiddenName)}) w
  join dashboards d on d.workbook_id = w.id join notifications n on n.dashboard_id = d.id`;

const recipientsOf = (condition: Sql) => (db: Database, rows: number) =>
  db.run(sql`
    delete from notification_recipients where id = any(array(
      select id from notification_recipients where ${condition} limit ${rows}))`);

export const cleanup: Cleanup = {
  user: {
    handOver: (tx, userId, heirId, rows) =>
      tx.run(sql`
        update notifications set user_id = ${heirId}
        where id = any(array(select id from notifications where user_id = ${userId} limit ${rows}))`),
    removeOf: [
      (db, userId, rows) => recipientsOf(sql`user_id = ${userId}`)(db, rows),
      (db, userId, rows) =>
        db.run(sql`
          update notification_deliveries set user_id = null, address = null
          where id = any(array(select id from notification_deliveries where user_id = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update notification_runs set requested_by = null
          where id = any(array(select id from notification_runs where requested_by = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update notifications set user_id = null
          where id = any(array(select id from notifications where user_id = ${userId} limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: STEPS.map(
      (step) => (db, deploymentId, rows) => removals(ofDeployment(deploymentId))[step]!(db, rows),
    ),
  },
  embedTenant: {
    removeOf: [
      ...STEPS.map(
        (step) =>
          (db: Database, { contentKey }: { contentKey: string }, rows: number) =>
            removals(ofTenant(contentKey))[step]!(db, rows),
      ),
      ...STEPS.map(
        (step) => (db: Database, gone: { contentKey: string; hiddenName: string }, rows: number) =>
          removals(ofContent(gone))[step]!(db, rows),
      ),
      (db, { hiddenName }, rows) => recipientsOf(isOfUsersIn(hiddenName))(db, rows),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          update notification_deliveries set user_id = null, address = null
          where id = any(array(
            select id from notification_deliveries where ${isOfUsersIn(hiddenName)} limit ${rows}))`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from notification_recipients where id = any(array(
            select r.id from notification_recipients r join user_groups g on g.id = r.group_id
            where g.embed_tenant = ${hiddenName} limit ${rows}))`),
    ],
  },
  folder: {
    // The lock keeps the workbooks where they are: one that a request has just moved out keeps its notifications.
    removeOf: (db, rootId, rows) =>
      db.run(sql`
        delete from notifications where id = any(array(
          select n.id from workbooks w join dashboards d on d.workbook_id = w.id
          join notifications n on n.dashboard_id = d.id
          where w.folder_id in (${foldersToRemove(rootId)}) limit ${rows} for share of w))`),
  },
};
