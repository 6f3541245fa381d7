/**
 * Takes a pack of a remote: reads and checks all of it in a thread, and stores its objects only if everything that they
 * refer to is there. A pack that is refused leaves nothing behind.
 */
import { createAdmission, notNow } from '../../admission/admission.ts';
import { createThreads, ThreadLimitError, threadScript } from '../../threads.ts';
import { type GitObject, type Hash, MissingObjectError, type Objects } from '../objects.ts';
import { readTreesBelow } from '../trees.ts';
import { type ContentLimits, measureTrees } from './check-objects.ts';
import { type PackAnswer, type PackTask, toObjects } from './pack-tasks.ts';
import type { FileSelection } from './read-files.ts';
import type { PackLimits } from './read-pack.ts';
import { RemoteError } from './remote-error.ts';

export type ReceiveLimits = PackLimits & ContentLimits;

export interface ReceivedPack {
  /** Blobs first, then trees, then commits: what an object refers to is before it. */
  objects: GitObject[];
  bytes: number;
}

export interface PackReader {
  /** `objects` has what the remote left out because this side said that it has it. */
  read(pack: Buffer, objects: Objects, limits: ReceiveLimits, signal: AbortSignal): Promise<ReceivedPack>;
  /** Reads files of a commit, by their paths, from a pack without history. Nothing is stored. */
  readFiles(
    pack: Buffer,
    files: FileSelection,
    limits: ReceiveLimits,
    signal: AbortSignal,
  ): Promise<Map<string, Uint8Array>>;
  stop(): Promise<void>;
}

/** A pack of 100 MB with 100,000 objects takes about 10 seconds. */
const THREAD_LIMITS = { timeMs: 60_000, memoryMb: 512 };
/** Each task holds a pack and all of its objects in memory. */
const LIMITS = { places: 1, waitingMax: 20, waitMs: 120_000 };

export function createPackReader(): PackReader {
  const threads = createThreads<PackTask, PackAnswer>(threadScript('pack-thread'), THREAD_LIMITS);
  const admission = createAdmission({
    ...LIMITS,
    refusal: (excess) => notNow(excess, 'Too many repositories are being fetched already: try again.'),
  });

  const run = (task: PackTask, signal: AbortSignal) =>
    threads.run(task, signal).catch((error: unknown) => {
      if (!(error instanceof ThreadLimitError)) throw error;
      throw new RemoteError(
        'too_large',
        'The repository is too large: to read it took too much time or memory.',
      );
    });

  async function read(
    pack: Buffer,
    objects: Objects,
    limits: ReceiveLimits,
    signal: AbortSignal,
  ): Promise<ReceivedPack> {
    let task: PackTask = { pack, limits, known: [], sizes: [] };
    let answer = await run(task, signal);
    if (answer.kind === 'missing') {
      task = { ...task, known: [...(await readKnown(objects, answer.missing, limits))] };
      answer = await run(task, signal);
    }
    if (answer.kind === 'objects' && answer.references.trees.length) {
      // A known folder may be in thousands of places of a new one, so a second run counts the entries of known folders.
      task = { ...task, sizes: [...(await knownSizes(objects, answer.references.trees, limits))] };
      answer = await run(task, signal);
    }
    if (answer.kind === 'failed') throw new RemoteError(answer.failure, answer.message);
    if (answer.kind !== 'objects') throw incomplete();
    await requireKnown(objects, answer.references);
    const received = [...toObjects(answer.objects).values()];
    const ofType = (type: GitObject['type']) => received.filter((object) => object.type === type);
    return {
      objects: [...ofType('blob'), ...ofType('tree'), ...ofType('commit')],
      bytes: received.reduce((sum, { content }) => sum + content.length, 0),
    };
  }

  return {
    read: (pack, objects, limits, signal) =>
      admission.take({ signal }, () => read(pack, objects, limits, signal)),
    readFiles: (pack, files, limits, signal) =>
      admission.take({ signal }, async () => {
        const answer = await run({ pack, limits, known: [], sizes: [], files }, signal);
        if (answer.kind === 'failed') throw new RemoteError(answer.failure, answer.message);
        if (answer.kind !== 'files') throw incomplete();
        return new Map(answer.files);
      }),
    stop: threads.stop,
  };
}

const incomplete = () =>
  new RemoteError('not_git', 'The remote left out a part of the history. Is it a shallow clone?');

async function readKnown(objects: Objects, missing: readonly Hash[], { totalBytes }: ReceiveLimits) {
  const known = await whatIsThere(() => objects.read(missing));
  const bytes = [...known.values()].reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > totalBytes)
    throw new RemoteError('too_large', 'The changes are too large to be fetched at once.');
  return known;
}

async function knownSizes(objects: Objects, trees: readonly Hash[], limits: ReceiveLimits) {
  const found = await whatIsThere(() => readTreesBelow(objects, trees));
  return measureTrees(trees, (hash) => found.get(hash), limits, new Map());
}

async function requireKnown(objects: Objects, { commits, trees, blobs }: ReferencesOutside) {
  const known = new Set(commits);
  await whatIsThere(async () => {
    for (const [hash, { type }] of await objects.read([...commits, ...trees]))
      if (type !== (known.has(hash) ? 'commit' : 'tree')) throw new MissingObjectError(hash);
    await objects.sizes(blobs);
  });
}

type ReferencesOutside = Extract<PackAnswer, { kind: 'objects' }>['references'];

async function whatIsThere<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof MissingObjectError ? incomplete() : error;
  }
}
