/**
 * Runs `npm test` and `npm run test:system` with another version of Node: `npm run test:node -- 24`, or only some of them,
 * as vitest selects them: `npm run test:node -- 24 acceptance`. The program comes from npm, into a folder of its own.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fail, root } from './install.mjs';

const [version = '', ...selected] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  fail('Usage: npm run test:node -- <version of Node, such as 24> [paths of tests]');
}
const name = `node-${process.platform}-${process.arch}`;
const folder = join(root, 'node_modules', '.cache', `oriel-node-${version}`);
const node = join(folder, 'node_modules', name, 'bin', 'node');

const isExact = version.split('.').length === 3;
if (!isExact || !existsSync(node)) {
  // Install even if there is one, because it may be outdated. Without the registry, the old one is used.
  console.log(`Installing ${name}@${version} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  spawnSync('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`], { stdio: 'inherit' });
}
const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
if (!stdout) fail(`${name}@${version} cannot be installed, or does not run on this machine.`);
console.log(`Node ${stdout.trim()}`);

for (const part of [[], ['--system']]) {
  const { status } = spawnSync(node, [join(root, 'scripts', 'test.mjs'), ...part, ...selected], {
    cwd: root,
    stdio: 'inherit',
    // Programs that are started by their names get the same Node.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  if (status !== 0) process.exitCode = 1;
}
