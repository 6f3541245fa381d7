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
) => assemble(db, await store.findStoredReports(db, viewer, ids, least));

export const findReportByPublicId = async (db: Queryable, viewer: Viewer, publicId: string) =>
  (await assemble(db, await store.findStoredReportByPublicId(db, viewer, publicId)))[0];

async function assemble(db: Queryable, rows: store.StoredReport[]): Promise<ReportRow[]> {
  if (rows.length === 0) return [];
  const around = await store.findSurroundings(db, {
    reportIds: rows.map(({ id }) => id),
    workbookIds: rows.flatMap(({ workbookId }) => workbookId ?? []),
    folderIds: [...new Set(rows.flatMap(({ path }) => path ?? []))],
  });
  const placements = groupBy(around.placements ?? [], ({ reportId }) => reportId);
  const policies = groupBy(around.rolePolicies ?? [], ({ resourceType, resourceId }) =>
    keyOf(resourceType, resourceId),
  );
  for (const row of rows) complete(row, around, placements, policies);
  return rows as (store.StoredReport & ReportRow)[];
}

/** Adds to the row itself: copying forty fields of each of a thousand rows is what a page would mostly cost. */
function complete(
  row: store.StoredReport & Partial<ReportRow>,
  { folders }: store.Surroundings,
  placements: Map<number, ReportRow['externalWorkbookPlacements']>,
  policies: Map<string, RolePolicy[]>,
) {
  const { email, firstName, picture } = row;
  row.type = 'REPORT';
  row.user = { id: row.userId, email, firstName, picture };
  row.refreshedByUser = {
    id: row.refresherId,
    email: row.refresherEmail,
    firstName: row.refresherFirstName,
    picture: row.refresherPicture,
  };
  row.folderPath = (row.path ?? []).map((id) => ({ id, name: folders?.[id] ?? '' }));
  row.externalWorkbookPlacements = placements.get(row.id) ?? [];
  row.rolesWithAccess =
    policies.size === 0 ? [] : rolesOf(policiesOver(row).flatMap((key) => policies.get(key) ?? []));
  row.canEdit = row.level >= EDIT;
  row.canManage = row.level >= MANAGE;
}

/** The report, its workbook and the folders above it. */
const policiesOver = ({ id, workbookId, path }: store.StoredReport) => [
  keyOf('Report', id),
  ...(workbookId === null ? [] : [keyOf('Workbook', workbookId)]),
  ...(path ?? []).map((folderId) => keyOf('Folder', folderId)),
];

/** The report without what only we need to know. */
export function toReport(row: ReportRow) {
  const {
    scopeFolderId: _scope,
    embedTenant: _tenant,
    level: _level,
    path: _path,
    email: _email,
    firstName: _firstName,
    picture: _picture,
    refresherId: _refresher,
    refresherEmail: _refresherEmail,
    refresherFirstName: _refresherName,
    refresherPicture: _refresherPicture,
    ...report
  } = row as ReportRow & store.StoredReport;
  return report;
}

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
