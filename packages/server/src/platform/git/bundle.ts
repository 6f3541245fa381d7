/** A git bundle: a file that `git clone` takes, with the whole history. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { GitObject, Hash, Objects } from './objects.ts';
import { findReachable, findUnknown } from './reachable.ts';
import { EMPTY_TREE } from './trees.ts';

const compress = promisify(deflate);

/** So many objects are in memory at once, each up to 1 MB. */
const OBJECTS_AT_ONCE = 32;

/**
 * `refs` maps names such as `refs/heads/main` to commits. A clone checks out `head`, if it is given. The format can only
 * name the commit of `HEAD`. If several branches have that commit, git takes the one that its setting
 * `init.defaultBranch` names, then `master`, then the one in the last line.
 */
export async function* streamBundle(
  objects: Objects,
  refs: ReadonlyMap<string, Hash>,
  head?: string,
): AsyncGenerator<Buffer> {
  const named = (name: string, ref = name) => `${refs.get(ref)} ${name}\n`;
  const lines = [...refs.keys()].filter((name) => name !== head).map((name) => named(name));
  if (head !== undefined) lines.push(named('HEAD', head), named(head));
  yield Buffer.from(`# v2 git bundle\n${lines.join('')}\n`);
  yield* streamPack(objects, [...refs.values()]);
}

/** A pack of everything that these commits need, apart from what `known` commits need. */
export async function* streamPack(
  objects: Objects,
  commits: readonly Hash[],
  known: readonly Hash[] = [],
): AsyncGenerator<Buffer> {
  const reachable = known.length
    ? await findUnknown(objects, commits, known)
    : await findReachable(objects, { commits });
  const hashes = [...reachable.commits, ...reachable.trees, ...reachable.blobs];
  const checksum = createHash('sha1');
  const signed = (bytes: Buffer) => {
    checksum.update(bytes);
    return bytes;
  };
  yield signed(packHeader(hashes.length));
  for (let i = 0; i < hashes.length; i += OBJECTS_AT_ONCE) {
    const part = hashes.slice(i, i + OBJECTS_AT_ONCE);
    const found = await objects.read(part.filter((hash) => hash !== EMPTY_TREE));
    const packed = part.map((hash) =>
      packObject(found.get(hash) ?? { type: 'tree', content: Buffer.alloc(0) }),
    );
    yield signed(Buffer.concat(await Promise.all(packed)));
  }
  yield checksum.digest();
}

function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\0\0\0\0\0');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return header;
}

const TYPES = { commit: 1, tree: 2, blob: 3 } as const;

async function packObject({ type, content }: GitObject): Promise<Buffer> {
  // The type and four bits of the size, then seven bits in each byte. The first bit says whether another byte follows.
  const head = [(TYPES[type] << 4) | (content.length & 15)];
  for (let rest = content.length >> 4; rest > 0; rest >>= 7) {
    head[head.length - 1]! |= 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), await compress(content)]);
}
