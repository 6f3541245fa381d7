/** Reports as callers see them, and what only we need to know of them. */
import type { Action } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { type Level, READ, type Viewer } from '../access/index.ts';
import * as store from './store.ts';

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

/** The reports with these ids that the viewer can read, or has at least that level on, in the order of the ids. */
export const findReports = async (
  db: Queryable,
  viewer: Viewer,
  ids: readonly number[],
  least: Level = READ,
) => parse(await store.findStoredReports(db, viewer, ids, least));

export const findReportByPublicId = async (db: Queryable, viewer: Viewer, publicId: string) =>
  parse(await store.findStoredReportByPublicId(db, viewer, publicId))[0];

function parse({ reports, items }: store.StoredReports): ReportRow[] {
  const shown = JSON.parse(items);
  return reports.map(([, , scopeFolderId, embedTenant, level], i) => ({
    ...shown[i],
    scopeFolderId,
    embedTenant,
    level,
  }));
}

/** The report without what only we need to know. */
export const toReport = ({
  scopeFolderId: _scope,
  embedTenant: _tenant,
  level: _level,
  ...report
}: ReportRow) => report;
