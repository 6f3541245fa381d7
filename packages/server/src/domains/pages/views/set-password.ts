/** The pages that one-time links lead to. */
import { html } from '../../../platform/http/html.ts';
import type { View } from '../layout.ts';
import { addressWith, alert, hidden, newPasswordFields, notice } from './parts.ts';
import type { SignInWay } from './sign-in.ts';

export interface SetPasswordForm {
  kind: 'invitation' | 'reset';
  path: string;
  link: string;
  /** The person that the link is for. */
  person: { firstName: string | null; email: string };
  name: string;
  /** Ways to accept the link without a password. */
  ways: readonly SignInWay[];
  errors?: { newPassword?: string; repeated?: string };
  failure?: string;
  /** The email of another person who is signed in by this browser. */
  signedInAs?: string | undefined;
}

export function setPasswordView(form: SetPasswordForm): View {
  const { kind, person, name, errors = {}, failure } = form;
  const isNew = kind === 'invitation';
  const title = isNew ? `Welcome to ${name}` : 'Set a new password';
  return {
    title,
    hasError: Boolean(failure || errors.newPassword || errors.repeated),
    body: html`<h1>${title}</h1>
<p class="lead">${
      isNew
        ? html`${person.firstName && html`Hello ${person.firstName}. `}Choose a password to finish your account.`
        : 'You will be signed out everywhere else.'
    }</p>
${alert(failure)}
${notice(form.signedInAs && `You are signed in here as ${form.signedInAs}. If you go on, this browser is signed out of that account.`)}
<form method="post" action="${form.path}">
${hidden({ link: form.link })}
<div class="field">
<label for="account">Account</label>
<input id="account" type="text" value="${person.email}" autocomplete="username" readonly>
</div>
${newPasswordFields(errors, true)}
<button>${isNew ? 'Set password and sign in' : 'Change password and sign in'}</button>
</form>
${form.ways.length > 0 && html`<p class="or"><span>or</span></p>`}
${form.ways.map((way) => html`<a class="button" href="${addressWith(way.path, { link: form.link })}">Sign in with ${way.name} from now on</a>`)}
${!isNew && form.ways.length > 0 && html`<p class="hint">Your password here ends with that.</p>`}`,
  };
}

export const linkNotValidView = (kind: SetPasswordForm['kind'], hasMail: boolean): View => ({
  title: 'This link no longer works',
  hasError: true,
  body: html`<h1>This link no longer works</h1>
<p>It has expired, it was used before, or a newer one has replaced it.</p>
<p>${
    kind === 'invitation'
      ? 'If you have set your password already, you can sign in with it. Otherwise, ask the person who invited you for a new link.'
      : html`${hasMail ? html`<a href="/forgot-password">Ask for a new one.</a>` : 'To get a new one, ask an admin of your team.'} If you have set your password already, you can sign in with it.`
  }</p>
<a class="button primary" href="/sign-in">Go to sign-in</a>`,
});

export const linkCutOffView = (kind: SetPasswordForm['kind']): View => ({
  title: 'This link is not complete',
  hasError: true,
  body: html`<h1>This link is not complete</h1>
<p>A part of it is missing. Copy the whole link from the message that you got, and open it again.
If you do not have it any more, ask ${kind === 'invitation' ? 'the person who invited you' : 'an admin of your team'} for a new one.</p>
<a class="button primary" href="/sign-in">Go to sign-in</a>`,
});
