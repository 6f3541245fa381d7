/** Finds, links or creates the user of a person whom the provider has confirmed. */
import { type Change, changeFunction, created } from '../../platform/audit/change.ts';
import { NOBODY } from '../../platform/auth/actor.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError } from '../../platform/errors.ts';
import type { PasswordLinks } from '../password-links/index.ts';
import type { SignInOrigin } from '../sessions/index.ts';
import { createUser, DEFAULT_ROLE, lockPerson, removePassword } from '../users/index.ts';
import { joinGroups } from './groups.ts';
import type { Proof } from './provider.ts';
import { groupNamesIn, personIn, textIn } from './rules.ts';
import type { ProviderSettings } from './settings.ts';
import * as store from './store.ts';
import { endSessions, unlinkIdentity } from './unlink.ts';

export interface Identities {
  /** Returns the id of the user. Throws if there is none, and then nothing has changed. */
  identify(proof: Proof, origin: SignInOrigin, link?: string): Promise<number>;
}

interface Options {
  db: Database;
  links: PasswordLinks;
  settings: Pick<ProviderSettings, 'createUsers' | 'groupsClaim' | 'externalIdClaim'>;
}

const refuseTaken = refusing({
  identities_issuer_subject_key: 'identity_taken',
  identities_user_id_issuer_key: 'identity_taken',
});
const TAKEN = ['identity_taken', 'email_taken', 'username_taken'];

export function createIdentities({ db, links, settings }: Options): Identities {
  /**
   * Like a new password, it replaces how the user signed in before: an earlier identity at this provider, the password,
   * and all sessions. Otherwise somebody who should be kept out by the link could still come in.
   */
  async function linkIdentity(tx: Tx, proof: Proof, link: string): Promise<Change[]> {
    const { issuer, subject } = proof;
    const userId = await links.accept(tx, link);
    await lockPerson(tx, userId);
    const known = await store.findIdentity(tx, proof);
    if (known && known.userId !== userId) throw new ApiError('identity_taken');
    const earlier = (await store.listIdentities(tx, userId)).filter((one) => one.issuer === issuer);
    const changes: Change[] = [];
    for (const { id } of earlier) {
      if (id !== known?.id) changes.push(...(await unlinkIdentity(tx, userId, id)));
    }
    const removed = await removePassword(tx, userId);
    if (removed) changes.push({ ...removed, resourceType: 'user' });
    changes.push(...(await endSessions(tx, userId)));
    if (known) return changes;
    await store.insertIdentity(tx, proof, userId).catch(refuseTaken);
    return [...changes, created({ id: userId, issuer, subject })];
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

  async function followClaim(tx: Tx, proof: Proof, claim: string): Promise<Change[]> {
    await store.lockIdentity(tx, proof);
    const { userId, groupIds: before } = (await store.findIdentity(tx, proof))!;
    const { groupIds, changes } = await joinGroups(tx, userId, groupNamesIn(proof.claims, claim), before);
    if (String(groupIds) !== String(before)) await store.updateGroupIds(tx, proof, groupIds);
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
      if (settings.groupsClaim) changes.push(...(await followClaim(tx, proof, settings.groupsClaim)));
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
