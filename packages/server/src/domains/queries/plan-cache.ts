/**
 * Caches plans in memory. A plan is used again for the same model, the same data sources, a viewer with the same rights
 * and the same query, as long as it does not depend on the time. Calls for the same plan at the same time share one
 * load.
 */

import type { Viewer } from '@oriel/semantic';
import { LRUCache } from 'lru-cache';
import type { Query } from '../../engines/engine.ts';
import { createObjectIds } from './object-ids.ts';
import type { PlanCaller, Planner } from './planner.ts';
import { type MadeQueries, type PlanContext, type PlannedQueries, withSources } from './plans.ts';

const CACHED_BYTES_MAX = 32 * 1024 * 1024;
/** What a plan takes beside its texts, and a value beside its own. */
const BASE_BYTES = 4000;
const VALUE_CHARACTERS = 10;

export interface PlanCache {
  /** Throws a `QueryError` if a query is wrong. Returns no promise if the plan is known or cheap. */
  plan(
    query: object | readonly object[],
    context: PlanContext,
    by: PlanCaller,
  ): PlannedQueries | Promise<PlannedQueries>;
}

export function createPlanCache(planner: Pick<Planner, 'plan'>, bytesMax = CACHED_BYTES_MAX): PlanCache {
  const cache = new LRUCache<string, PlannedQueries>({
    maxSize: bytesMax,
    sizeCalculation: (planned, key) => bytesOf(key, planned),
  });
  const making = new Map<string, { made: Promise<PlannedQueries>; signal: AbortSignal }>();
  const idOf = createObjectIds();
  const texts = new WeakMap<Viewer, string>();

  /** Several queries that come at the same time have the same viewer, as one object. */
  function viewerKey(viewer: Viewer): string {
    let text = texts.get(viewer);
    if (text === undefined) {
      text = JSON.stringify(viewer);
      texts.set(viewer, text);
    }
    return text;
  }

  return {
    plan(query, context, by) {
      const { model, source, viewer, now } = context;
      // JSON has no line breaks, so no text can reach into the next one.
      const text = JSON.stringify(query);
      const key = `${idOf(model)} ${idOf(source)}\n${viewerKey(viewer)}\n${text}`;
      const known = () => {
        const plan = cache.get(key);
        return plan && now.getTime() < plan.sameUntilMs ? plan : undefined;
      };
      const store = (made: MadeQueries) => {
        const planned = withSources(made, source);
        cache.set(key, planned);
        return planned;
      };
      // The key names the sharer: a plan that is refused for one sharer is not refused for others.
      const keyOfSharer = `${by.sharer}\n${key}`;

      async function share(made: Promise<MadeQueries>): Promise<PlannedQueries> {
        const planned = made.then(store);
        making.set(keyOfSharer, { made: planned, signal: by.signal });
        try {
          return await planned;
        } finally {
          making.delete(keyOfSharer);
        }
      }
      function start() {
        const made = planner.plan('queries', query, text.length, context, by);
        return made instanceof Promise ? share(made) : store(made);
      }
      async function join({ made, signal }: { made: Promise<PlannedQueries>; signal: AbortSignal }) {
        try {
          const planned = await made;
          if (now.getTime() < planned.sameUntilMs) return planned;
        } catch (error) {
          // The caller that began the plan may have left before its turn came: then this one goes on.
          if (!signal.aborted) throw error;
        }
        by.signal.throwIfAborted();
        return next();
      }
      function next(): PlannedQueries | Promise<PlannedQueries> {
        const plan = known();
        if (plan) return plan;
        const others = making.get(keyOfSharer);
        return others ? join(others) : start();
      }
      return next();
    },
  };
}

/** Texts take up to two bytes for a character, and the objects that they were made from about as much again. */
function bytesOf(key: string, { queries }: PlannedQueries): number {
  const characters = queries.reduce((sum, { head, statement, total }) => {
    const ofStatements = charactersOf(statement) + (total ? charactersOf(total) : 0);
    return sum + 2 * head.length + ofStatements + BASE_BYTES;
  }, key.length);
  return 2 * characters;
}

const charactersOf = ({ sql, parameters = [] }: Query) =>
  parameters.reduce((sum, value) => sum + (value?.length ?? 0) + VALUE_CHARACTERS, sql.length);
