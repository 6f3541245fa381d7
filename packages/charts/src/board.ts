/** A dashboard that is shown: what its viewer has chosen, and everything that its widgets are drawn from. */
import { type Answers, createAnswers, type QueryApi } from './answers.ts';
import type { DrillTarget } from './drill-query.ts';
import type { Formats } from './format.ts';
import type { Language } from './language.ts';
import { presetFilters, presetGrains, visibilityOf } from './presets.ts';
import type { Say } from './texts/index.ts';
import type { Tokens } from './theme.ts';
import type { Dashboard, FilterValue, MetaCube, Query, Result, Widget } from './types.ts';

/** The page around the board. */
export interface Surroundings {
  readonly api: QueryApi;
  readonly language: Language;
  /** The colours in force. */
  tokens(): Tokens;
  mayExport(): boolean;
  /** A published dashboard that the viewer may see, for a widget that is an application. */
  readonly published?: (publicId: string) => Promise<Dashboard>;
  /** Opens the query of a chart; undefined for viewers who may not explore from it. */
  readonly explore?: ((query: Query) => void) | undefined;
  /** A widget has drawn its data, or has said why it cannot. */
  rendered(widgetId: string): void;
  /** Takes events that the page may pass on to its host. Their names are those of the embed protocol. */
  tell(event: string, payload: Record<string, unknown>): void;
}

export class Board {
  dashboard: Dashboard | undefined;
  filters = new Map<string, FilterValue>();
  grains = new Map<string, string>();
  /** What the viewer has clicked on to filter the other charts, by the id of its chart. */
  crossFilters = new Map<string, DrillTarget>();
  timezone: string | undefined;
  /** Counts refreshes; rows are asked for again when it changes. */
  round = 0;
  /** When what is shown was asked for. It stays, so that the queries of a page do not change by themselves. */
  askedAt = new Date();
  /** Counts viewers. Nothing that one of them sees stays for the next one. */
  viewers = 0;
  readonly #around: Surroundings;
  readonly #answers: Answers;
  readonly #listeners = new Set<() => void>();

  constructor(around: Surroundings) {
    this.#around = around;
    this.#answers = createAnswers(around.api, () => ({
      deploymentId: this.dashboard!.deploymentId,
      viewers: this.viewers,
      isFresh: this.round > 0,
    }));
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed() {
    for (const listener of this.#listeners) listener();
  }

  /** Returns a board for another dashboard beside this one, with the same viewer. It tells the page nothing. */
  beside(): Board {
    const nothing = () => {};
    return new Board({ ...this.#around, rendered: nothing, tell: nothing });
  }

  get published(): Surroundings['published'] {
    return this.#around.published;
  }

  get say(): Say {
    return this.#around.language.say;
  }

  get formats(): Formats {
    return this.#around.language.formats;
  }

  get locale(): string {
    return this.#around.language.locale;
  }

  get isRightToLeft(): boolean {
    return this.#around.language.isRightToLeft;
  }

  get tokens(): Tokens {
    return this.#around.tokens();
  }

  get mayExport(): boolean {
    return this.dashboard?.restrictDataDownload !== true && this.#around.mayExport();
  }

  get explore(): Surroundings['explore'] {
    return this.#around.explore;
  }

  get title(): string {
    return this.dashboard?.title || this.dashboard?.config.title || this.say('dashboard');
  }

  get widgets(): Widget[] {
    return this.dashboard?.config.widgets ?? [];
  }

  filterWidgets(): Widget[] {
    return this.widgets.filter(({ type, config }) => type === 'FILTER' && typeof config?.member === 'string');
  }

  /** Those that the viewer can change. */
  openFilterWidgets(): Widget[] {
    return this.filterWidgets().filter((widget) => visibilityOf(widget) === 'visible');
  }

  /** Shows a dashboard. What `asked` says goes over what the viewer chose, and both over the presets of the widgets. */
  show(dashboard: Dashboard, asked: ReadonlyMap<string, FilterValue> = new Map()) {
    this.dashboard = dashboard;
    this.#answers.clear();
    this.askedAt = new Date();
    this.filters = presetFilters(this.filterWidgets(), asked, this.filters);
    this.crossFilters = new Map();
    this.grains = presetGrains(this.widgets, this.grains);
  }

  /** The same dashboard, changed by its author. Controls show their presets, and rows that are known stay. */
  edit(dashboard: Dashboard) {
    this.dashboard = dashboard;
    this.filters = presetFilters(this.filterWidgets(), new Map(), new Map());
    this.crossFilters = new Map();
    this.grains = presetGrains(this.widgets, new Map());
    this.changed();
  }

  /** Shows nothing. */
  clear() {
    this.dashboard = undefined;
    this.#answers.forget();
  }

  /** Forgets what the viewer saw and chose, for the next viewer. */
  forgetViewer() {
    this.clear();
    this.viewers++;
    this.filters.clear();
    this.grains.clear();
    this.crossFilters = new Map();
  }

  setFilter(member: string, filter: FilterValue | undefined) {
    this.askedAt = new Date();
    this.filters = new Map(this.filters);
    if (filter) this.filters.set(member, filter);
    else this.filters.delete(member);
    this.changed();
  }

  /** Whether the author lets clicks on this chart filter the others. */
  filtersOthers(widgetId: string): boolean {
    return this.widgets.some(({ id, config }) => id === widgetId && config?.crossFilter === true);
  }

  /** Filters the other charts by what was clicked on. The same again shows everything again. */
  crossFilter(clicked: DrillTarget) {
    const { widgetId, narrowings } = clicked;
    const isSame = JSON.stringify(this.crossFilters.get(widgetId)?.narrowings) === JSON.stringify(narrowings);
    if (isSame) return this.clearCrossFilter(widgetId);
    this.askedAt = new Date();
    this.crossFilters = new Map(this.crossFilters).set(widgetId, clicked);
    this.changed();
  }

  clearCrossFilter(widgetId: string) {
    this.askedAt = new Date();
    this.crossFilters = new Map([...this.crossFilters].filter(([id]) => id !== widgetId));
    this.changed();
  }

  setGrain(member: string, grain: string) {
    this.askedAt = new Date();
    this.grains = new Map(this.grains).set(member, grain);
    this.changed();
  }

  /** Asks for all rows again. */
  refresh() {
    this.#answers.clear();
    this.round++;
    this.askedAt = new Date();
    this.changed();
  }

  /** Whether rows are being asked for. */
  get isLoading(): boolean {
    return this.#answers.loading > 0;
  }

  load(queries: Query[]): Promise<Result[]> {
    return this.#answers.load(queries);
  }

  meta(): Promise<MetaCube[]> {
    return this.#answers.meta();
  }

  rendered(widgetId: string) {
    this.#around.rendered(widgetId);
  }

  /** Reports a widget that the server refuses, because it was published under older rules. */
  refused(widgetId: string, message: string) {
    this.tell('error', { message, code: 'widget_refused', context: widgetId, fatal: false });
  }

  tell(event: string, payload: Record<string, unknown>) {
    this.#around.tell(event, payload);
  }
}
