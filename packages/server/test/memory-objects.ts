import {
  type GitObject,
  type Hash,
  hashOf,
  MissingObjectError,
  type Objects,
  treesInMemory,
} from '../src/platform/git/objects.ts';

/** A repository in memory. */
export function memoryObjects(): Objects {
  const stored = new Map<Hash, GitObject>();
  const find = (wanted: Hash) => {
    const object = stored.get(wanted);
    if (!object) throw new MissingObjectError(wanted);
    return object;
  };
  return {
    trees: treesInMemory(),
    read: async (hashes) => new Map(hashes.map((wanted) => [wanted, find(wanted)])),
    async write(objects) {
      return objects.map((object) => {
        const own = hashOf(object);
        if (!stored.has(own)) stored.set(own, object);
        return own;
      });
    },
    sizes: async (blobs) => new Map(blobs.map((wanted) => [wanted, find(wanted).content.length])),
    readHistory: async (commits) => new Map(commits.map((wanted) => [wanted, find(wanted)])),
  };
}
