/** Reports as callers see them: the stored ones, and what lies around them, which is read once for a whole page. */
import type { Action } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { EDIT, type Level, MANAGE, type Noun, READ, type Viewer } from '../access/index.ts';
import * as store from './store.ts';

type RolePolicy = NonNullable<store.Surroundings['rolePolicies']>[number];

interface Owner {
  id: number;
  email: string;
  firstName: string | null;
  picture: string | null;
}

export interface ReportRow extends store.ReportFields, store.Place {
  id: number;
  publicId: string;
  deploymentId: number;
  type: 'REPORT';
  userId: number;
  user: Owner;
  createdBy: number;
  refreshedBy: number | null;
  refreshedByUser: Owner;
  folderPath: { id: number; name: string }[];
  externalWorkbookPlacements: { workbookId: string; resultLocation: string; endResultCell: string | null }[];
  rolesWithAccess: { id: number; name: string; actions: Action[] }[];
  version: number;
  createdAt: string;
  updatedAt: string;
  level: Level;
  canEdit: boolean;
  canManage: boolean;
}

/** The reports with these ids that the viewer can read, or has at least that level on, in no particular order. */
export const findReports = async (
  db: Queryable,
  viewer: Viewer,
  ids: readonly number[],
  least: Level = READ,
) => parse(db, viewer, await store.findStoredReports(db, viewer, ids, least));

export const findReportByPublicId = async (db: Queryable, viewer: Viewer, publicId: string) =>
  (await parse(db, viewer, await store.findStoredReportByPublicId(db, viewer, publicId)))[0];

/** As above, as the JSON that callers get, for lists that only pass it on. */
export async function findReportTexts(db: Queryable, viewer: Viewer, ids: readonly number[]) {
  const rows = await store.findStoredReports(db, viewer, ids, READ);
  const texts = await write(db, viewer, rows);
  return rows.map(({ id }, i) => ({ id, text: texts[i]! }));
}

async function parse(db: Queryable, viewer: Viewer, rows: store.StoredReport[]): Promise<ReportRow[]> {
  const texts = await write(db, viewer, rows);
  return rows.map(({ scopeFolderId, embedTenant, level }, i) => ({
    ...JSON.parse(texts[i]!),
    scopeFolderId,
    embedTenant,
    level,
  }));
}

/** What lies around the reports is read once for all of them, and written behind their own fields. */
async function write(db: Queryable, viewer: Viewer, rows: store.StoredReport[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const around = await store.findSurroundings(db, {
    reportIds: rows.map(({ id }) => id),
    workbookIds: rows.flatMap(({ workbookId }) => workbookId ?? []),
    folderIds: [...new Set(rows.flatMap(({ path }) => path ?? []))],
    userIds: [...new Set(rows.flatMap(({ userId, refresherId }) => [userId, refresherId]))],
  });
  const entries = new Map(
    Object.entries(around.folders ?? {}).map(([id, name]) => [
      Number(id),
      JSON.stringify({ id: Number(id), name }),
    ]),
  );
  const owners = new Map(around.users.map((user) => [user.id, JSON.stringify(user)]));
  const placements = groupBy(around.placements ?? [], ({ reportId }) => reportId);
  const rolePolicies = viewer.isExternal ? [] : (around.rolePolicies ?? []);
  const policies = groupBy(rolePolicies, ({ resourceType, resourceId }) => keyOf(resourceType, resourceId));
  return rows.map((row) => {
    const folderPath = (row.path ?? []).map((id) => entries.get(id)).join();
    const placed = (placements.get(row.id) ?? []).map(({ reportId: _report, ...placement }) => placement);
    const roles =
      policies.size === 0 ? [] : rolesOf(policiesOver(row).flatMap((key) => policies.get(key) ?? []));
    return (
      `${row.wire.slice(0, -1)},"user":${owners.get(row.userId)},"refreshedByUser":${owners.get(row.refresherId)},"folderPath":[${folderPath}],"externalWorkbookPlacements":${JSON.stringify(placed)},` +
      `"rolesWithAccess":${JSON.stringify(roles)},"canEdit":${row.level >= EDIT},"canManage":${row.level >= MANAGE}}`
    );
  });
}

/** The report, its workbook and the folders above it. */
const policiesOver = ({ id, workbookId, path }: store.StoredReport) => [
  keyOf('Report', id),
  ...(workbookId === null ? [] : [keyOf('Workbook', workbookId)]),
  ...(path ?? []).map((folderId) => keyOf('Folder', folderId)),
];

/** The report without what only we need to know. */
export const toReport = ({
  scopeFolderId: _scope,
  embedTenant: _tenant,
  level: _level,
  ...report
}: ReportRow) => report;

const keyOf = (noun: Noun, id: number) => `${noun}:${id}`;

/** Each role once, with all that it was given on the report or above it. */
function rolesOf(policies: RolePolicy[]) {
  const roles = new Map<number, { id: number; name: string; actions: Action[] }>();
  for (const { roleId, roleName, action } of policies) {
    const role = roles.get(roleId) ?? { id: roleId, name: roleName, actions: [] };
    if (!role.actions.includes(action)) role.actions.push(action);
    roles.set(roleId, role);
  }
  for (const role of roles.values()) role.actions.sort();
  return [...roles.values()].sort((a, b) => a.id - b.id);
}

function groupBy<Item, Key>(items: Item[], keyOfItem: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
