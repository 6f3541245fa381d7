/** Reads reports as callers see them, with fields that only the server needs. */
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

export interface ReportRow extends store.ReportFields, store.ReportPlace {
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

/** Returns the report with this id, or nothing if the viewer does not have at least this level on it. */
export const findReport = async (db: Queryable, viewer: Viewer, id: number, least: Level = READ) =>
  (await readReports(db, viewer, [id], least)).rows[0];

/**
 * Returns the reports with these ids that the viewer can read, in the order of the ids, as many as fit into a page, and
 * the id of the first report that does not fit.
 */
export const listReports = (db: Queryable, viewer: Viewer, ids: readonly number[]) =>
  readReports(db, viewer, ids, READ);

async function readReports(db: Queryable, viewer: Viewer, ids: readonly number[], least: Level) {
  const { reports, items } = await store.findStoredReports(db, viewer, ids, least);
  const rows: ReportRow[] = JSON.parse(items).map((shown: object, i: number) => {
    const [, , scopeFolderId, embedTenant, level] = reports[i]!;
    return { ...shown, scopeFolderId, embedTenant, level };
  });
  return { rows, cutAt: reports[rows.length]?.[0] };
}

/** The report without the fields that only the server needs. */
export const toReport = ({
  scopeFolderId: _scope,
  embedTenant: _tenant,
  level: _level,
  ...report
}: ReportRow) => report;
