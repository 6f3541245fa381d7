/**
 * Plans that are kept in memory. A plan is used again for the same model, the same data sources, a viewer with the same
 * rights and the same query, as long as it does not depend on the time.
 */
import type { Viewer } from '@oriel/semantic';
import { createKept } from './kept.ts';
import { createNumbers } from './numbers.ts';
import { type PlanContext, type PlannedQueries, planQueries } from './plans.ts';

const KEEP_BYTES_MAX = 32 * 1024 * 1024;
/** What a plan takes beside its texts. */
const BASE_BYTES = 4000;

export interface KeptPlans {
  /** Throws a `QueryError` if a query is wrong. */
  plan(query: object | readonly object[], context: PlanContext): PlannedQueries;
}

export function createKeptPlans(bytesMax = KEEP_BYTES_MAX): KeptPlans {
  const kept = createKept<PlannedQueries>(bytesMax);
  const numberOf = createNumbers();
  const texts = new WeakMap<Viewer, string>();

  /** Several queries that come at the same time have the same viewer, as one object. */
  function textOf(viewer: Viewer): string {
    let text = texts.get(viewer);
    if (text === undefined) {
      text = JSON.stringify(viewer);
      texts.set(viewer, text);
    }
    return text;
  }

  return {
    plan(query, context) {
      const { model, source, viewer, now } = context;
      // JSON has no line breaks, so no text can reach into the next one.
      const key = `${numberOf(model)} ${numberOf(source)}\n${textOf(viewer)}\n${JSON.stringify(query)}`;
      const known = kept.find(key);
      if (known && now.getTime() < known.sameUntilMs) return known;
      const made = planQueries(query, context);
      kept.add(key, made, bytesOf(key, made));
      return made;
    },
  };
}

/** Texts take up to two bytes for a character, and the objects that they were made from about as much again. */
function bytesOf(key: string, { queries }: PlannedQueries): number {
  const characters = queries.reduce(
    (sum, { head, statement, total }) =>
      sum + 2 * head.length + JSON.stringify([statement, total]).length + BASE_BYTES,
    key.length,
  );
  return 2 * characters;
}
