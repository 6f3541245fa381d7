/** Setting a password by a one-time link. Only sending the form uses the link up, so that a preview of it does no harm. */
import { operations } from '@oriel/contract';
import type { ChangeFunction } from '../../platform/audit/change.ts';
import type { Database } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Call } from '../../platform/http/call.ts';
import { handle } from '../../platform/http/routes.ts';
import { isWholeLink, LINK_PATHS, type LinkRow, type PasswordLinks } from '../password-links/index.ts';
import type { Console } from '../sessions/index.ts';
import { errorsOf, requireUsable, type TypedTwice } from './new-password.ts';
import { ACCOUNT_PATH, type Show } from './show.ts';
import type { Theme } from './theme.ts';
import { linkCutOffView, linkNotValidView, setPasswordView } from './views/set-password.ts';
import { type SignInWay, whyNot } from './views/sign-in.ts';

type Kind = keyof typeof LINK_PATHS;

type FormCall = Pick<Call, 'db' | 'origin'> & {
  change: ChangeFunction;
  sendHeaders(headers: { 'set-cookie': string }): void;
};

export function linkRoutes(show: Show, console: Console, links: PasswordLinks, ways: readonly SignInWay[]) {
  const refuseLink = (kind: Kind, link: string) =>
    show.failure(({ code }) => {
      if (code !== 'link_not_valid') return undefined;
      return isWholeLink(link) ? linkNotValidView(kind) : linkCutOffView(kind);
    });

  const formOf =
    (kind: Kind, link: string, person: LinkRow, wrong: Partial<Parameters<typeof setPasswordView>[0]> = {}) =>
    ({ name }: Theme) =>
      setPasswordView({ kind, path: LINK_PATHS[kind], link, person, name, ways, ...wrong });

  const open = async (db: Database, kind: Kind, link = '') =>
    formOf(kind, link, await links.find(db, link).catch(refuseLink(kind, link)));

  /** Sets the password, and signs the person in. */
  async function submit(
    kind: Kind,
    { link, ...typed }: TypedTwice & { link: string },
    notice: string,
    { db, origin, change, sendHeaders }: FormCall,
  ) {
    const person = await links.find(db, link).catch(refuseLink(kind, link));
    const again = (failure: ApiError) => {
      const errors = errorsOf(failure);
      if (errors) return formOf(kind, link, person, { errors });
      return failure.statusCode === 503
        ? formOf(kind, link, person, { failure: whyNot(failure) })
        : undefined;
    };
    const store = async () => {
      requireUsable(typed);
      const set = await links.preparePassword(db, { link, password: typed.newPassword, ip: origin.ip });
      return change(async (tx) => ({
        reply: { location: `${ACCOUNT_PATH}?notice=${notice}` },
        changes: await set(tx),
      }));
    };
    const committed = await store().catch(refuseLink(kind, link)).catch(show.failure(again));
    sendHeaders({ 'set-cookie': (await console.open(person.userId, origin)).setCookie });
    return committed;
  }

  return [
    handle(operations.invitationPage, async ({ db, sendHeaders }, { query }) =>
      show.page(sendHeaders, await open(db, 'invitation', query.link)),
    ),

    handle(operations.acceptInvitationByForm, (call, { body }) =>
      submit('invitation', body, 'welcome', call),
    ),

    handle(operations.resetPasswordPage, async ({ db, sendHeaders }, { query }) =>
      show.page(sendHeaders, await open(db, 'reset', query.link)),
    ),

    handle(operations.resetPasswordByForm, (call, { body }) => submit('reset', body, 'password-set', call)),
  ];
}
