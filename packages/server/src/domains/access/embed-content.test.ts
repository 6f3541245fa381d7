/** Users who are embedded in an embed tenant find its content, and no other content. */
import type { OrielClient } from '@oriel/client';
import { allOperations } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnEmbedding } from '../../../test/embedding.ts';
import { type Person, unique, type World } from '../../../test/world.ts';

const ACME = 'acme-corp';
const GLOBEX = 'globex-inc';
const FORBIDDEN = { status: 403, code: 'forbidden' };

let world: World;
let deploymentId: number;
let explorer: Person;
/** One client for each kind of user. */
let clients: Record<'ann' | 'gus' | 'embedded admin' | 'embedded developer' | 'explorer', OrielClient>;
let spaces: Record<'main' | typeof ACME | typeof GLOBEX, ForeignContent>;

interface Content {
  folderId: number;
  innerId: number;
  workbookId: number;
  /** The reports in the workbook, in the folder, and at the root. */
  reportIds: [number, number, number];
  slug: string;
  publicId: string;
  externalWorkbookId: string;
}

/** Content that other users try to reach. It also has a published dashboard, with a notification. */
interface ForeignContent extends Content {
  dashboardPublicId: string;
  notificationId: number;
}

async function fillAndPublish(client: OrielClient): Promise<ForeignContent> {
  const content = await fill(client);
  const text = {
    id: 'text',
    type: 'TEXT' as const,
    position: { x: 0, y: 0, w: 4, h: 2 },
    config: { markdown: 'x' },
  };
  const { workbookId } = content;
  const body = { config: { widgets: [text] } };
  const { publicId: dashboardPublicId } = await client.publishDashboard({ deploymentId, workbookId, body });
  const { id: notificationId } = await client.createNotification({
    deploymentId,
    body: { dashboardPublicId, scheduleType: 'DAILY', hour: 9, isEnabled: false },
  });
  return { ...content, dashboardPublicId, notificationId };
}

/** Creates a folder in a folder, a workbook in the inner one, and a report in each kind of place. */
async function fill(client: OrielClient): Promise<Content> {
  const at = (body: object) => ({ deploymentId, body: { name: 'of the matrix', ...body } });
  const { id: folderId } = await client.createFolder(at({}));
  const { id: innerId } = await client.createFolder(at({ parentId: folderId }));
  const slug = unique('slug');
  const { id: workbookId } = await client.upsertWorkbookBySlug({ slug, ...at({ folderId: innerId }) });
  const inWorkbook = await client.createReport(at({ workbookId }));
  const inFolder = await client.createReport(at({ folderId }));
  const atRoot = await client.createReport(at({}));
  const externalWorkbookId = unique('sheet');
  const body = { externalWorkbookId, resultLocation: 'A1' };
  await client.connectReportToWorkbook({ deploymentId, reportId: inFolder.id, body });
  const reportIds: Content['reportIds'] = [inWorkbook.id, inFolder.id, atRoot.id];
  return { folderId, innerId, workbookId, reportIds, slug, publicId: atRoot.publicId, externalWorkbookId };
}

const embedded = async (embedTenantName: string, who: { externalId: string } | { internalId: string }) =>
  (await world.embedded({ deploymentId, embedTenantName, creatorMode: true, ...who })).client;

async function internalUser(roles: string[]) {
  const internalId = unique('internal');
  await world.admin.createUser({
    body: { username: internalId, email: `${internalId}@example.com`, roles },
  });
  return { internalId };
}

beforeAll(async () => {
  // A world of its own, because the test compares all rows of the database after each attempt.
  ({ world, deploymentId } = await createOwnEmbedding());
  explorer = await world.person({ roles: ['Explorer'] });
  clients = {
    ann: await embedded(ACME, { externalId: 'ann' }),
    gus: await embedded(GLOBEX, { externalId: 'gus' }),
    'embedded admin': await embedded(ACME, await internalUser(['Admin'])),
    'embedded developer': await embedded(ACME, await internalUser(['Developer'])),
    explorer: explorer.client,
  };
  spaces = {
    main: await fillAndPublish(world.admin),
    [ACME]: await fillAndPublish(clients.ann),
    [GLOBEX]: await fillAndPublish(clients.gus),
  };
});
afterAll(() => world.stop());

/** Returns a digest of all rows of each table, so that any change that an attempt makes is found. */
async function everything() {
  const content = [
    'resource_policies',
    'folders',
    'workbooks',
    'reports',
    'report_placements',
    'report_views',
    'dashboards',
  ];
  const notified = ['notifications', 'notification_recipients', 'notification_runs'];
  const tables = [...content, ...notified, 'audit_log'];
  const digests = tables.map(
    (table) => `(select md5(string_agg(t::text, '\n' order by t::text)) from ${table} t) as ${table}`,
  );
  return (await world.server.db.pool.query(`select ${digests.join(', ')}`)).rows;
}

const FOLDER = { status: 404, code: 'folder_not_found' };
const WORKBOOK = { status: 404, code: 'workbook_not_found' };
const RESOURCE = { status: 404, code: 'resource_not_found' };
const REPORT = { status: 404, code: 'report_not_found' };
const PUBLIC_ID_TAKEN = { status: 409, code: 'public_id_taken' };
const DASHBOARD = { status: 404, code: 'dashboard_not_found' };
const NOTIFICATION = { status: 404, code: 'notification_not_found' };
const NOTHING = { items: [] };

/** Operations that name no content. */
const NO_CONTENT = ['previewReport', 'explainQuery'];

/** Every operation on foreign content, some of them together with the caller's own content. */
function attemptsOn(client: OrielClient, foreign: ForeignContent, own: Content): Record<string, Attempt[]> {
  const { folderId, innerId, workbookId, reportIds, publicId, externalWorkbookId } = foreign;
  const [reportId] = reportIds;
  const at = { deploymentId };
  const items = [
    { type: 'FOLDER' as const, id: folderId },
    { type: 'WORKBOOK' as const, id: workbookId },
    ...reportIds.map((id) => ({ type: 'REPORT' as const, id })),
  ];
  const ownItems = [
    { type: 'FOLDER' as const, id: own.innerId },
    { type: 'WORKBOOK' as const, id: own.workbookId },
    { type: 'REPORT' as const, id: own.reportIds[0] },
  ];
  const missing = { FOLDER, WORKBOOK, REPORT };
  const failed = items.map(({ type, id }) => ({ type, id, error: { status: 404 } }));
  const place = { externalWorkbookId: 'mine', resultLocation: 'A1' };
  const myWorkbook = { ...at, workbookId: own.workbookId };
  const myReport = { ...at, reportId: own.reportIds[0] };
  const { dashboardPublicId, notificationId: id } = foreign;
  const one = { ...at, id };
  const daily = { scheduleType: 'DAILY' as const, hour: 9, isEnabled: false };
  const ann = { type: 'EMBED_USER' as const, externalId: 'ann' };
  const resources = [
    { resourceType: 'Folder' as const, resourceId: folderId },
    { resourceType: 'Workbook' as const, resourceId: workbookId },
    { resourceType: 'Report' as const, resourceId: reportId },
  ];
  const sharing = (attempt: (resource: (typeof resources)[number]) => Promise<unknown>): Attempt[] =>
    resources.map((resource) => [() => attempt(resource), RESOURCE]);
  return {
    getResourcePolicies: sharing((resource) => client.getResourcePolicies(resource)),
    findPolicyCandidates: sharing((resource) => client.findPolicyCandidates({ ...resource, search: 'a' })),
    setUserPolicy: sharing((resource) => client.setUserPolicy({ body: { ...resource, userId: 1 } })),
    setGroupPolicy: sharing((resource) => client.setGroupPolicy({ body: { ...resource, groupId: 1 } })),
    createNotification: [
      [() => client.createNotification({ ...at, body: { ...daily, dashboardPublicId } }), DASHBOARD],
    ],
    updateNotification: [[() => client.updateNotification({ ...one, body: { name: 'x' } }), NOTIFICATION]],
    deleteNotification: [[() => client.deleteNotification(one), NOTIFICATION]],
    duplicateNotification: [[() => client.duplicateNotification(one), NOTIFICATION]],
    addRecipients: [[() => client.addRecipients({ ...one, body: { recipients: [ann] } }), NOTIFICATION]],
    removeRecipients: [
      [
        () => client.removeRecipients({ ...one, body: { recipients: [{ type: 'USER', id: 1 }] } }),
        NOTIFICATION,
      ],
    ],
    runNotification: [
      [() => client.runNotification(one), NOTIFICATION],
      [() => client.runNotification({ ...one, body: { preview: true } }), NOTIFICATION],
    ],
    listNotificationRuns: [[() => client.listNotificationRuns(one), NOTIFICATION]],
    listNotificationDeliveries: [
      [() => client.listNotificationDeliveries({ ...one, runId: 1 }), NOTIFICATION],
    ],
    // Viewers of embedded pages may call these too.
    getNotification: [[() => client.getNotification(one), NOTIFICATION]],
    getNotifications: [[() => client.getNotifications({ ...at, dashboardPublicId }), NOTHING]],
    getRecipients: [[() => client.getRecipients(one), NOTIFICATION]],
    subscribeToNotification: [[() => client.subscribeToNotification(one), NOTIFICATION]],
    unsubscribeFromNotification: [[() => client.unsubscribeFromNotification(one), NOTIFICATION]],

    getFolders: [[() => client.getFolders({ ...at, parentId: folderId }), { ...NOTHING, count: 0 }]],
    createFolder: [[() => client.createFolder({ ...at, body: { name: 'x', parentId: innerId } }), FOLDER]],
    updateFolder: [[() => client.updateFolder({ ...at, folderId, body: { name: 'x' } }), FOLDER]],
    deleteFolder: [[() => client.deleteFolder({ ...at, folderId }), FOLDER]],
    getFolderAncestors: [[() => client.getFolderAncestors({ ...at, folderId: innerId }), FOLDER]],

    getWorkbooks: [[() => client.getWorkbooks({ ...at, folderId: innerId }), { ...NOTHING, count: 0 }]],
    createWorkbook: [[() => client.createWorkbook({ ...at, body: { folderId } }), FOLDER]],
    getWorkbook: [[() => client.getWorkbook({ ...at, workbookId }), WORKBOOK]],
    updateWorkbook: [
      [() => client.updateWorkbook({ ...at, workbookId, body: { name: 'x' } }), WORKBOOK],
      [() => client.updateWorkbook({ ...myWorkbook, body: { folderId } }), FOLDER],
    ],
    upsertWorkbookBySlug: [
      [() => client.upsertWorkbookBySlug({ ...at, slug: own.slug, body: { folderId } }), FOLDER],
    ],
    deleteWorkbook: [[() => client.deleteWorkbook({ ...at, workbookId }), WORKBOOK]],
    duplicateWorkbook: [
      [() => client.duplicateWorkbook({ ...at, workbookId, body: {} }), WORKBOOK],
      [() => client.duplicateWorkbook({ ...at, workbookId, body: { shared: true } }), WORKBOOK],
    ],
    updateWorkbookDashboard: [
      [() => client.updateWorkbookDashboard({ ...at, workbookId, body: {} }), WORKBOOK],
    ],
    publishDashboard: [[() => client.publishDashboard({ ...at, workbookId, body: {} }), WORKBOOK]],
    unpublishDashboard: [[() => client.unpublishDashboard({ ...at, workbookId }), WORKBOOK]],
    getDashboardVersions: [[() => client.getDashboardVersions({ ...at, workbookId }), WORKBOOK]],
    watchDashboardDraft: [[() => client.watchDashboardDraft({ ...at, workbookId }), WORKBOOK]],
    updateDashboardPresence: [
      [
        () => client.updateDashboardPresence({ ...at, workbookId, body: { tab: 'tab-of-another' } }),
        WORKBOOK,
      ],
    ],
    getDashboardVersion: [
      [() => client.getDashboardVersion({ ...at, workbookId, versionNumber: 1 }), WORKBOOK],
    ],
    previewDashboardReports: [
      [() => client.previewDashboardReports({ ...at, workbookId, body: { reportIds } }), WORKBOOK],
      [() => client.previewDashboardReports({ ...myWorkbook, body: { reportIds } }), { reportSnapshots: [] }],
    ],
    updatePublishedDashboardAiWidgetThread: [
      [() => client.updatePublishedDashboardAiWidgetThread({ ...at, workbookId, body: THREAD }), WORKBOOK],
    ],

    getReports: [
      ...[{ folderId }, { workbookId }, { externalWorkbookId }, { folderId, search: 'matrix' }].map(
        (filter): Attempt => [() => client.getReports({ ...at, ...filter }), { ...NOTHING, count: 0 }],
      ),
      [() => client.getReports({ ...at, folderId, sortBy: 'lastViewedAt' }), { ...NOTHING, count: 0 }],
    ],
    createReport: [
      [() => client.createReport({ ...at, body: { folderId } }), FOLDER],
      [() => client.createReport({ ...at, body: { workbookId } }), WORKBOOK],
      [() => client.createReport({ ...at, body: { publicId } }), PUBLIC_ID_TAKEN],
    ],
    getReport: reportIds.map((id) => [() => client.getReport({ ...at, reportId: id }), REPORT]),
    updateReport: [
      [() => client.updateReport({ ...at, reportId, body: { name: 'x' } }), REPORT],
      [() => client.updateReport({ ...myReport, body: { folderId } }), FOLDER],
      [() => client.updateReport({ ...myReport, body: { workbookId } }), WORKBOOK],
    ],
    deleteReport: [[() => client.deleteReport({ ...at, reportId }), REPORT]],
    refreshReport: reportIds.map((id) => [() => client.refreshReport({ ...at, reportId: id }), REPORT]),
    upsertReportByPublicId: [
      [() => client.upsertReportByPublicId({ ...at, publicId, body: { name: 'x' } }), PUBLIC_ID_TAKEN],
      [() => client.upsertReportByPublicId({ ...at, publicId: own.publicId, body: { folderId } }), FOLDER],
    ],
    connectReportToWorkbook: [
      [() => client.connectReportToWorkbook({ ...at, reportId, body: place }), REPORT],
    ],

    workspaceObjects: [
      [() => client.workspaceObjects({ ...at, folderId }), NOTHING],
      [() => client.workspaceObjects({ ...at, folderId, search: 'matrix' }), NOTHING],
    ],
    sharedWorkspaceObjects: [
      [() => client.sharedWorkspaceObjects({ ...at, folderId }), NOTHING],
      [() => client.sharedWorkspaceObjects({ ...at, folderId, search: 'matrix' }), NOTHING],
    ],
    workspaceRights: [
      [
        () => client.workspaceRights({ ...at, folderIds: [folderId], workbookIds: [workbookId], reportIds }),
        { folders: [], workbooks: [], reports: [] },
      ],
    ],
    moveWorkspaceObject: [
      ...items.map(
        (item): Attempt => [() => client.moveWorkspaceObject({ ...at, body: item }), missing[item.type]],
      ),
      ...ownItems.map(
        (item): Attempt => [() => client.moveWorkspaceObject({ ...at, body: { ...item, folderId } }), FOLDER],
      ),
    ],
    bulkMoveWorkspaceObjects: [
      [() => client.bulkMoveWorkspaceObjects({ ...at, body: { items } }), { moved: [], failed }],
      [() => client.bulkMoveWorkspaceObjects({ ...at, body: { items: ownItems, folderId } }), FOLDER],
    ],
    bulkDeleteWorkspaceObjects: [
      [() => client.bulkDeleteWorkspaceObjects({ ...at, body: { items } }), { deleted: [], failed }],
    ],
  };
}

const THREAD = { threadId: 'thread', widgetId: 'widget' };

type Attempt = [call: () => Promise<unknown>, outcome: object];

describe.each([
  ['ann', GLOBEX],
  ['ann', 'main'],
  ['gus', ACME],
  ['gus', 'main'],
  ['embedded admin', GLOBEX],
  ['embedded admin', 'main'],
  ['embedded developer', GLOBEX],
  ['embedded developer', 'main'],
  ['explorer', ACME],
  ['explorer', GLOBEX],
] as const)('for %s, the content of %s does not exist', (who, whose) => {
  // Internal users need actions for most notification calls. Refusals for the lack of one would change the audit log.
  const isTried = (embed: unknown, tag: string) =>
    tag === 'Notifications'
      ? who === 'explorer'
        ? embed === 'viewer'
        : Boolean(embed)
      : embed === 'creator';
  const content = allOperations
    .filter(({ embed, tag, id }) => isTried(embed, tag) && !NO_CONTENT.includes(id))
    .map(({ id }) => id);
  let attempts: Record<string, Attempt[]>;
  beforeAll(async () => {
    attempts = attemptsOn(clients[who], spaces[whose], await fill(clients[who]));
  });

  test.each(content)('%s', async (id) => {
    const before = await everything();
    expect(attempts[id]).toBeDefined();
    for (const [call, outcome] of attempts[id]!) {
      expect(await call().catch((error: object) => error)).toMatchObject(outcome);
    }
    expect(await everything()).toEqual(before);
  });
});

/** The ids that all lists show. Every order and search must show the same ids and count. */
async function listed(client: OrielClient, embedTenantName?: string) {
  const at = { deploymentId, embedTenantName, first: 1000 };
  const ids = ({ items }: { items: unknown[] }) =>
    (items as { id: number }[]).map(({ id }) => id).toSorted((a, b) => a - b);
  const folders = await client.getFolders({ ...at, recursive: true });
  const workbooks = await client.getWorkbooks(at);
  const reports = ids(await client.getReports(at));
  for (const sortBy of ['name', 'createdAt', 'updatedAt', 'lastViewedAt'] as const) {
    for (const sortDirection of ['ASC', 'DESC'] as const) {
      const order = { deploymentId, embedTenantName, sortBy, sortDirection, limit: 1000 };
      for (const search of [undefined, 'ma', 'of the matrix']) {
        const page = await client.getReports({ ...order, search });
        expect([ids(page), page.count], `${sortBy} ${sortDirection} ${search}`).toEqual([
          reports,
          reports.length,
        ]);
      }
    }
  }
  expect([folders.count, workbooks.count]).toEqual([folders.items.length, workbooks.items.length]);
  const found = await client.workspaceObjects({ ...at, search: 'OF THE MATRIX' });
  const lists = { folders: ids(folders), workbooks: ids(workbooks), reports };
  expect(ids(found)).toEqual(
    Object.values(lists)
      .flat()
      .toSorted((a, b) => a - b),
  );
  return lists;
}

/** The ids that are stored in the tables. */
async function stored(embedTenant: string | null) {
  const read = async (table: string) => {
    const { rows } = await world.server.db.pool.query(
      `select id from ${table} where deployment_id = $1 and embed_tenant is not distinct from $2 order by id`,
      [deploymentId, embedTenant],
    );
    return rows.map(({ id }) => Number(id));
  };
  return {
    folders: await read('folders'),
    workbooks: await read('workbooks'),
    reports: await read('reports'),
  };
}

describe('lists and counts', () => {
  test.each([
    ['ann', ACME],
    ['gus', GLOBEX],
    ['embedded admin', ACME],
    ['embedded developer', ACME],
  ] as const)('show %s all of %s, and nothing else', async (who, tenant) => {
    const all = await stored(tenant);
    for (const list of Object.values(all)) expect(list.length).toBeGreaterThan(0);
    expect(await listed(clients[who])).toEqual(all);
    expect(await listed(clients[who], tenant)).toEqual(all);
  });

  test('show an admin the main workspace, and an embed tenant if they ask for it', async () => {
    expect(await listed(world.admin)).toEqual(await stored(null));
    for (const tenant of [ACME, GLOBEX]) {
      expect(await listed(world.admin, tenant)).toEqual(await stored(tenant));
    }
  });

  test.each(['ann', 'embedded admin', 'explorer'] as const)(
    'of another embed tenant are a 403 for %s',
    async (who) => {
      const client = clients[who];
      for (const embedTenantName of [GLOBEX, 'never-existed']) {
        const at = { deploymentId, embedTenantName };
        await expect(client.getFolders(at)).rejects.toMatchObject(FORBIDDEN);
        await expect(client.getWorkbooks(at)).rejects.toMatchObject(FORBIDDEN);
        await expect(client.getReports(at)).rejects.toMatchObject(FORBIDDEN);
        await expect(client.workspaceObjects(at)).rejects.toMatchObject(FORBIDDEN);
      }
    },
  );
});
