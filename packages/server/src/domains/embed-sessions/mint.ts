/** Mints a session: runs the checks in their order, then one transaction that writes everything or nothing. */
import { may, reaches } from '../../platform/auth/access.ts';
import { type KeyHolder, sharerOf } from '../../platform/auth/actor.ts';
import {
  type Database,
  isConflict,
  isForeignKeyViolation,
  raisedDetail,
  retrying,
} from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import type { Call } from '../../platform/http/call.ts';
import type { CheckedIds } from '../../platform/secrets/checked-ids.ts';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import type { Usage } from '../usage/index.ts';
import { definedGroups, problemsOf, type Refusal, type SessionRequest, toProblem } from './rules.ts';
import * as store from './store.ts';

export interface MintOptions {
  db: Database;
  /** The account's own embed tenant. */
  tenant: string;
  plan: string;
  maxExternalUsers: number;
  tenantSettings: TenantSettings;
  sessionIds: CheckedIds;
  usage: Pick<Usage, 'countSession'>;
  requireDeployment: (id: number) => undefined | Promise<void>;
}

export type MintCall = Pick<Call<KeyHolder>, 'actor' | 'origin'>;

export const PLANS_WITH_EMBEDDING = ['premium', 'enterprise'];
/** The code that mint_embed_session raises. The detail holds the errors. */
const REFUSED = 'OR400';

export async function mintSession(options: MintOptions, call: MintCall, request: SessionRequest) {
  for await (const [problem] of checks(options, call.actor, request)) if (problem) throw problem;
  const db = options.db.as(sharerOf(call.actor));
  const secret = options.sessionIds.newSecret();
  const secretHash = hashSecret(secret);
  try {
    const { id, viewerId, told } = await retrying(
      // Reads the input again on each try, because an internal user may have been deleted in the meantime.
      async () => store.insertSession(db.writes, await toInput(options, call, request, secretHash)),
      isWorthAnotherTry,
    );
    db.notify(told);
    options.usage.countSession(request.embedTenantName ?? options.tenant, viewerId);
    return { sessionId: options.sessionIds.format(id, secret) };
  } catch (error) {
    const [refusal] = refusalsOf(error);
    throw refusal ? toProblem(refusal, request) : error;
  }
}

/** Yields the problems that can be found without groups and attributes, step by step. Callers may stop at the first. */
export async function* checks(
  options: MintOptions,
  actor: KeyHolder,
  request: SessionRequest,
): AsyncGenerator<ApiError[], void, void> {
  yield problemsOf(request);
  if (!PLANS_WITH_EMBEDDING.includes(options.plan)) yield [new ApiError('plan_required')];
  if (!reaches(actor, request.deploymentId)) return yield [new ApiError('outside_key_scope')];
  yield await problemIn(async () => options.requireDeployment(request.deploymentId));
  if (request.internalId != null) {
    yield await problemIn(() => requireInternalUser(options.db, actor, request));
  }
  const { useCreatorMode } = await options.tenantSettings.current();
  if (request.creatorMode && !useCreatorMode) yield [new ApiError('creator_mode_disabled')];
}

async function problemIn(work: () => Promise<unknown>): Promise<ApiError[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

/**
 * A session for an internal user has that user's rights, so only the user and admins may mint it. Other callers cannot
 * find out whether the user exists.
 */
async function requireInternalUser(db: Database, actor: KeyHolder, { internalId }: SessionRequest) {
  const id = await store.findInternalUserId(db, internalId!);
  if (id !== actor.userId && !may(actor, 'All')) {
    const message = 'Only an admin, or the user themselves, can mint a session with `internalId`.';
    throw new ApiError('forbidden', { message, issues: [{ path: 'internalId', message }] });
  }
  return found(id, 'user_not_found');
}

/** Null means "not given", except in the value of an attribute, where null clears the value. */
export async function toInput(
  options: MintOptions,
  { actor, origin }: MintCall,
  request: SessionRequest,
  secretHash: Buffer,
): Promise<store.MintInput> {
  const { tenantGroupDefinitions: _, ...others } = request;
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  const groupDefinitions = definedGroups(request);
  const embedTenantName = request.embedTenantName ?? options.tenant;
  return {
    request: {
      ...given,
      ...(groupDefinitions ? { groupDefinitions } : {}),
      embedTenantName,
      creatorMode: request.creatorMode ?? false,
      ...(request.internalId == null
        ? {}
        : { userId: await requireInternalUser(options.db, actor, request) }),
      ...(request.groups ? { groups: [...new Set(request.groups)] } : {}),
      ...(request.tenantGroups ? { tenantGroups: [...new Set(request.tenantGroups)] } : {}),
      ...(request.userAttributes
        ? { userAttributes: request.userAttributes.map(({ name, value = null }) => ({ name, value })) }
        : {}),
    },
    secretHash,
    maxExternalUsers: options.maxExternalUsers,
    origin: { userId: actor.userId, apiKeyId: actor.apiKeyId, embedTenantName, ...origin },
  };
}

/** True if another call deleted a row that this call had found. The next try creates it again or refuses the call. */
export const isWorthAnotherTry = (error: unknown) => isConflict(error) || isForeignKeyViolation(error);

const refusalsOf = (error: unknown): Refusal[] => JSON.parse(raisedDetail(error, REFUSED) ?? '[]');
