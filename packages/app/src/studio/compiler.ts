/** Asks the worker that compiles the model. It is started when the studio is first shown, and ends with it. */
import type { Answer, Compiled, Draft, DraftedTable, MeaningChange, Order } from './messages.ts';

export type { Compiled } from './messages.ts';

/** The name of the worker's file, which the build puts here. */
declare const STUDIO_WORKER: string;

export interface ModelCompiler {
  /** Gives the files that changed, or with `isAll` all files there are. */
  compile(changed: [path: string, text: string | null][], isAll?: boolean): Promise<Compiled>;
  /** What the files mean now, compared with others; null if one of both does not compile. */
  compare(before: [path: string, text: string][]): Promise<MeaningChange[] | null>;
  /** First cubes for tables. Nothing is written. */
  draft(tables: DraftedTable[], dataSource: string | undefined): Promise<Draft[]>;
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
    draft: async (tables, dataSource) => {
      const answer = await ask({ kind: 'draft', tables, dataSource });
      return (answer as Extract<Answer, { kind: 'drafted' }>).drafts;
    },
    stop: () => worker.terminate(),
  };
}
