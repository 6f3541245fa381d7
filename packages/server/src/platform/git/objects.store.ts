/** Objects in the table `git_objects`. The id of a repository is the id of its deployment. */
import { hash as digestOf } from 'node:crypto';
import type { Queryable } from '../db/database.ts';
import { literal, sql } from '../db/sql.ts';
import { createCache, partOf } from './cache.ts';
import { parentsIn } from './commits.ts';
import { type GitObject, type Hash, hashOf, MissingObjectError, type Objects, type Tree } from './objects.ts';
import { listTree } from './trees.ts';

/** The sizes of the caches, together about 80 MB of memory in a process if all are full. */
const CACHED_TREE_ENTRIES = 200_000;
const CACHED_BLOB_FACTS = 100_000;
const CACHED_FILE_DIGESTS = 200_000;
/** A statement takes up to this much content. */
const STATEMENT_BYTES = 4 * 1024 * 1024;
const STATEMENT_OBJECTS = 1000;

// The caches are for the whole process, because every request about a model reads the same trees.
const trees = createCache<Tree>(CACHED_TREE_ENTRIES, (tree) => tree.length + 1);
const facts = createCache<BlobFacts>(CACHED_BLOB_FACTS, () => 1);
const fileDigests = createCache<FileDigests>(
  CACHED_FILE_DIGESTS,
  (digests) => Object.keys(digests).length + 1,
);

/** What this process has written to each repository since `takeWritten` was called. */
const written = new Map<number, number>();

/** Returns how many bytes this process has written to the repository, and counts anew. */
export function takeWritten(repositoryId: number): number {
  const bytes = written.get(repositoryId) ?? 0;
  written.delete(repositoryId);
  return bytes;
}

/** About how many bytes an object takes beside its content. */
const OBJECT_BYTES = 100;

/** SQL for the bytes that a repository takes. It reads all objects, so it is for jobs. */
export const storedBytes = (repositoryId: number) => sql`
  (select coalesce(sum(octet_length(content) + ${literal(OBJECT_BYTES)}), 0)
   from git_objects where deployment_id = ${repositoryId})::bigint`;

/** Give it a transaction to write together with other changes. Objects that were written in vain are swept later. */
export const createObjects = (db: Queryable, repositoryId: number): Objects => ({
  trees: partOf(trees, repositoryId),

  async read(hashes) {
    const rows = hashes.length
      ? await db.many<ObjectRow>(sql`
          select hash, type, content from git_objects
          where deployment_id = ${repositoryId} and hash = any(${hashes.map(toBytes)}::bytea[])`)
      : [];
    return requireAll(hashes, toMap(rows));
  },

  async write(objects) {
    const hashes: Hash[] = [];
    // Hashed just before it is written, because the hashes of a hundred megabytes at once would delay others.
    for (const batch of batchesOf(objects)) {
      const hashed = batch.map((object): HashedObject => [hashOf(object), object]);
      for (const [hash] of hashed) hashes.push(hash);
      const { bytes } = await insertObjects(db, repositoryId, [...new Map(hashed)]);
      written.set(repositoryId, (written.get(repositoryId) ?? 0) + bytes);
    }
    return hashes;
  },

  sizes: (blobs) => listSizes(db, repositoryId, blobs),

  async readHistory(commits, limit) {
    const rows = await db.many<ObjectRow>(sql`
      with recursive history as (
        select hash, type, content, parents from git_objects
        where deployment_id = ${repositoryId} and hash = any(${commits.map(toBytes)}::bytea[]) and type = 'commit'
        union
        select o.hash, o.type, o.content, o.parents
        from history h cross join unnest(h.parents) p (hash)
        join git_objects o on o.deployment_id = ${repositoryId} and o.hash = p.hash)
      select hash, type, content from history limit ${Math.max(limit, commits.length)}`);
    return requireAll(commits, toMap(rows));
  },
});

interface ObjectRow {
  hash: Buffer;
  type: GitObject['type'];
  content: Buffer;
}

const toBytes = (hash: Hash) => Buffer.from(hash, 'hex');

const toMap = (rows: ObjectRow[]) =>
  new Map(
    rows.map(({ hash, type, content }): [Hash, GitObject] => [hash.toString('hex'), { type, content }]),
  );

function requireAll<Value>(hashes: readonly Hash[], found: Map<Hash, Value>): Map<Hash, Value> {
  const missing = hashes.find((hash) => !found.has(hash));
  if (missing !== undefined) throw new MissingObjectError(missing);
  return found;
}

type HashedObject = [hash: Hash, object: GitObject];

function batchesOf(objects: readonly GitObject[]): GitObject[][] {
  const batches: GitObject[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const object of objects) {
    const { length } = object.content;
    if (bytes + length > STATEMENT_BYTES || batches.at(-1)!.length >= STATEMENT_OBJECTS) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(object);
    bytes += length;
  }
  return batches;
}

/**
 * Inserts objects, and returns how many bytes are new. An object that exists gets a new time, unless its time is
 * recent: the sweep checks the time again when it deletes. Rows are written in the order of their keys, so that two
 * writers of the same objects wait for each other without a deadlock.
 */
function insertObjects(db: Queryable, repositoryId: number, batch: HashedObject[]) {
  const column = <Value>(value: (object: GitObject) => Value) => batch.map(([, object]) => value(object));
  return db.one<{ bytes: number }>(sql`
    with written as (
    insert into git_objects as o (deployment_id, hash, type, content, digest, parents)
    select ${repositoryId}, n.hash, n.type, n.content, n.digest, n.parents::bytea[]
    from unnest(
      ${batch.map(([hash]) => toBytes(hash))}::bytea[], ${column(({ type }) => type)}::text[],
      ${column(({ content }) => content)}::bytea[], ${column(plainDigest)}::bytea[], ${column(parentsLiteral)}::text[]
    ) as n (hash, type, content, digest, parents)
    where not exists (
      select from git_objects e
      where e.deployment_id = ${repositoryId} and e.hash = n.hash and e.written_at > now() - interval '30 minutes')
    order by n.hash
    on conflict (deployment_id, hash) do update set written_at = now()
    returning case when xmax = 0 then octet_length(o.content) + ${literal(OBJECT_BYTES)} else 0 end as bytes)
    select coalesce(sum(bytes), 0)::bigint as bytes from written`);
}

const plainDigest = ({ type, content }: GitObject) =>
  type === 'blob' ? Buffer.from(digestOf('sha1', content, 'hex'), 'hex') : null;

/** An array as text, because arrays of different lengths cannot be bound as one value. */
const parentsLiteral = ({ type, content }: GitObject) =>
  type === 'commit' ? `{${parentsIn(content).map((hash) => `"\\\\x${hash}"`)}}` : null;

interface BlobFacts {
  digest: string;
  size: number;
}

async function listFacts(db: Queryable, repositoryId: number, blobs: Iterable<Hash>) {
  const known = partOf(facts, repositoryId);
  const found = new Map<Hash, BlobFacts>();
  const unknown: Hash[] = [];
  for (const hash of new Set(blobs)) {
    const fact = known.get(hash);
    if (fact) found.set(hash, fact);
    else unknown.push(hash);
  }
  if (!unknown.length) return found;
  const rows = await db.many<{ hash: string } & BlobFacts>(sql`
    select encode(hash, 'hex') as hash, encode(digest, 'hex') as digest, octet_length(content) as size
    from git_objects
    where deployment_id = ${repositoryId} and hash = any(${unknown.map(toBytes)}::bytea[]) and type = 'blob'`);
  for (const { hash, digest, size } of rows) {
    known.set(hash, { digest, size });
    found.set(hash, { digest, size });
  }
  return requireAll(unknown, found);
}

/** The SHA-1 of the plain bytes of each blob, in hex. */
export async function listDigests(
  db: Queryable,
  repositoryId: number,
  blobs: Iterable<Hash>,
): Promise<Map<Hash, string>> {
  const found = await listFacts(db, repositoryId, blobs);
  return new Map([...found].map(([hash, { digest }]) => [hash, digest]));
}

/** The number of bytes of each blob. */
export async function listSizes(
  db: Queryable,
  repositoryId: number,
  blobs: Iterable<Hash>,
): Promise<Map<Hash, number>> {
  const found = await listFacts(db, repositoryId, blobs);
  return new Map([...found].map(([hash, { size }]) => [hash, size]));
}

/** The digests of files, by path. */
export type FileDigests = Readonly<Record<string, { readonly hash: string }>>;

/** The SHA-1 of the plain bytes of every file in a tree. Tools that deploy ask for it again and again. */
export async function listFileDigests(db: Queryable, repositoryId: number, tree: Hash): Promise<FileDigests> {
  const known = partOf(fileDigests, repositoryId);
  const kept = known.get(tree);
  if (kept) return kept;
  const files = await listTree(createObjects(db, repositoryId), tree);
  const digests = await listDigests(db, repositoryId, files.values());
  const listed = Object.fromEntries([...files].map(([path, blob]) => [path, { hash: digests.get(blob)! }]));
  known.set(tree, listed);
  return listed;
}
