/** Finds the git program, which only tests and benchmarks use. Debian's package is installed if it is missing. */
import { spawnSync } from 'node:child_process';
import { installDebianPackages } from './debian.ts';

/** The first version with `git merge-tree --stdin`. */
const OLDEST = [2, 39] as const;

/** Returns the name of the program, or throws an error that says how to get it. */
export function requireGit(): string {
  if (!findVersion()) installDebianPackages('git');
  const version = findVersion();
  if (!version)
    throw new Error('git is not installed: install it (`apt-get install git`), and run this again.');
  const [major, minor] = version.split('.').map(Number) as [number, number];
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new Error(
      `git ${version} is too old: install git ${OLDEST.join('.')} or later, and run this again.`,
    );
  return 'git';
}

const findVersion = () =>
  /git version (\d+\.\d+)/.exec(spawnSync('git', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
