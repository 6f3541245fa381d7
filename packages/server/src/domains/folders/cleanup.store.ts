/** What happens to folders when their owner, deployment or embed tenant is deleted. */

import type { Cleanup } from '../../platform/cleanup.ts';
import { hasRows } from '../../platform/db/has-rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { isOfUsersIn, isRemoved } from '../access/index.ts';

export const cleanup: Cleanup = {
  user: {
    owns: (tx, userId) =>
      hasRows(tx, sql`select from folders f where user_id = ${userId} and not ${isRemoved('f')}`),
    handOver: (tx, userId, heirId, rows) =>
      tx.run(sql`
        update folders set user_id = ${heirId}
        where id = any(array(select id from folders where user_id = ${userId} limit ${rows})) and user_id = ${userId}`),
    removeOf: [
      (db, userId, rows) =>
        db.run(sql`
          update folders set created_by = null
          where id = any(array(select id from folders where created_by = ${userId} limit ${rows}))`),
      (db, userId, rows) =>
        db.run(sql`
          update folders set updated_by = null
          where id = any(array(select id from folders where updated_by = ${userId} limit ${rows}))`),
    ],
  },
  deployment: {
    removeOf: [
      // Deepest first, because deleting a folder also deletes the folders below it.
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from folders where id = any(array(
            select id from folders where deployment_id = ${deploymentId} order by cardinality(path) desc limit ${rows}))`),
    ],
    isLeft: (db, deploymentId) => hasRows(db, sql`select from folders where deployment_id = ${deploymentId}`),
  },
  embedTenant: {
    removeOf: [
      (db, { contentKey }, rows) =>
        db.run(sql`
          delete from folders where id = any(array(
            select id from folders where embed_tenant = ${contentKey} order by cardinality(path) desc limit ${rows}))`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from folders where id = any(array(
            select id from folders where ${isOfUsersIn(hiddenName)} order by cardinality(path) desc limit ${rows}))`),
    ],
    // A request that held a lock on content of the tenant during the removal may have made a copy of it.
    isLeft: (db, { contentKey }) => hasRows(db, sql`select from folders where embed_tenant = ${contentKey}`),
  },
};
