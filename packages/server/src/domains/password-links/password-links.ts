/** Links with which people set their password: an invitation for a new user, or a reset. */
import type { Change } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { createCheckedIds } from '../../platform/secrets/checked-ids.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';
import { hashNewPassword, lockUser, setPassword } from '../users/index.ts';
import { type LinkMailer, mailLinkJob } from './mails.ts';
import * as store from './store.ts';

/** The pages that the links lead to. The secret is in the parameter `link`. */
export const LINK_PATHS: Record<store.LinkKind, string> = {
  invitation: '/invitation',
  reset: '/reset-password',
};

const PREFIX = 'oriel_link_';
/** More than 256 bits, and a multiple of three as ids need it. */
const SECRET_BYTES = 33;
/** Whether the text has the form of a link. A part of a link, as a mail program may cut it off, has not. */
export const isWholeLink = (link: string) => /^oriel_link_\d+\.[\w-]{68}$/.test(link);
const DEFAULT_SECONDS = 3600;

export interface CreatedLink {
  url: string;
  expiresAt: string;
}

export interface PasswordLinks {
  /**
   * Both end the earlier links of the user. The password does not change before the link is used. If mail can be sent, the
   * link is mailed to the user after the transaction.
   */
  invite(tx: Tx, userId: number, seconds?: number | null): Promise<CreatedLink>;
  reset(tx: Tx, userId: number, seconds?: number | null): Promise<CreatedLink>;
  /** Finds the person that the link is for. Throws `link_not_valid`. */
  find(db: Queryable, link: string): Promise<store.LinkRow>;
  /**
   * Ends the link without a password: the user signs in with a provider. Returns their id, or throws `link_not_valid`.
   * Nobody else can change the user until the transaction ends.
   */
  accept(tx: Tx, link: string): Promise<number>;
  /**
   * Hashes the password, which is slow. The function that it returns sets the password, ends the link and all sessions of
   * the user, and returns the change for the audit log. Both throw `link_not_valid`.
   */
  preparePassword(
    db: Queryable,
    given: { link: string; password: string; ip: string },
  ): Promise<(tx: Tx) => Promise<Change>>;
  jobs: JobKind[];
}

export function createPasswordLinks({
  keys,
  publicUrl,
  mailing,
}: {
  keys: Keys;
  publicUrl: string;
  mailing?: LinkMailer | undefined;
}): PasswordLinks {
  const ids = createCheckedIds(keys, { secretBytes: SECRET_BYTES });
  const urlOf = (kind: store.LinkKind, userId: number, secret: string) =>
    `${publicUrl}${LINK_PATHS[kind]}?link=${PREFIX}${ids.format(userId, secret)}`;
  const mailLink = mailLinkJob(mailing, urlOf);

  function parse(link: string) {
    const parsed = link.startsWith(PREFIX) ? ids.parse(link.slice(PREFIX.length)) : undefined;
    const { id, secret } = found(parsed, 'link_not_valid');
    return { userId: id, secretHash: hashSecret(secret) };
  }

  async function find(db: Queryable, link: string) {
    const { userId, secretHash } = parse(link);
    return found(await store.findLink(db, userId, secretHash), 'link_not_valid');
  }

  async function accept(tx: Tx, link: string) {
    const { userId, secretHash } = parse(link);
    // Lock the user before the link: changes of the user, which end links, lock in this order too.
    await lockUser(tx, userId);
    if (!(await store.deleteLink(tx, userId, secretHash))) throw new ApiError('link_not_valid');
    return userId;
  }

  const create =
    (kind: store.LinkKind) =>
    async (tx: Tx, userId: number, seconds?: number | null): Promise<CreatedLink> => {
      const secret = ids.newSecret();
      const { expiresAt } = await store.upsertLink(tx, {
        userId,
        kind,
        secretHash: hashSecret(secret),
        seconds: seconds ?? DEFAULT_SECONDS,
        mailSecret: mailing ? mailing.box.seal(String(userId), Buffer.from(secret)) : null,
      });
      if (mailing) await enqueue(tx, mailLink, { userId });
      return { url: urlOf(kind, userId, secret), expiresAt };
    };

  return {
    invite: create('invitation'),
    reset: create('reset'),
    find,
    accept,
    jobs: [mailLink as JobKind],

    async preparePassword(db, { link, password, ip }) {
      // The cheap check comes first, because hashing is expensive.
      const person = await find(db, link);
      const passwordHash = await hashNewPassword('newPassword', password, person, ip);
      return async (tx) => {
        const userId = await accept(tx, link);
        const change = found(await setPassword(tx, userId, passwordHash), 'link_not_valid');
        return { ...change, userId };
      };
    },
  };
}
