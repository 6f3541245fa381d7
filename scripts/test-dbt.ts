/**
 * Builds the dbt projects of the tests with dbt itself, syncs them through a server, and compares what queries answer with
 * the tables that dbt made. Needs Python 3.10 or later; dbt is installed into a folder of its own. `--update` also makes
 * the small copies of dbt's files with which the other tests run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFixture } from './dbt-fixtures.ts';
import { root } from './install.mjs';

const PACKAGES = ['dbt-core==1.11.16', 'dbt-duckdb==1.11.1'];
const PROJECTS = ['shop', 'accounts', 'events'];
const cache = join(root, 'node_modules', '.cache');
const venv = join(cache, PACKAGES.join('-').replaceAll('==', '-'));
const python = join(venv, 'bin', 'python');
const built = join(cache, 'dbt-projects');
const sources = join(root, 'packages', 'server', 'test', 'dbt');

const run = (command: string, args: string[], { cwd = root, env = {} } = {}) =>
  spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } }).status;

const isInstalled = () =>
  existsSync(python) && spawnSync(python, ['-c', 'import dbt.version, dbt.adapters.duckdb']).status === 0;

function install() {
  if (isInstalled()) return;
  console.log(`Installing ${PACKAGES.join(' and ')} into ${venv}`);
  // The sandbox for `dbt parse` shows the libraries of the system, and no folders of people.
  const made =
    existsSync('/usr/bin/python3') && run('/usr/bin/python3', ['-m', 'venv', '--clear', venv]) === 0;
  if (!made) run('python3', ['-m', 'venv', '--clear', venv]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES]);
}

/** Each table becomes a file, because another version of DuckDB may not read the database. */
const EXPORT = `
import duckdb, sys
db = duckdb.connect(sys.argv[1], read_only=True)
for schema, name in db.sql("select table_schema, table_name from information_schema.tables").fetchall():
    db.sql(f'select * from "{schema}"."{name}"').write_parquet(f'{sys.argv[2]}/{name}.parquet')
`;

async function build(project: string) {
  const folder = join(built, project);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const database = join(folder, `${project}.duckdb`);
  const env = { ORIEL_DBT_DATABASE: database, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' };
  const target = join(folder, 'target');
  const common = [
    '--profiles-dir',
    '..',
    '--target-path',
    target,
    '--log-path',
    join(folder, 'logs'),
    '--quiet',
  ];
  const dbt = (...args: string[]) => {
    const status = run(join(venv, 'bin', 'dbt'), [...args, ...common], { cwd: join(sources, project), env });
    if (status !== 0) throw new Error(`dbt ${args[0]} of ${project} ended with ${status}`);
  };
  dbt('build');
  dbt('docs', 'generate', '--no-compile');
  if (run(python, ['-c', EXPORT, database, folder]) !== 0) throw new Error(`${project} cannot be exported`);
  if (process.argv.includes('--update')) await writeFixture(target, join(sources, 'artifacts'), project);
}

install();
if (isInstalled()) {
  for (const project of PROJECTS) await build(project);
  process.exitCode =
    run('npx', ['vitest', 'run', 'packages/server/test/dbt.check.ts'], {
      env: { ORIEL_TEST_DBT: built, ORIEL_TEST_DBT_PYTHON: python },
    }) ?? 1;
} else {
  console.error(
    `${PACKAGES.join(' and ')} cannot be installed here: they need Python 3.10 or later, with venv and pip.`,
  );
  process.exitCode = 1;
}
