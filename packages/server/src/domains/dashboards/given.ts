/**
 * Whether a chart can show anything: the members of its query are in the model, and the fields that it names are in the rows
 * that the query gives. A chart of other fields would be drawn, with `undefined` in it.
 */
import type { ReportChart } from '@oriel/contract';
import type { MemberKind } from '@oriel/semantic';
import type { Static } from 'typebox';

/** Undefined for a name that is not known to whoever publishes. */
export type FindKind = (name: string) => MemberKind | undefined;

/** A field that a Vega-Lite specification names at a path. */
export interface MissingField {
  path: string;
  field: string;
}

/** A chart that names many has the same fault in all of them. */
export const MISSING_MAX = 10;

type GivenChart = Static<typeof ReportChart>;
interface Drawn extends Pick<GivenChart, 'kind' | 'fillMissingRows' | 'periodComparisons'> {
  query: object | null;
  spec: object;
  python?: string | null;
}

interface AskedQuery {
  measures?: unknown;
  dimensions?: unknown;
  timeDimensions?: unknown;
  segments?: unknown;
  filters?: unknown;
  order?: unknown;
}

type Value = unknown;
const isObject = (value: Value): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
const objectsIn = (value: Value) => (Array.isArray(value) ? value : []).filter(isObject);
const plural = (kind: string) => `${kind === 'time' ? 'dimension' : kind}s`;

/** Messages about members that queries can not use, or not in this place. */
function problemsOfQuery(query: AskedQuery, kindOf: FindKind): string[] {
  const problems: string[] = [];
  const check = (name: Value, kinds: MemberKind[], place: string) => {
    if (typeof name !== 'string' || problems.length === MISSING_MAX) return;
    // A dimension may have a granularity behind its name.
    const kind = kindOf(name.split('.').slice(0, 2).join('.'));
    if (!kind) problems.push(`jsonQuery: there is no member \`${short(name)}\` that a query can use`);
    else if (kinds.length && !kinds.includes(kind))
      problems.push(
        place === 'timeDimensions'
          ? `jsonQuery: \`${short(name)}\` among its \`timeDimensions\` is not a time`
          : `jsonQuery: \`${short(name)}\` among its \`${place}\` is one of the ${plural(kind)}`,
      );
  };
  for (const name of textsIn(query.measures)) check(name, ['measure'], 'measures');
  for (const name of textsIn(query.dimensions)) check(name, ['dimension', 'time'], 'dimensions');
  for (const { dimension } of objectsIn(query.timeDimensions)) check(dimension, ['time'], 'timeDimensions');
  for (const name of textsIn(query.segments)) check(name, ['segment'], 'segments');
  for (const name of filtered(query.filters)) check(name, [], 'filters');
  return problems;
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

interface Given {
  members: Set<string>;
  /** Times without their granularity, which viewers can change. */
  times: Set<string>;
}

/** The keys of the rows that pages draw from. */
function givenBy({ query, periodComparisons }: Drawn): Given {
  const { measures, dimensions, timeDimensions } = query as AskedQuery;
  const times = new Set<string>();
  const members = new Set([...textsIn(measures), ...textsIn(dimensions), 'compareDateRange']);
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

/** Messages. Empty if the chart can be drawn. For Vega-Lite, the thread that compiles it looks for its fields. */
export function problemsOf(snapshot: Drawn, kindOf: FindKind | undefined): string[] {
  const { kind, query, spec, python } = snapshot;
  // The columns of SQL and of Python are not known before they run.
  if (!query || python) return [];
  const problems = kindOf ? problemsOfQuery(query, kindOf) : [];
  const given = givenBy(snapshot);
  const asked = query as AskedQuery;
  const isGiven = (member: string) =>
    given.members.has(member) || given.times.has(member.split('.').slice(0, 2).join('.'));
  const named = (place: string, member: Value, among = isGiven) => {
    if (typeof member === 'string' && problems.length < MISSING_MAX && !among(member))
      problems.push(`${place} names \`${short(member)}\`, which the query does not give${hint(given)}`);
  };
  const measures = new Set(textsIn(asked.measures));
  const isMeasure = (member: string) => measures.has(member);
  const isTime = (member: string) =>
    objectsIn(asked.timeDimensions).some(({ dimension }) => dimension === member);
  for (const member of orderedBy(asked.order)) named('jsonQuery.order', member);
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
    if (kindOf && isObject(comparison.query))
      for (const problem of problemsOfQuery(comparison.query, kindOf))
        problems.push(problem.replace('jsonQuery', 'meta.chart.spec.comparison.query'));
    const sparkline = isObject(own.sparkline) ? own.sparkline.timeDimension : undefined;
    if (kindOf && typeof sparkline === 'string' && kindOf(sparkline) !== 'time')
      problems.push(`meta.chart.spec.sparkline.timeDimension: there is no time \`${short(sparkline)}\``);
  }
  if (kind === 'map') {
    named('meta.chart.spec.member', own.member);
    named('meta.chart.spec.measure', own.measure, isMeasure);
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
export function fieldsGiven(snapshot: Drawn): string[] | undefined {
  if (!snapshot.query || snapshot.python) return undefined;
  return [...givenBy(snapshot).members].map(fieldOf);
}

export const missingMessage = (snapshot: Drawn, { path, field }: MissingField) =>
  `meta.chart.spec at \`${path}\` names \`${field}\`, which the query does not give${hint(givenBy(snapshot), fieldOf)}`;

const GIVEN_SHOWN = 300;
const hint = ({ members }: Given, write = (member: string) => member) => {
  const names = [...members].filter((name) => name !== 'compareDateRange').map(write);
  const text = names.map((name) => `\`${name}\``).join(', ');
  return names.length && text.length <= GIVEN_SHOWN ? `; it gives ${text}` : '';
};
