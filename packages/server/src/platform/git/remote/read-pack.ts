/** Reads the objects of a pack, with its deltas. Pure, and for a thread: a pack comes from a server that nobody trusts. */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { type GitObject, type Hash, hashOf } from '../objects.ts';
import { applyDelta, deltaSizes } from './delta.ts';
import { RemoteError } from './remote-error.ts';

export interface PackLimits {
  objects: number;
  /** The size limit of one object, decompressed. */
  objectBytes: number;
  /** The size limit of all objects together, decompressed. */
  totalBytes: number;
  /** How many deltas may stand on one another. Git itself makes chains of up to 50, or 250 where one asks for it. */
  deltaDepth: number;
}

export interface PackContent {
  objects: Map<Hash, GitObject>;
  /** Objects that deltas of a thin pack need and that the pack does not hold. If there are any, read it again with them. */
  missing: Hash[];
}

const SIGNATURE = 'PACK';
const HEADER_BYTES = 12;
const HASH_BYTES = 20;
const TYPES: Readonly<Record<number, GitObject['type'] | 'tag'>> = {
  1: 'commit',
  2: 'tree',
  3: 'blob',
  4: 'tag',
};
const OFS_DELTA = 6;
const REF_DELTA = 7;

interface Entry {
  at: number;
  /** Plain content, or the instructions of a delta. */
  content: Buffer;
  type?: GitObject['type'] | 'tag';
  base?: number | Hash;
}

const broken = () => new RemoteError('not_git', 'The pack of the remote is damaged.');
const tooLarge = (what: string) => new RemoteError('too_large', `The repository is too large: ${what}.`);

/** `known` are objects that the reader has already, for the deltas of a thin pack. */
export function readPack(pack: Buffer, limits: PackLimits, known: ReadonlyMap<Hash, GitObject>): PackContent {
  const entries = readEntries(pack, limits);
  return resolveDeltas(entries, limits, known);
}

function readEntries(pack: Buffer, limits: PackLimits): Entry[] {
  const end = pack.length - HASH_BYTES;
  if (
    end < HEADER_BYTES ||
    pack.toString('latin1', 0, 4) !== SIGNATURE ||
    ![2, 3].includes(pack.readUInt32BE(4))
  )
    throw broken();
  const count = pack.readUInt32BE(8);
  if (count > limits.objects) throw tooLarge(`it has more than ${limits.objects} objects`);
  const checksum = createHash('sha1').update(pack.subarray(0, end)).digest();
  if (!checksum.equals(pack.subarray(end))) throw broken();
  const entries: Entry[] = [];
  let at = HEADER_BYTES;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const { entry, next } = readEntry(pack.subarray(0, end), at, limits);
    total += entry.content.length;
    if (total > limits.totalBytes) throw tooLarge(`it holds more than ${limits.totalBytes} bytes`);
    entries.push(entry);
    at = next;
  }
  if (at !== end) throw broken();
  return entries;
}

function readEntry(pack: Buffer, start: number, { objectBytes }: PackLimits): { entry: Entry; next: number } {
  let at = start;
  const byte = () => {
    const value = pack[at++];
    if (value === undefined) throw broken();
    return value;
  };
  // The type and four bits of the size, then seven bits in each byte. The first bit says whether another byte follows.
  let read = byte();
  const type = (read >> 4) & 7;
  let size = read & 15;
  for (let factor = 16; read & 0x80; factor *= 128) {
    read = byte();
    size += (read & 0x7f) * factor;
    if (size > objectBytes) throw tooLarge(`one of its objects has more than ${objectBytes} bytes`);
  }
  const entry: Entry = { at: start, content: Buffer.alloc(0) };
  if (type === OFS_DELTA) {
    read = byte();
    let distance = read & 0x7f;
    while (read & 0x80) {
      read = byte();
      distance = (distance + 1) * 128 + (read & 0x7f);
      if (distance > start) throw broken();
    }
    entry.base = start - distance;
  } else if (type === REF_DELTA) {
    entry.base = pack.toString('hex', at, at + HASH_BYTES);
    at += HASH_BYTES;
  } else {
    entry.type = TYPES[type];
    if (!entry.type) throw broken();
  }
  const inflated = inflate(pack.subarray(at), size);
  entry.content = inflated.content;
  return { entry, next: at + inflated.consumed };
}

const CHUNK_BYTES = 64 * 1024;

function inflate(compressed: Buffer, size: number) {
  try {
    // Without the exact limit, a small object could become a very large one. Zlib does not take zero as a limit, nor as
    // the size of a chunk.
    const { buffer, engine } = inflateSync(compressed, {
      info: true,
      maxOutputLength: Math.max(size, 1),
      chunkSize: Math.min(Math.max(size, 64), CHUNK_BYTES),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (buffer.length !== size) throw broken();
    return { content: buffer, consumed: engine.bytesWritten };
  } catch {
    throw broken();
  }
}

function resolveDeltas(
  entries: Entry[],
  limits: PackLimits,
  known: ReadonlyMap<Hash, GitObject>,
): PackContent {
  const objects = new Map<Hash, GitObject>();
  /** The objects by their place in the pack, with the number of deltas below each. */
  const placed = new Map<number, { object: GitObject; depth: number }>();
  const depths = new Map<Hash, number>();
  const waiting = new Map<number | Hash, Entry[]>();
  let total = 0;

  const ready: { entry: Entry; object: GitObject; depth: number }[] = [];
  const wait = (entry: Entry) => {
    const others = waiting.get(entry.base!);
    if (others) others.push(entry);
    else waiting.set(entry.base!, [entry]);
  };
  const rebuild = (entry: Entry, base: GitObject, depth: number) => {
    if (depth > limits.deltaDepth) throw tooLarge(`it has more than ${limits.deltaDepth} deltas in a chain`);
    const { baseBytes, resultBytes } = deltaSizes(entry.content);
    if (baseBytes !== base.content.length) throw broken();
    if (resultBytes > limits.objectBytes)
      throw tooLarge(`one of its objects has more than ${limits.objectBytes} bytes`);
    total += resultBytes;
    if (total > limits.totalBytes) throw tooLarge(`it holds more than ${limits.totalBytes} bytes`);
    ready.push({
      entry,
      object: { type: base.type, content: applyDelta(base.content, entry.content) },
      depth,
    });
  };
  const release = (name: number | Hash, base: GitObject, depth: number) => {
    const deltas = waiting.get(name) ?? [];
    waiting.delete(name);
    for (const delta of deltas) rebuild(delta, base, depth + 1);
  };
  /** Takes objects until no delta is left whose base is known. A loop, because chains are as long as the sender likes. */
  const drain = () => {
    for (let next = ready.pop(); next; next = ready.pop()) {
      const { entry, object, depth } = next;
      const hash = hashOf(object);
      objects.set(hash, object);
      depths.set(hash, depth);
      placed.set(entry.at, { object, depth });
      release(entry.at, object, depth);
      release(hash, object, depth);
    }
  };

  for (const entry of entries) {
    total += entry.type ? entry.content.length : 0;
    if (entry.base !== undefined) {
      const below = typeof entry.base === 'number' ? placed.get(entry.base) : undefined;
      if (below) rebuild(entry, below.object, below.depth + 1);
      else if (typeof entry.base === 'string' && objects.has(entry.base))
        rebuild(entry, objects.get(entry.base)!, depths.get(entry.base)! + 1);
      else wait(entry);
    } else if (entry.type !== 'tag') {
      // Tag objects are dropped, because no caller needs them.
      ready.push({ entry, object: { type: entry.type!, content: entry.content }, depth: 0 });
    }
    drain();
  }
  for (const [hash, object] of known) {
    release(hash, object, 0);
    drain();
  }
  const missing = [...waiting.keys()].filter((base): base is Hash => typeof base === 'string');
  // A delta that still waits for a place in the pack has a base that waits itself, or no base at all.
  if (waiting.size && (!missing.length || missing.every((hash) => known.has(hash)))) throw broken();
  return { objects, missing };
}
