/** No caller can give an action that they do not have: every action, through every operation that could give it. */
import { type Action, actions, includedIn } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnWorld, type Person, unique, type World } from './world.ts';

let world: World;
let deploymentId: number;
let friend: Person;
let group: { id: number };
let friendsRole: { id: number; name: string };
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
  friend = await world.person({ roles: ['Viewer'] });
  group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  friendsRole = await world.admin.createRole({ body: { name: unique('role'), actions: [] } });
});
afterAll(() => world.stop());

const FORBIDDEN = { status: 403, code: 'forbidden' };

/** The action, and the actions that include it. */
function implying(action: Action): Action[] {
  const [, noun, level] = /^(Report|Workbook|Folder)(Read|Edit|Manage)$/.exec(action) ?? [];
  const levels = ['Read', 'Edit', 'Manage'];
  const higher = noun ? levels.slice(levels.indexOf(level!)).map((one) => `${noun}${one}` as Action) : [];
  return [...new Set<Action>(['All', action, includedIn[action] ?? action, ...higher])];
}

async function personWith(given: readonly Action[]) {
  const role = await world.admin.createRole({ body: { name: unique('role'), actions: [...given] } });
  return { ...(await world.person({ roles: [role.name] })), role };
}

type Holder = Awaited<ReturnType<typeof personWith>>;

/** The ways to give an action that are open to non-admins: policies, for a user, a group and a role. */
const policyWays = (
  { client }: Pick<Person, 'client'>,
  resource: {
    resourceType: 'Deployment' | 'Folder' | 'Workbook' | 'Report' | 'Dashboard';
    resourceId: number;
  },
  action: Action,
) => ({
  user: () => client.setUserPolicy({ body: { ...resource, action, userId: friend.userId } }),
  group: () => client.setGroupPolicy({ body: { ...resource, action, groupId: group.id } }),
  role: () => client.setRolePolicy({ body: { ...resource, action, roleId: friendsRole.id } }),
});

/** The ways that only admins have, each of which would give the action to the caller or to another user. */
const adminWays = (
  { client, userId, role }: Holder,
  action: Action,
  giving: { id: number; name: string },
) => ({
  createRole: () => client.createRole({ body: { name: unique('role'), actions: [action] } }),
  updateRole: () => client.updateRole({ id: role.id, body: { actions: [action] } }),
  createUser: () => {
    const name = unique('new');
    return client.createUser({
      body: { username: name, email: `${name}@example.com`, roles: [giving.name] },
    });
  },
  updateUser: () => client.updateUser({ id: userId, body: { roles: [giving.name] } }),
  updateUserByPost: () => client.updateUserByPost({ id: userId, body: { roles: [giving.name] } }),
  addUserGroupMembers: () => client.addUserGroupMembers({ id: group.id, body: { userIds: [userId] } }),
  patchScimGroup: () =>
    client.patchScimGroup({
      id: String(group.id),
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'add', path: 'members', value: [{ value: String(userId) }] }],
      },
    }),
  createApiKey: async () => {
    const admin = await world.admin.getMe();
    return client.createApiKey({ body: { name: unique('key'), userId: admin.id } });
  },
  createApiKeyOfOwn: () => client.createApiKey({ body: { name: unique('key'), userId } }),
  resetPassword: async () => client.createResetLink({ id: (await world.admin.getMe()).id, body: {} }),
  generateSession: async () => {
    const { username } = await world.admin.getMe();
    return client.generateSession({ body: { deploymentId, internalId: username } });
  },
});

/** Without `DeploymentRead` the deployment does not exist; without `DeploymentsManage` nothing can be shared. */
function refusalOf(action: Action, isGivenHere: boolean) {
  if (action === 'DeploymentRead') return { status: 404, code: 'resource_not_found' };
  if (isGivenHere || action === 'DeploymentsManage') return FORBIDDEN;
  return { status: 400, code: 'action_not_applicable' };
}

describe.each(actions)('%s', (action) => {
  test('cannot be given by somebody who has every other action, and can by somebody who has it', async () => {
    const deployment = { resourceType: 'Deployment', resourceId: deploymentId } as const;
    const lacking = implying(action);
    const holder = await personWith(actions.filter((one) => !lacking.includes(one)));
    const giving = await world.admin.createRole({ body: { name: unique('role'), actions: [action] } });
    const policies = policyWays(holder, deployment, action);
    const isGivenHere = await policyWays({ client: world.admin }, deployment, action)
      .user()
      .then(
        () => true,
        () => false,
      );
    for (const give of Object.values(policies))
      await expect(give()).rejects.toMatchObject(refusalOf(action, isGivenHere));
    for (const [way, give] of Object.entries(adminWays(holder, action, giving)))
      await expect(give(), way).rejects.toMatchObject({ status: 403 });
    expect((await world.admin.getMe()).roles).toEqual(['Admin']);
    if (!isGivenHere) return;

    const manager = await personWith(['DeploymentRead', 'DeploymentsManage']);
    if (action !== 'DeploymentRead')
      for (const give of Object.values(policyWays(manager, deployment, action)))
        await expect(give()).rejects.toMatchObject(FORBIDDEN);
    const equal = await personWith([...new Set<Action>(['DeploymentRead', 'DeploymentsManage', action])]);
    for (const give of Object.values(policyWays(equal, deployment, action))) await give();
  });
});

test('an action that a policy on the deployment gives can be given on, in this deployment alone', async () => {
  const manager = await personWith(['DeploymentRead', 'DeploymentsManage']);
  const elsewhere = (await world.deployment()).id;
  const at = (id: number) => ({ resourceType: 'Deployment', resourceId: id }) as const;
  await world.admin.setUserPolicy({
    body: { ...at(deploymentId), userId: manager.userId, action: 'ReportEdit' },
  });
  const give = (id: number, action: Action) => policyWays(manager, at(id), action).user();
  await expect
    .poll(() => give(deploymentId, 'ReportRead').catch(({ status }) => status))
    .toBeTypeOf('object');
  await give(deploymentId, 'ReportEdit');
  await expect(give(deploymentId, 'ReportManage')).rejects.toMatchObject(FORBIDDEN);
  await expect(give(elsewhere, 'ReportRead')).rejects.toMatchObject(FORBIDDEN);
  // Taking away gives nothing.
  await manager.client.setUserPolicy({ body: { ...at(deploymentId), userId: manager.userId } });
});

test('a policy reaches what lies in a folder or workbook, so a role on folders or workbooks alone cannot give it', async () => {
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: folder.id } });
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: { workbookId: workbook.id },
  });
  const onFolder = { resourceType: 'Folder', resourceId: folder.id } as const;
  const onWorkbook = { resourceType: 'Workbook', resourceId: workbook.id } as const;
  const containers = await personWith(['DeploymentRead', 'FolderManage', 'WorkbookManage']);
  for (const level of ['Read', 'Edit', 'Manage'] as const) {
    for (const give of [
      ...Object.values(policyWays(containers, onFolder, `Folder${level}`)),
      ...Object.values(policyWays(containers, onWorkbook, `Workbook${level}`)),
    ])
      await expect(give()).rejects.toMatchObject(FORBIDDEN);
  }
  await expect(
    containers.client.deleteFolder({ deploymentId, folderId: folder.id, recursive: true }),
  ).rejects.toMatchObject(FORBIDDEN);
  await expect(
    containers.client.deleteWorkbook({ deploymentId, workbookId: workbook.id }),
  ).rejects.toMatchObject(FORBIDDEN);
  await expect(containers.client.getReport({ deploymentId, reportId })).rejects.toMatchObject({
    status: 404,
  });

  const all = await personWith(['DeploymentRead', 'FolderManage', 'WorkbookManage', 'ReportManage']);
  await policyWays(all, onFolder, 'FolderManage').user();
  await policyWays(all, onWorkbook, 'WorkbookManage').user();
  const reader = await personWith(['DeploymentRead', 'FolderManage', 'WorkbookManage', 'ReportRead']);
  await policyWays(reader, onFolder, 'FolderRead').group();
  await expect(policyWays(reader, onFolder, 'FolderEdit').group()).rejects.toMatchObject(FORBIDDEN);
});
