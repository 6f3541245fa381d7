/** Why a viewer in a page of a host sees a dashboard, and rows in it, or not. */
import type { BodyOf, operations, ReplyOf } from '@oriel/contract';
import type { Person } from '../../platform/auth/actor.ts';
import { ApiError, found, isApiError } from '../../platform/errors.ts';
import { viewerOf } from '../access/index.ts';
import { describedViewer, toReader } from '../embed-sessions/index.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import * as store from './explained-dashboards.store.ts';
import { NO_USER } from './preview-as.ts';

type Explanation = ReplyOf<typeof operations.explainViewer>;
type Reason = Explanation['reasons'][number];
type Explain = Pick<Queries, 'explain' | 'explainAccess'>;
type Access = Awaited<ReturnType<Explain['explainAccess']>>;
type Plans = ReplyOf<typeof operations.explainQuery>;
type PlannedRead = Plans['plans'][number]['reads'][number];
/** As the planner writes it into the reply, whose schema leaves it open. */
type Filter = { and: Filter[] } | { or: Filter[] } | Leaf;
interface Leaf {
  member: string;
  operator: string;
  values: (string | number | boolean)[];
  missing?: string[];
}

const DASHBOARDS_MAX = 200;
const PLANNED_DASHBOARDS_MAX = 50;
const QUERIES_MAX = 100;

export async function explainViewer(
  queries: Explain,
  call: QueryCall & { actor: Person },
  body: BodyOf<typeof operations.explainViewer>,
): Promise<Explanation> {
  const { db, deploymentId, signal } = call;
  const { embedTenantName: embedTenant, externalId, workbookId = null } = body;
  const isCreator = body.creatorMode === true;
  const catalogue = isCreator ? embedTenant : null;
  const securityContext = body.securityContext ?? null;
  const known = await store.findViewer(db, deploymentId, embedTenant, externalId);
  const { userId } = known;
  const described = await describedViewer(db, { catalogue, userId });
  const attributes = await store.listAttributes(db, userId, catalogue);
  const actor = toReader(
    { userId: userId ?? NO_USER, deploymentId, embedTenant, creatorMode: isCreator },
    securityContext,
  );
  const rows = await store.listExplained(db, viewerOf(actor, deploymentId), actor.embed, {
    workbookId,
    limit: DASHBOARDS_MAX + 1,
  });
  if (workbookId !== null) found(rows[0], 'workbook_not_found');
  const given = { ...described, securityContext };
  const access = await accessOf(queries, call, given);
  const explained = new Map<string, Promise<QueryView>>();
  let isComplete = rows.length <= DASHBOARDS_MAX;
  const dashboards: Explanation['dashboards'] = [];
  for (const [i, row] of rows.slice(0, DASHBOARDS_MAX).entries()) {
    signal.throwIfAborted();
    const reasons = visibility(row, embedTenant);
    const views: QueryView[] = [];
    if (access && row.id !== null && row.isPublished) {
      if (i >= PLANNED_DASHBOARDS_MAX) isComplete = false;
      const asked = i < PLANNED_DASHBOARDS_MAX ? await store.listQueries(db, row.id) : [];
      for (const { query } of asked) {
        if (!query) continue;
        const text = JSON.stringify(query);
        if (!explained.has(text) && explained.size >= QUERIES_MAX) {
          isComplete = false;
          continue;
        }
        const view = explained.get(text) ?? viewOf(queries, call, query, given, access);
        explained.set(text, view);
        views.push(await view);
      }
    }
    reasons.push(...distinct(views.flatMap((view) => view.reasons)));
    const { workbookId: id, publicId, name, isSeen } = row;
    dashboards.push({ workbookId: id, publicId, name, isSeen, rows: rowsOf(views), reasons });
  }
  const { liveSessions, revokedSessions } = known;
  return {
    viewer: {
      id: userId,
      ...{ embedTenantName: embedTenant, externalId, liveSessions, revokedSessions },
      groups: described.groups,
      tenantGroups: described.tenantGroups,
      userAttributes: attributes.map(({ id, name, type, hasValue }) => {
        const value = described.userAttributes[name] ?? null;
        return { id, name, type, value, source: hasValue ? 'stored' : value === null ? 'none' : 'default' };
      }),
    },
    reasons: [
      ...aboutViewer(known, embedTenant),
      ...(access ? [] : [{ code: 'model_not_built' as const, message: 'The data model is not built.' }]),
    ],
    dashboards,
    isComplete,
  };
}

async function accessOf(queries: Explain, call: QueryCall, given: object): Promise<Access | undefined> {
  try {
    return await queries.explainAccess(call, given);
  } catch (error) {
    if (isApiError(error, 'model_not_built')) return undefined;
    throw error;
  }
}

function aboutViewer(known: store.FoundViewer, tenant: string): Reason[] {
  const reasons: Reason[] = [];
  if (!known.isKnownTenant)
    reasons.push({ code: 'tenant_unknown', message: `No session was ever minted for ${tenant}.` });
  else if (known.userId === null)
    reasons.push({
      code: 'viewer_unknown',
      message:
        'No session was ever minted for this viewer: they have no groups, and the defaults of attributes.',
    });
  if (known.isDeactivated)
    reasons.push({ code: 'viewer_deactivated', message: 'The viewer is deactivated: no token works.' });
  if (known.revokedSessions > 0 && known.liveSessions === 0)
    reasons.push({
      code: 'sessions_revoked',
      message: 'All sessions of this viewer were revoked. The next one that is minted works.',
    });
  return reasons;
}

/** What keeps the viewer from opening the dashboard. */
function visibility(row: store.ExplainedRow, tenant: string): Reason[] {
  const reasons: Reason[] = [];
  if (!row.isPublished) reasons.push({ code: 'not_published', message: 'The dashboard is not published.' });
  if (row.isSeen) return reasons;
  if (!row.allowEmbed) reasons.push({ code: 'embedding_off', message: 'The dashboard may not be embedded.' });
  if (row.entry === 'none')
    reasons.push({ code: 'access_refused', message: `The dashboard is closed to ${tenant}.` });
  else if (row.entry === null && !row.isOwn && row.allEmbedUsers !== 'read')
    reasons.push({ code: 'no_access_entry', message: `The dashboard is not opened to ${tenant}.` });
  return reasons;
}

interface QueryView {
  rows: 'all' | 'filtered' | 'none' | 'unknown';
  reasons: Reason[];
}

async function viewOf(
  queries: Explain,
  call: QueryCall,
  query: object,
  given: object,
  access: Access,
): Promise<QueryView> {
  let explained: Plans;
  try {
    explained = await queries.explain(call, query, given);
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode >= 500) throw error;
    return { rows: 'none', reasons: [{ code: 'query_refused', message: error.message }] };
  }
  if (explained.error) return { rows: 'none', reasons: refusals(explained, query, access) };
  const reads = explained.plans.flatMap((plan) => plan.reads);
  const seen = reads.map(readOf);
  const rows = seen.some((one) => one.rows === 'none')
    ? 'none'
    : seen.some((one) => one.rows === 'filtered')
      ? 'filtered'
      : 'all';
  return { rows, reasons: seen.flatMap(({ reasons }) => reasons) };
}

/** Hidden members are the reason if the query names them. */
function refusals({ error, hiddenMembers }: Plans, query: object, access: Access): Reason[] {
  const text = JSON.stringify(query);
  const hidden = hiddenMembers.map(({ member }) => member).filter((member) => names(text, member));
  if (hidden.length === 0) return [{ code: 'query_refused', message: error!.message }];
  return [...new Set(hidden.map((member) => member.split('.')[0]!))].map((cube) => {
    const members = hidden.filter((member) => member.startsWith(`${cube}.`));
    const policies = access.cubes.find(({ name }) => name === cube)?.policies ?? [];
    if (policies.length === 0)
      return {
        ...{ code: 'cube_closed' as const, cube, members },
        message: `\`${cube}\` has no access policy, and so does not exist for viewers.`,
      };
    return {
      ...{ code: 'members_hidden' as const, cube, members },
      message: `No policy of \`${cube}\` opens ${members.join(', ')} to this viewer.`,
    };
  });
}

const names = (text: string, member: string) => text.includes(`"${member}"`) || text.includes(`"${member}.`);

/** What the policies of one cube or view leave. */
function readOf({ name: cube, rows, policies }: PlannedRead): QueryView {
  if (rows === 'all') return { rows, reasons: [] };
  const counting = policies.filter(({ counts }) => counts);
  if (counting.length === 0) {
    const groups = [...new Set(policies.flatMap((policy) => policy.groups))];
    const isMember = policies.some(({ matchedGroups }) => matchedGroups.length > 0);
    const message = isMember
      ? `No policy of \`${cube}\` opens all members that the query names.`
      : `The viewer is in none of the groups that policies of \`${cube}\` admit: ${groups.join(', ')}.`;
    const code = isMember ? ('members_hidden' as const) : ('no_policy_matches' as const);
    return { rows: 'none', reasons: [{ code, cube, groups, message }] };
  }
  const filters = counting.map(({ filter }) => filter as unknown as Filter);
  const leaves = filters.flatMap(leavesOf);
  if (!filters.some(canMatch))
    return {
      rows: 'none',
      reasons: leaves.flatMap(({ member, missing = [] }) =>
        missing.map((path) => ({
          ...{ code: 'attribute_missing' as const, cube, members: [member], ...attributeIn(path) },
          message: `The viewer has no value for \`${path}\`, so no row of \`${cube}\` matches.`,
        })),
      ),
    };
  return {
    rows: 'filtered',
    reasons: leaves
      .filter(({ missing }) => !missing?.length)
      .map(({ member, operator, values }) => ({
        ...{ code: 'rows_filtered' as const, cube, members: [member], values: [...values] },
        message: `Only rows whose \`${member}\` ${operator} ${JSON.stringify(values)}.`,
      })),
  };
}

const attributeIn = (path: string) =>
  path.startsWith('userAttributes.') ? { attribute: path.slice('userAttributes.'.length) } : {};

const leavesOf = (filter: Filter): Leaf[] =>
  'and' in filter ? filter.and.flatMap(leavesOf) : 'or' in filter ? filter.or.flatMap(leavesOf) : [filter];

/** Whether a row can match: comparisons with what is missing are false. */
const canMatch = (filter: Filter): boolean =>
  'and' in filter
    ? filter.and.every(canMatch)
    : 'or' in filter
      ? filter.or.some(canMatch)
      : !filter.missing?.length;

function rowsOf(views: readonly QueryView[]): Explanation['dashboards'][number]['rows'] {
  if (views.length === 0) return 'unknown';
  const empty = views.filter(({ rows }) => rows === 'none').length;
  if (empty === views.length) return 'none';
  if (empty > 0) return 'some';
  return views.some(({ rows }) => rows === 'filtered') ? 'filtered' : 'all';
}

const distinct = (reasons: readonly Reason[]) => [
  ...new Map(reasons.map((reason) => [JSON.stringify(reason), reason])).values(),
];
