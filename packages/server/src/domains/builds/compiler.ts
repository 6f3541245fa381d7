/** Compiles data models in threads, so that a large or malicious model delays nobody. */
import { deserialize, serialize } from 'node:v8';
import {
  type ChangedPart,
  type CompileResult,
  type Model,
  type PackedPart,
  packModel,
  unpackModel,
} from '@oriel/semantic';
import { joinShared, splitShared } from '../../platform/shared-bytes.ts';
import { createThreads, ThreadLimitError, type ThreadLimits, threadScript } from '../../platform/threads.ts';
import { createYielder } from '../../platform/yielder.ts';

export type Report = Omit<CompileResult, 'model'> & {
  /** The model, if the caller wants it (`wantsModel`). */
  model?: Model | undefined;
  /** The changes of meaning, if the caller gave the earlier files and the model compiles. */
  meaning?: Meaning | undefined;
};

/** What a model means beside an earlier one. Names of members are `cube.member`. */
export interface Meaning {
  changes: ChangedPart[];
  /** The members that may answer otherwise than before. */
  affected: ReadonlySet<string>;
  /** All members that there are. */
  members: ReadonlySet<string>;
}

/** What the thread answers. The parts of the model are bytes that all threads share. */
export type PackedReport = Omit<CompileResult, 'model'> & {
  packed: SharedArrayBuffer | undefined;
  meaning: Meaning | undefined;
};

/** The order to the thread. A model is large, so it is sent back only if the caller needs it. */
export interface Order {
  files: ReadonlyMap<string, string>;
  wantsModel: boolean;
  /** The files of an earlier model, to compare with. */
  before?: ReadonlyMap<string, string> | undefined;
}

/** Says in words for people why a model could not be compiled. */
export class CompilerError extends Error {}

/** A model of 20 MB takes about a third of both. */
export const COMPILE_LIMITS: ThreadLimits = { timeMs: 30_000, memoryMb: 1024 };

export type CompileOptions = Partial<Pick<Order, 'wantsModel' | 'before'>>;

export interface Compiler {
  /** Rejects with a `CompilerError` if the model is too much, and with the reason of the signal if that is aborted. */
  compile(files: ReadonlyMap<string, string>, signal: AbortSignal, options?: CompileOptions): Promise<Report>;
  stop(): Promise<void>;
}

export function createCompiler(limits: ThreadLimits = COMPILE_LIMITS): Compiler {
  const threads = createThreads<Order, PackedReport>(threadScript('compile-thread'), limits, { idleMax: 2 });
  const words = {
    timeMs: `took more than ${limits.timeMs / 1000} seconds of CPU time`,
    memoryMb: `needed more than ${limits.memoryMb} MB of memory`,
  };
  return {
    compile: (files, signal, { wantsModel = false, before } = {}) =>
      threads.run({ files, wantsModel, before }, signal).then(unpack, (error: unknown) => {
        if (!(error instanceof ThreadLimitError)) throw error;
        throw new CompilerError(`The data model ${words[error.limit]} to compile, so it was stopped.`);
      }),
    stop: threads.stop,
  };
}

async function unpack({ packed, ...report }: PackedReport): Promise<Report> {
  if (!packed) return report;
  const unpacked = unpackModel();
  const step = createYielder();
  for (const part of splitShared(packed)) {
    unpacked.add(deserialize(part) as PackedPart);
    await step();
  }
  packedModels.set(unpacked.model, packed);
  return { ...report, model: unpacked.model };
}

const packedModels = new WeakMap<Model, SharedArrayBuffer>();

/** The bytes that a model came in, from which any thread can make it again: the parts of `packModel`. */
export function packedOf(model: Model): SharedArrayBuffer {
  let packed = packedModels.get(model);
  if (!packed) {
    // Only models that no thread has compiled, which are those of tests.
    packed = joinShared(Array.from(packModel(model), (part) => serialize(part)));
    packedModels.set(model, packed);
  }
  return packed;
}
