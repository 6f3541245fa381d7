import { html } from '../../../platform/http/html.ts';
import type { WaitingDevice } from '../../device-codes/index.ts';
import type { View } from '../layout.ts';
import { alert, field, hidden, notice, time } from './parts.ts';
import { programOf } from './program.ts';

/** The person who is signed in. */
export interface Visitor {
  email: string;
  csrf: string;
  /** The address to go to when another person has signed in. */
  next: string;
}

const visitorLine = ({ email, csrf, next }: Visitor) =>
  html`<form class="visitor" method="post" action="/sign-out">
${hidden({ csrf, next })}
<p class="muted">Signed in as ${email}</p>
<button class="plain small">Use another account</button>
</form>`;

export const codeView = ({
  visitor,
  typed = '',
  error,
  failure,
}: {
  visitor: Visitor;
  typed?: string;
  error?: string;
  failure?: string;
}): View => ({
  title: 'Connect a device',
  hasError: Boolean(error || failure),
  body: html`<h1>Connect a device</h1>
<p class="lead">Enter the code that your device or command-line tool shows.</p>
${alert(failure)}
<form class="code" method="get" action="/device">
${field({
  name: 'user_code',
  label: 'Code',
  autocomplete: 'one-time-code',
  value: typed,
  hint: 'For example WDJB-MJHT',
  maxLength: 20,
  error,
  isFocused: true,
})}
<button>Continue</button>
</form>
${visitorLine(visitor)}`,
});

export interface Question {
  code: string;
  device: WaitingDevice;
  visitor: Visitor;
}

export const questionView = ({ code, device, visitor }: Question): View => ({
  title: 'Connect this device?',
  body: html`<h1>Connect this device?</h1>
<p class="lead">It will be able to do everything that you can do, until you sign it out.</p>
<dl>
<div><dt>Code</dt><dd class="mono">${code}</dd></div>
<div><dt>Program</dt><dd>${device.clientId}${device.userAgent && html` <span class="muted">${programOf(device.userAgent)}</span>`}</dd></div>
<div><dt>Network address</dt><dd>${device.ip}</dd></div>
<div><dt>Asked at</dt><dd>${time(device.createdAt)}</dd></div>
<div><dt>Signs in as</dt><dd>${visitor.email}</dd></div>
</dl>
<p>Approve only if you started this yourself, and your device shows the same code.</p>
<form method="post" action="/device">
${hidden({ csrf: visitor.csrf, userCode: code })}
<div class="choice">
<button name="answer" value="approve">Approve</button>
<button class="plain" name="answer" value="refuse">Refuse</button>
</div>
</form>
${visitorLine(visitor)}`,
});

export const answeredView = (answer: 'approved' | 'refused', visitor: Visitor): View => {
  const title = answer === 'approved' ? 'The device is connected' : 'The device was refused';
  return {
    title,
    body: html`<h1>${title}</h1>
${notice(answer === 'approved' ? 'You can close this page and go back to your device.' : 'It has no access to your account.')}
<a class="button" href="/account">Go to your account</a>
${visitorLine(visitor)}`,
  };
};
