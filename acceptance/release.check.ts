/** What `npm run release` refuses, in a copy of the project whose history is its own. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject } from '../scripts/copy-project.ts';
import { compareVersions, isVersion } from '../scripts/packages/version.ts';
import { cleanUp, newFolder } from './server-process.ts';

const root = join(import.meta.dirname, '..');
let copy: string;
beforeAll(async () => {
  copy = join(await newFolder(), 'project');
  copyProject(root, copy);
  // Without it, nothing can be packed.
  rmSync(join(copy, 'LICENSE'));
  git('init', '--quiet');
  commit('Begin');
});
afterAll(cleanUp);

function git(...args: string[]) {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const { status, stdout, stderr } = spawnSync('git', [...who, ...args], { cwd: copy, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

function commit(message: string) {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

/** The words of a release that is not made. */
function refused(version: string): string {
  const program = join(copy, 'node_modules/.bin/tsx');
  const { status, stderr } = spawnSync(program, ['scripts/release.ts', version], {
    cwd: copy,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  return stderr;
}

test('versions are written and ordered as semver says', () => {
  const ordered =
    '0.9.10 1.0.0-1 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-rc.2 1.0.0-rc.11 1.0.0 1.2.0 1.10.0';
  const versions = ordered.split(' ');
  expect(versions.filter((version) => !isVersion(version))).toEqual([]);
  expect(versions.toReversed().sort(compareVersions)).toEqual(versions);
  expect(compareVersions('1.0.0', '1.0.0')).toBe(0);
  for (const wrong of ['', '1.2', '01.2.3', '1.2.03', '1.0.0-', '1.0.0-..', '1.0.0-a.', '1.0.0-01', 'v1.0.0'])
    expect([wrong, isVersion(wrong)]).toEqual([wrong, false]);
});

test('a release is refused, and changes nothing', () => {
  expect(refused('01.2.3')).toContain('Usage: npm run release');
  const { version } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  expect(refused('0.0.1')).toContain(`0.0.1 is lower than ${version}, the version of this checkout`);
  // The first release, which has no tag before it, fails only when it packs.
  const failed = refused('9.8.6');
  expect(failed).toContain('LICENSE');
  expect(failed).toContain('There is no release: the files are as they were.');
  git('tag', 'v9.8.6');
  expect(refused('9.8.6')).toContain('The tag v9.8.6 is there already');
  expect(refused('9.8.6-rc.1')).toContain('9.8.6-rc.1 is lower than 9.8.6, the last release');
  expect(git('status', '--porcelain')).toBe('');

  writeFileSync(join(copy, 'CHANGELOG.md'), '# Changes\n\n## 9.8.7 (2026-01-01)\n\n- More\n');
  expect(refused('9.8.8')).toContain('not committed');
  commit('Release 9.8.7');
  const lacking = 'lacks the tag of the last release, v9.8.7: fetch it with `git fetch --tags`';
  expect(refused('9.8.8')).toContain(lacking);
  git('tag', '--delete', 'v9.8.6');
  expect(refused('9.8.8')).toContain(lacking);
  expect(git('status', '--porcelain')).toBe('');
});

test('the README names no version', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8')).not.toMatch(/oriel-[a-z]+-\d/);
});
