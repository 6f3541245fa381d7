import { PASSWORD_LENGTH } from '@oriel/contract';
import type { ApiError } from '../../../platform/errors.ts';
import { html } from '../../../platform/http/html.ts';
import type { View } from '../layout.ts';
import { addressWith, alert, field, hidden, inWords, notice } from './parts.ts';

/** Another way to sign in, such as an OpenID Connect provider. */
export interface SignInWay {
  /** The name of the provider, for "Sign in with …". */
  name: string;
  /** The address that begins it. It takes the parameters `next` and `link`. */
  path: string;
  /** The address that ends the session there. */
  signOutPath: string;
}

/** What people can do besides typing their password. */
export interface SignInOffer {
  ways: readonly SignInWay[];
  /** Whether a new password can be asked for by mail. */
  hasMail: boolean;
}

export interface SignInForm extends SignInOffer {
  next: string;
  username?: string;
  notice?: string | undefined;
  /** The person has just signed out here, and may still be signed in at a provider. */
  isSignedOut?: boolean;
  failure?: ApiError;
}

export function signInView({
  ways,
  hasMail,
  next,
  username = '',
  notice: said,
  isSignedOut,
  failure,
}: SignInForm): View {
  const isWrong = failure?.statusCode === 401;
  return {
    title: 'Sign in',
    hasError: failure !== undefined,
    body: html`<h1>Sign in</h1>
${notice(said)}
${isSignedOut && ways.map(({ name, signOutPath }) => html`<p><a href="${signOutPath}">Sign out at ${name} too</a></p>`)}
${failure && !isWrong && alert(whyNot(failure))}
<form method="post" action="/sign-in">
${hidden({ next })}
${field({
  name: 'username',
  label: 'Email or username',
  autocomplete: 'username',
  value: username,
  maxLength: 255,
  isFocused: !username,
})}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  maxLength: PASSWORD_LENGTH.max,
  error: isWrong ? 'The email, the username or the password is wrong.' : undefined,
  isFocused: Boolean(username),
})}
<button>Sign in</button>
</form>
${ways.length > 0 && html`<p class="or"><span>or</span></p>`}
${ways.map(({ name, path }) => html`<a class="button" href="${addressWith(path, { next })}">Sign in with ${name}</a>`)}
${
  hasMail
    ? html`<p><a href="/forgot-password">Forgot your password?</a></p>`
    : html`<details>
<summary>Forgot your password?</summary>
<p>${ASK_ADMIN}</p>
</details>`
}`,
  };
}

const ASK_ADMIN = 'Ask an admin of your team for a link to set a new one.';

export interface ForgotForm {
  hasMail: boolean;
  isSent?: boolean;
  username?: string;
  failure?: ApiError;
}

export function forgotPasswordView({ hasMail, isSent, username = '', failure }: ForgotForm): View {
  const title = isSent ? 'Look into your mail' : 'Forgot your password?';
  return {
    title,
    hasError: failure !== undefined,
    body: html`<h1>${title}</h1>
${failure && alert(whyNot(failure))}
${!hasMail && html`<p>${ASK_ADMIN}</p>`}
${
  isSent &&
  html`<p role="status">If there is an account with that email or username, a mail with a link is on its way. It may take a minute,
and may end up among your spam.</p>
<p>If you have asked before, within the last quarter of an hour, the link of that mail still works.</p>`
}
${
  hasMail &&
  !isSent &&
  html`<p class="lead">We send you a link to set a new one.</p>
<form method="post" action="/forgot-password">
${field({ name: 'username', label: 'Email or username', autocomplete: 'username', value: username, maxLength: 255, isFocused: true })}
<button>Send the link</button>
</form>`
}
<p><a href="/sign-in">Go to sign-in</a></p>`,
  };
}

/** Why nobody can sign in from here at the moment. */
export function whyNot({ statusCode, retryAfterSeconds }: ApiError): string {
  if (statusCode === 429) {
    return `There were too many attempts from your network. Try again ${inWords(retryAfterSeconds ?? 60)}.`;
  }
  return 'The server is very busy. Wait a moment, and try again.';
}
