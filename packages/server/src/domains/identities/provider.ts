/** The OpenID Connect provider: what the protocol needs, by `openid-client`. */
import * as oidc from 'openid-client';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createDiscovery } from './discovery.ts';
import type { Claims } from './rules.ts';
import type { ProviderSettings } from './settings.ts';
import { SignInError } from './trouble.ts';

/** What must be the same at the end of a sign-in as at its beginning. */
export interface Checks {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Proof {
  issuer: string;
  subject: string;
  claims: Claims;
}

export interface Provider {
  /** Reads the settings of the provider before the first sign-in. If that fails, the server's log says why. */
  prepare(): Promise<void>;
  /** With `isSilent`, the provider shows no form, and only says who is signed in there. */
  begin(options?: { isSilent: boolean }): Promise<Checks & { url: string }>;
  /** `returned` is the query of the callback. Throws `provider_refused` or `provider_unavailable`. */
  finish(returned: CallbackQuery, checks: Checks): Promise<Proof>;
  /** After a silent beginning: the page of the provider that ends the session there, or `back` if there is nothing to end. */
  signOutUrl(returned: CallbackQuery, checks: Checks, back: string): Promise<string>;
}

type CallbackQuery = Record<string, string | undefined>;

interface Options {
  outbound: Outbound;
  log: Logger;
  redirectUri: string;
}

export function createProvider(
  settings: ProviderSettings,
  { outbound, log, redirectUri }: Options,
): Provider {
  const { groupsClaim, externalIdClaim, scope } = settings;
  const discovered = createDiscovery(settings, outbound, log);

  const configuration = () =>
    discovered().catch((error) => {
      throw new ApiError('provider_unavailable', { cause: new SignInError(error, 'discovery') });
    });
  const refuse = (error: unknown): never => {
    if (error instanceof ApiError) throw error;
    const code = isRefusal(error) ? 'provider_refused' : 'provider_unavailable';
    throw new ApiError(code, { cause: new SignInError(error, 'sign-in') });
  };

  /** Many providers give groups and emails only at this endpoint. What the signed token says counts more. */
  async function complete(
    config: oidc.Configuration,
    accessToken: string,
    claims: oidc.IDToken,
  ): Promise<Claims> {
    const wanted = ['email', groupsClaim, externalIdClaim].filter((name) => name !== undefined);
    if (!config.serverMetadata().userinfo_endpoint || wanted.every((name) => name in claims)) return claims;
    return { ...(await oidc.fetchUserInfo(config, accessToken, claims.sub)), ...claims };
  }

  /** Checks what the provider returned, and exchanges the code. The library checks the ID token. */
  function exchange(config: oidc.Configuration, returned: CallbackQuery, checks: Checks) {
    const here = new URL(redirectUri);
    for (const [name, value] of Object.entries(returned)) {
      if (value !== undefined) here.searchParams.set(name, value);
    }
    return oidc.authorizationCodeGrant(config, here, {
      pkceCodeVerifier: checks.verifier,
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      idTokenExpected: true,
    });
  }

  async function finish(returned: CallbackQuery, checks: Checks): Promise<Proof> {
    const config = await configuration();
    const tokens = await exchange(config, returned, checks);
    const claims = tokens.claims()!;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      claims: await complete(config, tokens.access_token, claims),
    };
  }

  return {
    async prepare() {
      await discovered().catch((error) => {
        log.warn(new SignInError(error, 'discovery').why, 'the sign-in provider cannot be used');
      });
    },
    async begin({ isSilent } = { isSilent: false }) {
      const config = await configuration();
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: isSilent ? 'openid' : scope,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        ...(isSilent ? { prompt: 'none' } : {}),
      });
      return { ...checks, url: url.href };
    },

    finish: (returned, checks) => finish(returned, checks).catch(refuse),

    async signOutUrl(returned, checks, back) {
      const config = await configuration();
      if (!config.serverMetadata().end_session_endpoint || returned.error === 'login_required') return back;
      // Some providers demand the ID token. Others ask the person if they get none.
      const idToken = returned.error
        ? undefined
        : (await exchange(config, returned, checks).catch(refuse)).id_token;
      return oidc.buildEndSessionUrl(config, {
        post_logout_redirect_uri: back,
        ...(idToken ? { id_token_hint: idToken } : {}),
      }).href;
    },
  };
}

/** The provider has answered, but not with a proof that can be accepted. */
const REFUSALS = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
];
const isRefusal = (error: unknown) =>
  error instanceof oidc.AuthorizationResponseError ||
  error instanceof oidc.ResponseBodyError ||
  (error instanceof oidc.ClientError && REFUSALS.includes(error.code ?? ''));
