import { operations } from '@oriel/contract';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { ownAddress, SIGN_IN_PATH, START_PATH } from '../pages/index.ts';
import { LINK_PATHS, type PasswordLinks } from '../password-links/index.ts';
import type { Console } from '../sessions/index.ts';
import type { Exchanges } from './exchanges.ts';
import type { Failures } from './failures.ts';
import type { Identities } from './identities.ts';
import { notBegunAt, type PendingCookie } from './pending-sign-in.ts';
import type { Proof, Provider } from './provider.ts';
import { isSubject } from './rules.ts';

/** What the routes need if there is a provider. */
export interface SignInWithProvider {
  provider: Provider;
  identities: Identities;
  exchanges: Exchanges;
  pending: PendingCookie;
  failures: Failures;
}

interface Options {
  publicUrl: string;
  console: Console;
  links: PasswordLinks;
}

export function identityRoutes(set: SignInWithProvider | undefined, { publicUrl, console, links }: Options) {
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

  return [
    handle(operations.beginProviderSignIn, async ({ db, origin, sendHeaders }, { query, headers }) => {
      const { provider, pending, failures } = required();
      const { link } = query;
      if (link !== undefined) {
        requirePage(headers, Object.values(LINK_PATHS));
        await links.find(db, link);
      }
      const { url, ...checks } = await provider.begin().catch(failures.explain(origin));
      const next = ownAddress(query.next, START_PATH);
      sendHeaders({ 'set-cookie': pending.set({ ...checks, next, link }) });
      return { location: url };
    }),

    handle(operations.finishProviderSignIn, async ({ origin, sendHeaders }, { query, headers }) => {
      const { provider, identities, exchanges, pending, failures } = required();
      const begun = pending.read(headers.cookie);
      const isOurs = begun !== undefined && begun.state === query.state;
      if (isOurs && begun.isSignOut) {
        sendHeaders({ 'set-cookie': [pending.clear()] });
        const exchange = () => provider.signOutUrl(query, begun, publicUrl + SIGN_IN_PATH);
        const location = await exchanges
          .pass(origin.ip, begun.state, exchange)
          .catch(failures.explain(origin));
        return { location };
      }
      let proof: Proof | undefined;
      try {
        if (!isOurs) throw notBegunAt(publicUrl + SIGN_IN_PATH);
        const proven = await exchanges.pass(origin.ip, begun.state, () => provider.finish(query, begun));
        if (!isSubject(proven.subject)) throw new ApiError('identity_incomplete');
        proof = proven;
        const browser = { cookie: headers.cookie, link: begun.link };
        const { setCookie } = await identities.signIn(proven, origin, browser);
        sendHeaders({ 'set-cookie': [setCookie, pending.clear()] });
        return { location: begun.next };
      } catch (error) {
        await failures.record(origin, error, proof);
        throw error;
      }
    }),

    handle(operations.signOutAtProvider, async ({ origin, sendHeaders }, { headers }) => {
      const { provider, pending, failures } = required();
      requirePage(headers, [SIGN_IN_PATH]);
      const { url, ...checks } = await provider.begin({ isSilent: true }).catch(failures.explain(origin));
      sendHeaders({ 'set-cookie': pending.set({ ...checks, next: SIGN_IN_PATH, isSignOut: true }) });
      return { location: url };
    }),
  ];
}
