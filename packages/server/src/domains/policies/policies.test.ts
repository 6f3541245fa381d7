import { actions } from '@oriel/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';
import { applicableActions } from './rules.ts';

let world: World;
let deploymentId: number;
/** May read deployments, but no content in them. */
let viewer: Person;
beforeAll(async () => {
  world = await createWorld();
  viewer = await world.person({ roles: ['Viewer'] });
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

type Client = World['admin'];
type Noun = 'Folder' | 'Workbook' | 'Report';
type ResourceType = Noun | 'Deployment' | 'Dashboard';
type Action = (typeof actions)[number];
interface Resource {
  resourceType: ResourceType;
  resourceId: number;
}

const NOUNS: Noun[] = ['Folder', 'Workbook', 'Report'];
const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'resource_not_found' };
const FORBIDDEN = { status: 403, code: 'forbidden' };

const on = (resourceType: ResourceType, resourceId: number): Resource => ({ resourceType, resourceId });
const giveUser = (
  resource: Resource,
  action: Action | null,
  userId = viewer.userId,
  by: Client = world.admin,
) => by.setUserPolicy({ body: { ...resource, userId, action } });
const policies = (resource: Resource, by: Client = world.admin) => by.getResourcePolicies({ ...resource });

/** Creates a folder, workbook or report at the root, or in a folder or workbook. */
async function create(
  noun: Noun,
  place: { folderId?: number; workbookId?: number } = {},
  by: Client = world.admin,
): Promise<Resource> {
  const at = { deploymentId, body: { name: unique(noun), ...place } };
  const parent = { deploymentId, body: { name: at.body.name, parentId: place.folderId } };
  if (noun === 'Folder') return on(noun, (await by.createFolder(parent)).id);
  return on(noun, (await (noun === 'Workbook' ? by.createWorkbook(at) : by.createReport(at))).id);
}

/** Returns what a client can do: nothing, read, edit or manage. It tries each, the strongest last. */
async function powerOver({ resourceType, resourceId: id }: Resource, by: Client = viewer.client) {
  const folder = { deploymentId, folderId: id };
  const workbook = { deploymentId, workbookId: id };
  const report = { deploymentId, reportId: id };
  const reads = {
    Folder: () => by.getFolderAncestors(folder),
    Workbook: () => by.getWorkbook(workbook),
    Report: () => by.getReport(report),
  }[resourceType as Noun];
  const edits = {
    Folder: () => by.updateFolder({ ...folder, body: {} }),
    Workbook: () => by.updateWorkbook({ ...workbook, body: {} }),
    Report: () => by.updateReport({ ...report, body: {} }),
  }[resourceType as Noun];
  const attempts = [reads, edits, () => policies(on(resourceType, id), by)];
  const statuses: number[] = [];
  for (const attempt of attempts) {
    statuses.push(
      await attempt().then(
        () => 200,
        ({ status }) => status,
      ),
    );
  }
  const powers: Record<string, string> = {
    '404 404 404': 'none',
    '200 403 403': 'read',
    '200 200 403': 'edit',
    '200 200 200': 'manage',
  };
  return powers[statuses.join(' ')] ?? statuses.join(' ');
}

const groupWith = async (...userIds: number[]) => {
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  if (userIds.length) await world.admin.addUserGroupMembers({ id: group.id, body: { userIds } });
  return group;
};
const newRole = (given: Action[] = ['DeploymentRead']) =>
  world.admin.createRole({ body: { name: unique('role'), actions: given } });

describe.each(NOUNS)('a policy on a %s', (noun) => {
  test('gives read, edit or manage, each with the weaker ones, until it is cleared', async () => {
    const resource = await create(noun);
    expect(await powerOver(resource)).toBe('none');
    for (const level of ['Manage', 'Read', 'Edit'] as const) {
      await giveUser(resource, `${noun}${level}`);
      expect(await powerOver(resource)).toBe(level.toLowerCase());
    }
    expect((await policies(resource)).users).toHaveLength(1);
    await giveUser(resource, null);
    expect(await powerOver(resource)).toBe('none');
    expect(await policies(resource)).toEqual({ users: [], groups: [], roles: [] });
  });

  test('for a group works for its members, while they are members', async () => {
    const resource = await create(noun);
    const group = await groupWith();
    const body = { ...resource, groupId: group.id, action: `${noun}Edit` as Action };
    const reply = await world.admin.setGroupPolicy({ body });
    expect(reply).toEqual({
      users: [],
      groups: [{ groupId: group.id, name: group.name, action: `${noun}Edit`, inheritedFrom: null }],
      roles: [],
    });
    expect(await powerOver(resource)).toBe('none');
    await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [viewer.userId] } });
    expect(await powerOver(resource)).toBe('edit');
    await world.admin.removeUserGroupMembers({ id: group.id, body: { userIds: [viewer.userId] } });
    expect(await powerOver(resource)).toBe('none');
    await world.admin.deleteUserGroup({ id: group.id });
    expect((await policies(resource)).groups).toEqual([]);
  });

  test('for a role works for the people who have the role', async () => {
    const resource = await create(noun);
    const role = await newRole();
    const person = await world.person({ roles: [role.name] });
    const body = { ...resource, roleId: role.id, action: `${noun}Read` as Action };
    const reply = await world.admin.setRolePolicy({ body });
    expect(reply.roles).toEqual([
      { roleId: role.id, name: role.name, action: `${noun}Read`, inheritedFrom: null },
    ]);
    expect(await powerOver(resource, person.client)).toBe('read');
    expect(await powerOver(resource)).toBe('none');
    await world.admin.setRolePolicy({ body: { ...body, action: undefined } });
    expect(await powerOver(resource, person.client)).toBe('none');
  });

  test('is overruled by a stronger policy', async () => {
    const resource = await create(noun);
    const group = await groupWith(viewer.userId);
    await giveUser(resource, `${noun}Read`);
    await world.admin.setGroupPolicy({ body: { ...resource, groupId: group.id, action: `${noun}Manage` } });
    expect(await powerOver(resource)).toBe('manage');
    await world.admin.deleteUserGroup({ id: group.id });
    expect(await powerOver(resource)).toBe('read');
  });

  test('accepts only actions for this kind of resource', async () => {
    const resource = await create(noun);
    const refused = { status: 400, code: 'action_not_applicable', issues: [{ path: 'action' }] };
    const other = noun === 'Report' ? 'WorkbookRead' : 'ReportRead';
    for (const action of [other, 'DeploymentRead', 'All', 'AIBIView'] as const) {
      await expect(giveUser(resource, action)).rejects.toMatchObject(refused);
    }
    await expect(giveUser(resource, 'Everything' as never)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await policies(resource)).toEqual({ users: [], groups: [], roles: [] });
    expect(applicableActions(noun)).toHaveLength(3);
  });

  test('for a user, group or role that does not exist is refused', async () => {
    const resource = await create(noun);
    const action = `${noun}Read` as Action;
    const refused = (path: string) => ({ status: 400, code: 'invalid_reference', issues: [{ path }] });
    await expect(giveUser(resource, action, UNKNOWN)).rejects.toMatchObject(refused('userId'));
    const toGroup = world.admin.setGroupPolicy({ body: { ...resource, groupId: UNKNOWN, action } });
    await expect(toGroup).rejects.toMatchObject(refused('groupId'));
    const toRole = world.admin.setRolePolicy({ body: { ...resource, roleId: UNKNOWN, action } });
    await expect(toRole).rejects.toMatchObject(refused('roleId'));
    expect(await giveUser(resource, null, UNKNOWN)).toEqual({ users: [], groups: [], roles: [] });
  });

  test('can be read and set only by a caller who manages the resource, and others cannot learn that it exists', async () => {
    const owner = await world.person({ roles: ['Explorer'] });
    const resource = await create(noun, {}, owner.client);
    const friend = await world.person();
    const attempt = () => giveUser(resource, `${noun}Read`, friend.userId, viewer.client);
    const unknown = giveUser(on(noun, UNKNOWN), `${noun}Read`, friend.userId, viewer.client);
    await expect(unknown).rejects.toMatchObject(MISSING);
    await expect(attempt()).rejects.toMatchObject(MISSING);
    for (const level of ['Read', 'Edit'] as const) {
      await giveUser(resource, `${noun}${level}`, viewer.userId, owner.client);
      await expect(attempt()).rejects.toMatchObject(FORBIDDEN);
      await expect(policies(resource, viewer.client)).rejects.toMatchObject(FORBIDDEN);
    }
    await giveUser(resource, `${noun}Manage`, viewer.userId, owner.client);
    expect((await attempt()).users.map(({ userId }) => userId)).toEqual([viewer.userId, friend.userId]);
    expect(await powerOver(resource, friend.client)).toBe('read');
  });

  test('that many calls set at once is one policy', async () => {
    const resource = await create(noun);
    const levels = ['Read', 'Edit', 'Manage'] as const;
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => giveUser(resource, i % 4 < 3 ? `${noun}${levels[i % 3]!}` : null)),
    );
    expect((await policies(resource)).users.length).toBeLessThanOrEqual(1);
  });

  test('is gone when its resource is deleted, even if it is set at the same time', async () => {
    for (let round = 0; round < 6; round++) {
      const { resourceId: id } = await create(noun);
      const type = noun.toUpperCase() as 'REPORT';
      const set = () => giveUser(on(noun, id), `${noun}Read`);
      const settled = await Promise.allSettled([
        set(),
        world.admin.bulkDeleteWorkspaceObjects({ deploymentId, body: { items: [{ type, id }] } }),
        set(),
        set(),
      ]);
      for (const outcome of settled) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(MISSING);
      }
    }
    const left = await world.server.db.pool.query('select from resource_policies where deployment_id = $1', [
      deploymentId,
    ]);
    expect(left.rowCount).toBe(0);
  });

  test('is deleted with the user or the role that it is for', async () => {
    const resource = await create(noun);
    const [person, role] = [await world.person(), await newRole()];
    await giveUser(resource, `${noun}Read`, person.userId);
    await world.admin.setRolePolicy({ body: { ...resource, roleId: role.id, action: `${noun}Read` } });
    await world.admin.deleteUser({ id: person.userId });
    await world.admin.deleteRole({ id: role.id });
    expect(await policies(resource)).toEqual({ users: [], groups: [], roles: [] });
  });
});

describe('inheritance', () => {
  test('a policy on a folder reaches everything below it, at any depth', async () => {
    const top = await create('Folder');
    const inner = await create('Folder', { folderId: top.resourceId });
    const leaf = await create('Folder', { folderId: inner.resourceId });
    const workbook = await create('Workbook', { folderId: leaf.resourceId });
    const below = [
      inner,
      leaf,
      workbook,
      await create('Report', { folderId: inner.resourceId }),
      await create('Report', { workbookId: workbook.resourceId }),
    ];
    const beside = await create('Report');
    for (const level of ['Read', 'Edit', 'Manage'] as const) {
      await giveUser(top, `Folder${level}`);
      for (const resource of below) expect(await powerOver(resource)).toBe(level.toLowerCase());
    }
    expect(await powerOver(beside)).toBe('none');
    await giveUser(top, null);
    await giveUser(leaf, 'FolderRead');
    expect([await powerOver(top), await powerOver(inner), await powerOver(workbook)]).toEqual([
      'none',
      'none',
      'read',
    ]);
  });

  test('a policy on a workbook reaches its reports, but not its folder', async () => {
    const top = await create('Folder');
    const workbook = await create('Workbook', { folderId: top.resourceId });
    const inside = await create('Report', { workbookId: workbook.resourceId });
    const beside = await create('Report', { folderId: top.resourceId });
    await giveUser(workbook, 'WorkbookEdit');
    expect(await powerOver(inside)).toBe('edit');
    expect([await powerOver(beside), await powerOver(top)]).toEqual(['none', 'none']);
    await world.admin.moveWorkspaceObject({
      deploymentId,
      body: { type: 'REPORT', id: inside.resourceId, folderId: null },
    });
    expect(await powerOver(inside)).toBe('none');
  });

  test('a policy on a report reaches neither its workbook nor the reports beside it', async () => {
    const workbook = await create('Workbook');
    const [one, other] = [
      await create('Report', { workbookId: workbook.resourceId }),
      await create('Report', { workbookId: workbook.resourceId }),
    ];
    await giveUser(one, 'ReportManage');
    const powers = [await powerOver(one), await powerOver(other), await powerOver(workbook)];
    expect(powers).toEqual(['manage', 'none', 'none']);
  });

  test('the owner of a folder or workbook manages what others put into it, also further below, until it moves out', async () => {
    const owner = await world.person({ roles: ['Explorer'] });
    const top = await create('Folder', {}, owner.client);
    const workbook = await create('Workbook', {}, owner.client);
    const put = [
      await create('Report', { folderId: top.resourceId }),
      await create('Report', { workbookId: workbook.resourceId }),
      await create('Workbook', { folderId: top.resourceId }),
    ];
    const inner = await create('Folder', { folderId: top.resourceId });
    put.push(inner, await create('Report', { folderId: inner.resourceId }));
    for (const resource of put) expect(await powerOver(resource, owner.client)).toBe('manage');
    const listed = await owner.client.getReports({ deploymentId });
    expect(listed).toMatchObject({ count: 3, items: [{}, {}, {}] });
    // The owner can share all of it, and so nobody is given more than the giver has.
    await giveUser(inner, 'FolderManage', viewer.userId, owner.client);
    await world.admin.moveWorkspaceObject({ deploymentId, body: { type: 'FOLDER', id: inner.resourceId } });
    expect(await powerOver(inner, owner.client)).toBe('none');
    expect((await owner.client.getReports({ deploymentId })).count).toBe(2);
  });

  test('the list shows where each policy comes from, the nearest first', async () => {
    const top = await world.admin.createFolder({ deploymentId, body: { name: 'Top' } });
    const inner = await world.admin.createFolder({ deploymentId, body: { name: 'Inner', parentId: top.id } });
    const workbook = await world.admin.createWorkbook({
      deploymentId,
      body: { name: 'Book', folderId: inner.id },
    });
    const report = await create('Report', { workbookId: workbook.id });
    const group = await groupWith();
    const role = await newRole();
    await giveUser(on('Folder', top.id), 'FolderRead');
    await giveUser(on('Workbook', workbook.id), 'WorkbookEdit');
    await giveUser(report, 'ReportManage');
    const inFolder = on('Folder', inner.id);
    await world.admin.setGroupPolicy({ body: { ...inFolder, groupId: group.id, action: 'FolderEdit' } });
    await world.admin.setRolePolicy({ body: { ...inFolder, roleId: role.id, action: 'FolderManage' } });
    const user = await viewer.client.getMe();
    const who = { userId: viewer.userId, email: user.email, firstName: null, picture: null };
    const from = (resourceType: Noun, resourceId: number, name: string) => ({
      resourceType,
      resourceId,
      name,
    });
    expect(await policies(report)).toEqual({
      users: [
        { ...who, action: 'ReportManage', inheritedFrom: null },
        { ...who, action: 'WorkbookEdit', inheritedFrom: from('Workbook', workbook.id, 'Book') },
        { ...who, action: 'FolderRead', inheritedFrom: from('Folder', top.id, 'Top') },
      ],
      groups: [
        {
          groupId: group.id,
          name: group.name,
          action: 'FolderEdit',
          inheritedFrom: from('Folder', inner.id, 'Inner'),
        },
      ],
      roles: [
        {
          roleId: role.id,
          name: role.name,
          action: 'FolderManage',
          inheritedFrom: from('Folder', inner.id, 'Inner'),
        },
      ],
    });
    expect((await policies(on('Workbook', workbook.id))).users).toHaveLength(2);
    expect((await policies(inFolder)).users).toMatchObject([{ inheritedFrom: { resourceId: top.id } }]);
    expect((await policies(on('Folder', top.id))).users).toMatchObject([{ inheritedFrom: null }]);
  });

  test('an inherited policy cannot be cleared on a resource below', async () => {
    const top = await create('Folder');
    const report = await create('Report', { folderId: top.resourceId });
    await giveUser(top, 'FolderRead');
    expect((await giveUser(report, null)).users).toMatchObject([{ action: 'FolderRead' }]);
    expect(await powerOver(report)).toBe('read');
  });
});

describe('a report shows', () => {
  test('what the caller can do with it', async () => {
    const report = await create('Report');
    for (const [action, canEdit, canManage] of [
      ['ReportRead', false, false],
      ['ReportEdit', true, false],
      ['ReportManage', true, true],
    ] as const) {
      await giveUser(report, action);
      const one = await viewer.client.getReport({ deploymentId, reportId: report.resourceId });
      expect(one).toMatchObject({ canEdit, canManage });
      const { items } = await viewer.client.getReports({ deploymentId });
      expect(items).toMatchObject([{ canEdit, canManage }]);
    }
  });

  test('which roles have a policy on it or above it, with all of their actions', async () => {
    const top = await create('Folder');
    const workbook = await create('Workbook', { folderId: top.resourceId });
    const report = await create('Report', { workbookId: workbook.resourceId });
    const [one, two, none] = [await newRole(), await newRole(), await newRole()];
    const give = (resource: Resource, roleId: number, action: Action) =>
      world.admin.setRolePolicy({ body: { ...resource, roleId, action } });
    await give(top, one.id, 'FolderRead');
    await give(workbook, one.id, 'WorkbookEdit');
    await give(report, two.id, 'ReportManage');
    await give(await create('Report'), none.id, 'ReportRead');
    await giveUser(report, 'ReportRead');
    const { rolesWithAccess } = await world.admin.getReport({ deploymentId, reportId: report.resourceId });
    expect(rolesWithAccess).toEqual([
      { id: one.id, name: one.name, actions: ['FolderRead', 'WorkbookEdit'] },
      { id: two.id, name: two.name, actions: ['ReportManage'] },
    ]);
  });
});

describe('a role with content actions', () => {
  test.each(NOUNS)('reaches every %s, and nothing of another kind', async (noun) => {
    const role = await newRole(['DeploymentRead', `${noun}Edit`]);
    const person = await world.person({ roles: [role.name] });
    const folderId = (await create('Folder')).resourceId;
    for (const other of NOUNS) {
      const expected = other === noun ? 'edit' : 'none';
      expect(await powerOver(await create(other), person.client)).toBe(expected);
      expect(await powerOver(await create(other, { folderId }), person.client)).toBe(expected);
    }
  });

  test('reaches nothing without DeploymentRead', async () => {
    const role = await newRole(['ReportManage', 'FolderManage', 'WorkbookManage']);
    const person = await world.person({ roles: [role.name] });
    for (const noun of NOUNS) expect(await powerOver(await create(noun), person.client)).toBe('none');
    await expect(person.client.getReports({ deploymentId })).rejects.toMatchObject({
      status: 404,
      code: 'deployment_not_found',
    });
  });
});

describe('a policy on a deployment', () => {
  const reads = (by: Client, where = deploymentId) =>
    by.getReports({ deploymentId: where }).then(
      ({ count }) => count as number | string,
      ({ code }) => code as string,
    );

  test('opens only that deployment to a person without roles, and clearing it hides everything', async () => {
    const person = await world.person({ roles: [] });
    const other = (await world.deployment()).id;
    const report = await create('Report');
    await giveUser(report, 'ReportManage', person.userId);
    expect(await reads(person.client)).toBe('deployment_not_found');
    expect(await powerOver(report, person.client)).toBe('none');

    await giveUser(on('Deployment', deploymentId), 'DeploymentRead', person.userId);
    await expect.poll(() => reads(person.client)).toBe(1);
    expect(await powerOver(report, person.client)).toBe('manage');
    expect(await reads(person.client, other)).toBe('deployment_not_found');
    expect(await reads(person.client, UNKNOWN)).toBe('deployment_not_found');
    const { items } = await person.client.getDeployments({});
    expect(items.map(({ id }) => id)).toEqual([deploymentId]);

    await giveUser(on('Deployment', deploymentId), null, person.userId);
    await expect.poll(() => reads(person.client)).toBe('deployment_not_found');
    expect(await powerOver(report, person.client)).toBe('none');
    const shared = person.client.sharedWorkspaceObjects({ deploymentId });
    await expect(shared).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
  });

  test('for a group or a role works for its members, while they are members', async () => {
    const person = await world.person({ roles: [] });
    const group = await groupWith();
    const role = await newRole([]);
    const deployment = on('Deployment', deploymentId);
    await world.admin.setGroupPolicy({
      body: { ...deployment, groupId: group.id, action: 'DeploymentRead' },
    });
    await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
    await expect.poll(() => reads(person.client)).toBe(0);
    await world.admin.removeUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
    await expect.poll(() => reads(person.client)).toBe('deployment_not_found');

    await world.admin.setRolePolicy({ body: { ...deployment, roleId: role.id, action: 'DeploymentRead' } });
    await world.admin.updateUser({ id: person.userId, body: { roles: [role.name] } });
    await expect.poll(() => reads(person.client)).toBe(0);
    await world.admin.updateUser({ id: person.userId, body: { roles: [] } });
    await expect.poll(() => reads(person.client)).toBe('deployment_not_found');
  });

  test('with a content action reaches all content of that kind in the deployment, which can be read too', async () => {
    const person = await world.person({ roles: [] });
    const [report, workbook] = [await create('Report'), await create('Workbook')];
    await giveUser(on('Deployment', deploymentId), 'ReportEdit', person.userId);
    await expect.poll(() => reads(person.client)).toBe(1);
    expect(await powerOver(report, person.client)).toBe('edit');
    expect(await powerOver(workbook, person.client)).toBe('none');
    await giveUser(on('Deployment', deploymentId), 'AIBIExplore', person.userId);
    await expect.poll(() => reads(person.client)).toBe(0);
    expect(await powerOver(await create('Report', {}, person.client), person.client)).toBe('manage');
  });

  test('accepts every action that is not about the whole account', async () => {
    const deployment = on('Deployment', deploymentId);
    const person = await world.person({ roles: [] });
    const applicable = applicableActions('Deployment');
    expect(applicable).toContain('DeploymentRead');
    for (const action of actions.filter((candidate) => !applicable.includes(candidate))) {
      await expect(giveUser(deployment, action, person.userId)).rejects.toMatchObject({
        code: 'action_not_applicable',
      });
    }
    expect(actions.length - applicable.length).toBe(10);
    expect((await giveUser(deployment, 'DeploymentUpdate', person.userId)).users).toMatchObject([
      { userId: person.userId, action: 'DeploymentUpdate', inheritedFrom: null },
    ]);
  });

  test('can be set only by a caller who manages deployments', async () => {
    const deployment = on('Deployment', deploymentId);
    await expect(policies(deployment, viewer.client)).rejects.toMatchObject(FORBIDDEN);
    await expect(giveUser(deployment, 'ReportRead', viewer.userId, viewer.client)).rejects.toMatchObject(
      FORBIDDEN,
    );
    const stranger = await world.person({ roles: [] });
    for (const id of [deploymentId, UNKNOWN]) {
      await expect(policies(on('Deployment', id), stranger.client)).rejects.toMatchObject(MISSING);
    }
    await expect(policies(on('Deployment', UNKNOWN))).rejects.toMatchObject(MISSING);
    const role = await newRole(['DeploymentRead', 'DeploymentsManage']);
    const manager = await world.person({ roles: [role.name] });
    expect(await policies(deployment, manager.client)).toEqual({ users: [], groups: [], roles: [] });
  });
});

test.each(NOUNS)(
  'the error for a %s that does not exist is the same as for one that the caller may not read',
  async (noun) => {
    const hidden = await create(noun);
    const stranger = await world.person({ roles: [] });
    for (const by of [viewer.client, stranger.client]) {
      const answer = async (id: number) => {
        const { status, code, message } = await policies(on(noun, id), by).catch((error) => error);
        return { status, code, message };
      };
      expect(await answer(hidden.resourceId)).toEqual(await answer(UNKNOWN));
      expect(await answer(UNKNOWN)).toMatchObject(MISSING);
    }
  },
);

test('a dashboard that does not exist cannot be shared', async () => {
  await expect(policies(on('Dashboard', UNKNOWN))).rejects.toMatchObject(MISSING);
  await expect(giveUser(on('Dashboard', UNKNOWN), 'WorkbookRead')).rejects.toMatchObject(MISSING);
});

test.each([
  '',
  '?resourceType=Report',
  '?resourceId=1',
  '?resourceType=report&resourceId=1',
  '?resourceType=Report&resourceId=0',
  '?resourceType=Report&resourceId=x',
  '?resourceType=Report&resourceId=1&resourceId=2',
])('a list with the query "%s" is a 400', async (query) => {
  for (const path of ['/api/v1/resource-policies', '/api/v1/resource-policies/']) {
    expect((await world.raw('GET', path + query)).status).toBe(400);
  }
});

test('an operation that sets a policy accepts only its own kind of principal', async () => {
  const report = await create('Report');
  for (const body of [
    { ...report, action: 'ReportRead' },
    { ...report, groupId: 1, action: 'ReportRead' },
    { ...report, userId: 0 },
    { ...report, userId: viewer.userId, level: 1 },
  ]) {
    const attempt = world.admin.setUserPolicy({ body: body as never });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  }
});

describe('a scoped key', () => {
  const OUTSIDE = { status: 403, code: 'outside_key_scope' };
  const scopedTo = async (userId: number, ...deploymentIds: number[]) => {
    const { key } = await world.admin.createApiKey({ body: { name: unique('key'), userId, deploymentIds } });
    return world.client(key);
  };

  test('can share only content of its deployments', async () => {
    const me = await world.admin.getMe();
    const inside = await create('Report');
    const here = deploymentId;
    deploymentId = (await world.deployment()).id;
    const outside = await create('Report');
    const scoped = await scopedTo(me.id, here);
    expect((await giveUser(inside, 'ReportRead', viewer.userId, scoped)).users).toHaveLength(1);
    expect((await policies(on('Deployment', here), scoped)).users).toEqual([]);
    await expect(giveUser(outside, 'ReportRead', viewer.userId, scoped)).rejects.toMatchObject(OUTSIDE);
    for (const resource of [outside, on('Deployment', deploymentId), on('Deployment', UNKNOWN)]) {
      await expect(policies(resource, scoped)).rejects.toMatchObject(OUTSIDE);
    }
    expect((await policies(outside)).users).toEqual([]);
  });

  test('does not reveal what exists outside of its deployments', async () => {
    const elsewhere = (await world.deployment()).id;
    const scoped = await scopedTo(viewer.userId, elsewhere);
    for (const noun of NOUNS) {
      const hidden = await create(noun);
      await expect(policies(hidden, scoped)).rejects.toMatchObject(MISSING);
      await expect(policies(on(noun, UNKNOWN), scoped)).rejects.toMatchObject(MISSING);
    }
  });
});
