import type { OrielClient } from '@oriel/client';
import { limits } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, SECRET_KEY, unique, type World } from '../../../test/world.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createEnvVars } from './index.ts';

const MASK = '[ENCRYPTED]';
const GONE = { status: 404, code: 'deployment_not_found' };

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const newDeployment = async () => (await world.deployment()).id;
const set = (deploymentId: number, variables: Record<string, string>, client: OrielClient = world.admin) =>
  client.setEnvVariables({ deploymentId, body: { env_variables: listed(variables) } });
const listed = (variables: Record<string, string>) =>
  Object.entries(variables).map(([name, value]) => ({ name, value }));
const read = async (deploymentId: number, client: OrielClient = world.admin) => {
  const { items, data } = await client.getEnvVariables({ deploymentId });
  expect(data).toEqual(items);
  return Object.fromEntries(items.map(({ name, value }) => [name, value]));
};

test('variables are set, merged, replaced and deleted, and are listed by name', async () => {
  const id = await newDeployment();
  const reply = await set(id, { DB_PORT: '5432', DB_HOST: 'db.example.com' });
  expect(reply.items).toEqual(listed({ DB_HOST: 'db.example.com', DB_PORT: '5432' }));
  await set(id, { DB_PORT: '6543', _x9: 'a\nb=c "ü"' });
  expect(await read(id)).toEqual({ DB_HOST: 'db.example.com', DB_PORT: '6543', _x9: 'a\nb=c "ü"' });
  await world.admin.deleteEnvVariable({ deploymentId: id, name: 'DB_PORT' });
  expect(await read(id)).toEqual({ DB_HOST: 'db.example.com', _x9: 'a\nb=c "ü"' });
  const again = world.admin.deleteEnvVariable({ deploymentId: id, name: 'DB_PORT' });
  await expect(again).rejects.toMatchObject({ status: 404, code: 'env_variable_not_found' });
  expect(await read(await newDeployment())).toEqual({});
});

test('pages hold every variable once', async () => {
  const id = await newDeployment();
  const names = Array.from({ length: 7 }, (_, i) => `V${i}`);
  await set(id, Object.fromEntries(names.map((name) => [name, name])));
  const seen: string[] = [];
  for await (const { name } of world.admin.iterate.getEnvVariables({ deploymentId: id, first: 3 }))
    seen.push(name);
  expect(seen).toEqual(names);
});

describe('the mask', () => {
  test('hides values from callers without SecretsManage, also those that they have just set', async () => {
    const id = await newDeployment();
    const developer = await world.person({ roles: ['Developer'] });
    const viewer = await world.person({ roles: ['Viewer'] });
    const reply = await set(id, { DB_PASS: 'correct horse' }, developer.client);
    expect(reply.items).toEqual([{ name: 'DB_PASS', value: MASK }]);
    for (const { client } of [developer, viewer]) expect(await read(id, client)).toEqual({ DB_PASS: MASK });
    await expect(set(id, { X: 'x' }, viewer.client)).rejects.toMatchObject({ status: 403 });
    const attempt = viewer.client.deleteEnvVariable({ deploymentId: id, name: 'DB_PASS' });
    await expect(attempt).rejects.toMatchObject({ status: 403 });
    const role = await world.admin.createRole({
      body: { name: unique('secrets'), actions: ['DeploymentRead', 'SecretsManage'] },
    });
    const keeper = await world.person({ roles: [role.name] });
    expect(await read(id, keeper.client)).toEqual({ DB_PASS: 'correct horse' });
  });

  test('leaves the stored value, so that a list can be sent back as it was read', async () => {
    const id = await newDeployment();
    await set(id, { A: 'one', B: 'two' });
    await set(id, { A: MASK, B: 'three', C: 'four' });
    expect(await read(id)).toEqual({ A: 'one', B: 'three', C: 'four' });
  });

  test('for a variable without a value is a 400 that names it, and changes nothing', async () => {
    const id = await newDeployment();
    await set(id, { A: 'one' });
    await expect(set(id, { A: 'two', NEW: MASK })).rejects.toMatchObject({
      status: 400,
      code: 'masked_env_variable',
      issues: [{ path: 'env_variables[1].value', message: expect.stringContaining('NEW') }],
    });
    expect(await read(id)).toEqual({ A: 'one' });
  });
});

describe('bad input is refused, and changes nothing', () => {
  test.each([
    ['a name that begins with a digit', [{ name: '1A', value: '' }]],
    ['an empty name', [{ name: '', value: '' }]],
    ['a name with a dash', [{ name: 'A-B', value: '' }]],
    ['a name with a letter that looks like an A', [{ name: 'А', value: '' }]],
    ['a name with a line break at its end', [{ name: 'A\n', value: '' }]],
    ['a name of 256 characters', [{ name: 'A'.repeat(256), value: '' }]],
    ['a value that is too long', [{ name: 'A', value: 'x'.repeat(limits.envValue + 1) }]],
    ['a value that is too long in bytes', [{ name: 'A', value: 'ü'.repeat(limits.envValue / 2 + 1) }]],
    ['a value with NUL', [{ name: 'A', value: 'a\u0000b' }]],
    ['a number', [{ name: 'A', value: 5 }]],
    ['a variable without a value', [{ name: 'A' }]],
    [
      'a variable that is given twice',
      [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    ],
  ])('%s', async (_, variables) => {
    const deploymentId = await newDeployment();
    await set(deploymentId, { KEPT: 'yes' });
    const body = { env_variables: [{ name: 'GOOD', value: 'x' }, ...variables] };
    const attempt = world.admin.setEnvVariables({ deploymentId, body: body as never });
    await expect(attempt).rejects.toMatchObject({ status: 400 });
    expect(await read(deploymentId)).toEqual({ KEPT: 'yes' });
  });

  test('names differ by case, and the longest name and value are kept', async () => {
    const id = await newDeployment();
    const long = { ['A'.repeat(255)]: 'x'.repeat(limits.envValue), a: 'small', A: 'large' };
    await set(id, long);
    expect(await read(id)).toEqual(long);
  });
});

const many = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 'v']));

test('of calls that add variables at once at the limit, only those that fit succeed, each as a whole', async () => {
  const id = await newDeployment();
  await set(id, many(limits.envVariables - 5, 'V'));
  const outcomes = await Promise.allSettled(['A', 'B', 'C'].map((prefix) => set(id, many(3, prefix))));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const limit = { status: 409, code: 'env_variable_limit_reached' };
  expect(refused).toMatchObject([limit, limit]);
  const all = await world.server.db.pool.query('select from env_variables where deployment_id = $1', [id]);
  expect(all.rowCount).toBe(limits.envVariables - 2);
  // Changing what is there is possible at the limit.
  await set(id, many(2, 'Z'));
  await set(id, { V0: 'changed' });
});

test('calls that set the same new variable at once both succeed, and one value stays', async () => {
  const id = await newDeployment();
  await Promise.all(['1', '2', '3'].map((value) => set(id, { SHARED: value })));
  expect(['1', '2', '3']).toContain((await read(id)).SHARED);
});

test('a deleted deployment has no variables at once, and none can be set beside its deletion', async () => {
  const id = await newDeployment();
  await set(id, { A: '1' });
  const [, outcome] = await Promise.allSettled([
    world.admin.deleteDeployment({ deploymentId: id }),
    set(id, { B: '2' }),
  ]);
  if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(GONE);
  const { rowCount } = await world.server.db.pool.query(
    'select from env_variables where deployment_id = $1',
    [id],
  );
  expect(rowCount).toBe(0);
  await expect(set(id, { B: '2' })).rejects.toMatchObject(GONE);
  await expect(world.admin.getEnvVariables({ deploymentId: id })).rejects.toMatchObject(GONE);
});

test('neither the database nor the audit log holds a value in clear', async () => {
  const id = await newDeployment();
  await set(id, { API_SECRET: 'a-secret-nobody-sees' });
  await set(id, { API_SECRET: 'another-secret-nobody-sees' });
  await set(id, { API_SECRET: 'another-secret-nobody-sees' });
  await world.admin.deleteEnvVariable({ deploymentId: id, name: 'API_SECRET' });
  await set(id, { API_SECRET: 'a-secret-nobody-sees' });
  const { rows } = await world.server.db.pool.query(
    'select value from env_variables where deployment_id = $1',
    [id],
  );
  expect(rows.map(({ value }) => value.toString('latin1')).join()).not.toContain('nobody-sees');
  const log = await world.admin.listAuditLog({ deploymentId: id, resourceType: 'envVariable' });
  expect(JSON.stringify(log)).not.toContain('nobody-sees');
  // Setting the same value again is no change.
  expect(log.items.map(({ operation, resourceId }) => `${operation} ${resourceId}`)).toEqual([
    'setEnvVariables API_SECRET',
    'deleteEnvVariable API_SECRET',
    'setEnvVariables API_SECRET',
    'setEnvVariables API_SECRET',
  ]);
});

test('other domains read all variables of a deployment with their values', async () => {
  const id = await newDeployment();
  await set(id, { A: '1', B: '2' });
  const variables = createEnvVars({ box: (column) => createBox(column, createKeyring([SECRET_KEY])) });
  const values = await variables.readEnvVars(world.server.db, id);
  expect([...values]).toEqual([
    ['A', '1'],
    ['B', '2'],
  ]);
});
