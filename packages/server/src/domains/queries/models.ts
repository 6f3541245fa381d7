/**
 * The models that queries use: the last good build of a branch, compiled in a thread and then kept in memory. A tree of
 * files never changes, so neither does its model.
 */
import type { Model } from '@oriel/semantic';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { createTurns } from '../../platform/turns.ts';
import { type Compiler, readModelFiles } from '../builds/index.ts';
import { createKept } from './kept.ts';
import { findServedTree } from './store.ts';

/** A model needs about ten times the memory of its files. */
const KEEP_CHARACTERS_MAX = 10 * 1024 * 1024;
/** What a small model costs beside its text. */
const BASE_CHARACTERS = 10_000;

/** The branch of an environment token, or the one that is deployed. */
export type Served = { deploymentId: number; branchId: number | null };

export interface Models {
  /** Throws a 409 if no build of the branch has succeeded. */
  find(db: Queryable, served: Served): Promise<Model>;
}

export function createModels({ remember }: Pick<Platform, 'remember'>, compiler: Compiler): Models {
  const trees = remember<string, string | null>((key) => [`deployment:${key.split(' ')[0]}`]);
  const kept = createKept<Model>(KEEP_CHARACTERS_MAX, { keepsNewest: true });
  const loads = new Map<string, Promise<Model>>();
  // Each compilation uses a thread and much memory.
  const turns = createTurns({
    togetherMax: 2,
    waitingMax: 200,
    waitMs: 60_000,
    busy: () => new ApiError('busy'),
  });

  const compile = async (db: Queryable, deploymentId: number, tree: string, key: string): Promise<Model> => {
    const files = await readModelFiles(db, deploymentId, tree);
    // Others may wait for the same model, so it is compiled even if the caller leaves.
    const { signal } = new AbortController();
    const { model } = await compiler.compile(files, signal, { wantsModel: true });
    // A newer version of this program may refuse what an older one has built.
    if (!model) throw new ApiError('model_not_built');
    const size = [...files.values()].reduce((sum, text) => sum + text.length, BASE_CHARACTERS);
    kept.add(key, model, size);
    return model;
  };

  async function modelOf(db: Queryable, deploymentId: number, tree: string): Promise<Model> {
    const key = `${deploymentId} ${tree}`;
    const known = kept.find(key);
    if (known) return known;
    let load = loads.get(key);
    if (!load) {
      load = turns.together('all', () => compile(db, deploymentId, tree, key));
      loads.set(key, load);
      load.finally(() => loads.delete(key)).catch(() => {});
    }
    return load;
  }

  return {
    async find(db, { deploymentId, branchId }) {
      const key = `${deploymentId} ${branchId ?? 'production'}`;
      const read = async () => (await findServedTree(db, deploymentId, branchId)) ?? null;
      const known = trees.get(key);
      const tree = known === undefined ? await trees.load(key, read) : known;
      if (tree === null) throw new ApiError('model_not_built');
      return modelOf(db, deploymentId, tree);
    },
  };
}
