/** The rows and the model that a page has asked for. */
import { type MetaCube, Problem, type Query, type Result } from './types.ts';

export interface QueryApi {
  /** Several queries in one request. */
  load(deploymentId: number, queries: Query[], isFresh: boolean): Promise<Result[]>;
  meta(deploymentId: number): Promise<{ cubes: MetaCube[] }>;
}

export interface AnswerContext {
  deploymentId: number;
  /** Counts viewers. */
  viewers: number;
  /** Whether to bypass the results that the server has cached. */
  isFresh: boolean;
}

export interface Answers {
  /** The same queries are asked once until they are cleared. */
  load(queries: Query[]): Promise<Result[]>;
  meta(): Promise<MetaCube[]>;
  /** How many requests for rows are under way. */
  readonly loading: number;
  /** Drops the rows, so that they are asked for again. */
  clear(): void;
  /** Drops the rows and the model. */
  forget(): void;
}

export function createAnswers(api: QueryApi, now: () => AnswerContext): Answers {
  const known = new Map<string, Promise<Result[]>>();
  let cubes: Promise<MetaCube[]> | undefined;
  let loading = 0;

  async function ask(queries: Query[]): Promise<Result[]> {
    const { deploymentId, viewers, isFresh } = now();
    loading++;
    try {
      const results = await api.load(deploymentId, queries, isFresh);
      if (viewers !== now().viewers)
        throw new Problem(0, 'other_viewer', 'These rows are for another viewer.');
      return results;
    } finally {
      loading--;
    }
  }

  return {
    load(queries) {
      const key = JSON.stringify(queries);
      const found = known.get(key);
      if (found) return found;
      const answer = ask(queries);
      known.set(key, answer);
      answer.catch(() => {
        if (known.get(key) === answer) known.delete(key);
      });
      return answer;
    },
    meta() {
      cubes ??= api.meta(now().deploymentId).then(
        (meta) => meta.cubes,
        (problem) => {
          cubes = undefined;
          throw problem;
        },
      );
      return cubes;
    },
    get loading() {
      return loading;
    },
    clear: () => known.clear(),
    forget() {
      known.clear();
      cubes = undefined;
    },
  };
}
