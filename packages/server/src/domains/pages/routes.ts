/** Signing in and out, and the files of the pages. */
import { operations } from '@oriel/contract';
import { found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import type { ForgottenPasswords } from '../password-links/index.ts';
import { type PeopleSessions, signOut } from '../sessions/index.ts';
import { assets } from './assets.ts';
import { ownAddress } from './own-address.ts';
import { type Show, SIGN_IN_PATH, START_PATH } from './show.ts';
import { addressWith } from './views/parts.ts';
import { forgotPasswordView, type SignInOffer, signInView } from './views/sign-in.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';
const FORGOT_PATH = '/forgot-password';
const NOTICES = {
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out on all devices.',
};

export function signInRoutes(
  show: Show,
  { console }: PeopleSessions,
  offer: SignInOffer,
  forgotten: Pick<ForgottenPasswords, 'ask'> | undefined,
) {
  return [
    handle(operations.pageAsset, ({ sendHeaders }, { params }) => {
      const { contentType, data } = found(assets.get(params.file), 'asset_not_found');
      sendHeaders({ 'cache-control': FOR_EVER });
      return { contentType, data };
    }),

    handle(operations.signInPage, async ({ db, sendHeaders }, { query, headers }) => {
      const next = ownAddress(query.next, START_PATH);
      if (await console.find(db, headers)) return { location: next };
      const notice = query.notice && NOTICES[query.notice];
      return show.page(
        sendHeaders,
        signInView({ ...offer, next, notice, isSignedOut: notice !== undefined }),
      );
    }),

    handle(operations.signInByForm, async ({ origin, sendHeaders }, { body, headers }) => {
      const { username, password } = body;
      const next = ownAddress(body.next, START_PATH);
      const opened = await console
        .signIn(username, password, origin, headers)
        .catch(
          show.failure((failure) =>
            [401, 429, 503].includes(failure.statusCode)
              ? signInView({ ...offer, next, username, failure })
              : undefined,
          ),
        );
      sendHeaders({ 'set-cookie': opened.setCookie });
      return { location: next };
    }),

    handle(operations.forgotPasswordPage, ({ sendHeaders }, { query }) =>
      show.page(
        sendHeaders,
        forgotPasswordView({ ...offer, isSent: offer.hasMail && query.notice === 'sent' }),
      ),
    ),

    handle(operations.forgotPasswordByForm, async ({ origin }, { body: { username } }) => {
      if (!forgotten || !username.trim()) return { location: FORGOT_PATH };
      await forgotten
        .ask(username, origin)
        .catch(
          show.failure((failure) =>
            [429, 503].includes(failure.statusCode)
              ? forgotPasswordView({ ...offer, username, failure })
              : undefined,
          ),
        );
      return { location: addressWith(FORGOT_PATH, { notice: 'sent' }) };
    }),

    handle(operations.signOutByForm, ({ actor, change, sendHeaders }, { body }) => {
      sendHeaders({ 'set-cookie': console.cookie.clear() });
      const said: keyof typeof NOTICES = body.everywhere ? 'signed-out-everywhere' : 'signed-out';
      const next = body.next && { next: ownAddress(body.next, START_PATH) };
      return change(async (tx) => ({
        reply: { location: addressWith(SIGN_IN_PATH, { notice: said, ...next }) },
        changes: await signOut(tx, actor, body),
      }));
    }),
  ];
}
