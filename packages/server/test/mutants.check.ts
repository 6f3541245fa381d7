/** `npm run test:mutants`, from the faults to the report. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../scripts/install.mjs';
import { runWithin } from '../../../scripts/run-within.ts';

test('mutants are switched on one after the other in one process, and the tests notice them', async () => {
  const args = ['scripts/test-mutants.ts', '--all', 'packages/server/src/domains/scim/filter.ts'];
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$|^ORIEL_/.test(name)),
  );
  const { output } = await runWithin(1_200_000, join(root, 'node_modules/.bin/tsx'), args, {
    cwd: root,
    env,
  });
  const [, all, killed] = /^(\d+) mutants: (\d+) killed/m.exec(output) ?? [];
  expect(Number(all), output).toBeGreaterThan(5);
  expect(Number(killed), output).toBeGreaterThan(Number(all) / 2);
  expect(output).not.toContain('not tried');
});
