/** Explains what a viewer sees. Runs on the loop and in threads; see `planner.ts`. */
import {
  explainAccess,
  explainPlan,
  hiddenMembers,
  planQuery,
  QueryError,
  type Viewer,
} from '@oriel/semantic';
import { type MakeContext, planOptions } from './plans.ts';

export function explain(query: object, context: MakeContext) {
  const { model, viewer, typeOf } = context;
  // Throws if it is no query at all.
  const hidden = hiddenMembers(model, query, viewer);
  const about = { viewer: shownViewer(viewer), hiddenMembers: hidden };
  try {
    const plans = planQuery(model, query, viewer, planOptions(context)).plans.map((plan) => ({
      sql: plan.statement.sql,
      values: [...plan.statement.parameters],
      dataSource: plan.dataSource,
      dbType: typeOf(plan.dataSource),
      reads: explainPlan(model, plan, viewer),
    }));
    return { ...about, plans };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { ...about, plans: [], error: { code: error.code, message: error.message } };
  }
}

function shownViewer({ groups, tenantGroups, roles, userAttributes, securityContext }: Viewer) {
  const named = { groups: [...groups], tenantGroups: [...tenantGroups], roles: [...roles] };
  return { ...named, userAttributes, securityContext };
}

/** A model can have 5,000 cubes with 50,000 members. */
const CUBES_MAX = 1000;
const HIDDEN_MAX = 5000;

/** What the viewer sees of every cube and view. */
export function access(_nothing: object, { model, viewer }: MakeContext) {
  const all = explainAccess(model, viewer);
  let room = HIDDEN_MAX;
  return {
    viewer: shownViewer(viewer),
    isComplete: all.length <= CUBES_MAX,
    cubes: all.slice(0, CUBES_MAX).map(({ shownMembers, hiddenMembers: hidden, ...cube }) => {
      const listed = hidden.slice(0, room);
      room -= listed.length;
      return { ...cube, shownCount: shownMembers.length, hiddenCount: hidden.length, hiddenMembers: listed };
    }),
  };
}
