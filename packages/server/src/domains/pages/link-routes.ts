/** Setting a password by a one-time link. Only sending the form uses the link up, so that a preview of it does no harm. */
import { operations } from '@oriel/contract';
import type { ChangeFunction } from '../../platform/audit/change.ts';
import type { Database } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Call } from '../../platform/http/call.ts';
import { handle } from '../../platform/http/routes.ts';
import { isWholeLink, LINK_PATHS, type LinkRow, type PasswordLinks } from '../password-links/index.ts';
import type { Console } from '../sessions/index.ts';
import { errorsOf, type NewPasswordInput, requireUsable } from './new-password.ts';
import { type Show, START_PATH } from './show.ts';
import type { Theme } from './theme.ts';
import { linkCutOffView, linkNotValidView, setPasswordView } from './views/set-password.ts';
import { type SignInOffer, whyNot } from './views/sign-in.ts';

type Kind = keyof typeof LINK_PATHS;
type Cookies = { cookie?: string };

type FormCall = Pick<Call, 'db' | 'origin'> & {
  change: ChangeFunction;
  sendHeaders(headers: { 'set-cookie': string }): void;
};

export function linkRoutes(
  show: Show,
  console: Console,
  links: PasswordLinks,
  { ways, hasMail }: SignInOffer,
) {
  const refuseLink = (kind: Kind, link: string) =>
    show.failure(({ code }) => {
      if (code !== 'link_not_valid') return undefined;
      return isWholeLink(link) ? linkNotValidView(kind, hasMail) : linkCutOffView(kind);
    });

  const formOf =
    (kind: Kind, link: string, person: LinkRow, wrong: Partial<Parameters<typeof setPasswordView>[0]> = {}) =>
    ({ name }: Theme) =>
      setPasswordView({ kind, path: LINK_PATHS[kind], link, person, name, ways, ...wrong });

  /** The email of the person who is signed in by this browser, if it is another one than the link is for. */
  async function otherEmail(db: Database, { userId }: LinkRow, cookies: Cookies) {
    const current = await console.find(db, cookies);
    return current?.userId === userId ? undefined : current?.email;
  }

  async function open(db: Database, kind: Kind, cookies: Cookies, link = '') {
    const person = await links.find(db, link).catch(refuseLink(kind, link));
    return formOf(kind, link, person, { signedInAs: await otherEmail(db, person, cookies) });
  }

  /** Sets the password, and signs the person in. */
  async function submit(
    kind: Kind,
    { link, ...typed }: NewPasswordInput & { link: string },
    notice: string,
    { db, origin, change, sendHeaders }: FormCall,
    cookies: Cookies,
  ) {
    const person = await links.find(db, link).catch(refuseLink(kind, link));
    const signedInAs = await otherEmail(db, person, cookies);
    const again = (failure: ApiError) => {
      const errors = errorsOf(failure);
      if (errors) return formOf(kind, link, person, { signedInAs, errors });
      return failure.statusCode === 503
        ? formOf(kind, link, person, { signedInAs, failure: whyNot(failure) })
        : undefined;
    };
    const store = async () => {
      requireUsable(typed);
      const set = await links.preparePassword(db, { link, password: typed.newPassword, ip: origin.ip });
      return change(async (tx) => {
        const changes = await set(tx);
        const { setCookie } = await console.begin(tx, person.userId, origin, cookies);
        sendHeaders({ 'set-cookie': setCookie });
        return { reply: { location: `${START_PATH}?notice=${notice}` }, changes };
      });
    };
    return store().catch(refuseLink(kind, link)).catch(show.failure(again));
  }

  return [
    handle(operations.invitationPage, async ({ db, sendHeaders }, { query, headers }) =>
      show.page(sendHeaders, await open(db, 'invitation', headers, query.link)),
    ),

    handle(operations.acceptInvitationByForm, (call, { body, headers }) =>
      submit('invitation', body, 'welcome', call, headers),
    ),

    handle(operations.resetPasswordPage, async ({ db, sendHeaders }, { query, headers }) =>
      show.page(sendHeaders, await open(db, 'reset', headers, query.link)),
    ),

    handle(operations.resetPasswordByForm, (call, { body, headers }) =>
      submit('reset', body, 'password-set', call, headers),
    ),
  ];
}
