/** Sign-in with an OpenID Connect provider, and who users are there. */
import { operations } from '@oriel/contract';
import type { OnChange } from '../../platform/audit/change.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { SIGN_IN_PATH, type SignInWay } from '../pages/index.ts';
import type { PasswordLinks } from '../password-links/index.ts';
import type { Console } from '../sessions/index.ts';
import { examine } from './examine.ts';
import { createExchanges } from './exchanges.ts';
import { createFailures } from './failures.ts';
import { createIdentities } from './identities.ts';
import { linkedRoutes } from './linked-routes.ts';
import { createPendingCookie, notBegunAt } from './pending-sign-in.ts';
import { createProvider } from './provider.ts';
import { identityRoutes } from './routes.ts';
import type { ProviderSettings } from './settings.ts';

export type { ProviderSettings } from './settings.ts';

const CALLBACK_PATH = '/sign-in/provider/callback';

export interface IdentitiesOptions {
  /** Undefined if people sign in with passwords only. */
  settings: ProviderSettings | undefined;
  console: Console;
  links: PasswordLinks;
  onChange: OnChange;
}

export function identities(
  platform: Platform,
  { settings, console, links, onChange }: IdentitiesOptions,
): Module {
  const { essential: db, attempts, keysFor, log, outbound, publicUrl } = platform;
  const set = settings && {
    provider: createProvider(settings, { outbound, log, redirectUri: publicUrl + CALLBACK_PATH }),
    identities: createIdentities({ db, console, links, settings, onChange }),
    failures: createFailures({ db, attempts, log }),
    exchanges: createExchanges(() => notBegunAt(publicUrl + SIGN_IN_PATH)),
    pending: createPendingCookie(keysFor('sign-in with a provider'), publicUrl),
  };
  return {
    routes: [
      ...identityRoutes(set, { publicUrl, console, links }),
      ...linkedRoutes(console),
      handle(operations.testSignInProvider, async () => ({
        issuer: settings?.issuer ?? null,
        redirectUri: publicUrl + CALLBACK_PATH,
        signOutUri: publicUrl + SIGN_IN_PATH,
        ...(await examine(settings, outbound, publicUrl + CALLBACK_PATH)),
      })),
    ],
    started: () => void set?.provider.prepare(),
  };
}

/** For the pages: how to sign in and out with the provider, if there is one. */
export const signInWays = (settings: ProviderSettings | undefined): SignInWay[] =>
  settings ? [{ name: settings.name, path: '/sign-in/provider', signOutPath: '/sign-out/provider' }] : [];
