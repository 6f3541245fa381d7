import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies the files of the project, as they are in the working folder, so that a test can change the copy. The copy
 * links to the packages that npm installed; links to our own packages lead into the copy.
 */
export function copyProject(from: string, to: string) {
  const list = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: from,
  });
  if (list.status !== 0) throw new Error(`git could not list the files of ${from}`);
  // git still lists a file that was deleted but not committed yet.
  const files = list.stdout
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(from, file)));
  for (const file of files) cpSync(join(from, file), join(to, file), { recursive: true });
  const installed = join(from, 'node_modules');
  mkdirSync(join(to, 'node_modules', '.cache'), { recursive: true });
  for (const name of readdirSync(installed)) {
    const [source, target] = [join(installed, name), join(to, 'node_modules', name)];
    if (name === '@oriel') cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else if (name !== '.cache') symlinkSync(source, target);
  }
  // Packages that need another version than the others have it in a folder of their own.
  for (const name of readdirSync(join(from, 'packages'))) {
    const own = join('packages', name, 'node_modules');
    if (existsSync(join(from, own))) symlinkSync(join(from, own), join(to, own));
  }
}
