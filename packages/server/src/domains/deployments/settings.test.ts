/** The settings of a deployment, and the steps of its creation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { VERSION } from '../../build-info.ts';

const GONE = { status: 404, code: 'deployment_not_found' };
const NO_SUCH_DEPLOYMENT = 999_999_999;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newDeployment = async () => ({ deploymentId: (await world.deployment()).id });

const EVERY_FIELD = {
  name: 'Renamed',
  region: 'local',
  cloudProvider: 'aws',
  creationMethod: 'upload',
  deployMode: 'cli',
  deployBranchReadOnly: true,
  deployBranchMergeAllowed: false,
  deployProjectRoot: '/analytics/model',
  template: 'multiCluster',
  templateVariables: { replicas: 3, zone: ['a', 'b'], ratio: 0.1 },
  releaseChannel: 'release',
  releaseChannelVersion: VERSION,
  releaseChannelVersionHold: true,
  customDomain: 'data.example.com',
  defaultLaunchpadViewGroup: 'sales',
  launchpadTabs: ['home', 'reports'],
  cspsConfig: { enabled: true, storageProvider: 's3', s3Bucket: 'files', s3Region: null },
} as const;

test('every setting can be changed, shows the new value, and is audited', async () => {
  const at = await newDeployment();
  const before = await world.admin.getDeploymentSettings(at);
  expect(before).toMatchObject({
    deployBranchName: 'main',
    deployBranchMergeAllowed: true,
    template: 'single',
  });
  const after = await world.admin.updateDeployment({
    ...at,
    body: { ...EVERY_FIELD, launchpadTabs: ['home', 'reports'] },
  });
  expect(after).toEqual({ ...before, ...EVERY_FIELD });
  expect(await world.admin.getDeploymentSettings(at)).toEqual(after);
  expect(await world.admin.getDeployment(at)).toMatchObject({ name: 'Renamed' });
  const { items } = await world.admin.listAuditLog({
    deploymentId: at.deploymentId,
    operation: 'updateDeployment',
  });
  expect(items).toMatchObject([
    {
      before: { deployMode: null, template: 'single' },
      after: { deployMode: 'cli', template: 'multiCluster' },
    },
  ]);
});

test('null clears what may be empty, and leaves the rest; absent fields stay', async () => {
  const at = await newDeployment();
  const set = await world.admin.updateDeployment({
    ...at,
    body: { ...EVERY_FIELD, launchpadTabs: ['home'] },
  });
  const nulls = Object.fromEntries(Object.keys(EVERY_FIELD).map((field) => [field, null]));
  const cleared = await world.admin.updateDeployment({ ...at, body: { ...nulls, deployBranchName: null } });
  const empty = [
    'creationMethod',
    'deployMode',
    'templateVariables',
    'releaseChannelVersion',
    'customDomain',
  ];
  const alsoEmpty = ['defaultLaunchpadViewGroup', 'launchpadTabs', 'cspsConfig'];
  expect(cleared).toEqual({
    ...set,
    ...Object.fromEntries([...empty, ...alsoEmpty].map((field) => [field, null])),
  });
  expect(await world.admin.updateDeployment({ ...at, body: {} })).toEqual(cleared);
});

test.each([
  ['an unknown region', { region: 'mars-1' }, 'region_not_found'],
  ['a branch that does not exist', { deployBranchName: 'nowhere' }, 'invalid_reference'],
  ['a version that this server is not', { releaseChannelVersion: '99.0.0' }, 'version_not_found'],
  ['variables of more than 64 KB', { templateVariables: { x: 'x'.repeat(65_536) } }, 'invalid_request'],
  ['a root outside of the repository', { deployProjectRoot: 'model/../..' }, 'invalid_request'],
  ['a root with a backslash', { deployProjectRoot: 'model\\x' }, 'invalid_request'],
  ['a root that is a blank', { deployProjectRoot: ' ' }, 'invalid_request'],
  ["a root in git's own folder", { deployProjectRoot: 'a/.git' }, 'invalid_request'],
  ['a root with a name that is too long', { deployProjectRoot: 'é'.repeat(200) }, 'invalid_request'],
  ['a domain that is no host name', { customDomain: 'https://example.com/x' }, 'invalid_request'],
  ['a name of only spaces', { name: '  ' }, 'invalid_request'],
  ['a template that does not exist', { template: 'triple' }, 'invalid_request'],
  ['a field that only the creation has', { targetPlatform: 'x' }, 'invalid_request'],
  ['a step of the creation', { creationStep: 'ready' }, 'invalid_request'],
])('bad input is refused, and changes nothing: %s', async (_, bad, code) => {
  const at = await newDeployment();
  const before = await world.admin.getDeploymentSettings(at);
  const attempt = world.admin.updateDeployment({ ...at, body: { launchpadTabs: ['x'], ...bad } as never });
  await expect(attempt).rejects.toMatchObject({ status: 400, code });
  expect(await world.admin.getDeploymentSettings(at)).toEqual(before);
});

test.each([
  ['', '/'],
  ['/', '/'],
  ['sub', '/sub'],
  ['/sub/', '/sub'],
  ['sub//x', '/sub/x'],
])('the root %s is stored as %s', async (deployProjectRoot, stored) => {
  const at = await newDeployment();
  const after = await world.admin.updateDeployment({ ...at, body: { deployProjectRoot } });
  expect(after.deployProjectRoot).toBe(stored);
});

test('the current deploy branch, and the stored version, can be sent back', async () => {
  const at = await newDeployment();
  await world.server.db.pool.query("update deployments set release_channel_version = '0.0.1' where id = $1", [
    at.deploymentId,
  ]);
  const body = { deployBranchName: 'main', releaseChannelVersion: '0.0.1' };
  expect(await world.admin.updateDeployment({ ...at, body })).toMatchObject(body);
});

test('changes that come at the same time are all kept', async () => {
  const at = await newDeployment();
  const bodies = [
    { name: unique('n') },
    { deployMode: 'cli' },
    { customDomain: 'a.example.com' },
    { template: 'single' },
  ] as const;
  await Promise.all(bodies.map((body) => world.admin.updateDeployment({ ...at, body })));
  expect(await world.admin.getDeploymentSettings(at)).toMatchObject(Object.assign({}, ...bodies));
});

test('a change beside the deletion succeeds before it or is a 404 after it, and nothing comes back', async () => {
  for (let i = 0; i < 5; i++) {
    const at = await newDeployment();
    const [update, deletion] = await Promise.allSettled([
      world.admin.updateDeployment({ ...at, body: { name: 'x' } }),
      world.admin.deleteDeployment(at),
    ]);
    expect(deletion.status).toBe('fulfilled');
    if (update.status === 'rejected') expect(update.reason).toMatchObject(GONE);
    await expect(world.admin.getDeploymentSettings(at)).rejects.toMatchObject(GONE);
  }
});

test('of two deletions at once one succeeds, and the other is the 404 of a deployment that never was', async () => {
  const at = await newDeployment();
  const outcomes = await Promise.allSettled([1, 2].map(() => world.admin.deleteDeployment(at)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const never = await world.admin
    .deleteDeployment({ deploymentId: NO_SUCH_DEPLOYMENT })
    .catch((error) => error);
  expect(refused.map(({ status, code, message }) => ({ status, code, message }))).toEqual([
    { status: never.status, code: never.code, message: never.message },
  ]);
  const jobs = await world.server.db.pool.query(
    "select from jobs where kind = 'deployments.remove' and payload ->> 'deploymentId' = $1",
    [String(at.deploymentId)],
  );
  expect(jobs.rowCount).toBe(1);
});

test('a deployment lists one version, the one of this server', async () => {
  const at = await newDeployment();
  const { items, data, pageInfo } = await world.admin.listDeploymentVersions(at);
  expect(items).toEqual([
    {
      version: VERSION,
      releaseChannel: 'latest',
      releaseChannelVersion: VERSION,
      isCurrent: true,
      isLatestInChannel: true,
    },
  ]);
  expect(data).toEqual(items);
  expect(pageInfo.hasNextPage).toBe(false);
});

describe('the steps of the creation', () => {
  const at = async (creationStep: 'project' | 'ready') => {
    const { id } = await world.admin.createDeployment({
      body: {
        name: unique('stepwise'),
        cloudProvider: 'managed',
        creationStep,
        isManaged: true,
        region: 'local',
        targetPlatform: 'embedded',
      },
    });
    return { deploymentId: id };
  };

  test('go forward, and back to the first', async () => {
    const place = await at('project');
    for (const creationStep of ['upload', 'databases', 'ready'] as const) {
      const reply = await world.admin.advanceCreationStep({ ...place, body: { creationStep } });
      expect(await world.admin.getDeployment(place)).toMatchObject(reply);
      expect(reply.creationStep).toBe(creationStep);
    }
    expect(await world.admin.resetCreationStep(place)).toMatchObject({ creationStep: 'project' });
    expect(await world.admin.resetCreationStep(place)).toMatchObject({ creationStep: 'project' });
    const { items } = await world.admin.listAuditLog({ ...place, operation: 'resetCreationStep' });
    expect(items).toMatchObject([{ before: { creationStep: 'ready' }, after: { creationStep: 'project' } }]);
  });

  test('a step that cannot follow is a 409 that names those that can, and changes nothing', async () => {
    const place = await at('project');
    await world.admin.advanceCreationStep({ ...place, body: { creationStep: 'databases' } });
    const attempt = world.admin.advanceCreationStep({ ...place, body: { creationStep: 'upload' } });
    await expect(attempt).rejects.toMatchObject({
      status: 409,
      code: 'creation_step_not_allowed',
      message: expect.stringContaining('schema, ready'),
    });
    expect(await world.admin.getDeployment(place)).toMatchObject({ creationStep: 'databases' });
  });

  test('of two calls that go to the same step at once, one goes', async () => {
    const place = await at('project');
    const body = { creationStep: 'schema' } as const;
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => world.admin.advanceCreationStep({ ...place, body })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('what is deployed can be changed only with SchemaUpdate', async () => {
  const at = await newDeployment();
  const role = await world.admin.createRole({
    body: { name: unique('operator'), actions: ['DeploymentRead', 'DeploymentUpdate'] },
  });
  const { client } = await world.person({ roles: [role.name] });
  await client.updateDeployment({ ...at, body: { name: 'Renamed' } });
  for (const body of [
    { deployMode: 'cli' },
    { deployBranchReadOnly: true },
    { deployBranchMergeAllowed: false },
    { deployProjectRoot: '/elsewhere' },
  ] as const)
    await expect(client.updateDeployment({ ...at, body })).rejects.toMatchObject({ status: 403 });
  await world.admin.createBranch({ ...at, body: { name: 'other' } });
  const deploy = client.updateDeployment({ ...at, body: { deployBranchName: 'other' } });
  await expect(deploy).rejects.toMatchObject({ status: 403 });
});
