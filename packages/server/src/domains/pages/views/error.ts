import type { ApiError } from '../../../platform/errors.ts';
import { html } from '../../../platform/http/html.ts';
import type { View } from '../layout.ts';
import { inWords } from './parts.ts';

/** The page for errors that are not about one field of a form. */
export function errorView(failure: ApiError, requestId: string, backTo: string): View {
  const title = TITLES[failure.statusCode] ?? 'Something went wrong';
  return {
    title,
    hasError: true,
    body: html`<h1>${title}</h1>
<p role="alert">${isOurFault(failure) ? 'It is not your fault. Wait a moment, and try again.' : failure.message}</p>
${failure.statusCode === 429 && html`<p>Try again ${inWords(failure.retryAfterSeconds ?? 60)}.</p>`}
<a class="button primary" href="${backTo}">Go back</a>
<p class="hint">If it happens again, tell an admin this number: <span class="mono">${requestId}</span></p>`,
  };
}

/** For an address that nothing is at. It may be mistyped or old, so nobody needs to hear of it. */
export const noPageView = ({ message }: ApiError): View => ({
  title: 'Not found',
  hasError: true,
  body: html`<h1>Not found</h1>
<p role="alert">${message}</p>
<p>The link may be old, or the address mistyped.</p>
<a class="button primary" href="/">Go to the start page</a>`,
});

/** With a 502, the message says which other server it is. */
const isOurFault = ({ statusCode }: ApiError) => statusCode >= 500 && statusCode !== 502;

const TITLES: Record<number, string> = {
  403: 'This was not allowed',
  404: 'Not found',
  405: 'This was not allowed',
  429: 'Too many attempts',
  502: 'Another server does not answer',
  503: 'The server is busy',
  504: 'The server is busy',
};
