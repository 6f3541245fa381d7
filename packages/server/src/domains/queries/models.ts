/**
 * The models that queries use: the last good build of a branch, compiled in a thread and then cached. A tree of
 * files never changes, so neither does its model. What viewers see, the deployed branch, is compiled as soon as it was built.
 */

import type { Model } from '@oriel/semantic';
import { LRUCache } from 'lru-cache';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { type Compiler, readModelFiles } from '../builds/index.ts';
import { findServedTree } from './store.ts';
import { createModelWarmer, type ModelWarmer } from './warming.ts';

/** A model needs about ten times the memory of its files. */
const CACHED_CHARACTERS_MAX = 10 * 1024 * 1024;
/** What a small model costs beside its text. */
const BASE_CHARACTERS = 10_000;
/** The size of the cache of drafts: models of branches, which only modellers query. */
const DRAFTS_CHARACTERS_MAX = 2 * 1024 * 1024;
/** Larger models are warmed only if the one before is still cached, because then it was queried lately. */
const WARMED_CHARACTERS_MAX = 1024 * 1024;
const DEPLOYED_MAX = 10_000;

/** The branch of an environment token, or the one that is deployed. */
export type ServedBranch = { deploymentId: number; branchId: number | null };

export interface Models extends ModelWarmer {
  /** Throws a 409 if no build of the branch has succeeded. */
  find(db: Queryable, served: ServedBranch): Promise<Model>;
  /**
   * The model of files that are not built, for people who work on them. Drafts never evict models that are served.
   * Throws a 409 that says why they do not compile.
   */
  findDraft(db: Queryable, deploymentId: number, tree: string): Promise<Model>;
}

export function createModels(
  platform: Pick<Platform, 'createCache' | 'db' | 'listener' | 'log' | 'metrics'>,
  compiler: Compiler,
): Models {
  const treeCache = platform.createCache<string, string | null>((key) => [`deployment:${key.split(' ')[0]}`]);
  const cache = new LRUCache<string, Model>({ maxSize: CACHED_CHARACTERS_MAX });
  const loads = new Map<string, Promise<Model>>();
  // Each compilation uses a thread and much memory. One deployment does not get both places.
  const admission = createAdmission({ places: 2, waitingMax: 200, waitMs: 60_000 });
  const drafts = new LRUCache<string, Model>({ maxSize: DRAFTS_CHARACTERS_MAX });
  const draftAdmission = createAdmission({
    places: 1,
    sharerPlaces: 1,
    waitingMax: 50,
    sharerWaitingMax: 10,
    waitMs: 60_000,
  });
  /** By deployment, the tree of the deployed branch that was asked for or warmed last. */
  const deployed = new LRUCache<number, string>({
    maxSize: DEPLOYED_MAX,
    sizeCalculation: () => 1,
  });
  let compiled = 0;
  platform.metrics.gauge(
    'oriel_models_compiled',
    'Data models that were compiled for queries since the start',
    () => compiled,
  );

  const compile = async (db: Queryable, deploymentId: number, tree: string, key: string): Promise<Model> => {
    const files = await readModelFiles(db, deploymentId, tree);
    compiled++;
    // Others may wait for the same model, so it is compiled even if the caller leaves.
    const { signal } = new AbortController();
    const { model } = await compiler.compile(files, signal, { wantsModel: true });
    // A newer version of this program may refuse what an older one has built.
    if (!model) throw new ApiError('model_not_built');
    // A model that is larger than the whole cache stays in it alone.
    const size = Math.min(CACHED_CHARACTERS_MAX, BASE_CHARACTERS + charactersIn(files));
    cache.set(key, model, { size });
    return model;
  };

  async function modelOf(db: Queryable, deploymentId: number, tree: string): Promise<Model> {
    const key = `${deploymentId} ${tree}`;
    const known = cache.get(key);
    if (known) return known;
    let load = loads.get(key);
    if (!load) {
      load = admission.take({ sharer: String(deploymentId) }, () => compile(db, deploymentId, tree, key));
      loads.set(key, load);
      load.finally(() => loads.delete(key)).catch(() => {});
    }
    return load;
  }

  async function treeOf(db: Queryable, { deploymentId, branchId }: ServedBranch): Promise<string | null> {
    const key = `${deploymentId} ${branchId ?? 'production'}`;
    const read = async () => (await findServedTree(db, deploymentId, branchId)) ?? null;
    const known = treeCache.get(key);
    return known === undefined ? treeCache.load(key, read) : known;
  }

  const { start, stop } = createModelWarmer(platform, async (deploymentId) => {
    const { db } = platform;
    const tree = await treeOf(db, { deploymentId, branchId: null });
    const before = deployed.get(deploymentId);
    if (tree === null || tree === before) return;
    const isInUse = cache.has(`${deploymentId} ${before}`);
    deployed.set(deploymentId, tree);
    if (!isInUse && charactersIn(await readModelFiles(db, deploymentId, tree)) > WARMED_CHARACTERS_MAX)
      return;
    await modelOf(db, deploymentId, tree);
  });

  async function compileDraft(db: Queryable, deploymentId: number, tree: string, key: string) {
    const known = drafts.get(key);
    if (known) return known;
    const files = await readModelFiles(db, deploymentId, tree);
    compiled++;
    const { signal } = new AbortController();
    const { model, errors } = await compiler.compile(files, signal, { wantsModel: true });
    if (!model) {
      const [first] = errors;
      throw new ApiError('model_not_built', {
        message: `The files of this branch do not compile${first ? `: ${first.file}, line ${first.line}: ${first.message}` : '.'}`,
      });
    }
    drafts.set(key, model, { size: Math.min(DRAFTS_CHARACTERS_MAX, BASE_CHARACTERS + charactersIn(files)) });
    return model;
  }

  return {
    start,
    stop,
    async findDraft(db, deploymentId, tree) {
      const key = `${deploymentId} ${tree}`;
      const served = cache.get(key);
      if (served) return served;
      return (
        drafts.get(key) ??
        draftAdmission.take({ sharer: String(deploymentId) }, () => compileDraft(db, deploymentId, tree, key))
      );
    },
    async find(db, served) {
      const { deploymentId, branchId } = served;
      const tree = await treeOf(db, served);
      if (tree === null) throw new ApiError('model_not_built');
      if (branchId === null) deployed.set(deploymentId, tree);
      return modelOf(db, deploymentId, tree);
    },
  };
}

const charactersIn = (files: ReadonlyMap<string, string>) =>
  [...files.values()].reduce((sum, text) => sum + text.length, 0);
