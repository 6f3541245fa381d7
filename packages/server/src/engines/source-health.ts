/** Remembers how data sources answered last. A statement that is wrong or slow is no failure of its source. */
import { type Engine, EngineError, type EngineErrorCode, type QueryLimits } from './engine.ts';

export interface SourceHealth {
  deploymentId: number;
  dataSource: string;
  type: string;
  lastOkAt: string | null;
  lastErrorAt: string | null;
  lastError: string | null;
}

type Source = Pick<SourceHealth, 'deploymentId' | 'dataSource' | 'type'>;

const FAILURES: readonly EngineErrorCode[] = ['source_unavailable', 'credential_refused'];
const SOURCES_MAX = 500;
const MESSAGE_CHARACTERS = 500;

/** Whether the error concerns one caller only: a refused token says nothing about the source. */
const isOfCaller = (error: EngineError, limits: Partial<QueryLimits> | undefined) =>
  limits?.credential !== undefined && error.code === 'credential_refused';

export function createSourceHealth() {
  const known = new Map<string, SourceHealth>();

  function note(source: Source, error?: string) {
    const key = `${source.deploymentId} ${source.dataSource}`;
    const before = known.get(key) ?? { lastOkAt: null, lastErrorAt: null, lastError: null };
    const now = new Date().toISOString();
    // The order of a map is that of insertion, so those that were used last are at its end.
    known.delete(key);
    known.set(
      key,
      error === undefined
        ? { ...before, ...source, lastOkAt: now }
        : { ...before, ...source, lastErrorAt: now, lastError: error.slice(0, MESSAGE_CHARACTERS) },
    );
    if (known.size > SOURCES_MAX) known.delete(known.keys().next().value!);
  }

  return {
    list: () => [...known.values()],
    /** Returns the same engine, but notes how its source answers. */
    watch(engine: Engine, source: Source): Engine {
      const seen = async <T>(work: Promise<T>, limits?: Partial<QueryLimits>): Promise<T> => {
        try {
          const result = await work;
          note(source);
          return result;
        } catch (error) {
          if (error instanceof EngineError && FAILURES.includes(error.code) && !isOfCaller(error, limits))
            note(source, error.message);
          throw error;
        }
      };
      return {
        places: engine.places,
        query: (query, limits) => seen(engine.query(query, limits), limits),
        listTables: (limits) => seen(engine.listTables(limits), limits),
        async test(limits) {
          const reach = await engine.test(limits);
          note(source, reach.isReachable ? undefined : reach.message);
          return reach;
        },
      };
    },
  };
}
