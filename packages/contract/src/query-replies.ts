/** What the operations of queries return. */
import { Type } from 'typebox';
import { DateTime, RecordOf, Shape } from './schemas.ts';

export const open = (description: string) => Type.Object({}, { additionalProperties: true, description });

const NormalQuery = open('The query as it was understood, with date ranges as dates');

const memberNames = Type.Array(Type.String());

const DrillMembers = Shape('DrillMembers', { measures: memberNames, dimensions: memberNames });

const AnnotatedMember = Shape('AnnotatedMember', {
  title: Type.String({ examples: ['Orders Status'] }),
  shortTitle: Type.String({ examples: ['Status'] }),
  type: Type.String({ examples: ['string'] }),
  description: Type.Optional(Type.String()),
  format: Type.Optional(Type.String()),
  meta: Type.Optional(Type.Unknown({ description: 'What the data model says as `meta`' })),
  granularity: Type.Optional(
    Shape('AnnotatedGranularity', {
      name: Type.String({ examples: ['month'] }),
      title: Type.String(),
      interval: Type.String({ examples: ['1 month'] }),
      offset: Type.Optional(Type.String()),
      origin: Type.Optional(Type.String()),
    }),
  ),
  drillMembers: Type.Optional(memberNames),
  drillMembersGrouped: Type.Optional(DrillMembers),
});

const Annotation = Shape(
  'QueryAnnotation',
  {
    measures: RecordOf(AnnotatedMember),
    dimensions: RecordOf(AnnotatedMember),
    timeDimensions: RecordOf(AnnotatedMember),
    segments: RecordOf(AnnotatedMember),
  },
  { description: 'Titles, types and formats of the columns, by the names of the members' },
);

export const LoadResult = Shape('LoadResult', {
  query: NormalQuery,
  annotation: Annotation,
  dataSource: Type.String(),
  dbType: Type.String({ examples: ['duckdb'] }),
  external: Type.Boolean(),
  slowQuery: Type.Boolean(),
  rowsLimited: Type.Optional(
    Type.Boolean({ description: 'True if policies can hide rows of this answer from the caller' }),
  ),
  lastRefreshTime: { ...DateTime, description: 'When the data source was asked' },
  data: Type.Union([
    Type.Array(Type.Object({}, { additionalProperties: true })),
    Shape('CompactRows', {
      members: Type.Array(Type.String()),
      dataset: Type.Array(Type.Array(Type.Unknown())),
    }),
  ]),
  rowsCapped: Type.Boolean({ description: 'True if there are more rows than one answer may have' }),
  total: Type.Optional(
    Type.Integer({ description: 'The number of rows without limit and offset, if the query asks for it' }),
  ),
});

export const LoadResults = Shape('LoadResults', {
  queryType: Type.Enum(['regularQuery', 'compareDateRangeQuery', 'blendingQuery']),
  pivotQuery: NormalQuery,
  slowQuery: Type.Boolean(),
  results: Type.Array(LoadResult),
});

const member = {
  name: Type.String({ examples: ['orders.count'] }),
  title: Type.String(),
  shortTitle: Type.String(),
  type: Type.String(),
  description: Type.Optional(Type.String()),
  format: Type.Optional(Type.String()),
  meta: Type.Optional(Type.Unknown()),
  public: Type.Boolean(),
  isVisible: Type.Boolean(),
  aliasMember: Type.Optional(Type.String({ description: 'In a view, the member of the cube' })),
};

export const MetaCube = Shape('MetaCube', {
  name: Type.String(),
  title: Type.String(),
  type: Type.Enum(['cube', 'view']),
  description: Type.Optional(Type.String()),
  meta: Type.Optional(Type.Unknown()),
  public: Type.Boolean(),
  isVisible: Type.Boolean(),
  connectedComponent: Type.Optional(
    Type.Integer({ description: 'Cubes with the same number can be combined in a query' }),
  ),
  measures: Type.Array(
    Shape('MetaMeasure', {
      ...member,
      aggType: Type.String(),
      cumulative: Type.Boolean(),
      cumulativeTotal: Type.Boolean(),
      drillMembers: memberNames,
      drillMembersGrouped: DrillMembers,
    }),
  ),
  dimensions: Type.Array(
    Shape('MetaDimension', {
      ...member,
      primaryKey: Type.Boolean(),
      suggestFilterValues: Type.Boolean(),
      granularities: Type.Optional(
        Type.Array(
          Shape('MetaGranularity', {
            name: Type.String(),
            title: Type.String(),
            interval: Type.String(),
            offset: Type.Optional(Type.String()),
            origin: Type.Optional(Type.String()),
          }),
        ),
      ),
    }),
  ),
  segments: Type.Array(Shape('MetaSegment', member)),
  hierarchies: Type.Array(
    Shape('MetaHierarchy', {
      name: Type.String(),
      title: Type.String(),
      levels: Type.Array(Type.String()),
      public: Type.Boolean(),
    }),
  ),
  folders: Type.Array(Shape('MetaFolder', { name: Type.String(), members: memberNames })),
  nestedFolders: Type.Array(Type.Unknown()),
});

export const SqlResult = Shape('QuerySql', {
  sql: Shape('QuerySqlStatement', {
    sql: Type.Array(Type.Unknown(), {
      minItems: 2,
      maxItems: 2,
      description: 'The statement, and the list of its values',
    }),
    dataSource: Type.String(),
    dbType: Type.String(),
  }),
});

export const QueryDryRun = Shape('QueryDryRun', {
  queryType: LoadResults.properties.queryType,
  normalizedQueries: Type.Array(NormalQuery),
  pivotQuery: NormalQuery,
  queryOrder: Type.Array(RecordOf(Type.Enum(['asc', 'desc']))),
  transformedQueries: Type.Array(Type.Unknown()),
});

const ExplainedPolicy = Shape('ExplainedPolicy', {
  groups: Type.Array(Type.String()),
  matchedGroups: Type.Array(Type.String(), { description: 'Those that the viewer belongs to' }),
  counts: Type.Boolean({ description: 'Whether the policy applies to this query' }),
  why: Type.String(),
  filter: Type.Optional(
    open('The filters on rows, with the values of the viewer and what is `missing`. Absent for all rows'),
  ),
});

const ExplainedViewer = Shape(
  'ExplainedViewer',
  {
    groups: memberNames,
    tenantGroups: memberNames,
    roles: memberNames,
    userAttributes: RecordOf(Type.Unknown()),
    securityContext: Type.Unknown(),
  },
  { description: 'The viewer, as policies see them' },
);
const HiddenMember = Shape('HiddenMember', { member: Type.String(), why: Type.String() });

export const AccessExplanation = Shape('AccessExplanation', {
  viewer: ExplainedViewer,
  isComplete: Type.Boolean({
    description: 'False if the model has more than is listed: at most 1,000 cubes and views, and 4 MB',
  }),
  cubes: Type.Array(
    Shape('CubeAccess', {
      name: Type.String({ description: 'The cube or view' }),
      kind: Type.Enum(['cube', 'view'], { description: 'Which of both it is' }),
      rows: Type.Enum(['all', 'filtered', 'none'], {
        description:
          'What its own policies leave and, of a view, those of its root. The policies of other cubes that a query joins filter, too',
      }),
      root: Type.Optional(
        Type.String({
          description: 'Of a view: the cube whose rows every query begins with, if it has policies',
        }),
      ),
      policies: Type.Array(ExplainedPolicy, { description: 'Each with why it counts or not' }),
      shownCount: Type.Integer({ minimum: 0, description: 'How many members the viewer can use' }),
      hiddenCount: Type.Integer({ minimum: 0, description: 'How many members the viewer cannot use' }),
      hiddenMembers: Type.Array(HiddenMember, {
        description: 'Those that the viewer cannot use; at most 5,000 of all cubes together',
      }),
    }),
    { description: 'Views first, in the order of the model' },
  ),
});

export const QueryExplanation = Shape('QueryExplanation', {
  viewer: ExplainedViewer,
  error: Type.Optional(
    Shape(
      'ExplainedError',
      { code: Type.String(), message: Type.String() },
      {
        description: 'What is wrong with the query for this viewer',
      },
    ),
  ),
  hiddenMembers: Type.Array(HiddenMember),
  plans: Type.Array(
    Shape('ExplainedPlan', {
      sql: Type.String(),
      values: Type.Array(Type.Union([Type.String(), Type.Null()])),
      dataSource: Type.String(),
      dbType: Type.String(),
      reads: Type.Array(
        Shape('ExplainedCube', {
          name: Type.String(),
          kind: Type.Enum(['cube', 'view']),
          rows: Type.Enum(['all', 'filtered', 'none']),
          policies: Type.Array(ExplainedPolicy),
        }),
        { description: 'The cubes that the statement reads, and the view' },
      ),
    }),
  ),
});
