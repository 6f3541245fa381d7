/** The reader that a copy is drawn for: each reader has their own rights, as they are at that time. */
import { mayIn } from '../../platform/auth/access.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { findPermissions, toPermissions } from '../access/index.ts';
import { toReader } from '../embed-sessions/index.ts';
import type { TenantSettingsRow } from '../tenant-settings/index.ts';
import { lookerOf } from './notifications.ts';
import { getsOwnersView, isReachable } from './recipients.ts';
import { type DeliveryRow, findUser, type RunRow } from './runs.store.ts';
import { SKIP_REASONS } from './skip-reasons.ts';
import { findDashboard } from './store.ts';

export interface Reader {
  actor: Caller;
  /** Where mail goes; null for channels. */
  email: string | null;
}

/** A recipient gets nothing. The message says why. */
export class NoReaderError extends Error {}

/**
 * The reader of a delivery. Channels, and addresses that belong to nobody, get the view of the owner. Throws
 * `NoReaderError`.
 */
export async function readerOf(
  db: Queryable,
  run: RunRow,
  delivery: DeliveryRow,
  settings: TenantSettingsRow,
): Promise<Reader> {
  if (delivery.isUnsubscribed) throw new NoReaderError(SKIP_REASONS.unsubscribed);
  requireSession(delivery);
  const isOwn = delivery.userId !== null;
  if (getsOwnersView(delivery)) requireAgreement(run);
  const actor = isOwn
    ? await actorOf(db, run.deploymentId, { ...delivery, userId: delivery.userId! }, settings)
    : forOthers(await ownerOf(db, run, settings));
  const whose = isOwn ? 'They' : 'The owner, whose view this would be,';
  await requireSight(db, run, actor, whose);
  if (delivery.type === 'SLACK' || delivery.type === 'WEBHOOK') return { actor, email: null };
  const email = isOwn ? (delivery.user?.email ?? null) : delivery.address;
  if (email === null) throw new NoReaderError('They have no email address.');
  if (!isReachable(settings, email, isOwn))
    throw new NoReaderError('The settings of the account do not let schedules reach this address.');
  return { actor, email };
}

const HOW_IT_GOES_ON = 'It goes on when the owner or an admin saves the schedule again.';

/** The view of the owner shows others only what the owner has published, or has agreed to since somebody else did. */
function requireAgreement({ agreedVersion, versionNumber, publisherId, userId }: RunRow) {
  if (agreedVersion === null)
    throw new NoReaderError(
      `The schedule has a new owner, who has not agreed to show their view. ${HOW_IT_GOES_ON}`,
    );
  if (versionNumber > agreedVersion && publisherId !== userId)
    throw new NoReaderError(
      `Somebody else has published the dashboard, and this would show the view of the owner. ${HOW_IT_GOES_ON}`,
    );
}

/** How long a security context is in force after its session was minted. Sessions are listed for as long. */
const CONTEXT_DAYS = 8;

/** Throws if the last session of a reader who subscribed in one was revoked, or is too old for its security context. */
function requireSession({ sessionAt, sessionRevoked, securityContext }: DeliveryRow) {
  if (sessionAt === null) return;
  if (sessionRevoked) throw new NoReaderError('Their last session was revoked.');
  if (securityContext !== null && Date.now() - Date.parse(sessionAt) > CONTEXT_DAYS * 24 * 3_600_000)
    throw new NoReaderError(
      `What they may see comes with a session, and they have had none for ${CONTEXT_DAYS} days.`,
    );
}

export async function ownerOf(db: Queryable, run: RunRow, settings: TenantSettingsRow): Promise<Caller> {
  if (run.userId === null) throw new NoReaderError('The notification has no owner whose view it could show.');
  const creatorMode = run.embedTenantName !== null;
  const user = (await findUser(db, run.userId)) ?? null;
  const owner = { userId: run.userId, user, creatorMode, securityContext: null };
  return actorOf(db, run.deploymentId, owner, settings);
}

/**
 * The owner as a caller whose rows go to others: the tokens of the owner at other services must not be used for them.
 */
const forOthers = (owner: Caller): Caller =>
  owner.kind === 'person' ? { ...owner, isReadForOthers: true } : owner;

async function actorOf(
  db: Queryable,
  deploymentId: number,
  {
    userId,
    user,
    creatorMode,
    securityContext,
  }: Pick<DeliveryRow, 'user' | 'creatorMode' | 'securityContext'> & {
    userId: number;
  },
  { useCreatorMode }: TenantSettingsRow,
): Promise<Caller> {
  if (!user) throw new NoReaderError('They were deleted.');
  if (user.isDeactivated) throw new NoReaderError('They were deactivated.');
  if (user.embedTenant !== null && creatorMode && !useCreatorMode)
    throw new NoReaderError('Creator mode is switched off in the settings of the account.');
  if (user.embedTenant !== null)
    return toReader({ userId, deploymentId, embedTenant: user.embedTenant, creatorMode }, securityContext);
  const permissions = await findPermissions(db, userId);
  if (!permissions) throw new NoReaderError('They were deactivated.');
  const nothing = { apiKeyId: null, sessionId: null, deploymentIds: null };
  return { kind: 'person', userId, ...nothing, ...toPermissions(permissions) };
}

async function requireSight(db: Queryable, run: RunRow, actor: Caller, whose: string) {
  const { deploymentId, dashboardId } = run;
  const dashboard = mayIn(actor, deploymentId, 'DeploymentRead')
    ? await findDashboard(db, lookerOf(actor, deploymentId), { id: dashboardId })
    : undefined;
  if (!dashboard?.isSeen) throw new NoReaderError(`${whose} may not see the dashboard.`);
}
