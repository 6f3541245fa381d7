/** What the provider says about itself: its addresses and keys. */
import * as oidc from 'openid-client';
import type { Logger } from '../../platform/log.ts';
import { oauthFetch } from '../../platform/outbound/oauth-fetch.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { ProviderSettings } from './settings.ts';
import { SignInError } from './trouble.ts';

/** Keys are read again when a token names an unknown one, so only other changes wait this long. */
const FRESH_MS = 3600_000;
const TRY_AGAIN_MS = 60_000;
const CLOCK_TOLERANCE_SECONDS = 30;

/**
 * Returns a function that reads the settings of the provider, and keeps them. Many sign-ins at once share one request. If
 * the provider does not answer, what it said before stays in use.
 */
export function createDiscovery(settings: ProviderSettings, outbound: Outbound, log: Logger) {
  let known: { config: oidc.Configuration; until: number } | undefined;
  let loading: Promise<oidc.Configuration> | undefined;

  const refresh = () => {
    loading ??= discover(settings, outbound)
      .then((config) => {
        known = { config, until: Date.now() + FRESH_MS };
        return config;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };

  return async (): Promise<oidc.Configuration> => {
    if (!known) return refresh();
    if (known.until > Date.now()) return known.config;
    const old = known;
    return refresh().catch((error) => {
      log.warn(
        new SignInError(error, 'discovery').why,
        'the settings of the sign-in provider could not be read again',
      );
      old.until = Date.now() + TRY_AGAIN_MS;
      return old.config;
    });
  };
}

/** Asks the provider now. */
export function discover({ issuer, clientId, clientSecret }: ProviderSettings, outbound: Outbound) {
  const server = new URL(issuer);
  return oidc.discovery(
    server,
    clientId,
    { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authenticate(clientSecret),
    {
      [oidc.customFetch]: oauthFetch(outbound),
      // The guard decides whether requests may go without TLS.
      execute: [
        oidc.enableNonRepudiationChecks,
        ...(server.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    },
  );
}

/** `client_secret_basic` is the default of the standard. Some providers take only the other way. */
function authenticate(clientSecret: string | undefined): oidc.ClientAuth {
  if (!clientSecret) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(clientSecret), oidc.ClientSecretPost(clientSecret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported as string[] | undefined;
    return (!methods || methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}
