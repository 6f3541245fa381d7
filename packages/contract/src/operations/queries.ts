import { Type } from 'typebox';
import { BranchName } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { describedAs } from '../hoist.ts';
import { JsonQuery } from '../json-query.ts';
import { Bytes, JsonText } from '../kinds.ts';
import { operation } from '../operation.ts';
import { LOAD_TIMEOUT_MS, PLAN_ERRORS, RUN_ERRORS, TEXT_ERRORS } from '../query-errors.ts';
import {
  AccessExplanation,
  LoadResult,
  LoadResults,
  MetaCube,
  open,
  QueryDryRun,
  QueryExplanation,
  SqlResult,
} from '../query-replies.ts';
import { Id, Maybe, RecordOf, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Queries:
    'Questions to the data of a deployment. The npm package `@cubejs-client/core` works with these operations if its `apiUrl` is `{base_url}/query/api/v1/deployments/{deploymentId}`. Errors have the form `{ error }`; the header `X-Error-Code` has the code.',
} satisfies TagDefinitions;

export const errors = {
  invalid_query: { status: 400, message: 'The query is wrong.' },
  unknown_member: { status: 400, message: 'There is no such member that this query can use.' },
  ambiguous_join: { status: 400, message: 'Several joins lead from one cube of the query to another.' },
  no_join_path: { status: 400, message: 'No joins connect the cubes of the query.' },
  unsupported_query: { status: 400, message: 'Such a query is not supported.' },
  query_invalid: {
    status: 400,
    message:
      'The data source does not accept the SQL of the data model. Who maintains the model can mend it.',
  },
  query_refused: { status: 400, message: 'The SQL of the data model does what no query may do.' },
  value_invalid: {
    status: 400,
    message: 'A value of the query or a stored value does not have the type that the data model says.',
  },
  query_too_large: {
    status: 400,
    message: 'The query needs more memory than it may have: ask for less at once.',
  },
  result_too_large: { status: 400, message: 'The answer has more bytes than it may have: ask for less.' },
  embed_sql_disabled: {
    status: 403,
    message: 'Embed tokens may not run SQL: the tenant setting `embedSql` is off. Ask with a JSON query.',
  },
  model_not_built: {
    status: 409,
    message: 'There is no data model to query yet: no build of the branch has succeeded.',
  },
  source_not_configured: {
    status: 409,
    message: 'The variables of the deployment do not describe the data source that the data model names.',
  },
  source_unavailable: { status: 503, message: 'The data source cannot be reached, or was lost.' },
  source_busy: { status: 503, message: 'Too many queries wait for this data source.', deprecated: 'busy' },
  too_many_queries: {
    status: 429,
    message: 'Too many of your queries wait.',
    deprecated: 'too_many_at_once',
  },
  answers_not_read: {
    status: 503,
    message: 'Too many answers wait until their callers have read them.',
    deprecated: 'too_many_at_once',
  },
  query_failed: { status: 503, message: 'The data source failed.' },
  query_timed_out: {
    status: 504,
    message: 'The query took too long, and was ended.',
    deprecated: 'timed_out',
  },
} as const satisfies ErrorDefinitions;

const EXAMPLE = {
  measures: ['orders.count'],
  dimensions: ['orders.status'],
  timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month', dateRange: 'last year' }],
};

const OneQuery = Type.Unsafe<object>(describedAs('JsonQuery', JsonQuery));

const GivenQuery = Type.Union([OneQuery, Type.Array(OneQuery, { minItems: 1, maxItems: 20 })], {
  description: 'A query in the JSON query format, or several',
  examples: [EXAMPLE],
});
const QueryText = Type.String({
  minLength: 1,
  maxLength: 64 * 1024,
  description: 'A query in the JSON query format as text, or a list of several',
  examples: [JSON.stringify(EXAMPLE)],
});

const queryType = Maybe(
  Type.Enum(['multi', 'regularQuery', 'compareDateRangeQuery', 'blendingQuery'], {
    description: '`multi` returns a list of results even for one query',
  }),
);
const cache = Maybe(
  Type.Enum(['stale-if-slow', 'stale-while-revalidate', 'must-revalidate', 'no-cache'], {
    description: '`no-cache` runs the query even if its answer is known; the others mean the same here',
  }),
);

const branchName = Maybe({
  ...BranchName,
  description:
    'Asks the model of this branch instead of the one that is deployed: with uncommitted changes for those who are in dev mode on it. For people with `SchemaRead` and `SchemaUpdateDevBranches`, and `DataAssetsRead` where rows are read, because a branch can hold policies that nobody has agreed to',
});

const common = {
  tag: 'Queries',
  auth: 'query',
  permission: 'AIBIView',
  crossOrigin: true,
  params: { deploymentId: Id },
  errorShape: 'message',
  audit: 'none',
} as const;
const path = '/query/api/v1/deployments/{deploymentId}';
const PLAN_TIMEOUT_MS = 60_000;
const BODY_MAX_BYTES = 1024 * 1024;

const loading = {
  ...common,
  path: `${path}/load`,
  description:
    'Returns the rows that the policies of the data model let the caller see. Numbers are texts with all of their digits. Without `queryType`, one query returns its result itself.',
  queryScope: 'data',
  timeoutMs: LOAD_TIMEOUT_MS,
  reply: JsonText(Type.Union([LoadResults, LoadResult])),
} as const;

const inBody = {
  ...loading,
  method: 'POST',
  body: Shape('LoadInput', { query: GivenQuery, queryType, cache, branchName }),
  bodyLimitBytes: BODY_MAX_BYTES,
  errors: [...PLAN_ERRORS, ...RUN_ERRORS, 'branch_not_found'],
} as const;

const inAddress = {
  ...loading,
  method: 'GET',
  query: { query: QueryText, queryType, cache },
  errors: [...PLAN_ERRORS, ...RUN_ERRORS, ...TEXT_ERRORS],
} as const;

export const load = operation({ ...inBody, embed: 'viewer', id: 'load', summary: 'Run a query' });

export const loadByAddress = operation({
  ...inAddress,
  embed: 'viewer',
  id: 'loadByAddress',
  summary: 'Run a query that the address holds',
});

/** What `subscribe` of the client `@cubejs-client/core` calls, again and again. */
const subscribing = {
  path: `${path}/subscribe`,
  description:
    'The same as `load`, for clients that ask again every few seconds. The reply does not wait for a change of the data.',
} as const;

export const subscribe = operation({
  ...inBody,
  ...subscribing,
  embed: 'viewer',
  id: 'subscribe',
  summary: 'Run a query of a subscription',
});

export const subscribeByAddress = operation({
  ...inAddress,
  ...subscribing,
  embed: 'viewer',
  id: 'subscribeByAddress',
  summary: 'Run a query of a subscription that the address holds',
});

export const runSql = operation({
  ...common,
  embed: 'viewer',
  id: 'runSql',
  method: 'POST',
  path: `${path}/cubesql`,
  summary: 'Run SQL',
  description:
    'Runs one SELECT that reads cubes and views as tables, and returns the rows that the policies of the data model let the caller see. Returns lines of JSON: the columns as `schema`, the rows as `data`, and `rowsCapped`.',
  queryScope: 'data',
  timeoutMs: LOAD_TIMEOUT_MS,
  body: Shape('SqlInput', {
    query: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'A SELECT in the words of PostgreSQL',
      examples: ['select status, measure(count) from orders group by 1'],
    }),
    cache,
    throwContinueWait: Maybe(
      Type.Boolean({ description: 'Sent by clients. There is no `Continue wait` here' }),
    ),
  }),
  reply: Bytes('application/jsonl'),
  errors: ['embed_sql_disabled', ...PLAN_ERRORS, ...RUN_ERRORS],
});

const onlyViews = Maybe(Type.Boolean({ description: 'Leave out cubes' }));

const describing = {
  ...common,
  path: `${path}/meta`,
  description: 'Lists the cubes and views with the members that are open to the caller.',
  queryScope: 'meta',
  timeoutMs: PLAN_TIMEOUT_MS,
  reply: JsonText(Shape('QueryMeta', { cubes: Type.Array(MetaCube) })),
  errors: ['model_not_built'],
} as const;

export const getQueryMeta = operation({
  ...describing,
  embed: 'viewer',
  id: 'getQueryMeta',
  method: 'GET',
  summary: 'List what can be queried',
  query: { onlyViews },
});

export const postQueryMeta = operation({
  ...describing,
  embed: 'viewer',
  id: 'postQueryMeta',
  method: 'POST',
  summary: 'List what can be queried, asked for by POST',
  optionalBody: true,
  body: Shape('QueryMetaInput', { onlyViews, branchName }),
  errors: ['model_not_built', 'branch_not_found'],
});

const planning = { ...common, queryScope: 'data', timeoutMs: PLAN_TIMEOUT_MS } as const;
const GivenBody = Shape('QueryInput', { query: GivenQuery, queryType, branchName });

const showing = {
  ...planning,
  queryScope: 'none',
  path: `${path}/sql`,
  permission: 'SchemaRead',
  permissionOn: 'unlessCreator',
  description:
    'For people with `SchemaRead`, and for embed tokens in creator mode if `creatorMode.showGeneratedSql` of the app configuration is true. The values of the viewer are bound, and never part of the text.',
  reply: Type.Union([SqlResult, Type.Array(SqlResult)]),
} as const;

export const querySql = operation({
  ...showing,
  embed: 'viewer',
  id: 'querySql',
  method: 'POST',
  summary: 'Get the SQL of a query',
  body: GivenBody,
  bodyLimitBytes: BODY_MAX_BYTES,
  errors: [...PLAN_ERRORS, 'branch_not_found'],
});

export const querySqlByAddress = operation({
  ...showing,
  embed: 'viewer',
  id: 'querySqlByAddress',
  method: 'GET',
  summary: 'Get the SQL of a query that the address holds',
  query: { query: QueryText, queryType },
  errors: [...PLAN_ERRORS, ...TEXT_ERRORS],
});

const checking = {
  ...planning,
  path: `${path}/dry-run`,
  description: 'Checks the query, and returns it as it was understood.',
  reply: QueryDryRun,
} as const;

export const dryRunQuery = operation({
  ...checking,
  embed: 'viewer',
  id: 'dryRunQuery',
  method: 'POST',
  summary: 'Check a query',
  body: GivenBody,
  bodyLimitBytes: BODY_MAX_BYTES,
  errors: [...PLAN_ERRORS, 'branch_not_found'],
});

export const dryRunQueryByAddress = operation({
  ...checking,
  embed: 'viewer',
  id: 'dryRunQueryByAddress',
  method: 'GET',
  summary: 'Check a query that the address holds',
  query: { query: QueryText, queryType },
  errors: [...PLAN_ERRORS, ...TEXT_ERRORS],
});

const names = Maybe(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 }));
const GivenViewer = Shape(
  'ExplainViewer',
  {
    groups: names,
    tenantGroups: names,
    roles: names,
    userAttributes: Maybe(RecordOf(Type.Unknown())),
    securityContext: Maybe(open('What policies see as `securityContext`')),
  },
  {
    description: 'By default the caller',
    examples: [{ groups: ['analysts'], userAttributes: { region: 'EU' } }],
  },
);

export const explainQuery = operation({
  ...common,
  embed: 'creator',
  id: 'explainQuery',
  method: 'POST',
  path: `${path}/explain`,
  summary: 'Explain what a viewer sees',
  description:
    'Says for a query and a viewer which policies apply and why, which members of its cubes and views are hidden, and the SQL. Runs nothing. With an embed token in creator mode, it says of the cubes and views that the query names whether rows are hidden, and the SQL if `creatorMode.showGeneratedSql` of the app configuration is true.',
  auth: 'management',
  permission: 'SchemaRead',
  permissionOn: 'unlessCreator',
  timeoutMs: PLAN_TIMEOUT_MS,
  body: Shape('ExplainInput', {
    query: open('One query in the JSON query format'),
    viewer: Maybe(GivenViewer),
  }),
  bodyLimitBytes: BODY_MAX_BYTES,
  reply: QueryExplanation,
  errors: PLAN_ERRORS,
});

export const explainAccess = operation({
  ...common,
  id: 'explainAccess',
  method: 'POST',
  path: `${path}/explain-access`,
  summary: 'Explain what somebody sees of every cube and view',
  description:
    'Says for a person, or for a viewer with groups and attributes, which rows and members each cube and view shows, by which policies, with which values. Runs nothing.',
  auth: 'management',
  permission: 'SchemaRead',
  timeoutMs: PLAN_TIMEOUT_MS,
  body: Shape(
    'ExplainAccessInput',
    {
      userId: Maybe({
        ...Id,
        description: 'A person of the account. Others than oneself need the action `All`',
      }),
      viewer: Maybe(GivenViewer),
    },
    { examples: [{ viewer: { groups: ['analysts'], userAttributes: { region: 'EU' } } }] },
  ),
  bodyLimitBytes: BODY_MAX_BYTES,
  reply: AccessExplanation,
  errors: ['invalid_query', 'model_not_built', 'source_not_configured', 'user_not_found'],
});
