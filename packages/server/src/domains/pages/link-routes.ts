/** Setting a password by a one-time link. Only sending the form uses the link up, so that a preview of it does no harm. */
import { operations } from '@oriel/contract';
import type { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { LINK_PATHS, type LinkRow, type PasswordLinks } from '../password-links/index.ts';
import type { Console, SignInOrigin } from '../sessions/index.ts';
import { errorsOf, requireUsable, type TypedTwice } from './new-password.ts';
import { ACCOUNT_PATH, type Show } from './show.ts';
import type { Theme } from './theme.ts';
import { linkNotValidView, setPasswordView } from './views/set-password.ts';
import { type SignInWay, whyNot } from './views/sign-in.ts';

type Kind = keyof typeof LINK_PATHS;

export function linkRoutes(show: Show, console: Console, links: PasswordLinks, ways: readonly SignInWay[]) {
  const refuseLink = (kind: Kind) =>
    show.failure(({ code }) => (code === 'link_not_valid' ? linkNotValidView(kind) : undefined));

  const formOf =
    (kind: Kind, link: string, person: LinkRow, wrong: Partial<Parameters<typeof setPasswordView>[0]> = {}) =>
    ({ name }: Theme) =>
      setPasswordView({ kind, path: LINK_PATHS[kind], link, person, name, ways, ...wrong });

  const open = async (kind: Kind, link = '') =>
    formOf(kind, link, await links.find(link).catch(refuseLink(kind)));

  /** Returns a value for the header `Set-Cookie`. */
  async function submit(kind: Kind, { link, ...typed }: TypedTwice & { link: string }, from: SignInOrigin) {
    const person = await links.find(link).catch(refuseLink(kind));
    const again = (failure: ApiError) => {
      const errors = errorsOf(failure);
      if (errors) return formOf(kind, link, person, { errors });
      return failure.statusCode === 503
        ? formOf(kind, link, person, { failure: whyNot(failure) })
        : undefined;
    };
    const set = async () => {
      requireUsable(typed);
      await links.setPassword(link, typed.newPassword, from).catch(refuseLink(kind));
    };
    await set().catch(show.failure(again));
    return (await console.open(person.userId, from)).setCookie;
  }

  return [
    handle(operations.invitationPage, async ({ sendHeaders }, { query }) =>
      show.page(sendHeaders, await open('invitation', query.link)),
    ),

    handle(operations.acceptInvitationByForm, async ({ origin, sendHeaders }, { body }) => {
      sendHeaders({ 'set-cookie': await submit('invitation', body, origin) });
      return { location: `${ACCOUNT_PATH}?notice=welcome` };
    }),

    handle(operations.resetPasswordPage, async ({ sendHeaders }, { query }) =>
      show.page(sendHeaders, await open('reset', query.link)),
    ),

    handle(operations.resetPasswordByForm, async ({ origin, sendHeaders }, { body }) => {
      sendHeaders({ 'set-cookie': await submit('reset', body, origin) });
      return { location: `${ACCOUNT_PATH}?notice=password-set` };
    }),
  ];
}
