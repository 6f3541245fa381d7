/** The pages that hosts show in a frame, and the files that they load. */
import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Bytes, Html } from '../kinds.ts';
import { operation } from '../operation.ts';

export const errors = {
  embedded_file_not_found: { status: 404, message: 'There is no such file.' },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Embed', method: 'GET', auth: 'public', permission: 'none', audit: 'none' } as const;

const page = {
  ...common,
  reply: Html,
  replyHeaders: {
    'content-security-policy': Type.String(),
    'referrer-policy': Type.String(),
    'cache-control': Type.String(),
  },
} as const;

const publicId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The public id of the dashboard',
  examples: ['DemoCommerce'],
});

/** The session decides the deployment; this one is only for people to read. */
const deploymentNumber = Type.String({ minLength: 1, maxLength: 20, examples: ['1'] });

const DESCRIPTION =
  'The page is the same for every address. It exchanges its session for a token, and reads the dashboard with the token. See docs/embedded-page.md for the parameters.';

export const embeddedDashboardPage = operation({
  ...page,
  id: 'embeddedDashboardPage',
  path: '/embed/dashboard/{publicId}',
  summary: 'Show a dashboard in a frame of another page',
  description: DESCRIPTION,
  params: { publicId },
});

export const embeddedDashboardPageOfDeployment = operation({
  ...page,
  id: 'embeddedDashboardPageOfDeployment',
  path: '/embed/d/{deploymentNumber}/dashboard/{publicId}',
  summary: 'Show a dashboard in a frame of another page, by its longer address',
  description: DESCRIPTION,
  params: { deploymentNumber, publicId },
});

export const embeddedChatPage = operation({
  ...page,
  id: 'embeddedChatPage',
  path: '/embed/d/{deploymentNumber}/chat',
  summary: 'Say that there is no chat yet',
  description:
    'The address is kept, so that products that already use it show a sentence instead of an error.',
  params: { deploymentNumber },
});

/** The parts of an address of the app below `/embed/d/{deploymentNumber}/app`; see `app-pages.ts`. */
const part = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] });
const section = part('A part of the app, such as `explore`, `folders` or `workbooks`', 'workbooks');
const item = part('The number of the folder, workbook or report', '1');

const app = {
  ...page,
  description:
    'For sessions in creator mode. The page is the same for every address: it exchanges its session for a token, and asks the API with it. See docs/app.md.',
  errors: ['app_page_not_found'],
} as const;

export const embeddedAppPage = operation({
  ...app,
  id: 'embeddedAppPage',
  path: '/embed/d/{deploymentNumber}/app',
  summary: 'Show the app in a frame of another page',
  params: { deploymentNumber },
});

export const embeddedAppSectionPage = operation({
  ...app,
  id: 'embeddedAppSectionPage',
  path: '/embed/d/{deploymentNumber}/app/{section}',
  summary: 'Show a part of the app in a frame of another page',
  params: { deploymentNumber, section: { ...section, examples: ['explore'] } },
});

export const embeddedAppItemPage = operation({
  ...app,
  id: 'embeddedAppItemPage',
  path: '/embed/d/{deploymentNumber}/app/{section}/{item}',
  summary: 'Show a folder, workbook or report of the app in a frame of another page',
  params: { deploymentNumber, section, item },
});

export const embeddedAppPartPage = operation({
  ...app,
  id: 'embeddedAppPartPage',
  path: '/embed/d/{deploymentNumber}/app/{section}/{item}/{part}',
  summary: 'Show a part of a workbook of the app in a frame of another page',
  params: {
    deploymentNumber,
    section,
    item,
    part: part('A part of the item, such as `reports`', 'dashboard'),
  },
});

export const embeddedAppDetailPage = operation({
  ...app,
  id: 'embeddedAppDetailPage',
  path: '/embed/d/{deploymentNumber}/app/{section}/{item}/{part}/{detail}',
  summary: 'Show a report of a workbook of the app in a frame of another page',
  params: {
    deploymentNumber,
    section,
    item,
    part: part('A part of the item, such as `reports`', 'reports'),
    detail: part('The number of the report', '1'),
  },
});

export const embeddedAppFrame = operation({
  ...page,
  id: 'embeddedAppFrame',
  path: '/embed/app-frame',
  summary: 'Get the frame in which applications run',
  description:
    'It has no origin, and its policy allows no requests. The embedded page gives it the files of a dashboard of the kind `APP`.',
});

export const embeddedPageFile = operation({
  ...common,
  id: 'embeddedPageFile',
  path: '/embed/files/{file}',
  summary: 'Get a file that the embedded pages load',
  description: 'The name contains a hash of the content, so that browsers may keep the file.',
  params: { file: Type.String({ maxLength: 100, examples: ['page-2VXA4KQF.js'] }) },
  reply: Bytes('text/javascript', 'text/css', 'image/svg+xml'),
  replyHeaders: {
    'cache-control': Type.String(),
    'access-control-allow-origin': Type.String({
      description: 'Frames without an origin load these files too',
    }),
    'content-encoding': Type.Optional(Type.String()),
    vary: Type.Optional(Type.String()),
  },
  headers: { 'accept-encoding': Type.Optional(Type.String()) },
  errors: ['embedded_file_not_found'],
});
