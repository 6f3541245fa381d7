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

/** A model can have 5,000 cubes with 50,000 members, and each policy may repeat all values of the viewer. */
const CUBES_MAX = 1000;
const HIDDEN_MAX = 5000;
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** What the viewer sees of every cube and view. */
export function access(_nothing: object, { model, viewer }: MakeContext) {
  const cubes = [];
  let [hiddenLeft, charactersLeft] = [HIDDEN_MAX, CHARACTERS_MAX];
  let isComplete = true;
  for (const { shownMembers, hiddenMembers: hidden, ...cube } of explainAccess(model, viewer)) {
    const hiddenMembers = hidden.slice(0, hiddenLeft);
    hiddenLeft -= hiddenMembers.length;
    charactersLeft -= JSON.stringify([cube, hiddenMembers]).length;
    isComplete = cubes.length < CUBES_MAX && charactersLeft >= 0;
    if (!isComplete) break;
    cubes.push({ ...cube, shownCount: shownMembers.length, hiddenCount: hidden.length, hiddenMembers });
  }
  return { viewer: shownViewer(viewer), isComplete, cubes };
}

/**
 * The explanation without what the viewer may not know: policies, hidden members, and cubes that the query does not name.
 * If one of those cubes hides rows, the first one that is named says so.
 */
export function toOwn(explained: ReturnType<typeof explain>, query: object, showsSql: boolean) {
  const text = JSON.stringify(query);
  const plans = explained.plans.map(({ sql, values, reads, ...plan }) => {
    const named = reads
      .filter(({ name }) => text.includes(`"${name}.`))
      .map((read) => ({ ...read, policies: [] }));
    const rows = (['none', 'filtered'] as const).find((one) => reads.some((read) => read.rows === one));
    if (rows && named.length > 0 && named.every((read) => read.rows === 'all')) named[0]!.rows = rows;
    return { ...plan, ...(showsSql ? { sql, values } : { sql: '', values: [] }), reads: named };
  });
  return { ...explained, hiddenMembers: [], plans };
}
