/**
 * Merge of two commits with the base that git takes. If there are several best common ancestors, they are merged with
 * one another first, from the oldest to the youngest, and conflicts between them become part of the base, with markers.
 */
import { type FindNode, findMergeBases, type HistoryNode, historyNodes } from './merge-bases.ts';
import { type MergeOptions, type MergeResult, mergeTrees, mergeTreesWithMarkers } from './merge-trees.ts';
import { type Hash, type Objects, overlay } from './objects.ts';
import type { TextWork } from './text-work.ts';
import { EMPTY_TREE } from './trees.ts';

const MARKER_SIZE = 7;
/** More than any real history needs. Beyond it, the remaining ancestors are not merged into the base. */
const VIRTUAL_MERGES_MAX = 50;

export async function mergeCommits(
  objects: Objects,
  { ours, theirs }: { ours: Hash; theirs: Hash },
  { favour, texts }: MergeOptions,
): Promise<MergeResult> {
  const inMemory = overlay(objects);
  const find = historyNodes(objects);
  const base = await new BaseMerge(inMemory, find, texts).treeFor(ours, theirs);
  const trees = { base, ours: (await find(ours)).tree, theirs: (await find(theirs)).tree };
  return mergeTrees({ ...inMemory, write: objects.write }, trees, { favour, texts });
}

class BaseMerge {
  readonly #objects: Objects;
  readonly #texts: TextWork;
  readonly #stored: FindNode;
  /** The commits that merges of ancestors would have. */
  readonly #virtual = new Map<Hash, HistoryNode>();

  constructor(objects: Objects, stored: FindNode, texts: TextWork) {
    this.#objects = objects;
    this.#stored = stored;
    this.#texts = texts;
  }

  readonly #find: FindNode = async (hash) => this.#virtual.get(hash) ?? this.#stored(hash);

  async treeFor(a: Hash, b: Hash, depth = 0): Promise<Hash> {
    const [oldest, ...younger] = (await findMergeBases(this.#find, a, b)).reverse();
    if (oldest === undefined) return EMPTY_TREE;
    let merged = await this.#find(oldest);
    for (const hash of younger) {
      if (this.#virtual.size >= VIRTUAL_MERGES_MAX) break;
      merged = await this.#merge(merged, await this.#find(hash), depth + 1);
    }
    return merged.tree;
  }

  async #merge(ours: HistoryNode, theirs: HistoryNode, depth: number): Promise<HistoryNode> {
    const base = await this.treeFor(ours.hash, theirs.hash, depth);
    const markers = {
      ours: 'Temporary merge branch 1',
      theirs: 'Temporary merge branch 2',
      // Longer than those of the merge that uses the result.
      size: MARKER_SIZE + 2 * depth,
      isVirtual: true,
    };
    const trees = { base, ours: ours.tree, theirs: theirs.tree };
    const { tree } = await mergeTreesWithMarkers(this.#objects, trees, markers, this.#texts);
    const hash = `virtual ${this.#virtual.size}`;
    const node = { hash, parents: [ours.hash, theirs.hash], tree, seconds: 0 };
    this.#virtual.set(hash, node);
    return node;
  }
}
