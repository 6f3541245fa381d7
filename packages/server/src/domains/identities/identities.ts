/** Finds, links or creates the user of a person whom the provider has confirmed. */
import { type Change, changeFunction, created } from '../../platform/audit/change.ts';
import { NOBODY } from '../../platform/auth/actor.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError } from '../../platform/errors.ts';
import type { PasswordLinks } from '../password-links/index.ts';
import type { SignInOrigin } from '../sessions/index.ts';
import { addMembers, lockUserGroup, removeMembers } from '../user-groups/index.ts';
import { createUser, DEFAULT_ROLE } from '../users/index.ts';
import type { Proof } from './provider.ts';
import { groupChanges, groupNamesIn, personIn, textIn } from './rules.ts';
import type { ProviderSettings } from './settings.ts';
import * as store from './store.ts';

export interface Identities {
  /** Returns the id of the user. Throws if there is none, and then nothing has changed. */
  identify(proof: Proof, origin: SignInOrigin, link?: string): Promise<number>;
}

interface Options {
  db: Database;
  links: PasswordLinks;
  settings: Pick<ProviderSettings, 'createUsers' | 'groupsClaim' | 'externalIdClaim'>;
}

const refuseTaken = refusing({ identities_pkey: 'identity_taken' });
const TAKEN = ['identity_taken', 'email_taken', 'username_taken'];

export function createIdentities({ db, links, settings }: Options): Identities {
  async function linkIdentity(tx: Tx, proof: Proof, link: string): Promise<Change[]> {
    const { issuer, subject } = proof;
    const userId = await links.accept(tx, link);
    const known = await store.findIdentity(tx, proof);
    if (known && known.userId !== userId) throw new ApiError('identity_taken');
    if (known) return [];
    await store.insertIdentity(tx, proof, userId).catch(refuseTaken);
    return [created({ id: userId, issuer, subject })];
  }

  /** Another system, such as SCIM, may have created the user. It names them by the provider's own id, not by an email. */
  async function joinProvisioned(tx: Tx, proof: Proof): Promise<Change[] | undefined> {
    const { issuer, subject, claims } = proof;
    const externalId = settings.externalIdClaim && textIn(claims, settings.externalIdClaim);
    if (!externalId) return undefined;
    const users = await store.listProvisioned(tx, externalId, issuer);
    if (users.length !== 1) return undefined;
    const [{ id, isDeactivated }] = users as [store.ProvisionedRow];
    if (isDeactivated) throw new ApiError('user_deactivated');
    await store.insertIdentity(tx, proof, id).catch(refuseTaken);
    return [created({ id, issuer, subject })];
  }

  async function createPerson(tx: Tx, proof: Proof): Promise<Change[]> {
    if (!settings.createUsers) throw new ApiError('identity_unknown');
    const { issuer, subject, claims } = proof;
    const person = personIn(claims);
    if (!person) throw new ApiError('identity_incomplete');
    const newUser = { ...person, username: person.email, passwordHash: null, externalId: null };
    const user = await createUser(tx, newUser, [DEFAULT_ROLE]);
    await store.insertIdentity(tx, proof, user.id).catch(refuseTaken);
    return [{ ...created(user), resourceType: 'user' }, created({ id: user.id, issuer, subject })];
  }

  async function joinGroups(tx: Tx, proof: Proof, claim: string): Promise<Change[]> {
    await store.lockIdentity(tx, proof);
    const { userId, groupIds: joinedByClaim } = (await store.findIdentity(tx, proof))!;
    const groups = await store.listGroups(tx, userId, groupNamesIn(proof.claims, claim));
    const { join, leave, groupIds } = groupChanges(groups, joinedByClaim);
    const changes: Change[] = [];
    // In the order of their ids, so that two sign-ins do not block each other.
    for (const id of [...join, ...leave].sort((a, b) => a - b)) {
      const group = await lockUserGroup(tx, id);
      const changed = await (join.includes(id) ? addMembers : removeMembers)(tx, group, [userId]);
      changes.push(...changed.changes.map((change) => ({ ...change, resourceType: 'userGroup' })));
    }
    if (String(groupIds) !== String(joinedByClaim)) await store.updateGroupIds(tx, proof, groupIds);
    return changes;
  }

  async function attempt(
    proof: Proof,
    { operation, ip, requestId }: SignInOrigin,
    link?: string,
  ): Promise<number> {
    const origin = {
      operation,
      resourceType: 'identity',
      actor: NOBODY,
      deploymentId: null,
      embedTenantName: null,
    };
    const change = changeFunction(db, { ...origin, ip, requestId });
    const { reply } = await change(async (tx) => {
      const known = await store.findIdentity(tx, proof);
      if (known?.isDeactivated) throw new ApiError('user_deactivated');
      const changes: Change[] = [];
      if (link !== undefined) changes.push(...(await linkIdentity(tx, proof, link)));
      else if (!known)
        changes.push(...((await joinProvisioned(tx, proof)) ?? (await createPerson(tx, proof))));
      if (settings.groupsClaim) changes.push(...(await joinGroups(tx, proof, settings.groupsClaim)));
      return { reply: (await store.findIdentity(tx, proof))!.userId, changes };
    });
    return reply;
  }

  return {
    async identify(proof, origin, link) {
      try {
        return await attempt(proof, origin, link);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 'invalid_request') throw new ApiError('identity_incomplete');
        if (!TAKEN.includes(error.code)) throw error;
        // The same person may have signed in for the first time in two windows at once. Then the other one was faster.
        if (link === undefined && (await store.findIdentity(db, proof))) return attempt(proof, origin);
        throw new ApiError('identity_taken');
      }
    },
  };
}
