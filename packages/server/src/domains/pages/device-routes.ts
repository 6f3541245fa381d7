/** A person approves the code that a device shows (RFC 8628). */
import { operations } from '@oriel/contract';
import type { SessionHolder } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { DEVICE_PATH, type DeviceCodes, shownUserCode } from '../device-codes/index.ts';
import type { Console } from '../sessions/index.ts';
import { findPerson } from '../users/index.ts';
import type { Show } from './show.ts';
import { answeredView, codeView, questionView, type Visitor } from './views/device.ts';
import { addressWith, inWords } from './views/parts.ts';

export function deviceRoutes(show: Show, { csrf }: Console, devices: DeviceCodes) {
  /** Another person who signs in instead comes back to the same code. */
  async function visitorOf(
    db: Queryable,
    { userId, sessionId }: SessionHolder,
    typed: string,
  ): Promise<Visitor> {
    const { email } = await findPerson(db, userId);
    const next = typed ? addressWith(DEVICE_PATH, { user_code: typed }) : DEVICE_PATH;
    return { email, csrf: csrf.tokenOf(sessionId), next };
  }

  return [
    handle(operations.devicePage, async ({ actor, db, sendHeaders }, { query }) => {
      const typed = query.notice ? '' : (query.user_code ?? '').trim();
      const visitor = await visitorOf(db, actor, typed);
      if (query.notice) return show.page(sendHeaders, answeredView(query.notice, visitor));
      if (typed === '') return show.page(sendHeaders, codeView({ visitor }));
      const device = await devices.find(typed, actor.userId).catch(show.failure(codeAgain(typed, visitor)));
      return show.page(sendHeaders, questionView({ code: shownUserCode(typed), device, visitor }));
    }),

    handle(operations.answerDeviceByForm, ({ actor, db, change }, { body: { userCode, answer } }) => {
      const isApproved = answer === 'approve';
      return change(async (tx) => ({
        reply: { location: `${DEVICE_PATH}?notice=${isApproved ? 'approved' : 'refused'}` },
        changes: await devices.answer(tx, userCode, actor, isApproved),
      })).catch(async (error) =>
        show.failure(codeAgain(userCode, await visitorOf(db, actor, userCode)))(error),
      );
    }),
  ];
}

/** The form for the code again, with what was wrong. */
const codeAgain = (typed: string, visitor: Visitor) => (failure: ApiError) => {
  if (failure.code === 'device_code_not_found') {
    return codeView({
      visitor,
      typed: shownUserCode(typed),
      error: 'No device waits with this code. Look whether it is typed right, or start again on your device.',
    });
  }
  if (failure.statusCode !== 429) return undefined;
  const failed = `There were too many wrong codes. Try again ${inWords(failure.retryAfterSeconds ?? 60)}.`;
  return codeView({ visitor, failure: failed });
};
