/**
 * Checks again, when it is read, what was published before the rules of today. A widget that they refuse is shown as one that
 * failed, and the others as before.
 */
import { ApiError } from '../../platform/errors.ts';
import type { ChartTask } from './charts.ts';
import { findWidgetProblems } from './config-rules.ts';
import { problemOfPlain, RULES, type StoredSnapshot } from './snapshots.ts';
import { requireVegaLite, SpecProblem } from './spec-rules.ts';
import type { VersionRow } from './store.ts';

type Problems = (string | undefined)[];
/** Returns the problem of each chart. */
type CheckCharts = (tasks: ChartTask[]) => Promise<Problems>;

const KEPT_MAX = 1000;
/** A chart may have been refused only because the server had too much to do. */
const LOOK_AGAIN_MS = 60_000;

export interface Rechecks {
  /** The version with the problems of its widgets. What is refused has neither a spec nor a query. */
  of(version: VersionRow, checkCharts: CheckCharts): Promise<VersionRow>;
}

export function createRechecks(): Rechecks {
  const known = new Map<number, { problems: Problems; until: number }>();

  async function problemsOf({ id, snapshots }: VersionRow, checkCharts: CheckCharts): Promise<Problems> {
    const kept = known.get(id);
    if (kept && kept.until > Date.now()) return kept.problems;
    const problems = await checkSnapshots(snapshots, checkCharts);
    const isFine = problems.every((problem) => problem === undefined);
    if (known.size >= KEPT_MAX) known.delete(known.keys().next().value!);
    known.set(id, { problems, until: isFine ? Number.POSITIVE_INFINITY : Date.now() + LOOK_AGAIN_MS });
    return problems;
  }

  return {
    async of(version, checkCharts) {
      const isOld = version.snapshots.some(({ rules }) => rules !== RULES);
      const problems = isOld ? await problemsOf(version, checkCharts) : [];
      const snapshots = version.snapshots.map((snapshot, i) =>
        problems[i] === undefined ? snapshot : refused(snapshot, problems[i]),
      );
      const refusedWidgets = findWidgetProblems(version.config);
      if (!refusedWidgets.size) return { ...version, snapshots };
      const widgets = version.config.widgets!.map((widget) => {
        const problem = refusedWidgets.get(widget.id);
        return problem === undefined ? widget : { ...widget, config: { problem } };
      });
      return { ...version, snapshots, config: { ...version.config, widgets } };
    },
  };
}

const refused = (snapshot: StoredSnapshot, problem: string): StoredSnapshot => ({
  ...snapshot,
  ...{ spec: {}, query: null, sqlQuery: null, python: null, problem },
});

async function checkSnapshots(snapshots: StoredSnapshot[], checkCharts: CheckCharts): Promise<Problems> {
  const problems = snapshots.map(firstProblem);
  const drawn = snapshots.flatMap(({ kind, spec, source }, i) =>
    kind === 'vega' && problems[i] === undefined ? [{ i, task: { spec: source!, stored: spec } }] : [],
  );
  const answers = await checkCharts(drawn.map(({ task }) => task));
  for (const [at, { i }] of drawn.entries()) problems[i] = answers[at];
  return problems;
}

/** What can be seen without the thread for charts. */
function firstProblem({ kind, spec, source, rules }: StoredSnapshot): string | undefined {
  if (rules === RULES) return undefined;
  try {
    if (kind !== 'vega') return problemOfPlain(kind, spec);
    if (!source) return 'The Vega-Lite specification is not known any more: publish the dashboard again.';
    requireVegaLite(source);
    return undefined;
  } catch (error) {
    if (error instanceof SpecProblem || error instanceof ApiError) return error.message;
    throw error;
  }
}
