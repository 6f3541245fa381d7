/** The addresses of the app for people who are signed in. The page is the same at each; its script shows what belongs there. */
import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Html } from '../kinds.ts';
import { operation } from '../operation.ts';
import { appPageHeaders } from '../page-headers.ts';

export const errors = {
  app_page_not_found: { status: 404, message: 'There is no such page.' },
} as const satisfies ErrorDefinitions;

const segment = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] });

/** What the API says about the deployment decides what the page shows, so any number leads to the page. */
const deploymentNumber = segment('The number of the deployment', '1');
const section = segment('A part of the app, such as `explore`, `folders` or `workbooks`', 'workbooks');
const item = segment('The number of the folder, workbook or report', '1');
const part = segment('A part of the item, such as `dashboard` or `reports`', 'reports');
const detail = segment('The number of the report', '1');

const page = {
  tag: 'Pages',
  method: 'GET',
  auth: 'console',
  permission: 'none',
  errorShape: 'page',
  audit: 'none',
  description:
    'Whoever is not signed in gets the form to sign in, and comes back here. See docs/app.md for what the app does.',
  reply: Html,
  replyHeaders: appPageHeaders,
  errors: ['app_page_not_found'],
} as const;

export const accountPage = operation({
  ...page,
  id: 'accountPage',
  path: '/account',
  summary: 'Show what is your own in the app',
  errors: [],
});

export const appPage = operation({
  ...page,
  id: 'appPage',
  path: '/d/{deploymentNumber}',
  summary: 'Show the app for a deployment',
  params: { deploymentNumber },
});

export const appSectionPage = operation({
  ...page,
  id: 'appSectionPage',
  path: '/d/{deploymentNumber}/{section}',
  summary: 'Show a part of the app',
  params: { deploymentNumber, section: { ...section, examples: ['explore'] } },
});

export const appItemPage = operation({
  ...page,
  id: 'appItemPage',
  path: '/d/{deploymentNumber}/{section}/{item}',
  summary: 'Show a folder, workbook or report in the app',
  params: { deploymentNumber, section, item },
});

export const appPartPage = operation({
  ...page,
  id: 'appPartPage',
  path: '/d/{deploymentNumber}/{section}/{item}/{part}',
  summary: 'Show a part of a workbook in the app',
  params: { deploymentNumber, section, item, part: { ...part, examples: ['dashboard'] } },
});

export const appDetailPage = operation({
  ...page,
  id: 'appDetailPage',
  path: '/d/{deploymentNumber}/{section}/{item}/{part}/{detail}',
  summary: 'Show a report of a workbook in the app',
  params: { deploymentNumber, section, item, part, detail },
});
