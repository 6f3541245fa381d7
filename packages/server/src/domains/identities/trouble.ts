/** Why the provider cannot be used, in words that help an operator. */
import { causesOf, reasonOf, wordOf } from '../../platform/outbound/oauth-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound.ts';

export interface TroubleCause {
  reason: string;
  /** The address that was asked, without its query. */
  asked?: string;
  /** The status of the answer. */
  status?: number;
  /** What is probably wrong. */
  check?: string;
}

/** Errors of the library may hold answers with tokens, so only what is safe is taken from them. */
export class SignInError extends Error {
  readonly why: TroubleCause;

  constructor(error: unknown, during: 'discovery' | 'sign-in') {
    const reason = reasonOf(error);
    super(reason);
    const answer = answerIn(error);
    const check = checkOf(error, during, answer?.status);
    this.why = {
      reason,
      ...(answer && { asked: answer.url, status: answer.status }),
      ...(check && { check }),
    };
  }
}

function checkOf(error: unknown, during: 'discovery' | 'sign-in', status?: number): string | undefined {
  const all = causesOf(error);
  const failure = all.find((cause) => cause instanceof OutboundError)?.failure;
  if (failure === 'address_refused') return 'ORIEL_OIDC_ISSUER, ORIEL_ALLOW_PRIVATE_REMOTES';
  if (during === 'discovery') return 'ORIEL_OIDC_ISSUER';
  if (status === 401 || all.some((cause) => OF_CLIENT.includes(String(wordOf(cause))))) {
    return 'ORIEL_OIDC_CLIENT_ID, ORIEL_OIDC_CLIENT_SECRET';
  }
  if (all.some((cause) => wordOf(cause) === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED')) {
    return 'the clocks of this server and of the provider';
  }
  return undefined;
}

export const OF_CLIENT = ['invalid_client', 'unauthorized_client'];
/** The answer that the library did not like. */
function answerIn(error: unknown): Response | undefined {
  for (const cause of causesOf(error)) {
    const { response } = cause as { response?: unknown };
    for (const answer of [response, cause.cause]) if (answer instanceof Response) return answer;
  }
  return undefined;
}
