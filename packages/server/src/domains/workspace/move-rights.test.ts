/** A move changes who can reach an item, so every operation that moves an item needs manage. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

const FORBIDDEN = { status: 403, code: 'forbidden' };

let world: World;
let deploymentId: number;
let editor: Person;
/** A folder and a workbook of the editor, where they manage everything. */
let own: { folderId: number; workbookId: number };
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
beforeEach(async () => {
  editor = await world.person({ roles: ['Explorer'] });
  const { id: folderId } = await editor.client.createFolder({ deploymentId, body: { name: 'own' } });
  const { id: workbookId } = await editor.client.createWorkbook({ deploymentId, body: {} });
  own = { folderId, workbookId };
});
afterAll(() => world.stop());

type Noun = 'Folder' | 'Workbook' | 'Report';
type Level = 'Read' | 'Edit' | 'Manage';
const share = (resourceType: Noun, resourceId: number, level: Level, { userId } = editor) =>
  world.admin.setUserPolicy({
    body: { resourceType, resourceId, userId, action: `${resourceType}${level}` as const },
  });

/** Each way to move content of the admin into a folder or workbook of the editor. */
const moves: [
  name: string,
  noun: Noun,
  prepare: () => Promise<[id: number, move: () => Promise<unknown>]>,
][] = [
  ...(['FOLDER', 'WORKBOOK', 'REPORT'] as const).map((type): (typeof moves)[number] => {
    const noun = ({ FOLDER: 'Folder', WORKBOOK: 'Workbook', REPORT: 'Report' } as const)[type];
    const make = async () => {
      const at = { deploymentId, body: { name: 'theirs' } };
      if (type === 'FOLDER') return world.admin.createFolder(at);
      return type === 'WORKBOOK' ? world.admin.createWorkbook(at) : world.admin.createReport(at);
    };
    return [
      `workspace/move of a ${type}`,
      noun,
      async () => {
        const { id } = await make();
        const body = { type, id, folderId: own.folderId };
        return [id, () => editor.client.moveWorkspaceObject({ deploymentId, body })];
      },
    ];
  }),
  [
    'the folder of a workbook',
    'Workbook',
    async () => {
      const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
      const body = { folderId: own.folderId };
      return [id, () => editor.client.updateWorkbook({ deploymentId, workbookId: id, body })];
    },
  ],
  [
    'the folder of a workbook by its slug',
    'Workbook',
    async () => {
      const slug = unique('slug');
      const { id } = await world.admin.upsertWorkbookBySlug({ deploymentId, slug, body: {} });
      const body = { folderId: own.folderId };
      return [id, () => editor.client.upsertWorkbookBySlug({ deploymentId, slug, body })];
    },
  ],
  ...(['folderId', 'workbookId'] as const).flatMap((place): (typeof moves)[number][] => [
    [
      `the ${place} of a report`,
      'Report',
      async () => {
        const { id } = await world.admin.createReport({ deploymentId, body: {} });
        const body = { [place]: own[place] };
        return [id, () => editor.client.updateReport({ deploymentId, reportId: id, body })];
      },
    ],
    [
      `the ${place} of a report by its public id`,
      'Report',
      async () => {
        const { id, publicId } = await world.admin.createReport({ deploymentId, body: {} });
        const body = { [place]: own[place] };
        return [id, () => editor.client.upsertReportByPublicId({ deploymentId, publicId, body })];
      },
    ],
  ]),
];

describe.each(moves)('%s', (_name, noun, prepare) => {
  test('is refused with edit, and works with manage', async () => {
    const [id, move] = await prepare();
    await share(noun, id, 'Edit');
    await expect(move()).rejects.toMatchObject(FORBIDDEN);
    const managing = editor.client.getResourcePolicies({ resourceType: noun, resourceId: id });
    await expect(managing).rejects.toMatchObject(FORBIDDEN);
    await share(noun, id, 'Manage');
    await move();
  });
});

test('the reply of a move says who manages the item since then, and admins read their emails', async () => {
  const [upper, lower] = [
    await world.person({ roles: ['Explorer'] }),
    await world.person({ roles: ['Explorer'] }),
  ];
  // Folders of three people: the editor's `own`, in that one of `upper`, and in that one of `lower`.
  const folder = async ({ client }: Person, parentId: number, next?: Person) => {
    const { id } = await client.createFolder({ deploymentId, body: { name: unique('folder'), parentId } });
    if (next) await share('Folder', id, 'Edit', next);
    return id;
  };
  await share('Folder', own.folderId, 'Edit', upper);
  const upperId = await folder(upper, own.folderId, lower);
  const lowerId = await folder(lower, upperId);
  const toLower = { folderId: lowerId };
  const [byUpper, byLower] = [upper, lower].map(({ userId }) => ({ id: userId, email: null }));

  const { client } = editor;
  const make = async () => {
    const at = { deploymentId, body: { name: 'mine', folderId: own.folderId } };
    const slug = unique('slug');
    return {
      folder: await client.createFolder({ deploymentId, body: { name: unique('inner') } }),
      workbook: await client.createWorkbook(at),
      slug,
      named: await client.upsertWorkbookBySlug({ deploymentId, slug, body: at.body }),
      report: await client.createReport(at),
    };
  };
  const { folder: inner, workbook, slug, named, report } = await make();
  expect(named).not.toHaveProperty('alsoManagedBy');
  const single = (type: 'FOLDER' | 'WORKBOOK' | 'REPORT', id: number, folderId: number | null) =>
    client.moveWorkspaceObject({ deploymentId, body: { type, id, folderId } });
  const told = [
    await single('FOLDER', inner.id, lowerId),
    await single('WORKBOOK', workbook.id, lowerId),
    await client.upsertWorkbookBySlug({ deploymentId, slug, body: toLower }),
    await client.updateReport({ deploymentId, reportId: report.id, body: toLower }),
  ];
  for (const { alsoManagedBy } of told) expect(alsoManagedBy).toEqual([byUpper, byLower]);

  // From there to a folder above: nobody comes to manage it who did not before.
  expect(await single('REPORT', report.id, upperId)).toMatchObject({ alsoManagedBy: [] });
  const back = { deploymentId, reportId: report.id, body: { ...toLower, name: 'renamed' } };
  expect((await client.updateReport(back)).alsoManagedBy).toEqual([byLower]);
  expect(await client.updateReport(back)).not.toHaveProperty('alsoManagedBy');

  // The workbook of somebody else, in a folder of the caller.
  await share('Folder', own.folderId, 'Edit', lower);
  const { id: workbookId } = await lower.client.createWorkbook({
    deploymentId,
    body: { folderId: own.folderId },
  });
  const { publicId } = await client.createReport({ deploymentId, body: {} });
  const inWorkbook = { deploymentId, publicId, body: { workbookId } };
  expect((await client.upsertReportByPublicId(inWorkbook)).alsoManagedBy).toEqual([byLower]);

  const theirs = await world.admin.createReport({ deploymentId, body: {} });
  const items = [{ type: 'REPORT' as const, id: theirs.id }];
  const { moved } = await world.admin.bulkMoveWorkspaceObjects({
    deploymentId,
    body: { items, ...toLower },
  });
  const people = [editor, upper, lower].map(({ client }) => client.getMe());
  const emails = (await Promise.all(people)).map(({ id, email }) => ({ id, email }));
  expect(moved[0]!.alsoManagedBy).toEqual(emails);

  // Neither who moves it nor whose it is comes to manage it.
  await share('Report', theirs.id, 'Manage');
  const mine = { type: 'REPORT' as const, id: theirs.id, folderId: own.folderId };
  await world.admin.moveWorkspaceObject({ deploymentId, body: { ...mine, folderId: null } });
  expect(await client.moveWorkspaceObject({ deploymentId, body: mine })).toMatchObject({ alsoManagedBy: [] });
  const { id: ofLower } = await lower.client.createReport({ deploymentId, body: {} });
  const body = { type: 'REPORT' as const, id: ofLower, folderId: lowerId };
  const { alsoManagedBy } = await world.admin.moveWorkspaceObject({ deploymentId, body });
  expect(alsoManagedBy).toEqual(emails.slice(0, 2));
});

test('creators manage all content of their embed tenant, so no move tells them of more managers', async () => {
  const embedTenantName = unique('acme');
  const creator = (externalId: string) =>
    world.embedded({ deploymentId, externalId, embedTenantName, creatorMode: true });
  const [ann, bob] = [await creator('ann'), await creator('bob')];
  const folder = await bob.client.createFolder({ deploymentId, body: { name: 'of bob' } });
  const report = await ann.client.createReport({ deploymentId, body: {} });
  const body = { type: 'REPORT' as const, id: report.id, folderId: folder.id };
  expect(await ann.client.moveWorkspaceObject({ deploymentId, body })).toMatchObject({ alsoManagedBy: [] });
});

test('a bulk move fails for items that the caller can only edit', async () => {
  const { id } = await world.admin.createReport({ deploymentId, body: {} });
  await share('Report', id, 'Edit');
  const body = { items: [{ type: 'REPORT' as const, id }], folderId: own.folderId };
  const { moved, failed } = await editor.client.bulkMoveWorkspaceObjects({ deploymentId, body });
  expect([moved, failed]).toMatchObject([[], [{ id, error: { status: 403 } }]]);
});

describe('a role that manages what contains reports, and not the reports', () => {
  const BASE = ['DeploymentRead', 'AIBIExplore', 'FolderRead'] as const;
  type Actions = Parameters<typeof world.admin.createRole>[0]['body']['actions'];

  /** A person with this role and a folder of their own, and a folder of the admin with a workbook with a report. */
  async function prepare(actions: Actions) {
    const role = await world.admin.createRole({ body: { name: unique('role'), actions } });
    const { client } = await world.person({ roles: [role.name] });
    const slug = unique('slug');
    const { id: theirs } = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
    const at = { deploymentId, body: { folderId: theirs } };
    const { id: workbookId } = await world.admin.createWorkbook(at);
    await world.admin.updateWorkbook({ deploymentId, workbookId, body: { slug } });
    const { id: reportId } = await world.admin.createReport({ deploymentId, body: { workbookId } });
    const { id: folderId } = await client.createFolder({ deploymentId, body: { name: 'mine' } });
    const move = (item: { type: 'FOLDER' | 'WORKBOOK'; id: number }) =>
      client.moveWorkspaceObject({ deploymentId, body: { ...item, folderId } });
    const folder = { type: 'FOLDER' as const, id: theirs };
    const workbook = { type: 'WORKBOOK' as const, id: workbookId };
    const moves = {
      Folder: [() => move(folder)],
      Workbook: [
        () => move(workbook),
        () => client.updateWorkbook({ deploymentId, workbookId, body: { folderId } }),
        () => client.upsertWorkbookBySlug({ deploymentId, slug, body: { folderId } }),
      ],
    };
    const bulkMove = () =>
      client.bulkMoveWorkspaceObjects({ deploymentId, body: { items: [folder, workbook], folderId } });
    const readReport = () => client.getReport({ deploymentId, reportId });
    return { client, moves, bulkMove, readReport, workbookId };
  }

  test.each([
    ['Folder', [...BASE, 'FolderManage']],
    ['Folder', [...BASE, 'FolderManage', 'WorkbookManage', 'ReportEdit']],
    ['Workbook', [...BASE, 'WorkbookManage']],
  ] as [keyof Awaited<ReturnType<typeof prepare>>['moves'], Actions][])(
    'cannot move a %s into a folder of their own, with %j',
    async (noun, actions) => {
      const { client, moves, bulkMove, readReport, workbookId } = await prepare(actions);
      for (const move of moves[noun]) await expect(move()).rejects.toMatchObject(FORBIDDEN);
      const { moved, failed } = await bulkMove();
      expect([moved, failed.length]).toEqual([[], 2]);
      if (actions.includes('ReportEdit')) return;
      await expect(readReport()).rejects.toMatchObject({ status: 404 });
      if (noun === 'Folder') return;
      // What moves nothing needs no more than before.
      await client.updateWorkbook({ deploymentId, workbookId, body: { name: 'changed' } });
    },
  );

  test('moves them all if it manages reports too', async () => {
    const all = ['FolderManage', 'WorkbookManage', 'ReportManage'] as const;
    const { moves, bulkMove } = await prepare([...BASE, ...all]);
    for (const move of [...moves.Workbook, ...moves.Folder]) await move();
    expect((await bulkMove()).failed).toEqual([]);
  });
});

test('a caller with edit can change an item without moving it', async () => {
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
  const inFolder = { deploymentId, body: { folderId: folder.id } };
  const workbook = await world.admin.createWorkbook(inFolder);
  const report = await world.admin.createReport(inFolder);
  await share('Folder', folder.id, 'Edit');
  const body = { name: 'changed', folderId: folder.id };
  await editor.client.updateWorkbook({ deploymentId, workbookId: workbook.id, body });
  await editor.client.updateReport({ deploymentId, reportId: report.id, body });
});

test('a move to the root needs the right to create content', async () => {
  const viewer = await world.person({ roles: ['Viewer'] });
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
  await share('Folder', folder.id, 'Manage', viewer);
  const inner = await world.admin.createFolder({
    deploymentId,
    body: { name: 'inner', parentId: folder.id },
  });
  const inFolder = { deploymentId, body: { folderId: folder.id } };
  const workbook = await world.admin.createWorkbook(inFolder);
  const report = await world.admin.createReport(inFolder);
  const items = [
    { type: 'FOLDER' as const, id: inner.id },
    { type: 'WORKBOOK' as const, id: workbook.id },
    { type: 'REPORT' as const, id: report.id },
  ];
  const toRoot = { folderId: null };
  const attempts = [
    ...items.map((item) => () => viewer.client.moveWorkspaceObject({ deploymentId, body: item })),
    () => viewer.client.bulkMoveWorkspaceObjects({ deploymentId, body: { items } }),
    () => viewer.client.updateWorkbook({ deploymentId, workbookId: workbook.id, body: toRoot }),
    () => viewer.client.updateReport({ deploymentId, reportId: report.id, body: toRoot }),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(FORBIDDEN);
  await world.admin.updateUser({ id: viewer.userId, body: { roles: ['Explorer'] } });
  // The new role holds from the moment that the server hears of it.
  await vi.waitUntil(() =>
    attempts[0]!().then(
      () => true,
      () => false,
    ),
  );
  for (const attempt of attempts.slice(1, 3)) await attempt();
});
