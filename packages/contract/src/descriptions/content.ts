/** What the fields of folders, workbooks, reports and dashboards mean. */
import type { FieldWords } from './index.ts';

const place = {
  externalWorkbookId: 'The id of the spreadsheet that shows the report, as the spreadsheet program names it',
  resultLocation: 'The sheet and the cell at which the result begins',
  endResultCell: 'The cell at which the last result ended, so that the next one can clear it',
};
const report = {
  ...place,
  title: 'A longer title for people; `name` is short',
  description: 'What the report shows, for people',
  sqlQuery: 'The question as SQL over the data model; null if it is JSON',
  jsonQuery: 'The question in the JSON query format, as text; null if it is SQL',
  pivotItems: 'Which members are rows and which are columns of a pivot table',
  source: 'The kind of client that made the report; it cannot change',
  meta: 'What clients keep with the report; `visualization` or `chart` says how it is drawn',
};
const pivot = {
  columns: 'Members whose values become columns',
  measures: 'Members whose values fill the cells',
  rows: 'Members whose values become rows',
  filters: 'Members that only limit the rows',
};
const drawn = {
  kind: 'What draws the report',
  fillMissingRows: 'Adds rows for periods without data',
  periodComparisons: 'Adds columns that compare with an earlier period',
  preferences: 'How values are written',
};
const config = {
  kind: '`CLASSIC` is a grid of widgets, `APP` is a page of your own',
  title: 'What the page shows at its top',
  description: 'What the dashboard shows, for people',
  layout: 'The grid that the widgets stand in',
  widgets: 'Everything on the page, in any order: `position` says where',
  settings: 'Time zone, language, refreshing and downloads of the dashboard',
  app: 'The page of a dashboard whose `kind` is `APP`',
  theme: 'Colours and fonts of this dashboard alone',
};
const sizes = (what: string) => ({
  lg: `${what} on large screens`,
  md: `${what} on screens of medium size`,
  sm: `${what} on tablets`,
  xs: `${what} on large phones`,
  xxs: `${what} on small phones`,
});
const workspaceItem = {
  id: 'The number of the folder, workbook or report; each kind counts for itself',
  type: 'Which of the three kinds it is',
};
const drafts = {
  dashboardDraft:
    'The dashboard as it is edited; null if there is none, and absent for whoever may not edit the workbook',
  dashboardPublished: 'The dashboard as viewers see it; null if it is not published',
  dashboardOutline:
    'What the published dashboard shows where, in 12 columns, for a small picture of it: its first 60 widgets; null for applications',
};

export const content: FieldWords = {
  Folder: {
    id: 'The number of the folder',
    name: 'Unique among the folders at the same place',
    type: 'Always `FOLDER`, so that lists of all kinds can be told apart',
    parentId: 'The folder above; null at the root',
    position: 'Its place among the folders beside it, from 0',
  },
  CreateFolderInput: {
    name: 'Unique among the folders at the same place',
    parentId: 'The folder above; null or absent for the root',
  },
  UpdateFolderInput: { name: 'The new name, unique among the folders at the same place' },
  WorkspaceFolderPathEntry: { id: 'The number of the folder', name: 'The name of the folder' },
  Workbook: {
    ...drafts,
    id: 'The number of the workbook',
    name: 'What people call the workbook; two may have the same name',
    slug: 'A name for addresses, unique in the deployment; null for none',
    type: 'Always `WORKBOOK`, so that lists of all kinds can be told apart',
    userId: 'The number of the owner',
    user: 'The owner',
    calculatedFields: 'Formulas that clients evaluate; the server only keeps them',
    meta: 'What clients keep with the workbook',
    publishedDashboard: 'What is published, with its address and its version; null if nothing is',
  },
  CreateWorkbookInput: { meta: 'What clients keep with the workbook' },
  UpdateWorkbookInput: {
    slug: 'A name for addresses, unique in the deployment; null removes it',
    meta: 'What clients keep with the workbook',
  },
  DuplicateWorkbookInput: {
    shared: 'True copies a workbook of somebody else, which was shared, to the root of your own workspace',
  },
  WorkbookDashboard: drafts,
  WorkbookDashboardInput: drafts,
  Report: {
    ...report,
    id: 'The number of the report',
    publicId: 'An id that cannot be guessed, for addresses and for imports that run again',
    userId: 'The number of the owner',
    user: 'The owner',
    refreshedBy: 'The number of the user who refreshed it last; null if nobody did',
    refreshedByUser: 'The user who refreshed it last',
    name: 'What people call the report; two may have the same name',
    type: 'Always `REPORT`, so that lists of all kinds can be told apart',
    externalWorkbookPlacements: 'Every place in spreadsheets that shows the report',
    version: 'Counts upwards with every change of the report',
    rolesWithAccess: 'The roles that may read it by a policy',
    canEdit: 'Whether the caller may change it',
    canManage: 'Whether the caller may also share and delete it',
  },
  CreateReportInput: report,
  UpdateReportInput: report,
  ConnectReportToWorkbookInput: place,
  ReportPlacement: place,
  PivotItems: pivot,
  PivotItemsInput: pivot,
  WorkspaceItemRef: workspaceItem,
  WorkspaceBulkFailure: { ...workspaceItem, error: 'Why it failed' },
  MoveWorkspaceObjectInput: { ...workspaceItem, folderId: 'Where it goes; null or absent for the root' },
  BulkDeleteWorkspaceObjectsInput: {
    items: 'What to delete; each is a change of its own, so some may fail and others not',
  },
  BulkDeleteWorkspaceObjectsPayload: {
    deleted: 'What is gone now',
    failed: 'What is still there, each with the reason',
  },
  BulkMoveWorkspaceObjectsInput: {
    items: 'What to move; each is a change of its own, so some may fail and others not',
    folderId: 'Where it all goes; null or absent for the root',
  },
  BulkMoveWorkspaceObjectsResponse: {
    moved: 'What was moved, as it is now',
    failed: 'What is still at its place, each with the reason',
  },

  Dashboard: {
    id: 'The number of the dashboard, which stays when it is published again',
    publicId: 'What the address of the embedded page names',
    workbookId: 'The workbook whose dashboard it is',
    status: 'Only `published` dashboards are shown to viewers',
    title: config.title,
    description: config.description,
    config: 'The page, its widgets and its look',
    versionId: 'The number of this version: publishing makes a new one',
    createdBy: 'The number of the user who published it',
    fromSharedWorkspace: 'Whether somebody else than the caller owns it',
    useBoardDashboards: 'Which of two editors clients open; kept for older ones',
  },
  DashboardConfig: config,
  DashboardConfigInput: config,
  DashboardEmbeddingResponse: {
    publicId: 'The dashboard, as its address names it',
    allowEmbed: 'Whether viewers with an embed token can see it now',
  },
  UpdateDashboardEmbeddingInput: { allowEmbed: 'Whether viewers with an embed token can see it at all' },
  PublishDashboardInput: { description: config.description, config: 'What to publish instead of the draft' },
  DashboardVersions: { versions: 'What was published, newest first' },
  DashboardPreviewInput: { viewer: 'Somebody who sees the dashboard in a page of a host' },
  DashboardPreviewViewer: {
    embedTenantName: 'The embed tenant that they belong to',
    groups: 'The names of their groups: of the account or, in creator mode, of the embed tenant',
    tenantGroups: 'In creator mode, the groups that content is shared with',
    userAttributes: 'Values of attributes by their names; null for the default',
  },
  DashboardPreview: {
    expiresAt: 'When the preview ends',
    groups: 'The groups that policies see',
    tenantGroups: 'The groups that policies see as `tenant:<name>`',
    roles: 'The roles that policies see as `role:<name>`',
    userAttributes: 'The values of attributes that are in force',
  },
  DashboardPreviewLoadInput: {
    previewId: 'The `previewId` of `createDashboardPreview`',
    query: 'Queries in the JSON query format',
  },
  DashboardVersion: {
    versionNumber: 'Counts from 1 for each workbook',
    title: 'The title that the dashboard had then',
    note: 'What had changed, if whoever published it said so',
    publishedAt: 'When it was published',
    publishedBy: 'Who published it; null if that is not known any more',
  },
  DashboardPublisher: { id: 'The number of the user', displayName: 'Their name' },
  PreviewDashboardReportsInput: { reportIds: 'The reports' },
  DashboardReportPreviews: {
    reportSnapshots: 'The reports that the caller can read, in the order of the request',
  },
  AiWidgetThreadInput: {
    threadId: 'The conversation that the widget shows from now on',
    widgetId: 'The `id` of the widget in the config',
    checksum: 'The checksum that the thread had when you read it; without it, nothing is compared',
  },
  DashboardAppSource: {
    entry: 'The file among `files` that is loaded first; `index.html` by default',
    files: 'The texts of the files, by their paths',
    html: 'The document of the page, instead of the file `entry`',
    manifest: 'What a builder of apps notes; it has no effect',
  },
  DashboardAppManifest: {
    dependencies: 'Packages that the app was made with, by name, with their versions',
    version: 'The version of the format of the app',
  },
  DashboardBreakpoints: sizes('The number'),
  DashboardResponsiveLayouts: sizes('Where the widget stands'),
  DashboardLayout: {
    breakpoints: 'The width in pixels from which a screen counts as each size',
    cols: 'How many columns the grid has at each size',
    containerPadding: 'The space around the grid in pixels: across, then down',
    margin: 'The space between widgets in pixels: across, then down',
    rowHeight: 'The height of one row in pixels',
  },
  DashboardWidget: {
    id: 'Unique in the dashboard; other widgets name it when they filter it',
    type: 'What the widget is; `config` depends on it',
    position: 'Where it stands if the size of the screen has no place of its own',
    responsiveLayouts: 'Places of its own for single sizes of screens',
    config: 'What the widget shows, such as the number of a report',
    style: 'Colours and edges of this widget alone',
  },
  DashboardOutlineItem: {
    x: 'The first column, from 0',
    y: 'The first row, from 0',
    w: 'How many columns it covers',
    h: 'How many rows it covers',
    shows: 'What is drawn there',
  },
  DashboardWidgetPosition: {
    x: 'The first column, from 0',
    y: 'The first row, from 0',
    w: 'How many columns it covers',
    h: 'How many rows it covers',
  },
  ColumnFormatOverride: {
    type: 'How numbers of the column are written',
    decimalPlaces: 'How many digits stand after the point',
  },
  FillMissingRows: { excludedDimensions: 'Dimensions whose values do not get rows of their own' },
  PeriodComparison: {
    measure: 'The measure that is compared with itself',
    timeDimension: 'The time dimension that says which period a row is in',
    offset: 'How far back the other period is',
    outputs: 'Which columns to add: `previous`, `change` and `percent`; by default all three',
  },
  PeriodComparisonOffset: {
    amount: 'How many units back',
    unit: 'What is counted; the plural means the same',
  },
  ReportPreview: drawn,
  ReportSnapshot: {
    ...drawn,
    id: 'The number of this copy of the report; `reportVersionId` names it',
    reportId: 'The report that it is a copy of',
    name: 'The name of the report at that time',
    title: 'What the widget shows above it',
    description: 'What the report shows, for people',
    isSourceReport: 'Kept for older clients',
  },
  ReportSnapshotPreferences: { columnFormats: 'How numbers are written, by the name of the column' },
  CreateNotificationInput: {
    condition:
      'With it, a reader is sent the dashboard when the condition becomes true for them, and not again before it was false',
  },
  NotificationDto: {
    condition:
      'With it, a reader is sent the dashboard when the condition becomes true for them, and not again before it was false',
  },
  UpdateNotificationInput: {
    condition:
      'With it, a reader is sent the dashboard when the condition becomes true for them, and not again before it was false',
  },
};
