/** Finds and shows notifications, and checks what requests ask of them. */
import { problemOf } from '@oriel/charts/pure';
import type { BodyOf, operations, ReplyOf } from '@oriel/contract';
import { limits } from '@oriel/contract';
import { may, mayIn } from '../../platform/auth/access.ts';
import { type Caller, embedOf } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { EDIT, READ, viewerOf } from '../access/index.ts';
import type { PublishedVersion, ReadPublished } from '../dashboards/index.ts';
import type { TenantSettingsRow } from '../tenant-settings/index.ts';
import { requireCondition } from './conditions.ts';
import { cronOf, nextDue, toTiming, wordsFor } from './schedule.ts';
import * as store from './store.ts';

type Reply = ReplyOf<typeof operations.getNotification>;
type CreateBody = BodyOf<typeof operations.createNotification>;
type UpdateBody = BodyOf<typeof operations.updateNotification>;
type NotificationInput = Omit<CreateBody, 'dashboardId' | 'dashboardPublicId'> | UpdateBody;

export const lookerOf = (actor: Caller, deploymentId: number): store.NotificationViewer => ({
  viewer: viewerOf(actor, deploymentId),
  embed: embedOf(actor),
  isAdmin: may(actor, 'All'),
});

/** Whether the caller may know of the other recipients of notifications that they may change. */
export const seesRecipients = (actor: Caller, deploymentId: number) =>
  embedOf(actor) !== null || mayIn(actor, deploymentId, 'AlertsRead');

/** The action of the operation is checked already, so what is left is whether the content lets them. */
export async function requireNotification(db: Queryable, looker: store.NotificationViewer, id: number) {
  return found(await store.findNotification(db, looker, id), 'notification_not_found');
}

/** Locks the notification. Throws a 403 if the caller sees it and may not change it. */
export async function lockForChange(tx: Tx, looker: store.NotificationViewer, id: number) {
  await store.lockNotification(tx, id);
  const row = await requireNotification(tx, looker, id);
  if (!row.mayChange) throw new ApiError('forbidden');
  return row;
}

export function toReply(row: store.SeenRow, actor: Caller, settings: TenantSettingsRow): Reply {
  const mayUpdate = embedOf(actor) !== null || mayIn(actor, row.deploymentId, 'AlertsUpdate');
  const { title, nextDueAt, userId, agreedVersion: _agreed, ...shown } = row;
  return {
    ...shown,
    name: row.name ?? title,
    cronExpression: cronOf(row),
    humanReadableSchedule: wordsFor(row, settings.embedding.locale),
    nextRunAt: nextDueAt,
    canEdit: row.mayChange && mayUpdate,
    ownerId: userId,
  };
}

/** What the audit log holds of a notification. */
export const audited = ({ title, versionNumber, level, isSubscribed, mayChange, ...row }: store.SeenRow) =>
  row;

/** The published dashboard that a new notification is for. The caller needs edit or, in creator mode, to see it. */
export async function requireTarget(
  db: Queryable,
  looker: store.NotificationViewer,
  { dashboardId, dashboardPublicId }: CreateBody,
) {
  if ((dashboardId == null) === (dashboardPublicId == null)) throw new ApiError('dashboard_id_required');
  const by = dashboardId == null ? { publicId: dashboardPublicId! } : { id: dashboardId };
  const dashboard = await store.findDashboard(db, looker, by);
  const level = dashboard?.level ?? 0;
  if (!dashboard || (level < READ && !dashboard.isSeen)) throw new ApiError('dashboard_not_found');
  if (looker.embed === null && level < EDIT) throw new ApiError('forbidden');
  if (dashboard.versionNumber === 0) throw new ApiError('not_published');
  return dashboard;
}

/** Merges the request with the notification before it, or with defaults. Throws a 400. */
export function toWanted(
  given: NotificationInput,
  before: store.NotificationRow | undefined,
  defaultZone: string,
): store.NotificationFields {
  const timing = toTiming(given, before, defaultZone);
  const isEnabled = given.isEnabled ?? before?.isEnabled ?? true;
  const isSameTime = before?.isEnabled && before.nextDueAt && isSameTiming(timing, before);
  return {
    ...timing,
    name: given.name?.trim() || (before?.name ?? null),
    isEnabled,
    notificationEnabled: given.notificationEnabled ?? before?.notificationEnabled ?? true,
    notificationFormat: given.notificationFormat ?? before?.notificationFormat ?? 'png',
    filters: given.filters === undefined ? (before?.filters ?? null) : given.filters,
    timeGrains: given.timeGrains === undefined ? (before?.timeGrains ?? null) : given.timeGrains,
    condition: given.condition === undefined ? (before?.condition ?? null) : given.condition,
    allowSubscribe: given.allowSubscribe ?? before?.allowSubscribe ?? false,
    // A due time that has come is not skipped by a change of something else.
    nextDueAt: isEnabled
      ? isSameTime
        ? before.nextDueAt
        : nextDue(timing, new Date())!.toISOString()
      : null,
  };
}

const isSameTiming = (a: Parameters<typeof cronOf>[0], b: Parameters<typeof cronOf>[0]) =>
  cronOf(a) === cronOf(b) && a.scheduleType === b.scheduleType && a.timezone === b.timezone;

interface Control {
  type: string;
  config?: { member?: unknown; grains?: unknown } | null;
}

/** What filters and time grains name that the published dashboard does not have, or cannot do: where, and what. */
export function missingControls(
  { config }: Pick<PublishedVersion, 'config'>,
  { filters, timeGrains }: Pick<store.NotificationFields, 'filters' | 'timeGrains'>,
): { path: string; message: string }[] {
  const controls = (config.widgets ?? []) as Control[];
  const has = (type: string, member: string, fits: (control: Control) => boolean = () => true) =>
    controls.some((control) => control.type === type && control.config?.member === member && fits(control));
  const offers = (grain: string) => (control: Control) =>
    !Array.isArray(control.config?.grains) || control.config.grains.includes(grain);
  return [
    ...repeated('filters', filters ?? []),
    ...repeated('timeGrains', timeGrains ?? []),
    ...(filters ?? []).flatMap(({ member, operator, value }, i) => {
      if (!has('FILTER', member))
        return [{ path: `filters[${i}].member`, message: `The dashboard has no filter for ${member}.` }];
      const problem = problemOf({ operator: operator ?? 'equals', value });
      return problem ? [{ path: `filters[${i}]`, message: `The filter for ${member} ${problem}.` }] : [];
    }),
    ...(timeGrains ?? []).flatMap(({ member, grain }, i) =>
      has('TIME_GRAIN', member, offers(grain))
        ? []
        : [{ path: `timeGrains[${i}]`, message: `The dashboard offers no ${grain} for ${member}.` }],
    ),
  ];
}

/** A member has one choice, whatever number of controls it has. */
const repeated = (name: string, choices: readonly { member: string }[]) =>
  choices.flatMap(({ member }, i) =>
    choices.findIndex((other) => other.member === member) < i
      ? [{ path: `${name}[${i}].member`, message: `${member} is given twice.` }]
      : [],
  );

const FILTERS_MAX_BYTES = 60 * 1024;

/** Throws a 400 unless the published dashboard has the controls. */
export async function requireControls(
  db: Queryable,
  readPublished: ReadPublished,
  dashboardId: number,
  wanted: store.NotificationFields,
) {
  const published = await readPublished(db, dashboardId);
  if (wanted.isEnabled && published?.config.kind === 'APP')
    throw invalid('dashboardId', 'an app can only be shown in a browser, so it cannot be sent');
  if (!wanted.filters?.length && !wanted.timeGrains?.length && !wanted.condition) return;
  if (Buffer.byteLength(JSON.stringify(wanted.filters)) > FILTERS_MAX_BYTES)
    throw invalid('filters', 'must be at most 60 KB of JSON');
  const version = found(published, 'not_published');
  const [first, ...others] = missingControls(version, wanted);
  if (first) throw new ApiError('control_not_found', { message: first.message, issues: [first, ...others] });
  if (wanted.condition) requireCondition(version, wanted.condition);
}

/**
 * Where a new notification belongs: with an embed token to its embed tenant, else where the dashboard does. Throws if
 * there are too many.
 */
export async function requireRoom(
  tx: Tx,
  { embed }: store.NotificationViewer,
  dashboardId: number,
  { embedNotificationLimit }: TenantSettingsRow,
): Promise<string | null> {
  const embedTenant = embed
    ? found(await store.lockTenant(tx, embed.embedTenant), 'dashboard_not_found')
    : await store.findEmbedTenantOf(tx, dashboardId);
  if (embed && (await store.countOfTenant(tx, embedTenant!)) >= embedNotificationLimit)
    throw new ApiError('embed_notification_limit_reached');
  if (!(await store.lockDashboard(tx, dashboardId))) throw new ApiError('dashboard_not_found');
  if ((await store.countOfDashboard(tx, dashboardId)) >= limits.notificationsOfDashboard)
    throw new ApiError('notification_limit_reached');
  return embedTenant;
}
