/** What an integration may be. */
import { ApiError, invalid } from '../../platform/errors.ts';
import { addressProblem } from '../../platform/outbound/addresses.ts';
import type { IntegrationConfig, IntegrationRow } from './store.ts';

export const INTEGRATIONS_MAX = 100;
export const CALLBACK_PATH = '/oauth/callback';

export interface AddressInput {
  authUrl: string;
  tokenUrl: string;
  redirectUri: string;
  config?: IntegrationConfig;
}

/** What this server puts into the address itself. */
const OF_PROTOCOL = [
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
];

const REDIRECT_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** The address to which the service sends people back. An empty name is the address without one. */
export const redirectUriOf = (publicUrl: string, name: string) =>
  publicUrl + CALLBACK_PATH + (name && `/${name}`);

/** Throws a 400 if it is not an address of this server. */
export function redirectNameOf(redirectUri: string, publicUrl: string): string {
  const ours = publicUrl + CALLBACK_PATH;
  if (redirectUri === ours) return '';
  const name = redirectUri.startsWith(`${ours}/`) ? redirectUri.slice(ours.length + 1) : '';
  if (REDIRECT_NAME.test(name)) return name;
  const message = `must be the address of this server, ${ours}, or one below it with a name of a-z, 0-9 and -, such as ${ours}/warehouse`;
  throw invalid('redirectUri', message, 'oauth_redirect_uri_not_ours');
}

/**
 * Where two services send people back to the same address, one of them could answer in the place of the other, and get its
 * code (a mix-up). Not every service says who it is in its answer (`iss`), so the address must tell.
 */
export const mayShareAddress = (a: { authUrl: string }, b: { authUrl: string }) =>
  new URL(a.authUrl).origin === new URL(b.authUrl).origin;

/** Throws a 400 that names the field. `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. */
export function checkAddresses(
  { authUrl, tokenUrl, redirectUri, config = {} }: AddressInput,
  { publicUrl, allowPrivate }: { publicUrl: string; allowPrivate: boolean },
) {
  redirectNameOf(redirectUri, publicUrl);
  const given: [string, string | undefined][] = [
    ['authUrl', authUrl],
    ['tokenUrl', tokenUrl],
    ['config.revocationUrl', config.revocationUrl],
    ['config.issuer', config.issuer],
  ];
  for (const [field, address] of given) {
    const problem = address !== undefined && addressProblem(address, { allowPrivate });
    if (problem) throw invalid(field, problem, 'oauth_address_refused');
  }
  const parameters = config.authorizationParameters ?? {};
  for (const name of Object.keys(parameters)) {
    if (OF_PROTOCOL.includes(name.toLowerCase())) {
      throw invalid(`config.authorizationParameters.${name}`, 'is set by this server');
    }
  }
  for (const name of new URL(authUrl).searchParams.keys()) {
    if (OF_PROTOCOL.includes(name.toLowerCase())) {
      throw invalid(
        'authUrl',
        `must not have the parameter ${name}, which this server sets`,
        'oauth_address_refused',
      );
    }
  }
}

/** Whether stored tokens of people belong to the integration as it is now. */
export const isSameService = (before: IntegrationRow, after: IntegrationRow) =>
  before.authUrl === after.authUrl && before.clientId === after.clientId && isSentToSame(before, after);

/** Whether secrets go to the same addresses as before. */
export const isSentToSame = (
  before: Pick<IntegrationRow, 'tokenUrl' | 'config'>,
  after: Pick<IntegrationRow, 'tokenUrl' | 'config'>,
) =>
  before.tokenUrl === after.tokenUrl &&
  // Without an address, nothing is sent.
  (after.config.revocationUrl === undefined || before.config.revocationUrl === after.config.revocationUrl);

/** The error for a person whom the service has sent back without a code. */
export function refusalOf(error: string) {
  const isDenied = error === 'access_denied';
  // The text comes from the address, so only what looks like a code is shown.
  const code = /^[a-z_]{1,50}$/.test(error) ? ` (${error})` : '';
  return new ApiError('oauth_provider_refused', {
    message: isDenied
      ? 'You did not allow the access at the service, so nothing is connected.'
      : `The service did not give access${code}. Begin again on your account page.`,
  });
}
