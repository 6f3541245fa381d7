/** Finds dashboards for callers, and shows them. */
import { mayIn, reaches } from '../../platform/auth/access.ts';
import { type Caller, embedOf, sharerOf } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { newPublicId } from '../../platform/public-id.ts';
import { EDIT, type Level, READ, type Viewer, viewerOf } from '../access/index.ts';
import { requirePlainWorkbook } from '../workbooks/index.ts';
import type { Rechecks } from './rechecks.ts';
import { RULES, toSnapshot } from './snapshots.ts';
import * as store from './store.ts';

/** Where the dashboard with this public id is. A caller who cannot reach the deployment learns nothing. */
export async function requirePlace(db: Queryable, actor: Caller, publicId: string) {
  const place = found(await store.findPlace(db, publicId), 'dashboard_not_found');
  const { deploymentId } = place;
  if (!reaches(actor, deploymentId) || !mayIn(actor, deploymentId, 'DeploymentRead'))
    throw new ApiError('dashboard_not_found');
  return place;
}

/** The published dashboard, if the caller may see it. */
export async function requirePublished(db: Queryable, actor: Caller, publicId: string) {
  const { id, deploymentId } = await requirePlace(db, actor, publicId);
  const row = await store.findDashboard(db, viewerOf(actor, deploymentId), embedOf(actor), id);
  if (!row?.isSeen) throw new ApiError('dashboard_not_found');
  return row;
}

/** Throws a 404 if the viewer cannot read the dashboard, and a 403 if their level is too low. */
export async function requireDashboard(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const row = found(await store.findDashboard(db, viewer, null, id), 'dashboard_not_found');
  if ((row.level ?? 0) < READ) throw new ApiError('dashboard_not_found');
  if (row.level! < level) throw new ApiError('forbidden');
  return row;
}

/** The dashboard of a workbook that is locked. Makes one if there is none. */
export async function ensureDashboard(tx: Tx, actor: Caller, workbook: { id: number; deploymentId: number }) {
  const viewer = viewerOf(actor, workbook.deploymentId);
  const find = () => store.findDashboardOf(tx, viewer, embedOf(actor), workbook.id);
  const known = await find();
  if (known) return known;
  await store.insertDashboard(tx, workbook.id, newPublicId(), actor.userId);
  return (await find())!;
}

/** The dashboard of a workbook that the caller edits, if it was ever published or opened to embed tenants. */
export async function findEdited(
  db: Queryable,
  actor: Caller,
  { deploymentId, workbookId }: { deploymentId: number; workbookId: number },
) {
  const viewer = viewerOf(actor, deploymentId);
  const { id } = await requirePlainWorkbook(db, viewer, workbookId, EDIT);
  return store.findDashboardOf(db, viewer, embedOf(actor), id);
}

/** Different for each state of the dashboard that the caller can see. The rules decide which widgets are shown. */
export const stateOf = ({ id, revision }: Pick<store.DashboardRow, 'id' | 'revision'>, shown: object) => ({
  id,
  revision,
  rules: RULES,
  ...shown,
});

/** What depends on the caller. */
export function shownTo(actor: Caller, row: store.DashboardRow, version: store.VersionRow) {
  const settings = version.config.settings as { restrictDataDownload?: unknown } | null | undefined;
  const isPerson = embedOf(actor) === null;
  return {
    fromSharedWorkspace: isPerson && row.userId !== actor.userId,
    restrictDataDownload:
      settings?.restrictDataDownload === true ||
      (isPerson && !mayIn(actor, row.deploymentId, 'DownloadData')),
  };
}

/** The ids of snapshots: that of the version, and three digits for the place in it. */
const SNAPSHOT_IDS = 1000;
export const snapshotId = (version: { id: number }, place: number) => version.id * SNAPSHOT_IDS + place;

export function toDashboard(actor: Caller, row: store.DashboardRow, version: store.VersionRow) {
  const { id, publicId, deploymentId, workbookId, allowEmbed, createdBy } = row;
  return {
    id,
    publicId,
    deploymentId,
    workbookId,
    status: 'published' as const,
    title: version.title,
    description: version.description,
    allowEmbed,
    config: version.config,
    reportSnapshots: version.snapshots.map((snapshot, i) =>
      toSnapshot(snapshot, { id: snapshotId(version, i), withSql: embedOf(actor) === null }),
    ),
    versionId: version.id,
    versionNumber: version.number,
    createdBy,
    ...shownTo(actor, row, version),
  };
}

export type PublishedDashboard = ReturnType<typeof toDashboard>;

export interface PublishedVersion {
  id: number;
  number: number;
  title: string | null;
  description: string | null;
  config: store.VersionRow['config'];
  snapshots: ReturnType<typeof toSnapshot>[];
}

/** The one way to read what is published, by the rules of today. */
export interface PublishedDashboards {
  /** Returns the dashboard of a workbook as the caller sees it. Throws a 404 if they do not see it. */
  ofWorkbook(
    db: Queryable,
    actor: Caller,
    workbook: { deploymentId: number; workbookId: number },
  ): Promise<PublishedDashboard>;
  /** Returns the dashboard of a workbook that the caller can read, or null if nothing is published. */
  findOfWorkbook(
    db: Queryable,
    actor: Caller,
    workbook: { id: number; deploymentId: number },
  ): Promise<PublishedDashboard | null>;
  /** Returns the version as pages get it, to draw it without a caller; nothing if it was taken back. */
  version(db: Queryable, dashboardId: number): Promise<PublishedVersion | undefined>;
}

export type ReadPublished = PublishedDashboards['version'];

export function createPublishedDashboards(rechecks: Rechecks): PublishedDashboards {
  const rowOf = (db: Queryable, actor: Caller, deploymentId: number, workbookId: number) =>
    store.findDashboardOf(db, viewerOf(actor, deploymentId), embedOf(actor), workbookId);
  const show = async (db: Queryable, actor: Caller, row: store.DashboardRow) => {
    const stored = await store.findPublished(db, row);
    return stored ? toDashboard(actor, row, (await rechecks.of(stored, sharerOf(actor))).version) : null;
  };
  return {
    async ofWorkbook(db, actor, { deploymentId, workbookId }) {
      const row = await rowOf(db, actor, deploymentId, workbookId);
      if (!row?.isSeen) throw new ApiError('dashboard_not_found');
      return found(await show(db, actor, row), 'dashboard_not_found');
    },
    async findOfWorkbook(db, actor, { deploymentId, id }) {
      const row = await rowOf(db, actor, deploymentId, id);
      return row ? show(db, actor, row) : null;
    },
    async version(db, dashboardId) {
      const stored = await store.findPublishedNow(db, dashboardId);
      if (!stored) return undefined;
      const { version } = await rechecks.of(stored, `dashboard ${dashboardId}`);
      const { id, number, title, description, config } = version;
      const snapshots = version.snapshots.map((snapshot, i) =>
        toSnapshot(snapshot, { id: snapshotId(version, i), withSql: true }),
      );
      return { id, number, title, description, config, snapshots };
    },
  };
}

/** What the audit log holds of a dashboard. */
export const audited = ({
  id,
  publicId,
  workbookId,
  allowEmbed,
  allEmbedUsers,
  versionNumber,
  isPublished,
}: store.DashboardRow) => ({
  id,
  publicId,
  workbookId,
  allowEmbed,
  allEmbedUsers,
  versionNumber,
  isPublished,
});
