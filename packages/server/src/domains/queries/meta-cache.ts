/** Caches what viewers can query, as JSON text, for viewers with the same rights. */

import { type Model, metaText, type Viewer } from '@oriel/semantic';
import { LRUCache } from 'lru-cache';
import { createYielder } from '../../platform/yielder.ts';
import { createObjectIds } from './object-ids.ts';

const CACHED_BYTES_MAX = 64 * 1024 * 1024;

export interface MetaCache {
  of(model: Model, viewer: Viewer, onlyViews: boolean): Promise<Uint8Array>;
}

interface Source {
  model: Model;
  viewer: Viewer;
  onlyViews: boolean;
}

export function createMetaCache(bytesMax = CACHED_BYTES_MAX): MetaCache {
  const idOf = createObjectIds();
  const cache = new LRUCache<string, Uint8Array, Source>({
    maxSize: bytesMax,
    sizeCalculation: (bytes, key) => bytes.length + 2 * key.length,
    // Calls for the same key share one load. A load whose entry was evicted still answers its callers.
    fetchMethod: (_key, _stale, { context }) => writeMeta(context),
    ignoreFetchAbort: true,
    allowStaleOnFetchAbort: true,
  });
  return {
    async of(model, viewer, onlyViews) {
      // Which members are open depends on nothing else of the viewer.
      const { groups, tenantGroups, roles, seesUnguarded } = viewer;
      const key = JSON.stringify([idOf(model), onlyViews, groups, tenantGroups, roles, seesUnguarded]);
      return cache.forceFetch(key, { context: { model, viewer, onlyViews } });
    },
  };
}

async function writeMeta({ model, viewer, onlyViews }: Source): Promise<Uint8Array> {
  const step = createYielder();
  const pieces = [Buffer.from('{"cubes":')];
  for (const piece of metaText(model, viewer, { onlyViews })) {
    pieces.push(Buffer.from(piece));
    await step();
  }
  return Buffer.concat([...pieces, Buffer.from('}')]);
}
