/** Finds, links or creates the user of a person whom the provider has confirmed, and signs them in. */
import { type Change, changeFunction, created, type OnChange } from '../../platform/audit/change.ts';
import { NOBODY } from '../../platform/auth/actor.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError } from '../../platform/errors.ts';
import { siteOf } from '../../platform/http/attempt-limit.ts';
import type { PasswordLinks } from '../password-links/index.ts';
import type { Console, OpenedConsole, SignInOrigin } from '../sessions/index.ts';
import { createUser, DEFAULT_ROLE, lockSigningIn, removePassword } from '../users/index.ts';
import { joinGroups } from './groups.ts';
import type { Proof } from './provider.ts';
import { groupNamesIn, personIn, textIn } from './rules.ts';
import type { ProviderSettings } from './settings.ts';
import * as store from './store.ts';
import { endSessions, unlinkIdentity } from './unlink.ts';

export interface Identities {
  /**
   * Begins the session of the user, in the transaction that finds, links or creates them. Throws if there is no such
   * user, and then nothing has changed.
   */
  signIn(proof: Proof, origin: SignInOrigin, browser: Browser): Promise<OpenedConsole>;
}

interface Browser {
  /** The cookie header of the request. */
  cookie?: string | undefined;
  /** A one-time link that the person accepts. */
  link?: string | undefined;
}

/** The user is locked, so that the identity stays theirs until the transaction ends. */
interface FoundUser {
  userId: number;
  changes: Change[];
}

interface Options {
  db: Database;
  console: Console;
  links: PasswordLinks;
  settings: Pick<ProviderSettings, 'createUsers' | 'groupsClaim' | 'externalIdClaim'>;
  onChange: OnChange;
}

const refuseTaken = refusing({
  identities_issuer_subject_key: 'identity_taken',
  identities_user_id_issuer_key: 'identity_taken',
});
const TAKEN = ['identity_taken', 'email_taken', 'username_taken'];
/** What a person gets who has no user here, and cannot get one. */
const OF_UNKNOWN = ['identity_taken', 'identity_unknown', 'identity_incomplete'];

/** A new user is made from the claims, so what is wrong with the user is wrong with the claims. */
function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 'invalid_request') throw new ApiError('identity_incomplete');
  throw TAKEN.includes(error.code) ? new ApiError('identity_taken') : error;
}

export function createIdentities({ db, console, links, settings, onChange }: Options): Identities {
  /**
   * Like a new password, it replaces how the user signed in before: an earlier identity at this provider, the password,
   * and all sessions. Otherwise an intruder whom the link should keep out could still come in.
   */
  async function linkIdentity(tx: Tx, proof: Proof, link: string): Promise<FoundUser> {
    const { issuer, subject } = proof;
    const userId = await links.accept(tx, link);
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
    if (!known) {
      await store.insertIdentity(tx, proof, userId).catch(refuseTaken);
      changes.push(created({ id: userId, issuer, subject }));
    }
    return { userId, changes };
  }

  /** Another system, such as SCIM, may have created the user. It names them by the provider's own id, not by an email. */
  async function joinProvisioned(tx: Tx, proof: Proof): Promise<FoundUser | undefined> {
    const { issuer, subject, claims } = proof;
    const externalId = settings.externalIdClaim && textIn(claims, settings.externalIdClaim);
    if (!externalId) return undefined;
    const users = await store.lockProvisioned(tx, externalId, issuer);
    if (users.length !== 1) return undefined;
    const [{ id, isDeactivated, hasSignedIn }] = users as [store.ProvisionedRow];
    if (isDeactivated) throw new ApiError('user_deactivated');
    // An identity that was unlinked must not come back by itself: a user who has signed in before needs a link.
    if (hasSignedIn) throw new ApiError('identity_taken');
    await store.insertIdentity(tx, proof, id).catch(refuseTaken);
    return { userId: id, changes: [created({ id, issuer, subject })] };
  }

  async function createPerson(tx: Tx, proof: Proof): Promise<FoundUser> {
    if (!settings.createUsers) throw new ApiError('identity_unknown');
    const { issuer, subject, claims } = proof;
    const person = personIn(claims);
    if (!person) throw new ApiError('identity_incomplete');
    const newUser = { ...person, username: person.email, passwordHash: null, externalId: null };
    const user = await createUser(tx, newUser, [DEFAULT_ROLE]);
    await store.insertIdentity(tx, proof, user.id).catch(refuseTaken);
    const changes = [{ ...created(user), resourceType: 'user' }, created({ id: user.id, issuer, subject })];
    return { userId: user.id, changes };
  }

  /** Locks the user, as requests that unlink or replace the identity do, so they come before or after this sign-in. */
  async function lockKnown(tx: Tx, proof: Proof) {
    const known = await store.findIdentity(tx, proof);
    if (!known) return undefined;
    await lockSigningIn(tx, known.userId);
    const still = await store.findIdentity(tx, proof);
    return still?.userId === known.userId ? still : undefined;
  }

  async function identify(tx: Tx, proof: Proof, link: string | undefined): Promise<FoundUser> {
    if (link !== undefined) return linkIdentity(tx, proof, link);
    const known = await lockKnown(tx, proof);
    if (known?.isDeactivated) throw new ApiError('user_deactivated');
    if (known) return { userId: known.userId, changes: [] };
    return (await joinProvisioned(tx, proof)) ?? createPerson(tx, proof);
  }

  async function followClaim(tx: Tx, proof: Proof, claim: string): Promise<Change[]> {
    const { userId, groupIds: before } = (await store.findIdentity(tx, proof))!;
    const { groupIds, changes } = await joinGroups(tx, userId, groupNamesIn(proof.claims, claim), before);
    if (String(groupIds) !== String(before)) await store.updateGroupIds(tx, proof, groupIds);
    return changes;
  }

  async function attempt(proof: Proof, origin: SignInOrigin, { cookie, link }: Browser) {
    const { operation, ip, requestId } = origin;
    const about = {
      operation,
      resourceType: 'identity',
      actor: NOBODY,
      deploymentId: null,
      embedTenantName: null,
      ip,
      requestId,
    };
    const change = changeFunction(db.as(siteOf(ip)), about, { onChange });
    const { reply } = await change(async (tx) => {
      const { userId, changes } = await identify(tx, proof, link);
      if (settings.groupsClaim) changes.push(...(await followClaim(tx, proof, settings.groupsClaim)));
      return { reply: await console.begin(tx, userId, origin, { cookie }), changes };
    });
    return reply;
  }

  return {
    async signIn(proof, origin, browser) {
      const begin = () => attempt(proof, origin, browser).catch(refuse);
      try {
        return await begin();
      } catch (error) {
        // Two windows may race at the first sign-in of a person. If the other one was faster, try again.
        const isLate = error instanceof ApiError && OF_UNKNOWN.includes(error.code);
        if (!isLate || browser.link !== undefined || !(await store.findIdentity(db, proof))) throw error;
        return begin();
      }
    },
  };
}
