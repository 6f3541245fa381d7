/** The git program on a repository in a temporary folder: what data models are compared with. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { requireGit } from '../../scripts/git.ts';
import { runTool } from '../harness/run-tool.ts';
import { undoAtEnd } from '../harness/undo.ts';
import type { Files } from './model.ts';

export interface GitRepository {
  write(files: Files): Promise<void>;
  git(...args: string[]): Promise<string>;
}

const TIMEOUT_MS = 60_000;

export async function createGitRepository(files: Files): Promise<GitRepository> {
  const program = requireGit();
  const dir = mkdtempSync(join(tmpdir(), 'oriel-bench-git-'));
  undoAtEnd(() => rm(dir, { recursive: true, force: true }));
  const settings = ['user.name=Bench', 'user.email=bench@example.com', 'merge.renames=false', 'gc.auto=0'];
  const before = ['-C', dir, ...settings.flatMap((setting) => ['-c', setting])];
  const repository: GitRepository = {
    async write(changed) {
      for (const [path, text] of changed) {
        mkdirSync(dirname(join(dir, path)), { recursive: true });
        await writeFile(join(dir, path), text);
      }
    },
    git: (...args) => runTool(program, [...before, ...args], TIMEOUT_MS),
  };
  await repository.git('init', '--quiet', '--initial-branch=main');
  await repository.write(files);
  await repository.git('add', '--all');
  await repository.git('commit', '--quiet', '-m', 'first');
  await repository.git('branch', 'start');
  // As a clone has it: the objects in a pack, and not one file each.
  await repository.git('gc', '--quiet');
  return repository;
}

export const gitVersion = async ({ git }: GitRepository) => (await git('--version')).trim();
