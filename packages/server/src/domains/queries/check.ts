/** Finds what is wrong with queries that nobody asks yet. Runs in threads; see `planner.ts`. */
import { createPlanBudget, type Model, QueryError, type QueryIssue } from '@oriel/semantic';
import { type MakeContext, planQueries } from './plans.ts';
import { planSqlQuery } from './sql-plans.ts';

export interface CheckRequest {
  /** A query, or the JSON of the tree of a statement. */
  items: readonly (object | string)[];
  /** Whether policies are ignored, for callers who may read the model: then every member can be used. */
  isOpen: boolean;
}

/** For each query its issues: none if it can be planned. Each is a request of its own, with a whole budget. */
export function check({ items, isOpen }: CheckRequest, given: MakeContext): QueryIssue[][] {
  const context = isOpen ? { ...given, model: withoutPolicies(given.model), viewer: ANYBODY } : given;
  const typeOf = typeIn(context);
  return items.map((item) => {
    const whole = { ...context, typeOf, budget: createPlanBudget() };
    try {
      if (typeof item === 'string') planSqlQuery(item, whole);
      else planQueries(item, whole);
      return [];
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return [...error.issues];
    }
  });
}

const ANYBODY = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: null,
  seesUnguarded: true,
};

/** A query is not wrong because its data source is not configured yet. */
const typeIn =
  ({ typeOf }: MakeContext): MakeContext['typeOf'] =>
  (name) => {
    try {
      return typeOf(name);
    } catch {
      return 'duckdb';
    }
  };

/** Models do not change. */
const opened = new WeakMap<Model, Model>();

function withoutPolicies(model: Model): Model {
  let open = opened.get(model);
  if (!open) {
    open = {
      cubes: new Map([...model.cubes].map(([name, cube]) => [name, { ...cube, policies: [] }])),
      views: new Map([...model.views].map(([name, view]) => [name, { ...view, policies: [] }])),
    };
    opened.set(model, open);
  }
  return open;
}
