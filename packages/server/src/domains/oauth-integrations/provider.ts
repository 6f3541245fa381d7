/** What the protocol needs of the service of an integration, by `openid-client`. */
import * as oidc from 'openid-client';
import { causesOf, from, oauthFetch, reasonOf, wordOf } from '../../platform/outbound/oauth-fetch.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { redirectUriOf } from './rules.ts';
import type { IntegrationRow } from './store.ts';

export interface OpenIntegration extends IntegrationRow {
  clientSecret: string;
}

export interface Tokens {
  accessToken: string;
  /** Null if the service gave none, or leaves the one that it gave before. */
  refreshToken: string | null;
  accessExpiresAt: Date | null;
  refreshExpiresAt: Date | null;
}

/** The query of the callback. */
export interface CallbackQuery {
  code?: string | undefined;
  state?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
}

export interface Provider {
  authorizationUrl(integration: OpenIntegration, checks: Checks): Promise<string>;
  /** All others throw a `ProviderError`. */
  exchange(integration: OpenIntegration, returned: CallbackQuery, checks: Checks): Promise<Tokens>;
  refresh(integration: OpenIntegration, refreshToken: string): Promise<Tokens>;
  /** Does nothing if the integration has no address for it. */
  revoke(integration: OpenIntegration, token: string, hint: 'access_token' | 'refresh_token'): Promise<void>;
}

export interface Checks {
  state: string;
  verifier: string;
}

/** `ended`: the grant is worth nothing. `client`: the service refuses the client id or secret. */
export type TroubleKind = 'ended' | 'client' | 'refused' | 'unavailable';

/** An error of the service. Of its answer, it holds only the error code. */
export class ProviderError extends Error {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

const TOKEN = /^[\x20-\x7e]{1,16384}$/;
const YEARS_10 = 10 * 365 * 86_400;

export function createProvider(outbound: Outbound, publicUrl: string): Provider {
  const send = oauthFetch(outbound);
  /** The ID token is not used, and its issuer need not be known here, so the library does not see it. */
  const withoutIdToken: oidc.CustomFetch = async (url, options) => {
    const answer = await send(url, options);
    const text = await answer.text();
    const { status, headers } = answer;
    return from(url, new Response(NO_BODY.includes(status) ? null : dropIdToken(text), { status, headers }));
  };

  function configurationOf(integration: OpenIntegration, issuer: string) {
    const { authUrl, tokenUrl, clientId, clientSecret, config } = integration;
    const configuration = new oidc.Configuration(
      {
        issuer,
        authorization_endpoint: authUrl,
        token_endpoint: tokenUrl,
        ...(config.revocationUrl && { revocation_endpoint: config.revocationUrl }),
      },
      clientId,
      {},
      authenticationOf(clientSecret, config.clientAuthentication),
    );
    configuration[oidc.customFetch] = withoutIdToken;
    // The guard decides whether requests may go without TLS.
    oidc.allowInsecureRequests(configuration);
    return configuration;
  }

  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof ProviderError ? error : new ProviderError(kindOf(error), reasonOf(error));
    }
  };

  return {
    async authorizationUrl(integration, { state, verifier }) {
      const { config, scopes } = integration;
      return oidc.buildAuthorizationUrl(configurationOf(integration, issuerOf(integration)), {
        ...config.authorizationParameters,
        redirect_uri: redirectUriOf(publicUrl, integration.redirectName),
        ...(scopes.length && { scope: scopes.join(' ') }),
        state,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href;
    },

    exchange: (integration, returned, { state, verifier }) =>
      attempt(async () => {
        const here = new URL(redirectUriOf(publicUrl, integration.redirectName));
        for (const name of ['code', 'state', 'iss'] as const) {
          if (returned[name] !== undefined) here.searchParams.set(name, returned[name]);
        }
        const configuration = configurationOf(integration, issuerOf(integration, returned.iss));
        return tokensIn(
          await oidc.authorizationCodeGrant(configuration, here, {
            pkceCodeVerifier: verifier,
            expectedState: state,
          }),
        );
      }),

    refresh: (integration, refreshToken) =>
      attempt(async () =>
        tokensIn(
          await oidc.refreshTokenGrant(configurationOf(integration, issuerOf(integration)), refreshToken),
        ),
      ),

    revoke: (integration, token, hint) =>
      attempt(async () => {
        if (!integration.config.revocationUrl) return;
        await oidc.tokenRevocation(configurationOf(integration, issuerOf(integration)), token, {
          token_type_hint: hint,
        });
      }),
  };
}

function authenticationOf(secret: string, way: IntegrationRow['config']['clientAuthentication']) {
  // The secret was lost.
  if (secret === '') return oidc.None();
  return way === 'client_secret_post' ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
}

/** Answers that have no body. `Response` refuses one for them. */
const NO_BODY = [204, 205, 304];

function dropIdToken(text: string): string {
  try {
    const { id_token: _unused, ...rest } = JSON.parse(text);
    return JSON.stringify(rest);
  } catch {
    // The library says what is wrong with it.
    return text;
  }
}

/** Without a known issuer, an `iss` is right if it is of the server that the person was sent to. */
function issuerOf({ authUrl, config }: OpenIntegration, iss?: string): string {
  if (config.issuer !== undefined) return config.issuer;
  const { origin } = new URL(authUrl);
  return iss !== undefined && URL.canParse(iss) && new URL(iss).origin === origin ? iss : origin;
}

function tokensIn(answer: oidc.TokenEndpointResponse): Tokens {
  const { access_token, refresh_token, expires_in, token_type } = answer;
  if (token_type !== 'bearer')
    throw new ProviderError('unavailable', 'the token is of another type than Bearer');
  for (const token of [access_token, refresh_token]) {
    if (token !== undefined && !TOKEN.test(token)) {
      throw new ProviderError('unavailable', 'a token is too long, or has characters that no token may have');
    }
  }
  const refreshSeconds = Number(answer.refresh_expires_in ?? answer.refresh_token_expires_in ?? 0);
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? null,
    accessExpiresAt: after(expires_in),
    // Some say 0 if it never ends.
    refreshExpiresAt: refreshSeconds > 0 ? after(refreshSeconds) : null,
  };
}

const after = (seconds: number | undefined) =>
  seconds === undefined ? null : new Date(Date.now() + Math.min(seconds, YEARS_10) * 1000);

const OF_CLIENT = ['invalid_client', 'unauthorized_client'];
/** The service has answered, and the answer is no. */
const REFUSALS = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'];

function kindOf(error: unknown): TroubleKind {
  const all = causesOf(error);
  if (all.some((cause) => cause instanceof oidc.WWWAuthenticateChallengeError)) return 'client';
  const answered = all.find((cause) => cause instanceof oidc.ResponseBodyError);
  if (answered) {
    if (answered.error === 'invalid_grant') return 'ended';
    if (OF_CLIENT.includes(answered.error)) return 'client';
    return answered.status < 500 && answered.error !== 'temporarily_unavailable' ? 'refused' : 'unavailable';
  }
  return all.some((cause) => REFUSALS.includes(String(wordOf(cause)))) ? 'refused' : 'unavailable';
}
