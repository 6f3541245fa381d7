/** The app for people who are signed in. What it shows comes from the API, so its page is the same at every address. */
import { operations } from '@oriel/contract';
import type { Csrf } from '../../platform/auth/csrf.ts';
import { found } from '../../platform/errors.ts';
import { prefersHtml } from '../../platform/http/error-page.ts';
import { handle } from '../../platform/http/routes.ts';
import { type AppManifest, appHtml, appRouteOf, type Files, pagePolicy } from '../embedded-pages/index.ts';
import type { Console } from '../sessions/index.ts';
import { icon } from './assets.ts';
import { SIGN_IN_PATH } from './show.ts';

const HEADERS = {
  'content-security-policy': pagePolicy("'self'", [
    "form-action 'self'",
    // Its cookie allows everything that the person may do, so no other page may lay it under a click.
    "frame-ancestors 'none'",
  ]),
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

type PersonSession = { userId: number; sessionId: number };

export function appRoutes(files: Files<AppManifest>, console: Console) {
  const pageFor = (csrf: Csrf, { userId, sessionId }: PersonSession, route?: string) =>
    appHtml(files.manifest(), {
      ...(route === undefined ? {} : { route }),
      person: userId,
      csrf: csrf.tokenOf(sessionId),
      icon: `/assets/${icon.file}`,
    });

  const show = (
    { actor, sendHeaders }: { actor: PersonSession; sendHeaders(headers: typeof HEADERS): void },
    segments: readonly string[],
  ) => {
    const route = found(appRouteOf(files.manifest(), segments), 'app_page_not_found');
    sendHeaders(HEADERS);
    return pageFor(console.csrf, actor, route);
  };

  return [
    handle(operations.startPage, async ({ db, sendHeaders }, { headers }) => {
      if (!prefersHtml(headers.accept)) return { location: '/docs' };
      const person = await console.find(db, headers);
      if (!person) return { location: SIGN_IN_PATH };
      sendHeaders(HEADERS);
      return pageFor(console.csrf, person);
    }),
    handle(operations.accountPage, (call) => show(call, [])),
    handle(operations.appPage, (call) => show(call, [])),
    handle(operations.appSectionPage, (call, { params }) => show(call, [params.section])),
    handle(operations.appItemPage, (call, { params }) => show(call, [params.section, params.item])),
    handle(operations.appPartPage, (call, { params: { section, item, part } }) =>
      show(call, [section, item, part]),
    ),
    handle(operations.appDetailPage, (call, { params: { section, item, part, detail } }) =>
      show(call, [section, item, part, detail]),
    ),
  ];
}
