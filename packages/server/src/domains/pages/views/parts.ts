/** Parts of forms. */
import { PASSWORD_LENGTH } from '@oriel/contract';
import { html, type Markup } from '../../../platform/http/html.ts';

export interface Field {
  name: string;
  label: string;
  type?: 'text' | 'password';
  autocomplete: 'username' | 'current-password' | 'new-password' | 'one-time-code';
  value?: string;
  hint?: string;
  error?: string | undefined;
  isFocused?: boolean;
  minLength?: number;
  maxLength: number;
}

/** An input with its label, its hint and what is wrong with it. */
export function field(given: Field): Markup {
  const { name, label, type = 'text', value = '', hint, error } = given;
  const described = [error && `${name}-error`, hint && `${name}-hint`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${given.autocomplete}" maxlength="${given.maxLength}" required
${given.minLength && html` minlength="${given.minLength}"`}
${type === 'text' && html` autocapitalize="none" autocorrect="off" spellcheck="false"`}
${described && html` aria-describedby="${described}"`}
${error && html` aria-invalid="true"`}
${given.isFocused && html` autofocus`}>
${error && html`<p class="error" id="${name}-error" role="alert">${error}</p>`}
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
}

/** The two fields for a new password. */
export const newPasswordFields = (
  errors: { newPassword?: string; repeated?: string },
  isFocused: boolean,
) => {
  const common = { type: 'password', autocomplete: 'new-password', maxLength: PASSWORD_LENGTH.max } as const;
  return html`${field({
    ...common,
    name: 'newPassword',
    label: 'New password',
    hint: `At least ${PASSWORD_LENGTH.min} characters. A few words in a row are easy to remember and hard to guess.`,
    minLength: PASSWORD_LENGTH.min,
    error: errors.newPassword,
    isFocused: isFocused && !errors.repeated,
  })}
${field({
  ...common,
  name: 'repeated',
  label: 'Repeat the new password',
  error: errors.repeated,
  isFocused: Boolean(errors.repeated),
})}`;
};

export const hidden = (fields: Record<string, string | undefined>) =>
  Object.entries(fields).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
  );

export const notice = (text: string | undefined) => text && html`<p class="notice" role="status">${text}</p>`;

export const alert = (text: string | undefined) => text && html`<p class="alert" role="alert">${text}</p>`;

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

export const time = (at: string) => html`<time datetime="${at}">${TIME.format(new Date(at))} UTC</time>`;

/** For example: "in 14 minutes". */
export function inWords(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'in a second' : `in ${seconds} seconds`;
  return `in ${Math.ceil(seconds / 60)} minutes`;
}

/** An address of ours with parameters, for one attribute. */
export const addressWith = (path: string, parameters: Record<string, string>) =>
  `${path}?${new URLSearchParams(parameters)}`;
