/** The HTML of the app, which is the same at all of its addresses, but for the scripts that are loaded at once. */
import { html } from '../../platform/http/html.ts';
import type { AppManifest } from './files.ts';

/** Returns the route that fits these `segments` of an address, below that of a deployment, if there is one. */
export const appRouteOf = ({ routes }: AppManifest, segments: readonly string[]): string | undefined =>
  routes.find((route) => {
    const pattern = route.split('/').slice(1);
    return (
      pattern.length === segments.length &&
      pattern.every((part, i) =>
        part.startsWith(':') ? /^[1-9]\d{0,15}$/.test(segments[i]!) : part === segments[i],
      )
    );
  });

/**
 * `person` is the id of the user who is signed in, `csrf` the token for their changes. Frames of other products have
 * neither.
 */
export const appHtml = (
  { script, style, preload, preloadAt }: AppManifest,
  { route, person, csrf, icon }: { route?: string; person?: number; csrf?: string; icon?: string } = {},
): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${person !== undefined && html`<meta name="person" content="${person}">`}
${csrf !== undefined && html`<meta name="csrf-token" content="${csrf}">`}
<title>Oriel</title>
${icon !== undefined && html`<link rel="icon" type="image/svg+xml" href="${icon}">`}
<link rel="stylesheet" href="/embed/files/${style}">
${[...preload, ...(preloadAt[route ?? ''] ?? [])].map((file) => html`<link rel="modulepreload" href="/embed/files/${file}">`)}
<script type="module" src="/embed/files/${script}"></script>
</head>
<body>
<div id="page"></div>
<noscript>The app needs JavaScript.</noscript>
</body>
</html>
`.text;
