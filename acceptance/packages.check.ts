/** A release of a copy of the project, and its server as an operator installs and starts it. See `npm run test:packages`. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject } from '../scripts/copy-project.ts';
import { cleanUp, newFolder, ready, spawnServer, stop } from './server-process.ts';

const run = promisify(execFile);
const NPM_OPTIONS = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
let copy: string;
let folder: string;
const inCopy = (...names: string[]) => join(copy, ...names);

/** The output of git in the copy, whose history is its own. */
function git(...args: string[]) {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const { status, stdout, stderr } = spawnSync('git', [...who, ...args], { cwd: copy, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

const release = (version: string) =>
  run(inCopy('node_modules/.bin/tsx'), ['scripts/release.ts', version], { cwd: copy });

beforeAll(async () => {
  folder = await newFolder();
  copy = join(await newFolder(), 'project');
  copyProject(join(import.meta.dirname, '..'), copy);
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Before the tag');
  git('tag', 'v9.8.6');
  git('commit', '--quiet', '--allow-empty', '--message', 'Show more in less time');
  await release('9.8.7');
});
afterAll(cleanUp);

test('a release sets every version, writes the changes since the last tag, and publishes nothing', async () => {
  const changed = git('status', '--porcelain').split('\n').filter(Boolean);
  const manifests = /^(packages\/[\w-]+\/)?package\.json$/;
  expect(changed.map((line) => line.replace(/^ M /, '')).filter((file) => !manifests.test(file))).toEqual([
    'CHANGELOG.md',
    'deploy/kubernetes/kustomization.yaml',
    'package-lock.json',
  ]);
  expect(await readFile(inCopy('deploy/kubernetes/kustomization.yaml'), 'utf8')).toContain('newTag: 9.8.7\n');
  const versions = git(
    'grep',
    '-hE',
    '"(version|@oriel/[a-z]+)": "',
    '--',
    'package.json',
    'packages/*/package.json',
  );
  expect(new Set(versions.match(/: "(.*)"/g))).toEqual(new Set([': "9.8.7"']));
  const lock = JSON.parse(await readFile(inCopy('package-lock.json'), 'utf8'));
  expect(lock.packages['packages/server'].dependencies['@oriel/contract']).toBe('9.8.7');
  expect(await readFile(inCopy('CHANGELOG.md'), 'utf8')).toMatch(
    /^# Changes\n[\s\S]*?\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n\n- Show more in less time\n(\n## |$)/,
  );
  expect(git('tag', '--list').trim()).toBe('v9.8.6');
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: inCopy('release') });
});

test('the server is installed into an empty project, and starts with npx', async () => {
  const tarball = inCopy('release/oriel-server-9.8.7.tgz');
  const project = join(folder, 'host');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"private":true}');
  await run('npm', ['install', ...NPM_OPTIONS, tarball], { cwd: project });
  const program = join(project, 'node_modules/.bin/oriel-server');
  const server = await ready(
    spawnServer(join(folder, 'first'), { HOME: folder }, ['npx', '--prefix', project, 'oriel-server']),
  );
  const oriel = server.client(server.apiKey!);
  // The demo needs the engine, and its answer the files and the native parts of the package.
  const query = { measures: ['orders.count'], dimensions: ['customers.region'] };
  const answer = await oriel.load({ deploymentId: 1, body: { query } });
  expect(JSON.stringify(answer)).toContain('"customers.region":"EU"');
  for (const page of ['/docs', '/embed/dashboard/DemoCommerce']) {
    for (const path of await filesOf(server.url + page)) {
      expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
    }
  }
  const { sessionId } = await oriel.generateSession({ body: { deploymentId: 1, externalId: 'ada' } });
  expect(sessionId).toBeTruthy();
  // A Ctrl-C in a terminal, which reaches npx and the server. npx itself passes no signal on.
  process.kill(-server.pid, 'SIGINT');
  await server.ended;
  expect(server.stdout).toContain('stopping on SIGINT');
  const { stdout } = await run(program, ['admin-key'], {
    env: { PATH: process.env.PATH, ORIEL_DATA_DIR: join(folder, 'first') },
  });
  expect(stdout).toContain('sk-');
});

test('the server is unpacked, and starts with node main.js', async () => {
  const home = join(folder, 'oriel');
  await mkdir(home);
  await run('tar', ['-xzf', inCopy('release/oriel-server-9.8.7.tgz'), '-C', home, '--strip-components=1']);
  await run('npm', ['install', '--omit=dev', ...NPM_OPTIONS], { cwd: home });
  const command: [string, string] = [process.execPath, join(home, 'main.js')];
  const server = await ready(spawnServer(join(folder, 'second'), { ORIEL_DEMO: 'false' }, command));
  expect(server.stdout).toContain('"version":"9.8.7"');
  expect(await stop(server)).toEqual({ code: 0, signal: null });
});

/** The addresses that a page loads from its own server. */
async function filesOf(url: string): Promise<string[]> {
  const html = await (await fetch(url)).text();
  const paths = [...html.matchAll(/(?:src|href)="(\/[^"#]+)"/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(1);
  return paths;
}
