/**
 * Goes through what docs/git-hosts.md says with a real Gitea. It is built once, from the sources on the Go proxy, which needs
 * Go 1.26 and about half an hour, and kept in `node_modules/.cache`. `ORIEL_TEST_GITEA` names a program that is there already.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

const VERSION = 'v1.26.0';
const folder = join(root, 'node_modules', '.cache', `gitea-${VERSION}`);
const built = join(folder, 'gitea');

/** Builds Gitea with a low priority, because the build takes all the processor time that it gets. */
function build(): boolean {
  if (existsSync(built)) return true;
  const download = spawnSync('go', ['mod', 'download', '-json', `code.gitea.io/gitea@${VERSION}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (download.status !== 0) return false;
  console.log(`Building Gitea ${VERSION} into ${folder}, which takes about half an hour`);
  mkdirSync(folder, { recursive: true });
  const source = join(folder, 'source');
  // The module has replace directives, which `go install` refuses.
  cpSync(JSON.parse(download.stdout).Dir, source, { recursive: true, mode: 0 });
  spawnSync('chmod', ['-R', 'u+w', source]);
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' };
  const { status } = spawnSync('nice', ['-n', '19', 'go', 'build', '-o', built, '.'], {
    cwd: source,
    stdio: 'inherit',
    env,
  });
  if (status !== 0) rmSync(source, { recursive: true, force: true });
  return status === 0;
}

const program = process.env.ORIEL_TEST_GITEA ?? (build() ? built : undefined);
if (program === undefined) {
  console.error(
    'Gitea cannot be built here: install Go 1.26 or later, or set ORIEL_TEST_GITEA to a program of Gitea.',
  );
  process.exitCode = 1;
} else {
  process.exitCode =
    spawnSync('npx', ['vitest', 'run', 'packages/server/test/gitea.check.ts'], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ORIEL_TEST_GITEA: program },
    }).status ?? 1;
}
