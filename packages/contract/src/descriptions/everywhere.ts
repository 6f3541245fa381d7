/** Fields that mean the same wherever they stand. */
export const everywhere: Record<string, string> = {
  items: 'What is on this page, in the order of the list',
  pageInfo: 'Where the page stands in the list, and how to get the next one',
  pagination: 'The same for the older way of paging',
  deploymentId: 'The number of the deployment that it belongs to',
  workbookId: 'The workbook that it belongs to; null for none',
  folderId: 'The folder that it is in; null for the root of the workspace',
  branchId: 'The branch by its number, instead of by its name',
  createdAt: 'When it was made',
  updatedAt: 'When it was changed last',
  lastLogin: 'When the user last signed in or was last seen with a session',
  expiresAt: 'From then on it is refused',
  date: 'When it was written',
  createdBy: 'The number of the user who made it',
  updatedBy: 'The number of the user who changed it last',
  settings: 'Settings that only clients read; the server keeps them as they are',
  picture: "An address of a picture, which the viewer's browser loads",
};
