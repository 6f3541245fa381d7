import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../../scripts/install.mjs';
import { runWithin } from '../../../scripts/run-within.ts';

// Fails while another file runs beside it, as a test does that needs a quiet machine.
const UNSTEADY = `
  import { existsSync, writeFileSync } from 'node:fs';
  import { expect, test } from 'vitest';
  test('steady', () => {});
  test('unsteady', () => {
    const isFirstRun = !existsSync('ran');
    writeFileSync('ran', '');
    expect(isFirstRun, 'the machine was busy').toBe(false);
  });`;
const BROKEN = `
  import { expect, test } from 'vitest';
  test('sound', () => {});
  test('broken', () => expect(1).toBe(2));`;
const LEAKING = `
  import { test } from 'vitest';
  test('leaking', () => { Promise.reject(new Error('nobody waits for this')); });`;
const UNLOADABLE = `import './no-such-file.ts';`;

test('a file that fails is run once more alone, and passes as unsteady or fails', async () => {
  const folder = await project({ unsteady: UNSTEADY, broken: BROKEN, unloadable: UNLOADABLE });
  expect(await runTestsIn(folder)).toMatchObject({
    passed: 3,
    failed: 2,
    unsteady: [{ file: 'unsteady.test.js', error: expect.stringContaining('the machine was busy') }],
    failures: [{ file: 'broken.test.js' }, { file: 'unloadable.test.js' }],
  });
});

test('an error outside of a test is a failure, also beside a file that is unsteady', async () => {
  const folder = await project({ unsteady: UNSTEADY, leaking: LEAKING });
  expect(await runTestsIn(folder)).toMatchObject({
    passed: 3,
    failed: 1,
    unsteady: [{ file: 'unsteady.test.js' }],
  });
});

test('a run without any test fails', async () => {
  const folder = await project({});
  expect(await runTestsIn(folder)).toMatchObject({ passed: 0, failed: 1, unsteady: [] });
});

/** A project inside of the packages, so that its tests find Vitest. */
async function project(tests: Record<string, string>): Promise<string> {
  const cache = join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'oriel-unsteady-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'node_modules', '.cache'), { recursive: true });
  await writeFile(join(folder, 'vitest.config.mjs'), `export default { test: { include: ['*.test.js'] } };`);
  for (const [name, text] of Object.entries(tests)) await writeFile(join(folder, `${name}.test.js`), text);
  return folder;
}

/** In a process of its own, because a run of Vitest inside of another one would take the settings of the other. */
async function runTestsIn(folder: string) {
  const script = `
    import { runTests } from ${JSON.stringify(join(root, 'scripts', 'run-tests.mjs'))};
    console.log('\\nRESULT ' + JSON.stringify(await runTests(${JSON.stringify(folder)})));`;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$/.test(name)),
  );
  const args = ['--input-type=module', '-e', script];
  const { output } = await runWithin(300_000, process.execPath, args, { cwd: folder, env });
  const line = output.split('\n').find((text) => text.startsWith('RESULT '));
  if (!line) throw new Error(output);
  return JSON.parse(line.slice('RESULT '.length)) as unknown;
}
