/** Three-way merge of trees, with the trees and the conflicts of `git merge` without detection of renames. */
import { type Conflict, type ContentMerge, mergeContents } from './merge-contents.ts';
import { bufferOf, type Outcome } from './merge-files.ts';
import type { Markers } from './merge-texts.ts';
import {
  blobOf,
  type GitObject,
  type Hash,
  hashOf,
  type Mode,
  type Objects,
  type Tree,
  type TreeEntry,
} from './objects.ts';
import type { TextWork } from './text-work.ts';
import { compareEntries, EMPTY_TREE, formatTree, isDirectory, readTrees, writeTrees } from './trees.ts';

export type { Conflict } from './merge-contents.ts';

/** Something of each of the three trees. */
interface Three<Thing> {
  base: Thing;
  ours: Thing;
  theirs: Thing;
}

export interface MergeOptions {
  /** With `ours` there are no conflicts: texts get our hunks, and other conflicts our side as a whole. */
  favour?: 'ours';
  texts: TextWork;
}

export type MergeResult = { tree: Hash } | { conflicts: Conflict[] };

/** Writes the objects of the merged tree, or nothing if there are conflicts. */
export async function mergeTrees(
  objects: Objects,
  roots: Three<Hash>,
  { favour, texts }: MergeOptions,
): Promise<MergeResult> {
  const { root, conflicts } = await merge(objects, roots, favour ?? 'refused', texts);
  if (conflicts.length) return { conflicts };
  return { tree: await writePlanned(objects, root) };
}

/** Writes a tree also if there are conflicts. A file in the place of a directory gets the name of its side. */
export async function mergeTreesWithMarkers(
  objects: Objects,
  roots: Three<Hash>,
  markers: Markers & { isVirtual: boolean },
  texts: TextWork,
): Promise<{ tree: Hash; conflicts: Conflict[] }> {
  const { root, conflicts } = await merge(objects, roots, markers, texts);
  return { tree: await writePlanned(objects, root), conflicts };
}

async function merge(objects: Objects, roots: Three<Hash>, outcome: Outcome, texts: TextWork) {
  const plan = new Plan(await readDiffering(objects, roots), outcome);
  const root = plan.directory(roots, '');
  const conflicts = [...plan.conflicts, ...(await mergeContents(objects, plan.contents, { outcome, texts }))];
  return { root, conflicts: conflicts.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** The trees of directories that are not decided by a look at their hashes, level by level. */
async function readDiffering(objects: Objects, roots: Three<Hash>): Promise<Map<Hash, Tree>> {
  const found = new Map<Hash, Tree>();
  for (let level: Three<Hash | null>[] = [roots]; level.length; ) {
    level = level.filter((hashes) => decide(hashes) === undefined);
    const wanted = level.flatMap(({ base, ours, theirs }) => [base, ours, theirs]);
    const trees = await readTrees(
      objects,
      wanted.filter((hash) => hash !== null),
    );
    for (const [hash, tree] of trees) found.set(hash, tree);
    level = level.flatMap((hashes) =>
      [...entriesByName(found, hashes)].map(([, versions]) => mapThree(versions, directoryOf)),
    );
  }
  return found;
}

const mapThree = <From, To>({ base, ours, theirs }: Three<From>, map: (from: From) => To): Three<To> => ({
  base: map(base),
  ours: map(ours),
  theirs: map(theirs),
});

/** The version that wins if at most one side has changed it, or both in the same way. Otherwise undefined. */
function decide<Version>({ base, ours, theirs }: Three<Version>): Version | undefined {
  if (ours === theirs || base === theirs) return ours;
  return base === ours ? theirs : undefined;
}

const directoryOf = (entry: TreeEntry | null) => (entry && isDirectory(entry) ? entry.hash : null);
const fileOf = (entry: TreeEntry | null) => (entry && !isDirectory(entry) ? entry : null);

function entriesByName(
  trees: Map<Hash, Tree>,
  hashes: Three<Hash | null>,
): Map<string, Three<TreeEntry | null>> {
  const byName = new Map<string, Three<TreeEntry | null>>();
  for (const side of ['base', 'ours', 'theirs'] as const) {
    const hash = hashes[side];
    for (const entry of hash === null ? [] : trees.get(hash)!) {
      const versions = byName.get(entry.name) ?? { base: null, ours: null, theirs: null };
      versions[side] = entry;
      byName.set(entry.name, versions);
    }
  }
  return byName;
}

/** An entry of the merged tree: as in one of the trees, merged from three contents, or a directory of such entries. */
interface PlannedEntry {
  name: string;
  mode: Mode;
  content: Hash | ContentMerge | PlannedEntry[];
}

type File = Pick<TreeEntry, 'mode' | 'hash'>;
type PlannedFile = Omit<PlannedEntry, 'name'> | null;

const plannedFile = (file: File | null): PlannedFile => file && { mode: file.mode, content: file.hash };
const isSame = (a: File | null, b: File | null) => a?.hash === b?.hash && a?.mode === b?.mode;
const isText = ({ mode }: File) => mode === '100644' || mode === '100755';

class Plan {
  readonly conflicts: Conflict[] = [];
  readonly contents: ContentMerge[] = [];
  readonly #trees: Map<Hash, Tree>;
  readonly #outcome: Outcome;

  constructor(trees: Map<Hash, Tree>, outcome: Outcome) {
    this.#trees = trees;
    this.#outcome = outcome;
  }

  /** Returns the hash of a tree that is the result as it is, or null if nothing is left. */
  directory(hashes: Three<Hash | null>, prefix: string): Hash | PlannedEntry[] | null {
    const decided = decide(hashes);
    if (decided !== undefined) return decided;
    const byName = entriesByName(this.#trees, hashes);
    const planned = [...byName].flatMap(([name, versions]) => this.#entries(name, versions, prefix, byName));
    return planned.length ? planned : null;
  }

  #entries(
    name: string,
    versions: Three<TreeEntry | null>,
    prefix: string,
    siblings: ReadonlyMap<string, unknown>,
  ): PlannedEntry[] {
    const path = prefix + name;
    const files = mapThree(versions, fileOf);
    const content = this.directory(mapThree(versions, directoryOf), `${path}/`);
    if (content === null) {
      const file = this.#file(path, files);
      return file ? [{ name, ...file }] : [];
    }
    const directory = { name, mode: '40000', content } as const;
    // Only one side can still have a file here, because another one has the directory.
    const file = files.ours ?? files.theirs;
    if (!file || isSame(file, files.base)) return [directory];
    if (this.#outcome === 'ours')
      return files.ours ? [{ name, mode: file.mode, content: file.hash }] : [directory];
    this.conflicts.push({ path, kind: 'file_and_directory', hunks: [] });
    if (this.#outcome === 'refused') return [directory];
    const { mode, hash } = (this.#outcome.isVirtual && files.base) || file;
    const other = freeName(`${name}~${this.#outcome[files.ours ? 'ours' : 'theirs']}`, siblings);
    return [directory, { name: other, mode, content: hash }];
  }

  #file(path: string, files: Three<File | null>): PlannedFile {
    const { base, ours, theirs } = files;
    if (isSame(ours, theirs) || isSame(base, theirs)) return plannedFile(ours);
    if (isSame(base, ours)) return plannedFile(theirs);
    if (ours && theirs) return this.#content(path, { base, ours, theirs });
    if (this.#outcome === 'ours') return plannedFile(ours);
    this.conflicts.push({ path, kind: ours ? 'deleted_by_theirs' : 'deleted_by_ours', hunks: [] });
    const isVirtual = this.#outcome !== 'refused' && this.#outcome.isVirtual;
    return plannedFile(isVirtual ? base : (ours ?? theirs));
  }

  #content(
    path: string,
    { base, ours, theirs }: { base: File | null; ours: File; theirs: File },
  ): PlannedFile {
    const keepsOurMode = ours.mode !== theirs.mode && ours.mode !== base?.mode;
    const mode = keepsOurMode ? ours.mode : theirs.mode;
    const isConflict = keepsOurMode && theirs.mode !== base?.mode;
    const kind = base ? 'content' : 'added_by_both';
    const hash = decide<Hash | undefined>({ base: base?.hash, ours: ours.hash, theirs: theirs.hash });
    if (hash !== undefined || !isText(ours) || !isText(theirs)) {
      if (this.#outcome !== 'ours' && (isConflict || hash === undefined))
        this.conflicts.push({ path, kind, hunks: [] });
      return { mode, content: hash ?? ours.hash };
    }
    const content = {
      path,
      base: base && isText(base) ? base.hash : null,
      ours: ours.hash,
      theirs: theirs.hash,
      isConflict,
    };
    this.contents.push(content);
    return { mode, content };
  }
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted.replaceAll('/', '_');
  for (let n = 0; taken.has(name); n++) name += `_${n}`;
  return name;
}

async function writePlanned(objects: Objects, root: Hash | PlannedEntry[] | null): Promise<Hash> {
  const trees: Tree[] = [];
  const blobs: GitObject[] = [];
  const hash = root === null ? EMPTY_TREE : hashPlanned(root, trees, blobs);
  if (hash === EMPTY_TREE) trees.push([]);
  await objects.write(blobs);
  await writeTrees(objects, trees);
  return hash;
}

/** Computes the hash of an entry's content, and collects the objects that are new. */
function hashPlanned(content: PlannedEntry['content'], trees: Tree[], blobs: GitObject[]): Hash {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) {
    const { content: merged, hash } = content.merged!;
    blobs.push(blobOf(bufferOf(merged)));
    return hash;
  }
  const tree = content
    .map(({ name, mode, content: below }) => ({ name, mode, hash: hashPlanned(below, trees, blobs) }))
    .sort(compareEntries);
  trees.push(tree);
  return hashOf(formatTree(tree));
}
