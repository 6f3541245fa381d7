/** A repository of the real git program, to compare ours with. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { requireGit } from '../../../scripts/git.ts';
import { streamPack } from '../src/platform/git/bundle.ts';
import type { Hash, Objects } from '../src/platform/git/objects.ts';

export interface RealGit {
  dir: string;
  /** Runs git in the folder, and returns what it prints. Throws if it fails, unless its code is in `codes`. */
  run(
    args: string[],
    options?: { input?: string | Buffer; env?: Record<string, string>; codes?: number[] },
  ): Promise<string>;
  /** Gives it everything that these commits need. */
  take(objects: Objects, commits: readonly Hash[]): Promise<void>;
  /** Merges pairs of commits, without detection of renames and without a working copy. */
  mergeAll(pairs: { ours: Hash; theirs: Hash }[]): Promise<RealMerge[]>;
  remove(): Promise<void>;
}

export interface RealMerge {
  isClean: boolean;
  /** With conflict markers where it is not clean. */
  tree: Hash;
  /** The paths in conflict, in order. */
  conflicts: string[];
}

/** Nothing of the machine's or the user's own settings. */
const SETTINGS = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

export async function createRealGit(): Promise<RealGit> {
  const program = requireGit();
  const dir = await mkdtemp(join(tmpdir(), 'oriel-git-'));
  const git: RealGit = {
    dir,
    async run(args, { input = '', env = {}, codes = [0] } = {}) {
      const child = spawn(program, args, {
        cwd: dir,
        env: { PATH: process.env.PATH, HOME: dir, ...SETTINGS, ...env },
      });
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      const [output, errors, [code]] = await Promise.all([
        buffer(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      if (!codes.includes(code)) throw new Error(`git ${args.join(' ')} ended with ${code}: ${errors}`);
      return output.toString();
    },
    async take(objects, commits) {
      const pack = await buffer(streamPack(objects, commits));
      await git.run(['unpack-objects', '-q'], { input: pack });
    },
    async mergeAll(pairs) {
      const output = await git.run(
        [
          'merge-tree',
          '--write-tree',
          '--stdin',
          '-z',
          '--name-only',
          '--no-messages',
          '--allow-unrelated-histories',
        ],
        { input: pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join('') },
      );
      const words = output.split('\0');
      return pairs.map(({ ours, theirs }) => {
        const [status, tree] = words.splice(0, 2) as [string, string];
        const paths = words.splice(0, words.indexOf('') + 1).slice(0, -1);
        // A file that a directory is in the way of is moved beside it.
        const names = paths.map((path) => path.replace(new RegExp(`~(${ours}|${theirs})$`), ''));
        return { isClean: status === '1', tree, conflicts: [...new Set(names)].sort() };
      });
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
  await git.run(['init', '--quiet', '--initial-branch=main']);
  await git.run(['config', 'merge.renames', 'false']);
  return git;
}
