/** Tries the settings of the provider, as far as that goes without a person who signs in. */
import * as oidc from 'openid-client';
import { causesOf, wordOf } from '../../platform/outbound/oauth-fetch.ts';
import { type Outbound, OutboundError } from '../../platform/outbound/outbound.ts';
import { discover } from './discovery.ts';
import type { ProviderSettings } from './settings.ts';
import { OF_CLIENT, SignInError } from './trouble.ts';

const DIFFERS = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
const NO_CODE = 'oriel-tests-the-client';

export async function examine(
  settings: ProviderSettings | undefined,
  outbound: Outbound,
  redirectUri: string,
) {
  const fine = { reason: null, check: null };
  if (!settings) return { ...fine, code: 'not_configured' as const, check: 'ORIEL_OIDC_ISSUER' };
  let config: oidc.Configuration;
  try {
    config = await discover(settings, outbound);
  } catch (error) {
    const { why } = new SignInError(error, 'discovery');
    return { code: codeOf(error, why.status), reason: told(why), check: why.check ?? null };
  }
  try {
    // A provider refuses the code of nobody, but only after it has accepted the client.
    await oidc.genericGrantRequest(config, 'authorization_code', {
      code: NO_CODE,
      redirect_uri: redirectUri,
    });
  } catch (error) {
    const { why } = new SignInError(error, 'sign-in');
    const isRefused =
      why.status === 401 || causesOf(error).some((cause) => OF_CLIENT.includes(String(wordOf(cause))));
    if (isRefused) return { code: 'client_refused' as const, reason: told(why), check: why.check ?? null };
    const isAnswer = error instanceof oidc.ResponseBodyError;
    if (!isAnswer) return { code: codeOf(error, why.status), reason: told(why), check: why.check ?? null };
  }
  return { ...fine, code: 'works' as const };
}

function codeOf(error: unknown, status: number | undefined) {
  const all = causesOf(error);
  const outbound = all.find((cause) => cause instanceof OutboundError);
  if (outbound?.failure === 'address_refused') return 'address_refused' as const;
  if (all.some((cause) => wordOf(cause) === DIFFERS)) return 'issuer_differs' as const;
  return outbound && status === undefined ? ('not_reached' as const) : ('wrong_answer' as const);
}

const told = ({ reason, asked, status }: SignInError['why']) =>
  [reason, asked && `${asked}: ${status}`].filter(Boolean).join(' · ').slice(0, 1000);
