/** What the fields of queries and of their answers mean. */
import type { FieldWords } from './index.ts';

const member = {
  name: 'What queries call it: cube or view, point, member',
  title: 'What people see, with the title of the cube in front',
  shortTitle: 'What people see where the cube is clear already',
  type: 'The type of its values, such as `number`, `string` or `time`',
  description: 'What it means, in the words of the data model',
  format: 'How its values are written, such as `currency` or `percent`',
  meta: 'What the data model keeps with it, for clients',
  public: 'Whether queries may use it; what they may not use is not listed',
  isVisible: 'The same as `public`, for older clients',
};
const source = {
  dataSource: 'The data source that is asked, as the data model names it',
  dbType: 'The kind of database that it is',
};
const granularity = {
  name: 'What queries call it',
  title: 'What people see instead of `name`',
  interval: 'The length of a period, such as `1 year`',
  offset: 'How far periods are shifted, such as `3 months` for a fiscal year',
  origin: 'A time at which a period begins',
};
const viewer = {
  groups: 'The names of the groups that policies see',
  tenantGroups: 'The names that policies see as `tenant:<name>`',
  roles: 'The names of the roles that policies see',
  userAttributes: 'The values of attributes, by name',
  securityContext: 'What policies see as `securityContext`',
};
const drillMembers = {
  drillMembers: 'What to show when somebody looks behind a number',
  drillMembersGrouped: 'The same, by kind',
};
const queryType = 'Whether it was one query, one with several date ranges, or several queries';
const slowQuery = 'Always false: an answer never comes from before because the query is slow';

export const queries: FieldWords = {
  JsonQuery: {
    timeDimensions: 'Times to group by or to choose rows by',
    order: 'Members with `asc` or `desc`: as an object, or as pairs',
    limit: 'How many rows to return at most',
    offset: 'How many rows to skip',
    timezone: 'The IANA time zone in which days and months begin; UTC by default',
  },
  QueryFilter: {
    member: 'What is compared: a measure, a dimension or a time dimension',
    operator: 'How it is compared',
    values: 'What it is compared with; any of several may match',
    and: 'All of these must hold',
    or: 'At least one of these must hold',
  },
  CalculatedField: {
    name: 'The key of its values in the rows. It has no dot, and differs from the names of other calculated fields',
    title: 'What people see instead of `name`',
    format: 'How its values are written',
    kind: 'How it is computed; which of the other fields it takes depends on this',
    of: 'What it is computed from: a dimension for `aggregate`, or else a measure or a calculated field before this one',
    function: 'For `aggregate`: what is computed from the values of the dimension',
    along: 'A dimension of the query that says which row is before another; the first time by default',
    within: 'Dimensions of the query: rows that agree in them are computed by themselves',
    rows: 'For `movingAverage`: how many rows, this one and those before it; 3 by default',
    direction: 'For `rank`: `asc` gives the smallest value the first rank',
    expression: 'For `expression`: numbers, texts, members, operators and functions',
  },
  QueryTimeDimension: {
    dimension: 'A dimension whose type is `time`',
    granularity: 'Group by periods of this length; without it, it only chooses rows',
    compareDateRange: 'Ask the same for each of these date ranges',
  },
  LoadResult: {
    ...source,
    external: 'Always false: answers are not computed ahead in another database',
    slowQuery,
    data: 'The rows, as objects or, with `responseFormat: compact`, as arrays. Times with a granularity are there under their plain names too',
  },
  LoadResults: { queryType, slowQuery, results: 'One result for each query or date range, in their order' },
  QueryAnnotation: {
    measures: 'The measures among the columns',
    dimensions: 'The dimensions among the columns',
    timeDimensions: 'The time dimensions among the columns, by their names with and without the period',
    segments: 'The segments of the query',
  },
  AnnotatedMember: { ...member, ...drillMembers, granularity: 'The period by which the times are grouped' },
  AnnotatedGranularity: granularity,
  CompactRows: {
    members: 'What each place of a row holds',
    dataset: 'The rows, each as a list of values in the order of `members`',
  },
  QueryDryRun: {
    queryType,
    normalizedQueries: 'Each query as it was understood, with date ranges as dates',
    queryOrder: 'The order of the rows of each query',
    transformedQueries: 'Always empty; kept for older clients',
  },
  QueryMeta: { cubes: 'The cubes and views of the data model that the caller may query' },
  MetaCube: {
    name: 'What queries call it',
    title: 'What people see instead of `name`',
    type: 'Whether it is a cube or a view over cubes',
    description: member.description,
    meta: member.meta,
    public: member.public,
    isVisible: member.isVisible,
    measures: 'What can be aggregated',
    dimensions: 'What can be grouped and filtered by',
    segments: 'Named choices of rows',
    hierarchies: 'Dimensions from the coarse to the fine, for drilling down',
    folders: 'Members of a view that belong together for people; empty for cubes',
    nestedFolders: 'The same folders, with folders of the same form among their members',
  },
  MetaMeasure: {
    ...member,
    aggType: 'How it aggregates, such as `sum` or `countDistinct`',
    cumulative: 'Whether it adds up over time, by a rolling window',
    cumulativeTotal: 'Whether it adds up over all time before',
    ...drillMembers,
  },
  DrillMembers: { measures: 'The measures among them', dimensions: 'The dimensions among them' },
  MetaDimension: {
    ...member,
    primaryKey: 'Whether it tells the rows of the cube apart',
    suggestFilterValues: 'Always true: clients may ask for its values to fill a filter',
    granularities: 'Periods that the data model adds to day, month and so on',
  },
  MetaGranularity: granularity,
  MetaSegment: member,
  MetaFolder: {
    name: 'What people see',
    members: 'The members in it, and in the folders inside of it',
  },
  MetaHierarchy: {
    name: 'What clients call it',
    title: 'What people see instead of `name`',
    levels: 'The dimensions, from the coarse to the fine',
    public: 'Whether clients show it',
  },
  QuerySql: { sql: 'The statement and where it would run' },
  QuerySqlStatement: source,
  ExplainViewer: viewer,
  ExplainedViewer: viewer,
  ExplainInput: { viewer: 'For whom it is explained; by default for the caller' },
  ExplainAccessInput: {
    viewer: 'For whom it is explained, as one in a page of a host; by default for the caller',
  },
  ExplainedCube: {
    name: 'The cube or view',
    kind: 'Which of the two it is',
    rows: 'Whether policies let the viewer see all, some or none of its rows',
    policies: 'Every policy that stands there, also those that do not apply',
  },
  ExplainedError: { code: 'The code that the query would return', message: 'What is wrong, for people' },
  ExplainedPlan: {
    ...source,
    sql: 'The statement, with a mark for each value',
    values: 'The values of the marks, in their order',
  },
  ExplainedPolicy: {
    groups: 'Whom the policy is for',
    why: 'Why it applies or does not, for people',
  },
  HiddenMember: { member: 'The member that this viewer cannot use', why: 'Which policies leave it out' },
  QueryExplanation: {
    hiddenMembers: 'What the viewer cannot use of the cubes and views of the query',
    plans: 'The statements that would run, one for each query or date range',
  },
};
