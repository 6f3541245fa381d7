/** Publishes dashboards, and changes the threads of AI widgets in what is published. */
import { createHash } from 'node:crypto';
import type { BodyOf, operations } from '@oriel/contract';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { Etag } from '../../platform/http/etag.ts';
import { EDIT, MANAGE, viewerOf } from '../access/index.ts';
import type { ModelMembers } from '../queries/index.ts';
import { lockPlainWorkbook, requireWorkbook, setPublished } from '../workbooks/index.ts';
import { type FindKind, short } from './chart-problems.ts';
import { applicationsIn, type DashboardConfig, requireConfig } from './config-rules.ts';
import { ensureDashboard, shownTo, stateOf } from './dashboards.ts';
import { outlineOf } from './outline.ts';
import { type ModelToday, type SnapshotOptions, takeSnapshots } from './snapshots.ts';
import * as store from './store.ts';

/** Older versions are deleted. */
export const KEPT = { versions: 50, bytes: 20 * 1024 * 1024 };

type PublishInput = BodyOf<typeof operations.publishDashboard>;

export interface PreparedVersion extends store.NewVersion {
  config: DashboardConfig;
  outline: object | null;
}

export interface PrepareOptions extends Omit<SnapshotOptions, 'model' | 'rangedFor'> {
  /** Finds the members of the model. It may have to be compiled first. */
  members(): Promise<ModelMembers | undefined>;
  check: ModelToday['check'];
}

/** Checks everything that needs no lock, and compiles the charts. */
export async function prepare(
  context: PrepareOptions,
  workbookId: number,
  given: PublishInput,
): Promise<PreparedVersion> {
  const workbook = await requireWorkbook(context.db, context.viewer, workbookId, EDIT);
  if (given.workbookId != null && given.workbookId !== workbookId)
    throw invalid('workbookId', 'must be the workbook of the path');
  const config = given.config ?? (workbook.dashboardDraft as DashboardConfig | null);
  if (!config) throw new ApiError('dashboard_without_draft');
  // The scripts of an application run for viewers who may see more than the author, and browsers cannot close every way
  // out of a frame.
  const hasApplication = config.kind === 'APP' || applicationsIn(config).length > 0;
  if (hasApplication && context.viewer.embedTenant !== null)
    throw new ApiError('forbidden', { message: 'Applications are published by people of the account only.' });
  const root = given.config ? 'config' : 'dashboardDraft';
  const widgets = requireConfig(config, root);
  await requireApplications(context, config, root);
  const members = await context.members();
  if (members) requireControls(config, root, members.kindOf);
  const model = members && { ...members, check: context.check };
  const rangedFor = (widgetId: string, query: object | null) => rangedIn(config, widgetId, query);
  const snapshots = await takeSnapshots({ ...context, model, rangedFor }, widgets);
  return {
    config,
    snapshots,
    outline: outlineOf(config, snapshots),
    bytes: Buffer.byteLength(JSON.stringify([config, snapshots])),
    title: given.title ?? config.title ?? workbook.name,
    description: given.description ?? config.description ?? null,
    note: given.note ?? null,
  };
}

/** Widgets name applications that were published in this deployment, and that the publisher sees. */
async function requireApplications({ db, viewer }: PrepareOptions, config: DashboardConfig, root: string) {
  for (const { id, path, publicId } of applicationsIn(config, root)) {
    const place = await store.findPlace(db, publicId);
    const row = place && (await store.findDashboard(db, viewer, null, place.id));
    const version = row?.isSeen ? await store.findPublished(db, row) : undefined;
    if (version?.config.kind !== 'APP')
      throw invalid(
        `${path}.publicId`,
        `The widget \`${id}\` names an application that is not published in this deployment.`,
        'invalid_reference',
      );
  }
}

/** Throws for a control whose member does not exist: it would do nothing, and nobody would notice. */
function requireControls({ widgets }: DashboardConfig, root: string, kindOf: FindKind) {
  for (const [i, { id, type, config }] of (widgets ?? []).entries()) {
    if (type !== 'FILTER' && type !== 'TIME_GRAIN') continue;
    const { member, mapping, kind: filtersBy } = config as unknown as FilterConfig;
    const kindAt = (field: string, named: string) => {
      const kind = kindOf(named.split('.').slice(0, 2).join('.'));
      if (kind && kind !== 'segment') return kind;
      throw invalid(
        `${root}.widgets[${i}].config.${field}`,
        `The widget \`${id}\` names \`${short(named)}\`, which is no member that a query can filter by.`,
      );
    };
    const kind = kindAt('member', member);
    const path = `${root}.widgets[${i}].config.member`;
    for (const [chart, named] of Object.entries((type === 'FILTER' && mapping) || {}))
      if (named !== null && (kindAt(`mapping.${chart}`, named) === 'time') !== (kind === 'time'))
        throw invalid(
          `${root}.widgets[${i}].config.mapping.${chart}`,
          `The widget \`${id}\` names \`${short(named)}\`, and of this and \`${short(member)}\` only one is a time.`,
        );
    if (kind !== 'time' && (type === 'TIME_GRAIN' || filtersBy === 'date-range'))
      throw invalid(path, `The widget \`${id}\` names \`${short(member)}\`, which is not a time.`);
    if (kind === 'time' && filtersBy === 'number-range')
      throw invalid(
        path,
        `The widget \`${id}\` names \`${short(member)}\`, which is a time and not a number.`,
      );
  }
}

const RANGES = ['between', 'inDateRange'];

/** The times that filters limit from the beginning: of those that name the chart, or that are about its view or cube. */
function rangedIn({ widgets }: DashboardConfig, chartId: string, query: object | null): string[] {
  const owners = new Set(JSON.stringify(query).match(/(?<=")\w{1,200}(?=\.\w)/g));
  return (widgets ?? []).flatMap(({ type, config }) => {
    if (type !== 'FILTER') return [];
    const { member, kind, widgets: named, mapping, default: first } = config as FilterConfig;
    // A default from an attribute does not count, because not every viewer has the attribute.
    const isRange = RANGES.includes(first?.operator ?? '') && first?.userAttribute == null;
    if (kind !== 'date-range' || !isRange || (named?.length && !named.includes(chartId))) return [];
    const mapped = mapping?.[chartId];
    if (mapped !== undefined) return mapped === null ? [] : [mapped];
    return named?.length || owners.has(member.split('.')[0]!) ? [member] : [];
  });
}

interface FilterConfig {
  member: string;
  kind?: string;
  widgets?: string[];
  mapping?: Record<string, string | null> | null;
  default?: { operator?: string; userAttribute?: string };
}

/** Makes the next version. The lock on the workbook keeps the numbers without gaps. */
export async function publish(
  tx: Tx,
  actor: Caller,
  { deploymentId, workbookId }: { deploymentId: number; workbookId: number },
  { given, version, etag }: { given: PublishInput; version: PreparedVersion; etag: Etag },
) {
  const workbook = await lockPlainWorkbook(tx, viewerOf(actor, deploymentId), workbookId, EDIT);
  const before = await ensureDashboard(tx, actor, workbook);
  await requireState(tx, actor, before, etag);
  if (given.dashboardId != null && given.dashboardId !== before.id)
    throw invalid('dashboardId', 'must be the dashboard of the workbook', 'invalid_reference');
  const allowEmbed = given.allowEmbed ?? before.allowEmbed;
  if (allowEmbed !== before.allowEmbed) {
    if (workbook.level < MANAGE) throw new ApiError('forbidden');
    await store.updateEmbedding(tx, before.id, { allowEmbed, allEmbedUsers: before.allEmbedUsers });
  }
  await store.insertVersion(tx, before.id, version, actor.userId);
  await store.deleteOldVersions(tx, before.id, KEPT);
  await setPublished(tx, workbookId, version.config, version.outline);
  return { before, after: await ensureDashboard(tx, actor, workbook) };
}

/** Takes the dashboard back: viewers see nothing any more. The lock on the workbook excludes publications. */
export async function unpublish(
  tx: Tx,
  actor: Caller,
  { deploymentId, workbookId }: { deploymentId: number; workbookId: number },
  etag: Etag,
) {
  const workbook = await lockPlainWorkbook(tx, viewerOf(actor, deploymentId), workbookId, EDIT);
  const before = await ensureDashboard(tx, actor, workbook);
  await requireState(tx, actor, before, etag);
  if (!before.isPublished) throw new ApiError('not_published');
  await store.unpublish(tx, before.id);
  await setPublished(tx, workbookId, null, null);
  return { before, after: await ensureDashboard(tx, actor, workbook) };
}

/** Throws unless `If-Match`, if given, names the state of the published dashboard. */
export async function requireState(tx: Tx, actor: Caller, row: store.DashboardRow, etag: Etag) {
  if (!etag.isRequired) return;
  const version = await store.findPublished(tx, row);
  etag.require(version ? stateOf(row, shownTo(actor, row, version)) : null);
}

/** What `checksum` of an AI widget holds. It changes with the thread. */
export const checksumOf = (threadId: string) =>
  createHash('sha256').update(threadId).digest('base64url').slice(0, 22);

/** Sets the thread of an AI widget in the newest version. */
export async function setThread(
  tx: Tx,
  row: store.DashboardRow,
  given: BodyOf<typeof operations.updatePublishedDashboardAiWidgetThread>,
) {
  const version = found(await store.findPublished(tx, row), 'not_published');
  const widgets = version.config.widgets ?? [];
  const widget = widgets.find(({ id, type }) => id === given.widgetId && type === 'AI');
  if (!widget)
    throw invalid('widgetId', 'There is no AI widget with this id in the dashboard.', 'invalid_reference');
  const { threadId = null, checksum } = (widget.config ?? {}) as { threadId?: string; checksum?: string };
  const current = checksum ?? (threadId === null ? '' : checksumOf(threadId));
  if (given.checksum != null && given.checksum !== current) throw new ApiError('thread_changed');
  if (threadId === given.threadId) return { before: threadId, isChanged: false };
  const { thread: _thread, ...kept } = (widget.config ?? {}) as Record<string, unknown>;
  widget.config = { ...kept, threadId: given.threadId, checksum: checksumOf(given.threadId) };
  await store.updateConfig(tx, version.id, version.config);
  await store.touchDashboard(tx, row.id);
  await setPublished(tx, row.workbookId, version.config, outlineOf(version.config, version.snapshots));
  return { before: threadId, isChanged: true };
}
