/** Explains what a viewer sees. Runs on the loop and in threads; see `planner.ts`. */
import { explainPlan, hiddenMembers, planQuery, QueryError } from '@oriel/semantic';
import { type MakeContext, planOptions } from './plans.ts';

export function explain(query: object, context: MakeContext) {
  const { model, viewer, typeOf } = context;
  // Throws if it is no query at all.
  const hidden = hiddenMembers(model, query, viewer);
  const { groups, tenantGroups, roles, userAttributes, securityContext } = viewer;
  const named = { groups: [...groups], tenantGroups: [...tenantGroups], roles: [...roles] };
  const shown = { ...named, userAttributes, securityContext };
  const about = { viewer: shown, hiddenMembers: hidden };
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
