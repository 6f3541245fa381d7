/** Explains what a viewer sees. */
import { explainPlan, hiddenMembers, type Model, QueryError, type Viewer } from '@oriel/semantic';
import { planQueries } from './plans.ts';
import type { FindSource } from './sources.ts';

/** The viewer that somebody asks about. */
export interface GivenViewer {
  groups?: string[] | null;
  tenantGroups?: string[] | null;
  roles?: string[] | null;
  userAttributes?: Record<string, unknown> | null;
  securityContext?: object | null;
}

export const toViewer = (given: GivenViewer): Viewer => ({
  groups: given.groups ?? [],
  tenantGroups: given.tenantGroups ?? [],
  roles: given.roles ?? [],
  userAttributes: (given.userAttributes ?? {}) as Viewer['userAttributes'],
  securityContext: (given.securityContext ?? null) as Viewer['securityContext'],
});

interface Asked {
  model: Model;
  viewer: Viewer;
  source: FindSource;
}

export function explain(query: object, { model, viewer, source }: Asked) {
  // Throws if it is no query at all.
  const hidden = hiddenMembers(model, query, viewer);
  const { groups, tenantGroups, roles } = viewer;
  const shown = { ...viewer, groups: [...groups], tenantGroups: [...tenantGroups], roles: [...roles] };
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
