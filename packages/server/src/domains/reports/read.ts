/** Reports as callers see them: the stored ones, and what lies around them, which is read once for a whole page. */
import type { Action } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { EDIT, type Level, MANAGE, type Noun, READ, type Viewer } from '../access/index.ts';
import * as store from './store.ts';

type RolePolicy = store.StoredReports['rolePolicies'][number];

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
) => parse(await store.findStoredReports(db, viewer, ids, least));

export const findReportByPublicId = async (db: Queryable, viewer: Viewer, publicId: string) =>
  parse(await store.findStoredReportByPublicId(db, viewer, publicId))[0];

/** As above, as the JSON that callers get, for lists that only pass it on. */
export const findReportTexts = async (db: Queryable, viewer: Viewer, ids: readonly number[]) =>
  toTexts(await store.findStoredReports(db, viewer, ids, READ));

function parse(stored: store.StoredReports): ReportRow[] {
  const texts = toTexts(stored);
  return stored.reports.map(([, , , embedTenant, level, path], i) => ({
    ...JSON.parse(texts[i]!.text),
    scopeFolderId: path?.at(-1) ?? null,
    embedTenant,
    level,
  }));
}

/** Puts what lies around the reports behind their own fields. */
export function toTexts({ reports, wires, owners, refreshers, ...around }: store.StoredReports) {
  const folders = new Map(around.folders.map(([id, name]) => [id, folderEntry(id, name)]));
  const placements = groupBy(around.placements, ({ reportId }) => reportId);
  const policies = groupBy(around.rolePolicies, ({ resourceType, resourceId }) =>
    keyOf(resourceType, resourceId),
  );
  return reports.map((report, i) => {
    const [id, key, , , level, path, folderName] = report;
    const folderPath = path?.map((folderId, depth) =>
      depth === path.length - 1 ? folderEntry(folderId, folderName!) : folders.get(folderId),
    );
    const placed = placements.get(id)?.map(({ reportId: _report, ...placement }) => placement) ?? [];
    const roles =
      policies.size === 0 ? [] : rolesOf(policiesOver(report).flatMap((over) => policies.get(over) ?? []));
    const text =
      `${wires[i]},"user":${owners[i]},"refreshedByUser":${refreshers[i] || owners[i]},"folderPath":[${folderPath?.join() ?? ''}],` +
      `"externalWorkbookPlacements":${JSON.stringify(placed)},"rolesWithAccess":${JSON.stringify(roles)},` +
      `"canEdit":${level >= EDIT},"canManage":${level >= MANAGE}}`;
    return { id, key, text };
  });
}

const folderEntry = (id: number, name: string) => `{"id":${id},"name":${JSON.stringify(name)}}`;

/** The report, its workbook and the folders above it. */
const policiesOver = ([id, , workbookId, , , path]: store.StoredReport) => [
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
