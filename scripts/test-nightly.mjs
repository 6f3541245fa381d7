/**
 * `npm run test:nightly` runs what takes too long for every change, or needs more than npm installs. `npm run
 * test:nightly -- worlds fuzz` runs only these. Each is also a command of its own, and all run even if one fails.
 */
import { spawnSync } from 'node:child_process';
import { fail, root } from './install.mjs';

const ALL = {
  worlds: ['test:worlds'],
  'mutants-runner': ['test:mutants:runner'],
  mutants: ['test:mutants', '--all', 'packages'],
  fuzz: ['test:fuzz'],
  packages: ['test:packages'],
  deploy: ['test:deploy'],
  node22: ['test:node', '22'],
  node24: ['test:node', '24'],
  postgres15: ['test:postgres15'],
  pgbouncer: ['test:pgbouncer'],
  clickhouse: ['test:clickhouse'],
  dbt: ['test:dbt'],
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in ALL));
if (unknown) fail(`There is no ${unknown}. There are: ${Object.keys(ALL).join(', ')}`);

const failed = [];
for (const name of names.length ? names : Object.keys(ALL)) {
  const [script, ...args] = ALL[name];
  console.log(`\n— ${name}: npm run ${[script, ...(args.length ? ['--'] : []), ...args].join(' ')}`);
  const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) failed.push(name);
}
console.log(failed.length ? `\nFailed: ${failed.join(', ')}` : '\nAll passed.');
process.exit(failed.length ? 1 : 0);
