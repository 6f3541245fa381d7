import { PASSWORD_LENGTH } from '@oriel/contract';
import type { ApiError } from '../../../platform/errors.ts';
import { html } from '../../../platform/http/html.ts';
import type { View } from '../layout.ts';
import { addressWith, alert, field, hidden, inWords, notice } from './parts.ts';

/** Another way to sign in, such as an OpenID Connect provider. */
export interface SignInWay {
  /** For "Sign in with …". */
  name: string;
  /** The address that begins it. It takes the parameters `next` and `link`. */
  path: string;
  /** The address that ends the session there. */
  signOutPath: string;
}

export interface SignInForm {
  ways: readonly SignInWay[];
  next: string;
  username?: string;
  notice?: string | undefined;
  /** The person has just signed out here, and may still be signed in at a provider. */
  isSignedOut?: boolean;
  failure?: ApiError;
}

export function signInView({
  ways,
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
<details>
<summary>Forgot your password?</summary>
<p>Ask an admin of your team for a link to set a new one.</p>
</details>`,
  };
}

/** Why nobody can sign in from here at the moment. */
export function whyNot({ statusCode, retryAfterSeconds }: ApiError): string {
  if (statusCode === 429) {
    return `There were too many attempts from your network. Try again ${inWords(retryAfterSeconds ?? 60)}.`;
  }
  return 'The server is very busy. Wait a moment, and try again.';
}
