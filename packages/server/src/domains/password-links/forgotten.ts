/**
 * What happens when somebody has forgotten their password. Nobody learns from the answer, or from how long it takes, whether
 * there is an account: each request is answered alike and leaves a job, and the job finds out what to do.
 */
import { recordEvent } from '../../platform/audit/events.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { isApiError } from '../../platform/errors.ts';
import { createAddressLimit, createAttemptLimit, siteOf } from '../../platform/http/attempt-limit.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { letterOf } from '../../platform/mail/letter.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { findCandidate } from '../sessions/index.ts';
import { hasPassword, lockPerson } from '../users/index.ts';
import { letterWithoutPassword } from './mails.ts';
import type { PasswordLinks } from './password-links.ts';
import * as store from './store.ts';

/** One network may ask this often, for any names: each request writes a job. */
const PER_ADDRESS = {
  max: 20,
  perMs: 15 * 60_000,
  message: 'Too many requests for new passwords: wait, and try again.',
};
/** Requests for one name beyond this are answered alike, and do nothing. */
const PER_NAME = { max: 3, perMs: 15 * 60_000 };
/**
 * For this long, a mailed link stays the one that works, even if a reset is requested again: otherwise anybody could
 * end it before its owner reads the mail.
 */
export const SAME_LINK_MINUTES = 15;

interface ResetRequest {
  /** Null if nobody has the name. The name itself is not stored: it may be a password that was typed into the wrong field. */
  userId: number | null;
  operation: string;
  ip: string;
  requestId: string;
}

export interface ForgottenPasswords {
  /** `name` is an email or a username. Throws a 429 after too many requests of a network. */
  ask(name: string, origin: CallOrigin): Promise<void>;
  jobs: JobKind[];
}

export function createForgottenPasswords(options: {
  db: Database;
  mail: Mail | undefined;
  links: Pick<PasswordLinks, 'invite' | 'reset'>;
  signInUrl: string;
}): ForgottenPasswords {
  const { db, mail, links, signInUrl } = options;
  const ofAddress = createAddressLimit(PER_ADDRESS);
  const ofName = createAttemptLimit(PER_NAME);

  const job: JobKind<ResetRequest> = {
    name: 'password-links.forgotten',
    lane: 'mails',
    async run({ userId, ...asked }, { db, jobId, signal }) {
      if (userId === null || !mail) return;
      const answer = await db.transaction((tx) => answerTo(tx, links, userId, asked));
      if (answer.isLink || !answer.email) return;
      const letter = letterWithoutPassword(mail.from.name ?? 'Oriel', signInUrl);
      await mail.send(
        {
          id: `no password ${jobId}`,
          to: { address: answer.email },
          subject: letter.title,
          ...letterOf(letter),
        },
        signal,
      );
    },
  };

  return {
    async ask(name, origin) {
      ofAddress.begin(origin.ip);
      const caller = db.as(siteOf(origin.ip));
      const { key, userId } = await findCandidate(caller, name.trim());
      const { operation, ip, requestId } = origin;
      if (isOneOfMany(() => ofName.begin(key))) return;
      await caller.transaction((tx) => enqueue(tx, job, { userId, operation, ip, requestId }));
    },
    jobs: [job as JobKind],
  };
}

function isOneOfMany(count: () => unknown): boolean {
  try {
    count();
    return false;
  } catch (error) {
    if (isApiError(error, 'rate_limited')) return true;
    throw error;
  }
}

/** Makes a link, which another job mails. Without a link, the person may be told why, if there is an email. */
async function answerTo(
  tx: Tx,
  links: Pick<PasswordLinks, 'invite' | 'reset'>,
  userId: number,
  asked: Omit<ResetRequest, 'userId'>,
): Promise<{ isLink: boolean; email?: string }> {
  const user = await lockPerson(tx, userId).catch((error) => {
    if (isApiError(error, 'user_not_found')) return undefined;
    throw error;
  });
  if (!user || user.isDeactivated) return { isLink: false };
  const current = await store.findCurrentLink(tx, userId, SAME_LINK_MINUTES);
  if (current?.isRecent) return { isLink: true };
  // An invitation that works for days must not be replaced by a link that works for an hour.
  if (current?.kind === 'invitation') await links.invite(tx, userId, Math.max(3600, current.secondsLeft));
  else if (await hasPassword(tx, userId)) await links.reset(tx, userId);
  else return { isLink: false, email: user.email };
  await recordEvent(tx, {
    ...asked,
    resourceType: 'forgottenPassword',
    resourceId: String(userId),
    userId: null,
  });
  return { isLink: true };
}
