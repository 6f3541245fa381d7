/** What viewers can query, as JSON text, which is kept in memory for viewers with the same rights. */
import { type Model, metaText, type Viewer } from '@oriel/semantic';
import { createSteps } from '../../platform/steps.ts';
import { createKept } from './kept.ts';
import { createNumbers } from './numbers.ts';

const KEEP_BYTES_MAX = 64 * 1024 * 1024;

export interface KeptMeta {
  of(model: Model, viewer: Viewer, onlyViews: boolean): Promise<Uint8Array>;
}

export function createKeptMeta(bytesMax = KEEP_BYTES_MAX): KeptMeta {
  const kept = createKept<Uint8Array>(bytesMax);
  const making = new Map<string, Promise<Uint8Array>>();
  const numberOf = createNumbers();

  async function make(model: Model, viewer: Viewer, onlyViews: boolean): Promise<Uint8Array> {
    const step = createSteps();
    const pieces = [Buffer.from('{"cubes":')];
    for (const piece of metaText(model, viewer, { onlyViews })) {
      pieces.push(Buffer.from(piece));
      await step();
    }
    return Buffer.concat([...pieces, Buffer.from('}')]);
  }

  return {
    async of(model, viewer, onlyViews) {
      // Which members are open depends on nothing else of the viewer.
      const { groups, tenantGroups, roles, seesUnguarded } = viewer;
      const key = JSON.stringify([numberOf(model), onlyViews, groups, tenantGroups, roles, seesUnguarded]);
      const known = kept.find(key);
      if (known) return known;
      let made = making.get(key);
      if (!made) {
        made = make(model, viewer, onlyViews).finally(() => making.delete(key));
        making.set(key, made);
        made.then((bytes) => kept.add(key, bytes, bytes.length + 2 * key.length)).catch(() => {});
      }
      return made;
    },
  };
}
