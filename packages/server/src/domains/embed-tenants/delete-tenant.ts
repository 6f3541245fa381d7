import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import * as store from './store.ts';

/**
 * Answers what the embed tenant was, and how much went with it. The tenant and its users are locked before anything
 * else: nobody joins it any more, and what its users were making meanwhile is there to be deleted.
 */
export async function deleteTenant(tx: Tx, name: string) {
  const tenant = await store.lockTenantForDeletion(tx, name);
  if (!tenant) throw new ApiError('embed_tenant_not_found');
  await store.lockUsers(tx, name);
  const content = await deleteContent(tx, name);
  const deleted = {
    ...content,
    sessions: await store.deleteSessions(tx, name),
    groups: await store.deleteGroups(tx, name),
    attributes: await store.deleteAttributes(tx, name),
    users: await store.deleteUsers(tx, name),
  };
  await store.deleteTenant(tx, name);
  return { ...tenant, deleted };
}

/** Who held something of it while we waited may have made a copy: only when nothing is found, nothing is left. */
async function deleteContent(tx: Tx, name: string) {
  const total = { reports: 0, workbooks: 0, folders: 0 };
  for (;;) {
    const reports = await store.deleteContent(tx, 'reports', name);
    const workbooks = await store.deleteContent(tx, 'workbooks', name);
    const folders = await store.deleteContent(tx, 'folders', name);
    if (!reports && !workbooks && !folders) return total;
    total.reports += reports;
    total.workbooks += workbooks;
    total.folders += folders;
  }
}
