import { operations } from '@oriel/contract';
import type { Attempts } from '../../platform/audit/events.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { ACCOUNT_PATH, ownAddress } from '../pages/index.ts';
import { LINK_PATHS, type PasswordLinks } from '../password-links/index.ts';
import type { Console, SignInOrigin } from '../sessions/index.ts';
import type { Identities } from './identities.ts';
import type { PendingCookie } from './pending.ts';
import type { Proof, Provider } from './provider.ts';
import { isSubject } from './rules.ts';

/** What the routes need if there is a provider. */
export interface SignInWithProvider {
  provider: Provider;
  identities: Identities;
  pending: PendingCookie;
}

interface Options {
  publicUrl: string;
  attempts: Attempts;
  console: Console;
  links: PasswordLinks;
}

const SIGN_IN_PATH = '/sign-in';

export function identityRoutes(
  set: SignInWithProvider | undefined,
  { publicUrl, attempts, console, links }: Options,
) {
  const required = () => found(set, 'provider_not_found');

  /**
   * Another site could send a person here with a link of its own, and so give the person's identity to a user of its
   * choice, or sign them out. Our pages always send the address that a browser comes from. Only the page with the button
   * counts: after a redirect, a browser sends the page that the person was on before. A token in the button would show
   * less, because a link's page is public: the other site could read it there.
   */
  const requirePage = ({ referer }: { referer?: string | undefined }, paths: readonly string[]) => {
    const { origin, pathname } = URL.canParse(referer ?? '') ? new URL(referer!) : {};
    console.csrf.requireOrigin({ origin: pathname && paths.includes(pathname) ? origin : undefined });
  };

  const recordFailure = (
    { operation, ip, requestId }: SignInOrigin,
    error: unknown,
    proof: Proof | undefined,
  ) => {
    if (!(error instanceof ApiError) || error.statusCode >= 500) return;
    attempts.record({
      operation,
      resourceType: 'failedSignIn',
      resourceId: 'unknown',
      userId: null,
      ip,
      requestId,
      // The provider has signed who it was. An admin can see whom to invite.
      details: { code: error.code, issuer: proof?.issuer, subject: proof?.subject },
    });
  };

  return [
    handle(operations.beginProviderSignIn, async ({ db, sendHeaders }, { query, headers }) => {
      const { provider, pending } = required();
      const { link } = query;
      if (link !== undefined) {
        requirePage(headers, Object.values(LINK_PATHS));
        await links.find(db, link);
      }
      const { url, ...checks } = await provider.begin();
      const next = ownAddress(query.next, ACCOUNT_PATH);
      sendHeaders({ 'set-cookie': pending.set({ ...checks, next, link }) });
      return { location: url };
    }),

    handle(operations.finishProviderSignIn, async ({ origin, sendHeaders }, { query, headers }) => {
      const { provider, identities, pending } = required();
      const begun = pending.read(headers.cookie);
      const isOurs = begun !== undefined && begun.state === query.state;
      if (isOurs && begun.isSignOut) {
        sendHeaders({ 'set-cookie': [pending.clear()] });
        return { location: await provider.signOutUrl(query, begun, publicUrl + SIGN_IN_PATH) };
      }
      let proof: Proof | undefined;
      try {
        if (!isOurs) throw new ApiError('sign_in_not_begun');
        const proven = await provider.finish(query, begun);
        if (!isSubject(proven.subject)) throw new ApiError('identity_incomplete');
        proof = proven;
        const userId = await identities.identify(proven, origin, begun.link);
        const { setCookie } = await console.open(userId, origin);
        sendHeaders({ 'set-cookie': [setCookie, pending.clear()] });
        return { location: begun.next };
      } catch (error) {
        recordFailure(origin, error, proof);
        throw error;
      }
    }),

    handle(operations.signOutAtProvider, async ({ sendHeaders }, { headers }) => {
      const { provider, pending } = required();
      requirePage(headers, [SIGN_IN_PATH]);
      const { url, ...checks } = await provider.begin({ isSilent: true });
      sendHeaders({ 'set-cookie': pending.set({ ...checks, next: SIGN_IN_PATH, isSignOut: true }) });
      return { location: url };
    }),
  ];
}
