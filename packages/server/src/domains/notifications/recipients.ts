/** Resolves the recipients of a request to rows, and checks whether schedules may reach them. */
import type { BodyOf, operations } from '@oriel/contract';
import { limits } from '@oriel/contract';
import { may } from '../../platform/auth/access.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import type { Provision } from '../embed-sessions/index.ts';
import type { TenantSettingsRow } from '../tenant-settings/index.ts';
import * as store from './recipients.store.ts';
import type { NotificationRow, NotificationViewer } from './store.ts';

export type RecipientInput = BodyOf<typeof operations.addRecipients>['recipients'][number];
type Field = Exclude<keyof RecipientInput, 'type'>;

const FIELDS: Record<store.RecipientType, readonly Field[]> = {
  USER: ['userId', 'email'],
  EMBED_USER: ['embedTenantName', 'externalId', 'email', 'groups', 'userAttributes', 'securityContext'],
  SLACK: ['channelId', 'channelName'],
  GROUP: ['groupId'],
  WEBHOOK: ['webhookId'],
};
const PROVISIONING: readonly Field[] = ['email', 'groups', 'userAttributes', 'securityContext'];

const NOTHING: Omit<store.ResolvedRecipient, 'type'> = {
  userId: null,
  groupId: null,
  webhookId: null,
  channelId: null,
  channelName: null,
  email: null,
  securityContext: null,
  creatorMode: false,
};

export interface AddContext {
  caller: { actor: Caller; origin: CallOrigin };
  looker: NotificationViewer;
  notification: NotificationRow;
  settings: TenantSettingsRow;
  provision: Provision;
  /** The embed tenant of the account itself. */
  tenant: string;
}

/** Throws a 400 for what is wrong whatever the database holds. */
export function requireForm(recipients: readonly RecipientInput[]) {
  recipients.forEach((recipient, i) => {
    const takes = FIELDS[recipient.type];
    for (const [field, value] of Object.entries(recipient)) {
      if (field !== 'type' && value != null && !takes.includes(field as Field))
        throw invalid(`recipients[${i}].${field}`, `does not belong to ${recipient.type}`);
    }
    const [needed] = recipient.type === 'EMBED_USER' ? (['externalId'] as const) : takes;
    const isByEmail = recipient.type === 'USER' && recipient.email != null;
    if (recipient[needed!] == null && !isByEmail)
      throw invalid(`recipients[${i}].${needed}`, `is needed for ${recipient.type}`);
    if (isByEmail && recipient.userId != null)
      throw invalid(`recipients[${i}].email`, 'is not needed beside `userId`');
  });
}

interface FoundRecipient extends store.ResolvedRecipient {
  /** Something about the embed user is new. */
  isChanged: boolean;
}

/** Finds the recipients, in their order. Throws if one is unknown, given twice, or out of reach. */
export async function resolve(
  tx: Tx,
  context: AddContext,
  recipients: readonly RecipientInput[],
): Promise<FoundRecipient[]> {
  requireKinds(context, recipients);
  const mayShowOwnersView = showsOwnView(context.caller.actor, context.notification);
  const people = await findPeople(tx, recipients);
  const groups = await findGroups(tx, context, recipients);
  const hooks = new Set(
    (
      await store.lockWebhooks(
        tx,
        recipients.flatMap(({ webhookId }) => webhookId ?? []),
      )
    ).map(({ id }) => id),
  );
  const embedUsers = await findEmbedUsers(tx, context, recipients);
  const toFound = (recipient: RecipientInput, i: number): FoundRecipient => {
    const { type } = recipient;
    const of = (given: Partial<FoundRecipient>): FoundRecipient => ({
      ...NOTHING,
      isChanged: false,
      type,
      ...given,
    });
    const unknown = (field: Field, message: string) =>
      invalid(`recipients[${i}].${field}`, message, 'invalid_reference');
    switch (type) {
      case 'USER': {
        const { userId, email } = recipient;
        if (userId != null) {
          if (!people.byId.has(userId)) throw unknown('userId', 'There is no such active person.');
          return of({ userId });
        }
        const known = people.byEmail.get(email!.toLowerCase());
        if (known !== undefined) return of({ userId: known });
        if (!mayShowOwnersView) throw ownersView(`recipients[${i}].email`);
        return of({ email: email! });
      }
      case 'EMBED_USER':
        return of(embedUsers[i]!);
      case 'GROUP':
        if (!groups.has(recipient.groupId!)) throw unknown('groupId', 'There is no such group.');
        return of({ groupId: recipient.groupId! });
      case 'WEBHOOK':
        if (!hooks.has(recipient.webhookId!)) throw unknown('webhookId', 'There is no such webhook.');
        return of({ webhookId: recipient.webhookId! });
      case 'SLACK':
        if (!mayShowOwnersView) throw ownersView(`recipients[${i}].type`);
        return of({ channelId: recipient.channelId!, channelName: recipient.channelName ?? null });
    }
  };
  const resolved = recipients.map(toFound);
  requireDistinct(resolved);
  await requireReachable(tx, context, resolved);
  return resolved;
}

/** Whether the view of the owner, which channels and addresses without an account get, is the caller's to give away. */
export const showsOwnView = (actor: Caller, { userId }: Pick<NotificationRow, 'userId'>) =>
  userId === actor.userId || may(actor, 'All');

/** Webhooks get no rows. */
export const getsOwnersView = ({ type, userId }: { type: string; userId: number | null }) =>
  type === 'SLACK' || (type === 'USER' && userId === null);

const ownersView = (path: string) =>
  invalid(
    path,
    'gets the view of the owner, so only the owner of the notification or an admin can add it',
    'recipient_not_allowed',
  );

/** Creators reach their own embed tenant only, and only admins know the webhooks of the account. */
function requireKinds({ looker, caller }: AddContext, recipients: readonly RecipientInput[]) {
  recipients.forEach(({ type }, i) => {
    const path = `recipients[${i}].type`;
    if (looker.embed && type !== 'EMBED_USER' && type !== 'GROUP')
      throw invalid(path, 'must be EMBED_USER or GROUP in creator mode', 'recipient_not_allowed');
    if (type === 'WEBHOOK' && !may(caller.actor, 'All'))
      throw invalid(path, 'webhooks are for admins', 'recipient_not_allowed');
  });
}

async function findPeople(tx: Tx, recipients: readonly RecipientInput[]) {
  const users = recipients.filter(({ type }) => type === 'USER');
  const rows = await store.lockPeople(
    tx,
    users.flatMap(({ userId }) => userId ?? []),
    users.flatMap(({ email }) => email?.toLowerCase() ?? []),
  );
  return {
    byId: new Set(rows.map(({ id }) => id)),
    byEmail: new Map(rows.flatMap(({ id, email }) => (email === null ? [] : [[email.toLowerCase(), id]]))),
  };
}

async function findGroups(
  tx: Tx,
  { notification }: AddContext,
  recipients: readonly RecipientInput[],
): Promise<Set<number>> {
  const ids = recipients.flatMap(({ groupId }) => groupId ?? []);
  return new Set((await store.lockGroups(tx, ids, notification.embedTenantName)).map(({ id }) => id));
}

/** The embed users, in the place of their recipients. */
async function findEmbedUsers(tx: Tx, context: AddContext, recipients: readonly RecipientInput[]) {
  const { notification, provision, caller, looker, tenant } = context;
  const places = recipients.flatMap((recipient, i) => {
    if (recipient.type !== 'EMBED_USER') return [];
    const embedTenantName = recipient.embedTenantName ?? looker.embed?.embedTenant ?? tenant;
    if (notification.embedTenantName !== null && embedTenantName !== notification.embedTenantName)
      throw invalid(
        `recipients[${i}].embedTenantName`,
        'is another embed tenant than that of the notification',
        looker.embed ? 'recipient_not_allowed' : 'invalid_reference',
      );
    return [{ i, recipient, embedTenantName, externalId: recipient.externalId! }];
  });
  const found: (Partial<FoundRecipient> | undefined)[] = [];
  const mayProvision = provision.isAllowed(caller.actor);
  const known = mayProvision ? new Map<string, number>() : await knownUsers(tx, places);
  const creatorMode = notification.embedTenant !== null;
  // In one order in every request, so that two of them do not lock the same users in turns.
  for (const { i, recipient, embedTenantName, externalId } of places.toSorted(byUser)) {
    const { email, groups, userAttributes, securityContext } = recipient;
    if (mayProvision) {
      const { deploymentId } = notification;
      const request = {
        deploymentId,
        embedTenantName,
        externalId,
        email,
        groups,
        userAttributes,
        securityContext,
        creatorMode,
      };
      const user = await provision.run(tx, caller, request).catch((error) => {
        throw at(error, i);
      });
      found[i] = { ...user, securityContext: securityContext ?? null, creatorMode };
      continue;
    }
    const given = PROVISIONING.find((field) => recipient[field] != null);
    if (given)
      throw invalid(`recipients[${i}].${given}`, 'needs an API key or an admin', 'recipient_not_allowed');
    const userId = known.get(JSON.stringify([embedTenantName, externalId]));
    if (userId === undefined)
      throw invalid(`recipients[${i}].externalId`, 'There is no such embed user.', 'invalid_reference');
    found[i] = { userId, creatorMode };
  }
  return found;
}

type Place = { embedTenantName: string; externalId: string };
const byUser = (a: Place, b: Place) =>
  [a.embedTenantName, a.externalId].join('\0') < [b.embedTenantName, b.externalId].join('\0') ? -1 : 1;

async function knownUsers(tx: Tx, places: readonly Place[]) {
  const rows = await store.lockEmbedUsers(
    tx,
    places.map(({ embedTenantName }) => embedTenantName),
    places.map(({ externalId }) => externalId),
  );
  return new Map(
    rows.map(({ id, embedTenantName, externalId }) => [JSON.stringify([embedTenantName, externalId]), id]),
  );
}

/** An error about one recipient names its place. */
function at(error: unknown, i: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message, issues = [{ path: 'externalId', message }] } = error;
  return new ApiError(code, {
    message,
    issues: issues.map((issue) => ({ ...issue, path: `recipients[${i}].${issue.path}` })),
  });
}

function requireDistinct(resolved: readonly FoundRecipient[]) {
  const seen = new Set<string>();
  resolved.forEach((recipient, i) => {
    const { userId, groupId, webhookId, channelId, email } = recipient;
    const key = JSON.stringify([userId, groupId, webhookId, channelId, email?.toLowerCase()]);
    if (seen.has(key)) throw invalid(`recipients[${i}]`, 'is given twice', 'duplicate_recipient');
    seen.add(key);
  });
}

/** Whether the settings of the account let messages go to the address. An embed user or person is known. */
export function isReachable(settings: TenantSettingsRow, email: string, isKnown: boolean): boolean {
  if (settings.notificationRecipients === 'anybody') return true;
  if (settings.notificationRecipients === 'known') return isKnown;
  return settings.notificationDomains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

async function requireReachable(tx: Tx, { settings }: AddContext, resolved: readonly FoundRecipient[]) {
  const userIds = resolved.flatMap(({ userId }) => userId ?? []);
  const emails = new Map((await store.emailsOf(tx, userIds)).map(({ id, email }) => [id, email]));
  resolved.forEach(({ userId, email }, i) => {
    const address = userId === null ? email : (emails.get(userId) ?? null);
    if (address !== null && !isReachable(settings, address, userId !== null))
      throw invalid(`recipients[${i}]`, `${address} is out of reach`, 'recipient_not_allowed');
  });
}

/** Adds those that are new, and returns the ids of all by what became of them. The notification must be locked. */
export async function addResolved(tx: Tx, notificationId: number, resolved: readonly FoundRecipient[]) {
  const matches = await store.matchRecipients(tx, notificationId, resolved);
  const isNew = (i: number) => matches[i]!.id === null;
  const fresh = resolved.filter((_, i) => isNew(i));
  if (fresh.length && (await store.countRecipients(tx, notificationId)) + fresh.length > limits.recipients)
    throw new ApiError('recipient_limit_reached');
  const created = fresh.length ? await store.insertRecipients(tx, notificationId, fresh) : [];
  const others = resolved.flatMap((recipient, i) =>
    isNew(i) ? [] : [{ ...recipient, id: matches[i]!.id!, isSame: matches[i]!.isSame }],
  );
  const differing = others.filter(({ isSame }) => !isSame);
  if (differing.length) await store.updateRecipients(tx, differing);
  const isUpdated = ({ isSame, isChanged }: { isSame: boolean; isChanged: boolean }) => !isSame || isChanged;
  return {
    created: created.map(({ id }) => id),
    updated: others.filter(isUpdated).map(({ id }) => id),
    unchanged: others.filter((other) => !isUpdated(other)).map(({ id }) => id),
  };
}

/**
 * Adds a caller who subscribes or unsubscribes. With an embed token, each message has what their newest session gives
 * them. Returns whether they are new.
 */
export async function addOwn(tx: Tx, notificationId: number, actor: Caller): Promise<boolean> {
  const { userId } = actor;
  const own: store.OwnRecipient =
    actor.kind === 'externalViewer'
      ? {
          ...{ userId, type: 'EMBED_USER', creatorMode: actor.embed.creatorMode },
          session: found(await store.findSession(tx, actor.embed.sessionId), 'notification_not_found'),
        }
      : { userId, type: 'USER', creatorMode: false, session: null };
  const isNew = await store.insertOwn(tx, notificationId, own);
  if (isNew && (await store.countRecipients(tx, notificationId)) > limits.recipients)
    throw new ApiError('recipient_limit_reached');
  return isNew;
}
