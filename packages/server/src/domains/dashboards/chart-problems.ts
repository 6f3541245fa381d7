/**
 * Whether a chart can show anything: its queries can be planned on the model, and the fields that it names are in the rows
 * that the query gives. A chart of other fields would be drawn, with `undefined` in it.
 */
import type { ReportChart } from '@oriel/contract';
import type { MemberKind, QueryIssue } from '@oriel/semantic';
import type { Static } from 'typebox';

/** Returns the kind of a member; undefined for a name that the publisher does not know. */
export type FindKind = (name: string) => MemberKind | undefined;

/** A field that a Vega-Lite specification names at a path. */
export interface MissingField {
  path: string;
  field: string;
}

/** A chart that names many has the same fault in all of them. */
export const MISSING_MAX = 10;

type ChartInput = Static<typeof ReportChart>;
interface ChartSource extends Pick<ChartInput, 'kind' | 'fillMissingRows' | 'periodComparisons'> {
  query: object | null;
  sqlQuery: string | null;
  spec: object;
  python?: string | null;
}

interface UncheckedQuery {
  measures?: unknown;
  dimensions?: unknown;
  timeDimensions?: unknown;
  segments?: unknown;
  filters?: unknown;
  order?: unknown;
  calculated?: unknown;
}

type Value = unknown;
const isObject = (value: Value): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
const objectsIn = (value: Value) => (Array.isArray(value) ? value : []).filter(isObject);

const calculatedIn = (value: Value) => objectsIn(value).flatMap(({ name }) => textsIn(name));
const isOneOf = (value: Value, list: Value) => typeof value === 'string' && textsIn(list).includes(value);

/** What a page asks for to draw a chart. */
export interface ChartQuery {
  /** For messages. */
  place: string;
  /** A query, or SQL. */
  asked: object | string;
}

/** `ranged` are the times that filters of the dashboard limit from the beginning, if the query does not. */
export function chartQueries(
  { kind, query, sqlQuery, spec }: ChartSource,
  ranged: readonly string[] = [],
): ChartQuery[] {
  if (!query) return sqlQuery ? [{ place: 'sqlQuery', asked: sqlQuery }] : [];
  const asked: ChartQuery[] = [{ place: 'jsonQuery', asked: withRanges(query, ranged) }];
  if (kind !== 'kpi') return asked;
  const { measure, comparison, sparkline } = spec as Record<string, unknown>;
  if (isObject(comparison) && isObject(comparison.query))
    asked.push({
      place: 'meta.chart.spec.comparison.query',
      asked: withRanges(comparison.query, ranged),
    });
  if (isObject(sparkline) && typeof sparkline.timeDimension === 'string') {
    const { timeDimension: dimension, granularity = 'day', dateRange } = sparkline;
    const others = objectsIn((query as UncheckedQuery).timeDimensions);
    const range = dateRange ?? others.find((time) => time.dimension === dimension)?.dateRange;
    const trend = {
      ...query,
      // A calculated field needs what it is computed from.
      measures: isOneOf(measure, (query as UncheckedQuery).measures)
        ? [measure]
        : (query as UncheckedQuery).measures,
      timeDimensions: [
        { dimension, granularity, ...(range == null ? {} : { dateRange: range }) },
        ...others.filter((time) => time.dimension !== dimension),
      ],
      order: { [dimension as string]: 'asc' },
    };
    asked.push({ place: 'meta.chart.spec.sparkline', asked: withRanges(trend, ranged) });
  }
  return asked;
}

function withRanges(query: UncheckedQuery, ranged: readonly string[]): object {
  const { timeDimensions } = query;
  if (!ranged.length || (timeDimensions != null && !Array.isArray(timeDimensions))) return query;
  const missing = new Set(ranged);
  const times = (timeDimensions ?? []).map((time: Value) => {
    if (!isObject(time) || typeof time.dimension !== 'string' || !missing.delete(time.dimension)) return time;
    return time.dateRange == null && time.compareDateRange == null ? { ...time, dateRange: 'today' } : time;
  });
  const added = [...missing].map((dimension) => ({ dimension, dateRange: 'today' }));
  return { ...query, timeDimensions: [...times, ...added] };
}

/** The planner's words as messages. */
export const issueMessages = ({ place }: ChartQuery, issues: readonly QueryIssue[]): string[] =>
  issues.slice(0, MISSING_MAX).map(({ path, message }) => `${place}${path ? `.${path}` : ''}: ${message}`);

/**
 * Messages about members that queries cannot use. The planner reports only the first one, and none to viewers whom no
 * policy admits, because they have no rows in any case.
 */
function problemsOfQuery({ place, asked }: ChartQuery, kindOf: FindKind, said: readonly string[]): string[] {
  if (typeof asked === 'string') return [];
  const query: UncheckedQuery = asked;
  const named = new Set([
    ...textsIn(query.measures),
    ...textsIn(query.dimensions),
    ...objectsIn(query.timeDimensions).flatMap(({ dimension }) => textsIn(dimension)),
    ...textsIn(query.segments),
    ...filtered(query.filters),
  ]);
  return (
    [...named]
      // A dimension may have a granularity behind its name.
      .filter((name) => !kindOf(name.split('.').slice(0, 2).join('.')))
      .filter((name) => !said.some((message) => message.includes(`\`${name}\``)))
      .slice(0, MISSING_MAX)
      .map((name) => `${place}: there is no member \`${short(name)}\` that a query can use`)
  );
}

function filtered(filters: Value, depth = 0): string[] {
  if (depth > 20) return [];
  return objectsIn(filters).flatMap(({ member, dimension, and, or }) => [
    ...textsIn(member ?? dimension),
    ...filtered(and, depth + 1),
    ...filtered(or, depth + 1),
  ]);
}

/** In each form that queries know: `{"a.b": "asc"}`, `[["a.b", "asc"]]` and `[{"id": "a.b"}]`. */
function orderedBy(order: Value): Value[] {
  if (isObject(order)) return Object.keys(order);
  return (Array.isArray(order) ? order : []).map((item) => (isObject(item) ? item.id : item?.[0]));
}

export const short = (name: string) => (name.length > 100 ? `${name.slice(0, 100)}…` : name);
const fieldOf = (member: string) => member.replaceAll('.', '__');

interface QueryFields {
  members: Set<string>;
  /** Times without their granularity, which viewers can change. */
  times: Set<string>;
}

/** The keys of the rows that pages draw from. */
function givenBy({ query, periodComparisons }: ChartSource): QueryFields {
  const { measures, dimensions, timeDimensions, calculated } = query as UncheckedQuery;
  const times = new Set<string>();
  const members = new Set([
    ...textsIn(measures),
    ...calculatedIn(calculated),
    ...textsIn(dimensions),
    'compareDateRange',
  ]);
  for (const { dimension, granularity } of objectsIn(timeDimensions)) {
    if (typeof dimension !== 'string' || typeof granularity !== 'string') continue;
    times.add(dimension);
    members.add(dimension).add(`${dimension}.${granularity}`);
  }
  for (const { measure, outputs } of periodComparisons ?? [])
    for (const output of outputs?.length ? outputs : ['previous', 'change', 'percent'])
      members.add(`${measure}.${output}`);
  return { members, times };
}

/** What was found about the queries of a chart. */
export interface PlannedChart {
  kindOf: FindKind;
  /** Each with what the planner says about it. */
  asked: readonly (ChartQuery & { issues: readonly QueryIssue[] })[];
}

/**
 * Returns messages; none if the chart can be drawn. The fields of Vega-Lite are checked by the thread that compiles it.
 * Without a model, only fields are checked.
 */
export function problemsOf(snapshot: ChartSource, model: PlannedChart | undefined): string[] {
  const { kind, query, spec, python } = snapshot;
  const problems = (model?.asked ?? []).flatMap((one) => {
    const said = issueMessages(one, one.issues);
    return [...said, ...problemsOfQuery(one, model!.kindOf, said)];
  });
  // The columns of SQL and of Python are not known before they run.
  if (!query || python) return problems;
  const given = givenBy(snapshot);
  const asked = query as UncheckedQuery;
  const isGiven = (member: string) =>
    given.members.has(member) || given.times.has(member.split('.').slice(0, 2).join('.'));
  const measures = new Set([...textsIn(asked.measures), ...calculatedIn(asked.calculated)]);
  const times = new Set(objectsIn(asked.timeDimensions).flatMap(({ dimension }) => textsIn(dimension)));
  const isMeasure = (member: string) => measures.has(member);
  const isTime = (member: string) => times.has(member);
  const offered = (among: typeof isGiven) =>
    among === isMeasure ? measures : among === isTime ? times : given.members;
  const named = (place: string, member: Value, among = isGiven) => {
    if (typeof member === 'string' && problems.length < MISSING_MAX && !among(member))
      problems.push(
        `${place} names \`${short(member)}\`, which the query does not give${hint(offered(among))}`,
      );
  };
  if (!model) for (const member of orderedBy(asked.order)) named('jsonQuery.order', member);
  const own = spec as Record<string, unknown>;
  if (kind === 'table') {
    for (const [i, { member }] of objectsIn(own.columns).entries())
      named(`meta.chart.spec.columns[${i}].member`, member);
    for (const [i, { member }] of objectsIn(own.sort).entries())
      named(`meta.chart.spec.sort[${i}].member`, member);
  }
  if (kind === 'kpi') {
    named('meta.chart.spec.measure', own.measure, isMeasure);
    const comparison = isObject(own.comparison) ? own.comparison : {};
    // The outer object may be left out.
    const period = isObject(comparison.periodComparison) ? comparison.periodComparison : comparison;
    const { timeDimension } = period;
    if (model && typeof timeDimension === 'string' && model.kindOf(timeDimension) !== 'time')
      problems.push(
        `meta.chart.spec.comparison${period === comparison ? '' : '.periodComparison'}.timeDimension: there is no time \`${short(timeDimension)}\``,
      );
  }
  if (kind === 'map') {
    named('meta.chart.spec.member', own.member);
    named('meta.chart.spec.measure', own.measure, isMeasure);
    named('meta.chart.spec.latitude', own.latitude);
    named('meta.chart.spec.longitude', own.longitude);
  }
  if (kind === 'html' && typeof own.template === 'string')
    for (const [, member] of own.template.matchAll(/\{\{\s*([\w.]+)\s*\}\}/g))
      named('meta.chart.spec.template', member);
  for (const [i, { measure, timeDimension }] of (snapshot.periodComparisons ?? []).entries()) {
    named(`meta.chart.periodComparisons[${i}].measure`, measure, isMeasure);
    named(`meta.chart.periodComparisons[${i}].timeDimension`, timeDimension, isTime);
  }
  named('meta.chart.fillMissingRows.member', snapshot.fillMissingRows?.member, isTime);
  return problems;
}

/** The names under which Vega-Lite can read the rows, or undefined if they are not known before a query runs. */
export function fieldsGiven(snapshot: ChartSource): string[] | undefined {
  if (!snapshot.query || snapshot.python) return undefined;
  return [...givenBy(snapshot).members].map(fieldOf);
}

export const missingMessage = (snapshot: ChartSource, { path, field }: MissingField) =>
  `meta.chart.spec at \`${path}\` names \`${field}\`, which the query does not give${hint(givenBy(snapshot).members, fieldOf)}`;

const GIVEN_SHOWN = 300;
const hint = (members: ReadonlySet<string>, write = (member: string) => member) => {
  const names = [...members].filter((name) => name !== 'compareDateRange').map(write);
  const text = names.map((name) => `\`${name}\``).join(', ');
  return names.length && text.length <= GIVEN_SHOWN ? `; it gives ${text}` : '';
};
