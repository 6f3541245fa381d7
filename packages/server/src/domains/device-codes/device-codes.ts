/** Signs in a device without a browser, such as a command-line tool, after a person approved its code (RFC 8628). */
import { timingSafeEqual } from 'node:crypto';
import type { ErrorCode } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError, found, isApiError } from '../../platform/errors.ts';
import { createAttemptLimit, siteOf } from '../../platform/http/attempt-limit.ts';
import { type CountedAttempt, createFailureLimit } from '../../platform/http/failure-limit.ts';
import { createCheckedIds } from '../../platform/secrets/checked-ids.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';
import type { Approver, IssuedTokens, Sessions, SignInOrigin } from '../sessions/index.ts';
import * as store from './store.ts';
import { hashUserCode, newUserCode, shownUserCode } from './user-codes.ts';
import { createWaitingLimit, type WaitingLimit } from './waiting-limit.ts';

/** Where people type the code. */
export const DEVICE_PATH = '/device';

const PREFIX = 'oriel_device_';
/** More than 256 bits, and a multiple of three as ids need it. */
const SECRET_BYTES = 33;
const INTERVAL_SECONDS = 5;
/**
 * A device that waits as it is told asks 12 times in a minute. One that asks more often is told so without a question to
 * the database.
 */
const QUESTIONS = { perSubject: 20, perAddress: 600, perMs: 60_000 };
/** How many wrong codes a person may type. */
const WRONG_CODES = { max: 20, perMs: 10 * 60_000, message: 'Too many wrong codes: wait, and try again.' };

export interface StartedDevice {
  deviceCode: string;
  userCode: string;
  verificationUri: string;
  verificationUriComplete: string;
  expiresIn: number;
  interval: number;
}

export interface DeviceCodes {
  start(clientId: string, origin: SignInOrigin): Promise<StartedDevice>;
  /** What a person is shown before they approve. Throws a 404, or a 429 after too many wrong codes. */
  find(userCode: string, userId: number): Promise<store.WaitingDevice>;
  /** Approves or refuses the code, at most once. Throws in the same way. Returns the change for the audit log. */
  answer(tx: Tx, userCode: string, approver: Approver, isApproved: boolean): Promise<Change>;
  /** Throws the errors of RFC 8628 until the code was approved. */
  exchange(deviceCode: string, clientId: string, origin: SignInOrigin): Promise<IssuedTokens>;
}

export interface DeviceCodeOptions {
  db: Database;
  keys: Keys;
  publicUrl: string;
  seconds: number;
  sessions: Sessions;
  waiting?: WaitingLimit;
}

export function createDeviceCodes({
  db,
  keys,
  publicUrl,
  seconds,
  sessions,
  waiting = createWaitingLimit(seconds * 1000),
}: DeviceCodeOptions): DeviceCodes {
  const ids = createCheckedIds(keys, { secretBytes: SECRET_BYTES });
  const wrongCodes = createAttemptLimit(WRONG_CODES);
  const questions = createFailureLimit(QUESTIONS);

  /** Counts a code that is not found, so that nobody can try all of them. */
  async function byCode<T>(userId: number, find: () => Promise<T | undefined>): Promise<T> {
    const giveBack = wrongCodes.begin(String(userId));
    const device = await find().catch((error) => {
      giveBack();
      throw error;
    });
    if (device !== undefined) giveBack();
    return found(device, 'device_code_not_found');
  }

  /** Returns the error instead of throwing it, because what it changes must be committed. */
  async function ask(
    tx: Tx,
    { id, secret }: { id: number; secret: string },
    clientId: string,
    origin: SignInOrigin,
  ): Promise<IssuedTokens | ErrorCode> {
    const device = await store.lockDevice(tx, id);
    const isOwn =
      device && timingSafeEqual(device.secretHash, hashSecret(secret)) && device.clientId === clientId;
    if (!isOwn) return 'invalid_grant';
    if (device.isOver) return 'device_code_expired';
    if (!device.isAnswered) {
      await store.noteAsked(tx, id, device.isTooSoon ? INTERVAL_SECONDS : 0);
      return device.isTooSoon ? 'slow_down' : 'authorization_pending';
    }
    await store.deleteDevice(tx, id);
    const { sessionId } = device;
    return sessionId === null ? 'device_denied' : sessions.issueToDevice(tx, sessionId, origin);
  }

  /** Devices that follow RFC 8628 know this answer, and ask less often from then on. */
  function countQuestion(ip: string, id: number): CountedAttempt {
    try {
      const question = questions.begin(ip);
      question.at(`code ${id}`);
      return question;
    } catch (error) {
      throw isApiError(error, 'rate_limited') ? new ApiError('slow_down') : error;
    }
  }

  return {
    async start(clientId, { ip, userAgent }) {
      waiting.begin(ip);
      const secret = ids.newSecret();
      const device = {
        secretHash: hashSecret(secret),
        clientId,
        userAgent: userAgent ?? null,
        ip,
        seconds,
        intervalSeconds: INTERVAL_SECONDS,
      };
      const { writes } = db.as(siteOf(ip));
      for (;;) {
        const userCode = newUserCode();
        const id = await store.insertDevice(writes, { ...device, userCodeHash: hashUserCode(userCode) });
        if (id === undefined) continue;
        const verificationUri = publicUrl + DEVICE_PATH;
        const shown = shownUserCode(userCode);
        return {
          deviceCode: PREFIX + ids.format(id, secret),
          userCode: shown,
          verificationUri,
          verificationUriComplete: `${verificationUri}?user_code=${shown}`,
          expiresIn: seconds,
          interval: INTERVAL_SECONDS,
        };
      }
    },

    find: (userCode, userId) =>
      byCode(userId, () => store.findWaiting(db.as(`user ${userId}`), hashUserCode(userCode))),

    async answer(tx, userCode, approver, isApproved) {
      const find = () => store.answerDevice(tx, hashUserCode(userCode));
      const { id, clientId, userAgent, ip } = await byCode(approver.userId, find);
      if (isApproved) {
        const begun = await sessions.beginDevice(tx, approver, { clientId, userAgent, ip, seconds });
        await store.updateSession(tx, id, found(begun, 'unauthenticated'));
      }
      return { resourceType: 'deviceCode', id, before: null, after: { isApproved, clientId, ip } };
    },

    async exchange(deviceCode, clientId, origin) {
      const given = deviceCode.startsWith(PREFIX) ? ids.parse(deviceCode.slice(PREFIX.length)) : undefined;
      if (!given) throw new ApiError('invalid_grant');
      const question = countQuestion(origin.ip, given.id);
      const outcome = await db.as(siteOf(origin.ip)).transaction((tx) => ask(tx, given, clientId, origin));
      if (typeof outcome === 'string') throw new ApiError(outcome);
      question.giveBack();
      return outcome;
    },
  };
}
