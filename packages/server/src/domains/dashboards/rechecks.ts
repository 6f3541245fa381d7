/**
 * Checks a published dashboard again when it is read, if it was published under older rules, and caches what was found. A
 * widget that the rules of today refuse is shown as one that failed, and the others as before.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../platform/errors.ts';
import type { Charts } from './charts.ts';
import { findWidgetProblems } from './config-rules.ts';
import { problemOfPlain, RULES, type StoredSnapshot } from './snapshots.ts';
import { requireVegaLite, SpecError } from './spec-rules.ts';
import type { VersionRow } from './store.ts';

/** The problem of each snapshot. */
interface Verdict {
  problems: (string | undefined)[];
  /** False if a chart may be refused only because the server had too much to do. */
  isFinal: boolean;
}

const CACHED_MAX = 1000;
/** How long a verdict is used that is not final. */
const LOOK_AGAIN_MS = 60_000;

export interface Rechecks {
  /**
   * The version with the problems of its widgets. What is refused has neither a spec nor a query. `sharer` names on whose
   * behalf charts are compiled.
   */
  of(version: VersionRow, sharer: string): Promise<{ version: VersionRow; isFinal: boolean }>;
}

export function createRechecks(charts: Pick<Charts, 'compile'>): Rechecks {
  const cache = new LRUCache<number, { verdict: Promise<Verdict>; until: number }>({ max: CACHED_MAX });

  /** Readers who ask at the same time share one check. So it goes on if one of them leaves. */
  function verdictOn({ id, snapshots }: VersionRow, sharer: string): Promise<Verdict> {
    const cached = cache.get(id);
    if (cached && cached.until > Date.now()) return cached.verdict;
    const entry = { verdict: checkSnapshots(charts, snapshots, sharer), until: Number.POSITIVE_INFINITY };
    cache.set(id, entry);
    entry.verdict.then(
      ({ isFinal }) => {
        if (!isFinal) entry.until = Date.now() + LOOK_AGAIN_MS;
      },
      () => {
        if (cache.peek(id) === entry) cache.delete(id);
      },
    );
    return entry.verdict;
  }

  return {
    async of(version, sharer) {
      const isOld = version.snapshots.some(({ rules }) => rules !== RULES);
      const { problems, isFinal } = isOld ? await verdictOn(version, sharer) : FINE;
      const snapshots = version.snapshots.map((snapshot, i) =>
        problems[i] === undefined ? snapshot : refused(snapshot, problems[i]),
      );
      return { version: { ...version, snapshots, config: checkedConfig(version.config) }, isFinal };
    },
  };
}

const FINE: Verdict = { problems: [], isFinal: true };

function checkedConfig(config: VersionRow['config']): VersionRow['config'] {
  const problems = findWidgetProblems(config);
  if (!problems.size) return config;
  const widgets = config.widgets!.map((widget) => {
    const problem = problems.get(widget.id);
    return problem === undefined ? widget : { ...widget, config: { problem } };
  });
  return { ...config, widgets };
}

const refused = (snapshot: StoredSnapshot, problem: string): StoredSnapshot => ({
  ...snapshot,
  ...{ spec: {}, query: null, sqlQuery: null, python: null, problem },
});

async function checkSnapshots(
  charts: Pick<Charts, 'compile'>,
  snapshots: StoredSnapshot[],
  sharer: string,
): Promise<Verdict> {
  const problems = snapshots.map(firstProblem);
  const drawn = snapshots.flatMap(({ kind, spec, source }, i) =>
    kind === 'vega' && problems[i] === undefined ? [{ i, task: { spec: source!, stored: spec } }] : [],
  );
  const tasks = drawn.map(({ task }) => task);
  const answers = await charts.compile(tasks, sharer, new AbortController().signal);
  for (const [at, { i }] of drawn.entries()) problems[i] = answers[at]!.problem?.message;
  return { problems, isFinal: !answers.some((answer) => answer.problem && answer.isUnfinished) };
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
    if (error instanceof SpecError || error instanceof ApiError) return error.message;
    throw error;
  }
}
