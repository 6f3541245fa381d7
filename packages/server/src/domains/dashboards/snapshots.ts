/** Snapshots: the reports of a dashboard's charts as they are when it is published. */
import { ReportChart, Visualization } from '@oriel/contract';
import { chartOf as chartOfSettings, readAsked, VisualizationError } from '@oriel/visualization';
import type { Static } from 'typebox';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { checkerOf } from '../../platform/http/validation.ts';
import type { Viewer } from '../access/index.ts';
import type { ModelMembers, Queries, QueryOrSql } from '../queries/index.ts';
import { listReports, type ReportRow } from '../reports/index.ts';
import {
  chartQueries,
  fieldsGiven,
  missingMessage,
  type PlannedChart,
  problemsOf,
} from './chart-problems.ts';
import type { Charts } from './charts.ts';
import { type Chart, requireText } from './config-rules.ts';
import { requirePlainSpec, requireVegaLite, SpecError } from './spec-rules.ts';

type ChartInput = Static<typeof ReportChart>;
export type SnapshotKind = ChartInput['kind'];

export interface StoredSnapshot
  extends Pick<ChartInput, 'kind' | 'fillMissingRows' | 'periodComparisons' | 'preferences'> {
  reportId: number;
  versionNumber: number;
  name: string;
  title: string | null;
  description: string | null;
  query: object | null;
  sqlQuery: string | null;
  spec: object;
  /** The Vega-Lite that `spec` was compiled from. */
  source?: object;
  python?: string | null;
  /** The `RULES` under which it was published. */
  rules?: number;
  /** Why the rules of today refuse it. Not stored. */
  problem?: string;
}

/**
 * Count this up whenever the rules for charts refuse more than before: what was published under earlier rules is then checked
 * again when it is read.
 */
export const RULES = 2;

export const SNAPSHOTS_MAX_BYTES = 5 * 1024 * 1024;
const checkChart = checkerOf(ReportChart);
const checkVisualization = checkerOf(Visualization);

export interface SnapshotOptions {
  db: Queryable;
  viewer: Viewer;
  charts: Charts;
  /** On whose behalf charts are compiled. */
  sharer: string;
  signal: AbortSignal;
  /** Undefined if there is no model yet. */
  model?: ModelToday | undefined;
  /** The times that filters limit from the beginning, of a chart with this id and query. */
  rangedFor?(widgetId: string, query: object | null): string[];
}

/** The model that charts are checked against. */
export interface ModelToday extends ModelMembers {
  check: (asked: readonly QueryOrSql[]) => ReturnType<Queries['check']>;
}

/** Throws a 400 that names the widget unless the viewer can read every report and each can be drawn. */
export async function takeSnapshots(
  { db, viewer, model, rangedFor, ...context }: SnapshotOptions,
  widgets: Chart[],
): Promise<StoredSnapshot[]> {
  const firstOf = new Map<number, Chart>();
  for (const widget of widgets) if (!firstOf.has(widget.reportId)) firstOf.set(widget.reportId, widget);
  const reports = await readReports(db, viewer, [...firstOf.keys()]);
  const drafts = [...firstOf.values()].map((widget): Draft => {
    const report = reports.get(widget.reportId);
    if (!report)
      throw refusal(widget, undefined, `The widget \`${widget.id}\` names a report that does not exist.`);
    const refuse = (message: string) => refusal(widget, report, message);
    const snapshot = snapshotOf(report, model, refuse);
    return { snapshot, refuse, ranged: rangedFor?.(widget.id, snapshot.query) };
  });
  // Like an application, Python runs for viewers who may see more than its author.
  if (viewer.embedTenant !== null && drafts.some(({ snapshot }) => snapshot.python))
    throw new ApiError('forbidden', {
      message: 'Reports with Python are published by people of the account only.',
    });
  await compileDrafts(drafts, model, context);
  const all = drafts.map(({ snapshot }) => snapshot);
  if (Buffer.byteLength(JSON.stringify(all)) > SNAPSHOTS_MAX_BYTES) throw tooLarge();
  return all;
}

/** What a snapshot of the report would be, without ids. Throws a 400 like a publication. */
export async function preview(
  { model, ...context }: Pick<SnapshotOptions, 'charts' | 'sharer' | 'signal' | 'model'>,
  {
    jsonQuery = null,
    sqlQuery = null,
    meta = null,
  }: Pick<Partial<ReportRow>, 'jsonQuery' | 'sqlQuery' | 'meta'>,
) {
  const refuse = (message: string) => invalid(placeOf(message), `${message.replace(/[.?]$/, '')}.`);
  const unnamed = { id: 0, version: 0, name: '', title: null, description: null };
  const snapshot = snapshotOf({ ...unnamed, jsonQuery, sqlQuery, meta }, model, refuse);
  await compileDrafts([{ snapshot, refuse, ranged: undefined }], model, context);
  const { kind, spec, source, fillMissingRows, periodComparisons, preferences, query } = snapshot;
  return {
    ...{ kind, spec, fillMissingRows, periodComparisons, preferences },
    ...(source ? { source } : {}),
    meta: query ? { query } : {},
  };
}

/** The field that a message is about, which is its first word. */
const placeOf = (message: string) =>
  /^(?:meta|jsonQuery|sqlQuery)[\w.[\]]*/.exec(message)?.[0] ?? 'jsonQuery';

/** A report that is going to be a snapshot. */
interface Draft {
  snapshot: StoredSnapshot;
  refuse(message: string): ApiError;
  /** The times that filters limit from the beginning. */
  ranged: string[] | undefined;
}

/** Plans the queries, and puts Vega in the place of Vega-Lite. Throws if one of them cannot be drawn. */
async function compileDrafts(
  drafts: readonly Draft[],
  model: ModelToday | undefined,
  { charts, sharer, signal }: Pick<SnapshotOptions, 'charts' | 'sharer' | 'signal'>,
) {
  const planned = model && (await planAll(model, drafts));
  const refusals = drafts.flatMap(({ snapshot, refuse }, i) =>
    problemsOf(snapshot, planned?.[i]).map(refuse),
  );
  const vega = drafts.filter(({ snapshot }) => snapshot.kind === 'vega');
  const answers = await charts.compile(
    vega.map(({ snapshot }) => ({ spec: snapshot.spec, given: fieldsGiven(snapshot) })),
    sharer,
    signal,
  );
  for (const [i, { snapshot, refuse }] of vega.entries()) {
    const answer = answers[i]!;
    if (answer.problem)
      throw refuse(`meta.chart.spec ${placeIn(answer.problem.path)}${answer.problem.message}`);
    for (const field of answer.missing ?? []) refusals.push(refuse(missingMessage(snapshot, field)));
    snapshot.source = snapshot.spec;
    snapshot.spec = answer.vega;
  }
  requireNone(refusals);
}

/**
 * The reports as charts would show them, with `problem` where one cannot be drawn. Queries are not planned: a dashboard's
 * filters decide about some of them, and the rows tell the rest.
 */
export async function previewSnapshots(
  { db, viewer, charts, sharer, signal, model }: Omit<SnapshotOptions, 'rangedFor'>,
  reportIds: readonly number[],
): Promise<StoredSnapshot[]> {
  const reports = await readReports(db, viewer, [...reportIds]);
  const snapshots = reportIds.flatMap((reportId): StoredSnapshot[] => {
    const report = reports.get(reportId);
    if (!report) return [];
    try {
      return [snapshotOf(report, model, (message) => invalid('reportIds', message))];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [refused(report, error.message)];
    }
  });
  const vega = snapshots.filter(({ kind, problem }) => kind === 'vega' && problem === undefined);
  const answers = await charts.compile(
    vega.map((snapshot) => ({ spec: snapshot.spec, given: fieldsGiven(snapshot) })),
    sharer,
    signal,
  );
  for (const [i, snapshot] of vega.entries()) {
    const answer = answers[i]!;
    if (answer.problem) {
      snapshot.problem = `meta.chart.spec ${placeIn(answer.problem.path)}${answer.problem.message}`;
      snapshot.spec = {};
      continue;
    }
    const [missing] = answer.missing ?? [];
    if (missing) snapshot.problem = missingMessage(snapshot, missing);
    snapshot.spec = answer.vega;
  }
  return snapshots;
}

const refused = (report: ReportRow, problem: string): StoredSnapshot => ({
  reportId: report.id,
  versionNumber: report.version,
  name: report.name,
  title: report.title,
  description: report.description,
  kind: 'table',
  query: null,
  sqlQuery: null,
  spec: {},
  problem,
});

/** All queries go to the planner together. */
async function planAll({ kindOf, check }: ModelToday, drafts: readonly Draft[]): Promise<PlannedChart[]> {
  const asked = drafts.map(({ snapshot, ranged }) => chartQueries(snapshot, ranged));
  const all = asked.flat();
  const issues = new Map((await check(all.map((one) => one.asked))).map((found, i) => [all[i]!, found]));
  return asked.map((ofChart) => ({
    kindOf,
    asked: ofChart.map((one) => ({ ...one, issues: issues.get(one)! })),
  }));
}

const ISSUES_MAX = 50;

/** Throws one error with the issues of all of them. */
function requireNone([first, ...others]: ApiError[]) {
  if (!first) return;
  const issues = [first, ...others].flatMap((each) => each.issues ?? []).slice(0, ISSUES_MAX);
  throw new ApiError(first.code, { message: first.message, issues });
}

const placeIn = (path: string) => (path ? `at \`${path}\` ` : '');

const tooLarge = () => invalid('config.widgets', 'The reports of all charts together are larger than 5 MB.');

function bytesOf({ meta, jsonQuery, sqlQuery }: ReportRow) {
  const { chart, python } = (meta ?? {}) as { chart?: unknown; python?: unknown };
  return Buffer.byteLength(JSON.stringify([chart, python, jsonQuery, sqlQuery]));
}

/** Reads the reports in pages, because a large page ends early. Throws once they are too large together. */
async function readReports(db: Queryable, viewer: Viewer, ids: number[]) {
  const reports = new Map<number, ReportRow>();
  let bytes = 0;
  for (let rest = ids; rest.length; ) {
    const { rows, cutAt } = await listReports(db, viewer, rest);
    for (const row of rows) {
      reports.set(row.id, row);
      bytes += bytesOf(row);
    }
    if (bytes > SNAPSHOTS_MAX_BYTES) throw tooLarge();
    rest = cutAt === undefined ? [] : rest.slice(rest.indexOf(cutAt));
  }
  return reports;
}

const refusal = ({ id, path }: Chart, report: { name: string } | undefined, message: string) =>
  invalid(
    `${path}.reportId`,
    report
      ? `The report \`${report.name}\` of the widget \`${id}\`: ${message.replace(/\.$/, '')}${message.endsWith('?') ? '' : '.'}`
      : message,
    report ? 'invalid_request' : 'invalid_reference',
  );

/** What is drawn of a report. */
type DrawnReport = Pick<
  ReportRow,
  'id' | 'version' | 'name' | 'title' | 'description' | 'jsonQuery' | 'sqlQuery' | 'meta'
>;
type Refuse = (message: string) => ApiError;

function snapshotOf(report: DrawnReport, model: ModelMembers | undefined, refuse: Refuse): StoredSnapshot {
  const query = queryOf(report, refuse);
  const chart = chartOf(report, query, model, refuse);
  if (!query && !report.sqlQuery && chart.kind !== 'html') throw refuse('it has no query');
  const spec = chart.spec ?? {};
  try {
    if (chart.kind === 'vega') requireVegaLite(spec);
    else requirePlainSpec(spec);
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    throw refuse(`meta.chart.spec ${placeIn(error.path)}${error.message}`);
  }
  requireFields(chart.kind, spec as Record<string, unknown>, refuse);
  if (chart.kind === 'vega' && query) requireFieldNames(spec, query, refuse);
  const { id, version, name, title, description, sqlQuery } = report;
  const { kind, fillMissingRows = null, periodComparisons = null, preferences = null } = chart;
  const python = chart.python ?? pythonOf(report, refuse);
  return {
    ...{ reportId: id, versionNumber: version, name, title, description, kind, spec, query, sqlQuery },
    ...{ fillMissingRows, periodComparisons, preferences },
    ...(python ? { python } : {}),
    rules: RULES,
  };
}

/** Beside the chart or in it. */
function pythonOf({ meta }: DrawnReport, refuse: Refuse): string | null {
  const python = (meta as { python?: unknown } | null)?.python ?? null;
  if (python !== null && typeof python !== 'string') throw refuse('meta.python must be a text');
  return python;
}

/** Settings come before a chart that was written by hand. A report without either is shown as a table. */
function chartOf(
  { meta }: DrawnReport,
  query: object | null,
  model: ModelMembers | undefined,
  refuse: Refuse,
): ChartInput {
  const { chart, visualization } = (meta ?? {}) as { chart?: unknown; visualization?: unknown };
  if (visualization == null && chart == null) return { kind: 'table' };
  const place = visualization == null ? 'meta.chart' : 'meta.visualization';
  try {
    if (visualization == null) return checkChart(chart);
    return chartOfSettings(checkVisualization(visualization), readAsked(query), model?.describe);
  } catch (error) {
    if (error instanceof VisualizationError) throw refuse(`${place}.${error.path} ${error.message}`);
    const issue = error instanceof ApiError && error.issues?.[0];
    if (!issue) throw error;
    throw refuse(`${place}${issue.path ? `.${issue.path}` : ''} ${issue.message}`);
  }
}

function queryOf({ jsonQuery }: DrawnReport, refuse: Refuse): object | null {
  if (jsonQuery === null) return null;
  try {
    const query: unknown = JSON.parse(jsonQuery);
    if (typeof query === 'object' && query !== null && !Array.isArray(query)) return query;
  } catch {}
  throw refuse('jsonQuery is not a JSON object');
}

/** Vega takes a dot for a part of a field, so a member with dots would draw an empty chart. */
function requireFieldNames(spec: object, query: object, refuse: Refuse) {
  const members = new Set(JSON.stringify(query).match(/\b\w{1,200}\.\w{1,200}/g));
  for (const [, field] of JSON.stringify(spec).matchAll(/"field":"(\w{1,200}\.\w{1,200})["[.]/g))
    if (members.has(field!))
      throw refuse(`meta.chart.spec names \`${field}\`: write \`${field!.replace('.', '__')}\``);
}

/** The fields that a page cannot draw the chart without. */
const REQUIRED: Record<SnapshotKind, string[]> = {
  vega: [],
  table: [],
  kpi: ['measure'],
  map: ['member', 'measure'],
  html: ['template'],
};

function requireFields(kind: SnapshotKind, spec: Record<string, unknown>, refuse: Refuse) {
  const isOfPoints = kind === 'map' && (spec.latitude ?? spec.longitude) != null;
  for (const name of isOfPoints ? ['latitude', 'longitude'] : REQUIRED[kind]) {
    if (typeof spec[name] !== 'string') throw refuse(`meta.chart.spec.${name} must be a text`);
  }
  if (kind === 'html') requireText(spec.template, (message) => refuse(`meta.chart.spec.template ${message}`));
  if (kind === 'table' && spec.columns != null && !Array.isArray(spec.columns))
    throw refuse('meta.chart.spec.columns must be a list');
}

/** Throws if a spec of another kind than `vega` is not valid. */
export function problemOfPlain(kind: SnapshotKind, spec: object): undefined {
  requirePlainSpec(spec);
  requireFields(kind, spec as Record<string, unknown>, (message) => invalid('spec', message));
}

/** The snapshot as callers see it. The source of Vega-Lite and Python stay on the server; for pages, SQL too. */
export const toSnapshot = (
  { source: _source, rules: _rules, problem, python, query, sqlQuery, ...snapshot }: StoredSnapshot,
  { id, withSql }: { id: number; withSql: boolean },
) => ({
  id,
  ...snapshot,
  ...(withSql ? { sqlQuery } : {}),
  meta: {
    ...(query ? { query } : {}),
    ...(python ? { hasPython: true } : {}),
    ...(problem === undefined ? {} : { problem }),
  },
});
