/** An open question: what is asked, the answer to it, and what people did to it. */
import { askFor, type Board, type Result, type Rows, type Snapshot } from '@oriel/charts';
import {
  type Chart,
  chartOf,
  type Recommendation,
  recommend,
  shapeOf,
  type Visualization,
} from '@oriel/visualization';
import { batch, computed, type Signal, signal } from '@preact/signals';
import { api } from '../data/api.ts';
import { isAbort, type Problem, problemOf } from '../data/problem.ts';
import { prefer, preference } from '../preferences.ts';
import { createHistory, type History, redo, step, undo } from './history.ts';
import { describeWith, type Model } from './members.ts';
import { emptyQuestion, isAsked, type Question, toQuery, valueKeys } from './question.ts';

export interface Answer {
  /** The question that it answers. */
  key: string;
  /** What the chart is drawn from; `spec` of Vega comes from the server. */
  snapshot: Snapshot;
  /** By hand, if it is. */
  vegaLite: Question['vegaLite'];
  rows: Rows;
  visualization: Visualization;
  recommendations: Recommendation[];
  ms: number;
  /** How old the rows are, if the server had kept them. */
  cachedMs: number | undefined;
}

/** Which cubes and views limit the rows. Undefined for people who may not know. */
export type Limits = string[] | undefined;

const WAIT_MS = 180;

export class Exploration {
  readonly deploymentId: number;
  readonly model: Model;
  readonly board: Board;
  readonly #history: Signal<History<Question>>;
  readonly question = computed(() => this.#history.value.state);
  readonly canUndo = computed(() => this.#history.value.done.at(-1)?.name);
  readonly canRedo = computed(() => this.#history.value.undone.at(-1)?.name);
  readonly answer = signal<Answer | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  readonly isRunning = signal(false);
  readonly isAutomatic = signal(preference('autoRun') ?? true);
  readonly limits = signal<Limits>(undefined);
  /** Whether policies limit the rows. Everyone is told that, but not which policies. */
  readonly isLimited = computed(
    () => (this.answer.value?.rows.result as { rowsLimited?: boolean } | undefined)?.rowsLimited === true,
  );
  #running: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #mayExplain = true;

  constructor(
    deploymentId: number,
    model: Model,
    board: Board,
    question: Question = emptyQuestion(),
    held?: object,
  ) {
    this.held = signal(held);
    this.deploymentId = deploymentId;
    this.model = model;
    this.board = board;
    this.#history = signal(createHistory(question));
  }

  /** Vega-Lite that another person may have written: it waits for a click. */
  readonly held: Signal<object | undefined>;
  readonly isHeld = computed(() => {
    const held = this.held.value;
    return held !== undefined && this.answer.value?.vegaLite === held;
  });

  /** Whether what is shown is the answer to what is asked. */
  readonly isOutdated = computed(() => {
    const answer = this.answer.value;
    return answer !== undefined && answer.key !== keyOf(this.question.value);
  });

  /** `field` puts changes of one field that follow each other into one step. */
  change(name: string, change: (question: Question) => Question, field?: string) {
    const before = this.#history.peek();
    this.#history.value = step(before, name, change, field);
    if (this.#history.peek().state !== before.state) this.#changed();
  }

  undo() {
    this.#history.value = undo(this.#history.peek());
    this.#changed();
  }

  redo() {
    this.#history.value = redo(this.#history.peek());
    this.#changed();
  }

  /** Another question, as when a link was followed. */
  open(question: Question) {
    this.#history.value = createHistory(question);
    this.answer.value = undefined;
    this.problem.value = undefined;
    if (isAsked(question)) void this.run();
  }

  setAutomatic(isAutomatic: boolean) {
    this.isAutomatic.value = isAutomatic;
    prefer({ autoRun: isAutomatic });
    if (isAutomatic && this.isOutdated.peek()) void this.run();
  }

  #changed() {
    clearTimeout(this.#timer);
    const question = this.question.peek();
    if (!isAsked(question)) {
      this.stop();
      batch(() => {
        this.answer.value = undefined;
        this.problem.value = undefined;
      });
      return;
    }
    const answer = this.answer.peek();
    // Settings of the chart need no other rows.
    const isSame = answer !== undefined && answer.key === keyOf(question);
    if (this.isAutomatic.peek() || isSame)
      this.#timer = setTimeout(() => void this.run(), isSame ? 0 : WAIT_MS);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = undefined;
    this.isRunning.value = false;
  }

  /** Runs the question. A run that is still under way is aborted. */
  async run({ isFresh = false } = {}) {
    this.stop();
    const question = this.question.peek();
    if (!isAsked(question)) return;
    const running = new AbortController();
    this.#running = running;
    this.isRunning.value = true;
    try {
      const answer = await this.#ask(question, running.signal, isFresh);
      if (this.#running !== running) return;
      batch(() => {
        this.answer.value = answer;
        this.problem.value = undefined;
      });
      void this.#findLimits(question, running.signal);
    } catch (error) {
      if (this.#running !== running || isAbort(error)) return;
      this.problem.value = problemOf(error);
    } finally {
      if (this.#running === running) this.isRunning.value = false;
    }
  }

  async #load(queries: object[], signal: AbortSignal, isFresh: boolean): Promise<Result[]> {
    const body = { query: queries, queryType: 'multi', ...(isFresh ? { cache: 'no-cache' } : {}) };
    const reply = await api.load({ deploymentId: this.deploymentId, body: body as never }, { signal });
    return (reply as unknown as { results: Result[] }).results;
  }

  async #ask(question: Question, signal: AbortSignal, isFresh: boolean): Promise<Answer> {
    const query = toQuery(question);
    const describe = describeWith(this.model);
    const start = Date.now();
    const before = this.answer.peek();
    // Without a choice, the shape of the answer decides: the last one tells what comes, if the columns are the same.
    const guess = recommend(
      shapeOf(query, describe, before?.key === keyOf(question) ? before.rows.rows : undefined),
    );
    let visualization = settingsOf(question, guess);
    let chart = chartOf(visualization, query, describe);
    let loaded = await this.#loadFor(chart, query, signal, isFresh);
    const ms = Date.now() - start;
    const recommendations = recommend(shapeOf(query, describe, loaded.rows.rows));
    const better = settingsOf(question, recommendations);
    if (better.type !== visualization.type) {
      visualization = better;
      chart = chartOf(visualization, query, describe);
      // A figure or a table with totals asks for more than rows.
      loaded = await this.#loadFor(chart, query, signal, false);
    }
    const { vegaLite } = question;
    const meta = vegaLite ? { chart: { kind: 'vega', spec: vegaLite } } : { visualization };
    const snapshot =
      vegaLite || chart.kind === 'vega' ? await this.#compile(meta, query, signal) : loaded.snapshot;
    const refreshed = Date.parse((loaded.rows.result as { lastRefreshTime?: string }).lastRefreshTime ?? '');
    const cachedMs = Number.isFinite(refreshed) && refreshed < start - 50 ? start - refreshed : undefined;
    return {
      key: keyOf(question),
      snapshot,
      vegaLite,
      rows: loaded.rows,
      visualization,
      recommendations,
      ms,
      cachedMs,
    };
  }

  async #loadFor(chart: Chart, query: object, signal: AbortSignal, isFresh: boolean) {
    const snapshot = { reportId: 0, ...chart, meta: { query } } as Snapshot;
    this.board.askedAt = new Date();
    const ask = askFor(this.board, snapshot, 'explore');
    const results = await this.#load([...ask.queries, ...(ask.total ? [ask.total] : [])], signal, isFresh);
    return { snapshot, rows: ask.read(results) };
  }

  async #compile(meta: object, query: object, signal: AbortSignal): Promise<Snapshot> {
    const body = { jsonQuery: JSON.stringify(query), meta };
    const made = await api.previewReport({ deploymentId: this.deploymentId, body }, { signal });
    return { reportId: 0, ...made } as Snapshot;
  }

  /** Finds which cubes and views have policies that limit the rows, for people who may read the model. */
  async #findLimits(question: Question, signal: AbortSignal) {
    if (!this.#mayExplain) return;
    try {
      const body = { query: toQuery(question) };
      const { plans } = await api.explainQuery(
        { deploymentId: this.deploymentId, body: body as never },
        { signal },
      );
      const names = plans.flatMap(({ reads }) => reads.filter(isLimited).map(({ name }) => name));
      this.limits.value = [...new Set(names)];
    } catch (error) {
      if (!isAbort(error)) this.#mayExplain = false;
    }
  }
}

type PlannedRead = Awaited<ReturnType<typeof api.explainQuery>>['plans'][number]['reads'][number];
const isLimited = ({ rows }: PlannedRead) => rows !== 'all';

/** What rows depend on. The settings of the chart do not change them. */
export const keyOf = (question: Question) => JSON.stringify([toQuery(question), question.compare ?? null]);

/** What is chosen, or what fits best, with the comparison that is asked for. */
export function settingsOf(question: Question, recommendations: readonly Recommendation[]): Visualization {
  const chosen: Visualization = question.visualization ?? { type: recommendations[0]?.type ?? 'table' };
  const { compare } = question;
  if (!compare) return chosen;
  const range = toQuery(question).timeDimensions?.find(({ dateRange }) => dateRange !== undefined);
  if (!range) return chosen;
  if (chosen.type === 'kpi')
    return { ...chosen, comparison: { timeDimension: range.dimension, offset: compare } };
  const periodComparisons = valueKeys(question).map((measure) => ({
    measure,
    timeDimension: range.dimension,
    offset: compare,
  }));
  return { ...chosen, periodComparisons };
}
