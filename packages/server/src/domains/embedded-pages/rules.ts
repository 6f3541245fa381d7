/** The HTML of the embedded pages, and the policy that browsers enforce on them. */
import type { Manifest } from './files.ts';

/** An origin, and nothing else that would change the meaning of the policy. */
const ORIGIN = /^https?:\/\/[\w.*[\]:-]+$/;

/**
 * Scripts and styles come from this server only, and no text becomes code. Pictures come from nowhere else: the address of
 * a picture could hold the viewer's rows. The viewer's own picture is fetched by the page's own code, which is why it may
 * connect to `https:`. Nothing that users write can fetch: the loader of Vega is closed. An account without allowed origins
 * lets every page embed its dashboards.
 */
export const policyFor = (allowedOrigins: readonly string[]): string =>
  pagePolicy("'self' https:", ["form-action 'none'", ancestorsFor(allowedOrigins)]);

/** What holds for every page whose scripts are ours, and what such a page may connect to. */
export const pagePolicy = (connect: string, others: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${connect}`,
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "frame-src 'self'",
    "base-uri 'none'",
    ...others,
  ].join('; ');

/** Every page around a frame is an ancestor, so the frame of an application allows what its page allows. */
function ancestorsFor(allowedOrigins: readonly string[]): string {
  const origins = allowedOrigins.filter((origin) => ORIGIN.test(origin));
  return `frame-ancestors ${allowedOrigins.length === 0 ? '*' : ["'self'", ...origins].join(' ')}`;
}

/**
 * The frame of an application runs the scripts that it is given, without an origin, and loads nothing: everything that it
 * shows is in its own text.
 */
export const appPolicyFor = (allowedOrigins: readonly string[]): string =>
  [
    'sandbox allow-scripts',
    "default-src 'none'",
    "script-src 'unsafe-inline' data:",
    "style-src 'unsafe-inline' data:",
    'img-src data: blob:',
    'font-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    ancestorsFor(allowedOrigins),
  ].join('; ');

export const appFrame = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>Application</title>
<script>${script.replaceAll('</', '<\\/')}</script>
</head>
<body></body>
</html>
`;

export const pageOf = ({ script, style, preload }: Manifest) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Dashboard</title>
<link rel="stylesheet" href="/embed/files/${style}">
${preload.map((file) => `<link rel="modulepreload" href="/embed/files/${file}">\n`).join('')}<script type="module" src="/embed/files/${script}"></script>
</head>
<body>
<div id="page"></div>
<noscript>This dashboard needs JavaScript.</noscript>
</body>
</html>
`;

/** A page that only says something. */
export interface Notice {
  title: string;
  heading: string;
  text: string;
}

export const CHAT: Notice = {
  title: 'Chat',
  heading: 'There is no chat yet',
  text: 'This version of Oriel shows dashboards. It has no chat.',
};

/** The script takes the session out of the address, as that of a dashboard does. */
export const noticePage = ({ style, notice }: Manifest, { title, heading, text }: Notice) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/embed/files/${style}">
<script src="/embed/files/${notice}"></script>
</head>
<body>
<main class="notice"><h1>${heading}</h1><p>${text}</p></main>
</body>
</html>
`;
