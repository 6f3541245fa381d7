/** Creates or updates an external user without a session, by the rules of minting. */
import { may } from '../../platform/auth/access.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { PLANS_WITH_EMBEDDING } from './mint.ts';
import { problemsOf, type SessionRequest, toProblem } from './rules.ts';
import { rehearseSession } from './store.ts';

export interface ProvisionOptions {
  plan: string;
  maxExternalUsers: number;
  tenantSettings: TenantSettings;
}

export type ProvisionRequest = Pick<
  SessionRequest,
  'externalId' | 'email' | 'groups' | 'userAttributes' | 'securityContext' | 'creatorMode'
> & { embedTenantName: string; deploymentId: number };

export interface Provision {
  /** Minting takes an API key; an admin could make one. */
  isAllowed(actor: Caller): boolean;
  /** Returns the id of the user, and whether something about them is new. Throws what minting would refuse. */
  run(
    tx: Tx,
    caller: { actor: Caller; origin: CallOrigin },
    request: ProvisionRequest,
  ): Promise<{ userId: number; isChanged: boolean }>;
}

const NO_SECRET = Buffer.alloc(0);

export const createProvision = ({ plan, maxExternalUsers, tenantSettings }: ProvisionOptions): Provision => ({
  isAllowed: (actor) => actor.kind === 'person' && (actor.apiKeyId !== null || may(actor, 'All')),
  async run(tx, { actor, origin }, { creatorMode, ...given }) {
    const request = { ...given, creatorMode: creatorMode ?? false };
    const [problem] = problemsOf(request);
    if (problem) throw problem;
    if (!PLANS_WITH_EMBEDDING.includes(plan)) throw new ApiError('plan_required');
    if (creatorMode && !(await tenantSettings.current()).useCreatorMode)
      throw new ApiError('creator_mode_disabled');
    const { userAttributes, groups, ...others } = request;
    const { errors, viewerId, viewerIsNew, changed } = await rehearseSession(tx, {
      request: {
        ...Object.fromEntries(Object.entries(others).filter(([, value]) => value != null)),
        ...(groups ? { groups: [...new Set(groups)] } : {}),
        ...(userAttributes
          ? { userAttributes: userAttributes.map(({ name, value = null }) => ({ name, value })) }
          : {}),
      },
      secretHash: NO_SECRET,
      maxExternalUsers,
      origin: {
        userId: actor.userId,
        apiKeyId: actor.kind === 'person' ? actor.apiKeyId : null,
        embedTenantName: given.embedTenantName,
        ip: origin.ip,
        requestId: origin.requestId,
      },
    });
    if (errors[0]) throw toProblem(errors[0], request);
    return { userId: viewerId!, isChanged: viewerIsNew || changed.length > 0 };
  },
});
