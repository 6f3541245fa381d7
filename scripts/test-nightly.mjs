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
  'workload-identity': ['test:workload-identity'],
  // Last, because the first time it takes half an hour.
  gitea: ['test:gitea'],
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in ALL));
if (unknown) fail(`There is no ${unknown}. There are: ${Object.keys(ALL).join(', ')}`);

/**
 * Returns why a check cannot run here. A check that is asked for by name always runs, and says itself what is missing.
 */
function reasonToSkip(name) {
  if (name !== 'gitea' || names.length || process.env.ORIEL_TEST_GITEA) return undefined;
  return spawnSync('go', ['version']).status === 0 ? undefined : 'there is no Go, of which Gitea is built';
}

const failed = [];
for (const name of names.length ? names : Object.keys(ALL)) {
  const reason = reasonToSkip(name);
  if (reason) {
    console.log(`\n— ${name}: skipped, because ${reason}`);
    continue;
  }
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
