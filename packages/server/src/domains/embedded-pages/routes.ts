import { operations } from '@oriel/contract';
import { found } from '../../platform/errors.ts';
import { encodingFor } from '../../platform/http/encodings.ts';
import { handle } from '../../platform/http/routes.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { appHtml, appRouteOf } from './app-page.ts';
import type { AppManifest, Files } from './files.ts';
import { appFrame, appPolicyFor, CHAT, noticePage, pageOf, policyFor } from './rules.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';

export function embeddedPageRoutes({
  files,
  app,
  tenantSettings,
}: {
  files: Files;
  app: Files<AppManifest>;
  tenantSettings: TenantSettings;
}) {
  const headers = async (policy = policyFor) => ({
    'content-security-policy': policy((await tenantSettings.current()).embedAllowedOrigins),
    // The address may hold a session.
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  const showApp = async (
    sendHeaders: (values: Awaited<ReturnType<typeof headers>>) => void,
    segments: readonly string[],
  ) => {
    const route = found(appRouteOf(app.manifest(), segments), 'app_page_not_found');
    sendHeaders(await headers());
    return appHtml(app.manifest(), { route });
  };
  return [
    handle(operations.embeddedDashboardPage, async ({ sendHeaders }) => {
      sendHeaders(await headers());
      return pageOf(files.manifest());
    }),

    handle(operations.embeddedDashboardPageOfDeployment, async ({ sendHeaders }) => {
      sendHeaders(await headers());
      return pageOf(files.manifest());
    }),

    handle(operations.embeddedChatPage, async ({ sendHeaders }) => {
      sendHeaders(await headers());
      return noticePage(files.manifest(), CHAT);
    }),

    handle(operations.embeddedAppPage, ({ sendHeaders }) => showApp(sendHeaders, [])),

    handle(operations.embeddedAppSectionPage, ({ sendHeaders }, { params }) =>
      showApp(sendHeaders, [params.section]),
    ),

    handle(operations.embeddedAppItemPage, ({ sendHeaders }, { params }) =>
      showApp(sendHeaders, [params.section, params.item]),
    ),

    handle(operations.embeddedAppPartPage, ({ sendHeaders }, { params: { section, item, part } }) =>
      showApp(sendHeaders, [section, item, part]),
    ),

    handle(operations.embeddedAppDetailPage, ({ sendHeaders }, { params: { section, item, part, detail } }) =>
      showApp(sendHeaders, [section, item, part, detail]),
    ),

    handle(operations.embeddedAppFrame, async ({ sendHeaders }) => {
      sendHeaders(await headers(appPolicyFor));
      return appFrame(files.find(files.manifest().inside)!.data.toString());
    }),

    handle(operations.embeddedPageFile, ({ sendHeaders }, { params, headers }) => {
      const { contentType, data, encoded } = found(
        files.find(params.file) ?? app.find(params.file),
        'embedded_file_not_found',
      );
      const encoding = encodingFor(headers['accept-encoding']);
      sendHeaders({
        'cache-control': FOR_EVER,
        'access-control-allow-origin': '*',
        vary: 'accept-encoding',
        ...(encoding ? { 'content-encoding': encoding } : {}),
      });
      return { contentType, data: encoding ? encoded[encoding] : data };
    }),
  ];
}
