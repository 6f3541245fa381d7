/** A person approves the code that a device shows (RFC 8628). */
import { operations } from '@oriel/contract';
import type { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { DEVICE_PATH, type DeviceCodes, shownUserCode } from '../device-codes/index.ts';
import type { Console } from '../sessions/index.ts';
import { findPerson } from '../users/index.ts';
import type { Show } from './show.ts';
import { answeredView, codeView, questionView } from './views/device.ts';
import { inWords } from './views/parts.ts';

export function deviceRoutes(show: Show, { csrf }: Console, devices: DeviceCodes) {
  return [
    handle(operations.devicePage, async ({ actor, db, sendHeaders }, { query }) => {
      if (query.notice) return show.page(sendHeaders, answeredView(query.notice));
      const typed = query.user_code ?? '';
      if (typed.trim() === '') return show.page(sendHeaders, codeView({}));
      const device = await devices.find(typed, actor.userId).catch(show.failure(codeAgain(typed)));
      const { email } = await findPerson(db, actor.userId);
      const question = { code: shownUserCode(typed), csrf: csrf.tokenOf(actor.sessionId), device, email };
      return show.page(sendHeaders, questionView(question));
    }),

    handle(operations.answerDeviceByForm, ({ actor, change }, { body: { userCode, answer } }) => {
      const isApproved = answer === 'approve';
      return change(async (tx) => ({
        reply: { location: `${DEVICE_PATH}?notice=${isApproved ? 'approved' : 'refused'}` },
        changes: await devices.answer(tx, userCode, actor, isApproved),
      })).catch(show.failure(codeAgain(userCode)));
    }),
  ];
}

/** The form for the code again, with what was wrong. */
const codeAgain = (typed: string) => (failure: ApiError) => {
  if (failure.code === 'device_code_not_found') {
    return codeView({
      typed: shownUserCode(typed),
      error: 'No device waits with this code. Look whether it is typed right, or start again on your device.',
    });
  }
  if (failure.statusCode !== 429) return undefined;
  const failed = `There were too many wrong codes. Try again ${inWords(failure.retryAfterSeconds ?? 60)}.`;
  return codeView({ failure: failed });
};
