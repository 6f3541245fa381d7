/** Asks the worker that compiles the model. It is started when the studio is first shown, and ends with it. */
import type {
  Answer,
  CompileResult,
  Draft,
  DraftedTable,
  MeaningChange,
  Order,
  RenamedMember,
} from './messages.ts';

export type { CompileResult } from './messages.ts';

/** The name of the worker's file, which the build puts here. */
declare const STUDIO_WORKER: string;

export interface ModelCompiler {
  /** Gives the files that changed, or with `isAll` all files there are. */
  compile(changed: [path: string, text: string | null][], isAll?: boolean): Promise<CompileResult>;
  /** What the files mean now, compared with others; null if one of both does not compile. */
  compare(before: [path: string, text: string][]): Promise<MeaningChange[] | null>;
  /** The tables with keys and joins that are declared or guessed. */
  propose(tables: DraftedTable[]): Promise<DraftedTable[]>;
  /** First cubes for tables. Nothing is written. */
  draft(tables: DraftedTable[], dataSource: string | undefined): Promise<Draft[]>;
  /** The files with another name of a member, in all that was compiled last. Nothing is written. */
  rename(cube: string, member: string, newName: string): Promise<RenamedMember>;
  /** Each text in one layout. */
  format(texts: string[]): Promise<string[]>;
  stop(): void;
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export function startCompiler(): ModelCompiler {
  const worker = new Worker(new URL(STUDIO_WORKER, import.meta.url), { type: 'module' });
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  let ids = 0;
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.resolve(data);
    waiting.delete(data.id);
  });
  worker.addEventListener('error', () => {
    for (const { reject } of waiting.values()) reject(new Error('The compiler could not be started.'));
    waiting.clear();
  });
  const ask = (order: WithoutId<Order>) =>
    new Promise<Answer>((resolve, reject) => {
      const id = ++ids;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...order, id });
    });
  return {
    compile: async (changed, isAll = false) => {
      const answer = await ask({ kind: 'compile', changed, isAll });
      return (answer as Extract<Answer, { kind: 'compiled' }>).compiled;
    },
    compare: async (before) => {
      const answer = await ask({ kind: 'compare', before });
      return (answer as Extract<Answer, { kind: 'compared' }>).changes;
    },
    propose: async (tables) => {
      const answer = await ask({ kind: 'propose', tables });
      return (answer as Extract<Answer, { kind: 'proposed' }>).tables;
    },
    draft: async (tables, dataSource) => {
      const answer = await ask({ kind: 'draft', tables, dataSource });
      return (answer as Extract<Answer, { kind: 'drafted' }>).drafts;
    },
    rename: async (cube, member, newName) => {
      const answer = await ask({ kind: 'rename', cube, member, newName });
      return (answer as Extract<Answer, { kind: 'renamed' }>).renamed;
    },
    format: async (texts) => {
      const answer = await ask({ kind: 'format', texts });
      return (answer as Extract<Answer, { kind: 'formatted' }>).texts;
    },
    stop: () => worker.terminate(),
  };
}
