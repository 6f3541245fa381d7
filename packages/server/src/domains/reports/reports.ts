/** Operations on reports that several routes or other domains use. */
import { limits } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { Etag } from '../../platform/http/etag.ts';
import { requireBytes } from '../../platform/limits.ts';
import {
  EDIT,
  type Level,
  MANAGE,
  NONE,
  READ,
  requireHome,
  type Viewer,
  withMergedMeta,
} from '../access/index.ts';
import { requireTarget } from '../folders/index.ts';
import { findReport, type ReportRow } from './read.ts';
import { newPlace, UNTITLED } from './rules.ts';
import * as store from './store.ts';

type Nullable<T> = { [K in keyof T]?: T[K] | null };
export type ReportInput = Nullable<store.ReportFields> &
  Nullable<{ folderId: number; workbookId: number; publicId: string }>;

/** Throws a 404 if the viewer cannot read the report, and a 403 if their level is too low. */
export async function requireReport(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const report = found(await findReport(db, viewer, id, level === NONE ? NONE : READ), 'report_not_found');
  if (report.level < level) throw new ApiError('forbidden');
  return report;
}

/** Like `requireReport`, and nobody else can change the report until the transaction ends. */
export async function lockReport(tx: Tx, viewer: Viewer, id: number, level: Level) {
  await store.lockReport(tx, id);
  return requireReport(tx, viewer, id, level);
}

/** Returns nothing if the public id is taken. */
export async function insertReport(tx: Tx, viewer: Viewer, given: ReportInput, publicId: string) {
  requireSizes(given);
  const home = await requireHome(tx, viewer);
  const place = await requirePlace(
    tx,
    viewer,
    newPlace({ folderId: null, workbookId: null }, onePlace(given)),
    home,
  );
  const report = {
    ...fieldsOf(given, EMPTY_REPORT),
    ...place,
    deploymentId: viewer.deploymentId,
    publicId,
    userId: viewer.userId,
  };
  const id = await store.insertReport(tx, report);
  if (id !== undefined) return id;
  return (await store.deleteRemovedReport(tx, publicId)) ? store.insertReport(tx, report) : undefined;
}

/** A field that is not given stays, and null clears it. Returns `before` itself if nothing changes. */
export async function updateReport(tx: Tx, viewer: Viewer, before: ReportRow, given: ReportInput) {
  requireSizes(given);
  requireSamePublicId(given, before.publicId);
  const { folderId, workbookId } = newPlace(before, onePlace(given));
  const moves = folderId !== before.folderId || workbookId !== before.workbookId;
  // A move changes who can reach the report.
  if (moves && before.level < MANAGE) throw new ApiError('forbidden');
  const place = moves ? await requirePlace(tx, viewer, { folderId, workbookId }, before.embedTenant) : before;
  const atRoot = place.folderId === null && place.workbookId === null;
  if (!atRoot && place.embedTenant !== before.embedTenant) throw new ApiError('embed_tenant_mismatch');
  const changed = await store.updateReport(tx, {
    ...fieldsOf(given, before),
    ...placeOnly(place),
    id: before.id,
  });
  return changed ? requireReport(tx, viewer, before.id, NONE) : before;
}

/** Each try fails only because another call has just created or deleted the report. */
const UPSERT_TRIES = 10;

/** Changes the report with this public id, or creates it if there is none. */
export async function upsertReport(
  tx: Tx,
  viewer: Viewer,
  given: ReportInput,
  { publicId, etag }: { publicId: string; etag: Etag },
): Promise<{ before: ReportRow | null; after: ReportRow }> {
  requireSamePublicId(given, publicId);
  await requireHome(tx, viewer);
  for (let tries = 0; tries < UPSERT_TRIES; tries++) {
    const known = await store.lockPublicId(tx, publicId);
    if (known) {
      const before = await findReport(tx, viewer, known.id);
      if (!before) {
        // A report that is deleted but not removed yet does not keep its public id.
        if (await store.deleteRemovedReport(tx, publicId)) continue;
        break;
      }
      if (before.level < EDIT) throw new ApiError('forbidden');
      etag.require(before);
      return { before, after: await updateReport(tx, viewer, before, withMergedMeta(before, given)) };
    }
    etag.require(null);
    const id = await insertReport(tx, viewer, given, publicId);
    if (id !== undefined) return { before: null, after: await requireReport(tx, viewer, id, NONE) };
  }
  throw new ApiError('public_id_taken');
}

/** A public id never changes, because published links contain it. */
export function requireSamePublicId(given: ReportInput, publicId: string) {
  if (given.publicId != null && given.publicId !== publicId) {
    throw invalid('publicId', 'is given at creation and never changes');
  }
}

function requireSizes({ sqlQuery, jsonQuery, pivotItems, meta }: ReportInput) {
  requireBytes('sqlQuery', sqlQuery, limits.query);
  requireBytes('jsonQuery', jsonQuery, limits.query);
  requireBytes('pivotItems', pivotItems, limits.pivotItems);
  requireBytes('meta', meta, limits.meta);
}

/** Adds or changes the placement in a spreadsheet. */
export async function placeReport(
  tx: Tx,
  viewer: Viewer,
  before: ReportRow,
  placement: { externalWorkbookId: string; resultLocation: string; endResultCell: string | null },
) {
  if (!(await store.upsertPlacement(tx, before.id, placement))) return before;
  if ((await store.countPlacements(tx, before.id)) > limits.placements) {
    throw new ApiError('too_many_placements');
  }
  return requireReport(tx, viewer, before.id, READ);
}

export async function moveReport(tx: Tx, viewer: Viewer, id: number, folderId: number | null) {
  const before = await lockReport(tx, viewer, id, MANAGE);
  // A move to the root also takes the report out of its workbook.
  const after = await updateReport(
    tx,
    viewer,
    before,
    folderId === null ? { folderId, workbookId: null } : { folderId },
  );
  return { before, after };
}

const placeOnly = ({
  folderId,
  workbookId,
  scopeFolderId,
  embedTenant,
}: store.ReportPlace): store.ReportPlace => ({
  folderId,
  workbookId,
  scopeFolderId,
  embedTenant,
});

function onePlace(given: ReportInput) {
  if (given.folderId != null && given.workbookId != null) {
    throw invalid(
      'folderId',
      'A report lies in a folder or in a workbook: give only one of folderId and workbookId.',
    );
  }
  return given;
}

async function requirePlace(
  tx: Tx,
  viewer: Viewer,
  { folderId, workbookId }: { folderId: number | null; workbookId: number | null },
  home: string | null,
): Promise<store.ReportPlace> {
  if (workbookId !== null) {
    const workbook = found(await store.lockWorkbookPlace(tx, viewer, workbookId), 'workbook_not_found');
    if (workbook.level < EDIT) throw new ApiError('forbidden');
    if (await store.isFull(tx, workbookId)) throw new ApiError('workbook_full');
    return {
      folderId: null,
      workbookId,
      scopeFolderId: workbook.folderId,
      embedTenant: workbook.embedTenant,
    };
  }
  const folder = await requireTarget(tx, viewer, folderId);
  const embedTenant = folder ? folder.embedTenant : home;
  return { folderId, workbookId: null, scopeFolderId: folderId, embedTenant };
}

export const EMPTY_REPORT: store.ReportFields = {
  name: UNTITLED,
  title: null,
  description: null,
  source: null,
  externalWorkbookId: null,
  resultLocation: null,
  endResultCell: null,
  sqlQuery: null,
  jsonQuery: null,
  pivotItems: null,
  meta: null,
};

/** The fields that are given, and the old values of all others. */
function fieldsOf(given: ReportInput, before: store.ReportFields): store.ReportFields {
  const names = Object.keys(EMPTY_REPORT) as (keyof store.ReportFields)[];
  const fields = names.map((name) => [name, given[name] === undefined ? before[name] : given[name]]);
  const merged = Object.fromEntries(fields) as store.ReportFields;
  return { ...merged, name: merged.name ?? UNTITLED };
}
