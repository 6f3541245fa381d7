import { html, type Markup } from '../../../platform/http/html.ts';
import type { View } from '../layout.ts';
import { hidden, time } from './parts.ts';

/** An integration, and the person's connection to it. */
export interface Connection {
  id: number;
  name: string;
  /** Null if the person is not connected. */
  status: 'active' | 'expired' | 'revoked' | 'error' | null;
  lastError: string | null;
  since: string | null;
}

const form = (action: 'begin' | 'end', id: number, csrf: string, button: Markup) =>
  html`<form method="post" action="/account/connections/${action}">${hidden({ csrf, id: String(id) })}${button}</form>`;

export const connectionsSection = (connections: readonly Connection[], csrf: string): Markup =>
  html`<section aria-labelledby="connections">
<h2 id="connections">Connected services</h2>
<p class="hint">Some data is read with your own access to a service. Connect once, and it is renewed by itself.</p>
<ul class="rows">
${connections.map((connection) => connectionRow(connection, csrf))}
</ul>
</section>`;

function connectionRow({ id, name, status, lastError, since }: Connection, csrf: string): Markup {
  const isActive = status === 'active';
  const connect = html`<button class="${isActive ? 'plain small' : 'small'}">${status ? 'Connect again' : 'Connect'}<span class="unseen"> ${name}</span></button>`;
  const disconnect = html`<button class="plain small">Disconnect<span class="unseen"> ${name}</span></button>`;
  return html`<li>
<div>
<p>${name}</p>
${status === null && html`<p class="hint">Not connected</p>`}
${isActive && since && html`<p class="hint">Connected since ${time(since)}</p>`}
${lastError && html`<p class="${isActive ? 'hint' : 'error'}">${lastError}</p>`}
</div>
${!isActive && form('begin', id, csrf, connect)}
${status !== null && form('end', id, csrf, disconnect)}
</li>`;
}

/** A form may not lead to another site, so the person follows a link. They see where it goes. */
export const leavingView = ({
  name,
  authorizationUrl,
}: {
  name: string;
  authorizationUrl: string;
}): View => ({
  title: `Connect ${name}`,
  body: html`<h1>Connect ${name}</h1>
<p class="lead">You go to ${new URL(authorizationUrl).host}, and allow the access there. Then you come back here.</p>
<a class="button" href="${authorizationUrl}">Continue to ${new URL(authorizationUrl).host}</a>
<p class="hint"><a href="/account">Back to your account</a></p>`,
});
