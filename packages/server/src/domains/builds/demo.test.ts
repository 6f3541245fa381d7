/** The models that come with Oriel. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileModel } from '@oriel/semantic';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { DEMO_MODEL_DIR } from '../../build-info.ts';
import { STARTER_MODEL } from '../deployments/starter-model.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
});
afterAll(() => world.stop());

const read = (branch: string) => {
  const folder = join(DEMO_MODEL_DIR, branch);
  const paths = readdirSync(folder, { recursive: true }).map(String);
  return paths
    .filter((path) => path.endsWith('.yml'))
    .map((path): [string, string] => [path, readFileSync(join(folder, path), 'utf8')]);
};

test('the models of the demo are valid without a warning, and that of a new deployment only asks for policies', () => {
  const warningsOf = (files: ReadonlyMap<string, string>) => {
    const { errors, warnings, cubesCount } = compileModel(files);
    expect(errors).toEqual([]);
    expect(cubesCount).toBeGreaterThan(0);
    return warnings.map(({ code }) => code);
  };
  expect(warningsOf(STARTER_MODEL)).toEqual(['no_access_policy']);
  expect(warningsOf(new Map(read('main')))).toEqual([]);
  expect(warningsOf(new Map([...read('main'), ...read('returns')]))).toEqual([]);
});

test('the demo has a history of a few commits and a branch, and is built', async () => {
  const deploymentId = 1;
  const { items } = await world.admin.listCommits({ deploymentId, name: 'main' });
  expect(items.length).toBeGreaterThan(3);
  expect((await world.admin.listBranches({ deploymentId })).items).toMatchObject([
    { name: 'main' },
    { name: 'returns' },
  ]);
  const status = () => world.admin.buildStatus({ deploymentId });
  await expect.poll(async () => (await status()).status).toBe('built');
  expect((await status()).lastHash).toBe(items[0]!.hash);
  const report = await world.admin.validateDataModel({ deploymentId, branchName: 'returns' });
  expect(report).toMatchObject({ valid: true, cubesCount: 5 });
});
