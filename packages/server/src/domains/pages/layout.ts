/** What all pages have in common. */
import type { Page } from '../../platform/http/error-page.ts';
import { html, type Markup } from '../../platform/http/html.ts';
import { icon, style } from './assets.ts';
import { OWN_THEME, type Theme } from './theme.ts';

export interface View {
  title: string;
  /** Screen readers read the title first, so it says that something is wrong. */
  hasError?: boolean;
  body: Markup;
}

export function pageOf(view: View, theme: Theme): Page {
  return {
    html: layout(view, theme).text,
    headers: {
      'content-security-policy': theme.contentSecurityPolicy,
      // Links hold secrets, which no other server may see. With `no-referrer`, browsers would hide the origin of forms.
      'referrer-policy': 'same-origin',
    },
  };
}

const layout = ({ title, hasError, body }: View, theme: Theme) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${hasError && 'Error: '}${title} · ${theme.name}</title>
<link rel="icon" type="image/svg+xml" href="/assets/${icon.file}">
<link rel="stylesheet" href="/assets/${style.file}">
${theme.css && html`<style>${theme.css}</style>`}
</head>
<body>
<header class="brand">${brand(theme)}</header>
<main class="card">
${body}
</main>
</body>
</html>
`;

const brand = ({ name, logo }: Theme) =>
  logo
    ? html`<picture><source media="(prefers-color-scheme: dark)" srcset="${logo.dark}"><img src="${logo.light}" alt="${name}"></picture>`
    : html`${name === OWN_THEME.name && html`<img src="/assets/${icon.file}" alt="" width="32" height="32">`}<span>${name}</span>`;
