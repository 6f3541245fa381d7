import { PASSWORD_LENGTH } from '@oriel/contract';
import { html, type Markup } from '../../../platform/http/html.ts';
import type { SessionRow } from '../../sessions/index.ts';
import type { View } from '../layout.ts';
import { type Connection, connectionsSection } from './connections.ts';
import { alert, field, hidden, newPasswordFields, notice, time } from './parts.ts';
import { programOf } from './program.ts';

/** Who the person is at a sign-in provider. */
export interface LinkedIdentity {
  id: number;
  /** The name of the provider. */
  name: string;
  subject: string;
  createdAt: string;
}

export interface Account {
  person: { firstName: string | null; username: string; email: string; roles: string[] };
  sessions: readonly SessionRow[];
  identities: readonly LinkedIdentity[];
  /** Empty if the person may not connect to services. */
  connections: readonly Connection[];
  hasPassword: boolean;
  sessionId: number;
  csrf: string;
  notice?: string | undefined;
  errors?: { currentPassword?: string; newPassword?: string; repeated?: string };
  failure?: string | undefined;
}

export function accountView(account: Account): View {
  const { person, errors = {}, failure } = account;
  return {
    title: 'Your account',
    isWide: true,
    hasError: Boolean(failure) || Object.values(errors).some(Boolean),
    body: html`<div class="head">
<div>
<h1>${person.firstName ?? person.username}</h1>
<p class="lead">${person.email}${person.roles.length > 0 && html` · ${person.roles.join(', ')}`}</p>
</div>
<form method="post" action="/sign-out">${hidden({ csrf: account.csrf })}<button class="plain">Sign out</button></form>
</div>
<p><a href="/">Open the app</a></p>
${notice(account.notice)}
${alert(failure)}
<section aria-labelledby="sessions">
<h2 id="sessions">Where you are signed in</h2>
<ul class="rows">
${account.sessions.map((session) => sessionRow(session, account))}
</ul>
<form method="post" action="/sign-out">${hidden({ csrf: account.csrf, everywhere: 'true' })}<button class="plain">Sign out everywhere</button></form>
</section>
${account.connections.length > 0 && connectionsSection(account.connections, account.csrf)}
${account.identities.length > 0 && identitiesSection(account)}
<section aria-labelledby="password">
<h2 id="password">${account.hasPassword ? 'Change your password' : 'Your password'}</h2>
${
  account.hasPassword
    ? html`<p class="hint">You will be signed out everywhere else.</p>
${passwordForm(account, errors)}`
    : html`<p class="hint">You have no password. If you want one, ask an admin of your team for a link to set it.</p>`
}
</section>
<section aria-labelledby="device">
<h2 id="device">Connect a device</h2>
<p class="hint">A command-line tool shows a code when it wants to sign in.</p>
<a class="button" href="/device">Enter a code</a>
</section>`,
  };
}

const passwordForm = ({ person, csrf }: Account, errors: NonNullable<Account['errors']>): Markup =>
  html`<form method="post" action="/account/password">
${hidden({ csrf })}
<input class="unseen" type="text" value="${person.email}" autocomplete="username" aria-label="Account" tabindex="-1" readonly>
${field({
  name: 'currentPassword',
  label: 'Current password',
  type: 'password',
  autocomplete: 'current-password',
  maxLength: PASSWORD_LENGTH.max,
  error: errors.currentPassword,
  isFocused: Boolean(errors.currentPassword),
})}
${newPasswordFields(errors, Boolean(errors.newPassword))}
<button>Change password</button>
</form>`;

const identitiesSection = ({ identities, hasPassword, csrf }: Account): Markup =>
  html`<section aria-labelledby="identities">
<h2 id="identities">Sign-in without a password</h2>
${!hasPassword && html`<p class="hint">You have no password here, so this is how you sign in.</p>`}
<ul class="rows">
${identities.map(
  ({ id, name, subject, createdAt }) => html`<li>
<div>
<p>Sign in with ${name}</p>
<p class="hint">As ${subject} · since ${time(createdAt)}</p>
</div>
${
  hasPassword &&
  html`<form method="post" action="/account/identities/remove">${hidden({ csrf, id: String(id) })}<button class="plain small">Remove<span class="unseen"> the sign-in with ${name}</span></button></form>`
}
</li>`,
)}
</ul>
</section>`;

const KINDS = { console: 'Browser', device: 'Device', login: 'Program' };

function sessionRow(session: SessionRow, { sessionId, csrf }: Account): Markup {
  const { id, kind, clientId, userAgent, ip, createdAt, lastUsedAt } = session;
  const name = clientId ?? (userAgent ? programOf(userAgent) : KINDS[kind]);
  return html`<li>
<div>
<p>${name}${id === sessionId && html` <span class="tag">This browser</span>`}</p>
<p class="hint">${KINDS[kind]}${ip && html` · ${ip}`} · ${lastUsedAt ? html`last used ${time(lastUsedAt)}` : html`signed in ${time(createdAt)}`}</p>
</div>
${
  id !== sessionId &&
  html`<form method="post" action="/account/sessions/end">${hidden({ csrf, id: String(id) })}<button class="plain small">End<span class="unseen"> the session of ${name}</span></button></form>`
}
</li>`;
}
