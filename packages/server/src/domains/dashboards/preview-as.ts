/**
 * Shows the draft of a dashboard as another user would see it. An admin names that user, which is audited, and gets an
 * id that works for an hour, for this admin and this workbook, with the admin's own credential: it is no token of the
 * other person. Rights are read again for each question.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BodyOf, operations } from '@oriel/contract';
import { mayIn } from '../../platform/auth/access.ts';
import { type Caller, embedOf } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { findPermissions, toPermissions, viewerOf } from '../access/index.ts';
import { describedViewer, findExternalUserId, toReader } from '../embed-sessions/index.ts';
import type { QueryCall } from '../queries/index.ts';
import * as store from './store.ts';

export type Identity = BodyOf<typeof operations.createDashboardPreview>;

const LIFE_MS = 3_600_000;

/** The admin and the workbook that a preview is bound to. */
interface PreviewScope {
  userId: number;
  deploymentId: number;
  workbookId: number;
}

export interface PreviewIds {
  make(bound: PreviewScope, identity: Identity): { previewId: string; expiresAt: string };
  /** Throws a 404 for an id that is over, was made for others, or is none. */
  open(bound: PreviewScope, previewId: string): Identity;
}

export function createPreviewIds(keys: Keys, now = Date.now): PreviewIds {
  const bindingText = ({ userId, deploymentId, workbookId }: PreviewScope) =>
    JSON.stringify([userId, deploymentId, workbookId]);
  const macOf = (key: Buffer, bound: PreviewScope, payload: Buffer) =>
    createHmac('sha256', key).update(bindingText(bound)).update('\0').update(payload).digest();
  return {
    make(bound, identity) {
      const endsAt = now() + LIFE_MS;
      const payload = Buffer.from(JSON.stringify({ endsAt, identity }));
      return {
        previewId: Buffer.concat([macOf(keys[0], bound, payload), payload]).toString('base64url'),
        expiresAt: new Date(endsAt).toISOString(),
      };
    },
    open(bound, previewId) {
      const bytes = Buffer.from(previewId, 'base64url');
      const [mac, payload] = [bytes.subarray(0, 32), bytes.subarray(32)];
      const isGenuine =
        mac.length === 32 && keys.some((key) => timingSafeEqual(mac, macOf(key, bound, payload)));
      const { endsAt, identity } = isGenuine ? JSON.parse(payload.toString()) : { endsAt: 0 };
      if (now() >= endsAt) throw new ApiError('dashboard_preview_not_found');
      return identity;
    },
  };
}

interface PreviewIdentity {
  as: NonNullable<QueryCall['as']>;
  /** The caller that the previewed user would be; null if only a group of the user is known. */
  actor: Caller | null;
}

export async function resolveIdentity(
  db: Queryable,
  deploymentId: number,
  { userId, groupId, viewer }: Identity,
): Promise<PreviewIdentity> {
  if ([userId, groupId, viewer].filter((one) => one != null).length !== 1)
    throw invalid('', 'Give one of `userId`, `groupId` and `viewer`.');
  if (userId != null) {
    const permissions = toPermissions(found(await findPermissions(db, userId), 'user_not_found'));
    const actor = { apiKeyId: null, sessionId: null, deploymentIds: null, ...permissions };
    const person = { kind: 'person' as const, userId, ...actor };
    return { as: person, actor: person };
  }
  if (groupId != null) {
    const { name } = found(await store.findGroup(db, groupId), 'group_not_found');
    const described = await describedViewer(db, { catalogue: null, userId: null, groups: [name] });
    return { as: { ...described, isPerson: true }, actor: null };
  }
  const { embedTenantName: embedTenant, externalId, creatorMode, securityContext, ...given } = viewer!;
  found(await store.findEmbedTenant(db, embedTenant), 'embed_tenant_not_found');
  const known = externalId == null ? undefined : await findExternalUserId(db, embedTenant, externalId);
  const isCreator = creatorMode === true;
  if (!isCreator && given.tenantGroups?.length)
    throw invalid('viewer.tenantGroups', '`tenantGroups` needs `creatorMode: true`.');
  const described = await describedViewer(db, {
    ...given,
    catalogue: isCreator ? embedTenant : null,
    userId: known ?? null,
  });
  const reader = { userId: known ?? NO_USER, deploymentId, embedTenant, creatorMode: isCreator };
  return {
    as: { ...described, securityContext: securityContext ?? null },
    actor: toReader(reader, securityContext ?? null),
  };
}

/** The id of a viewer who has never come. No user has it. */
export const NO_USER = 0;

/** Whether the previewed user sees what is published; null if too little is known of the user. */
export async function seesDashboard(
  db: Queryable,
  { actor }: PreviewIdentity,
  { deploymentId, workbookId }: { deploymentId: number; workbookId: number },
): Promise<boolean | null> {
  if (!actor) return null;
  if (!mayIn(actor, deploymentId, 'DeploymentRead')) return false;
  const row = await store.findDashboardOf(db, viewerOf(actor, deploymentId), embedOf(actor), workbookId);
  return row?.isSeen ?? false;
}

/** Throws a 403 if the previewed user may not query the deployment, and so has no rows. */
export function requireAsking({ actor }: PreviewIdentity, deploymentId: number) {
  if (actor && !mayIn(actor, deploymentId, 'AIBIView'))
    throw new ApiError('forbidden', { message: 'They may not query this deployment.' });
}
