/** Explains what a viewer sees. */
import { explainPlan, hiddenMembers, type Model, QueryError, type Viewer } from '@oriel/semantic';
import { planQueries } from './plans.ts';
import type { FindSource } from './sources.ts';

interface Asked {
  model: Model;
  viewer: Viewer;
  source: FindSource;
}

export function explain(query: object, { model, viewer, source }: Asked) {
  // Throws if it is no query at all.
  const hidden = hiddenMembers(model, query, viewer);
  const { groups, tenantGroups, roles, userAttributes, securityContext } = viewer;
  const named = { groups: [...groups], tenantGroups: [...tenantGroups], roles: [...roles] };
  const shown = { ...named, userAttributes, securityContext };
  const about = { viewer: shown, hiddenMembers: hidden };
  try {
    const { queries } = planQueries(query, { model, viewer, source, now: new Date() });
    const plans = queries.map(({ plan, statement, dataSource, dbType }) => ({
      sql: statement.sql,
      values: [...(statement.parameters ?? [])],
      dataSource,
      dbType,
      reads: explainPlan(model, plan, viewer),
    }));
    return { ...about, plans };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { ...about, plans: [], error: { code: error.code, message: error.message } };
  }
}
