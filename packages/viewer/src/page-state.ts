/** The state of the page, and everything that changes it. */
import { type Address, filtersIn, publicIdIn, readAddress } from './address.ts';
import { type Answers, createAnswers } from './answers.ts';
import { type Api, createApi, type MetaCube } from './api.ts';
import { createFormats, type Formats } from './format.ts';
import { connectHost, type Host, isAmongOwnPages } from './host.ts';
import { type ChosenScheme, firstKnown, isScheme, knownZone, warnOf } from './host-wishes.ts';
import { chartsInSight } from './layout.ts';
import { presetFilters, presetGrains } from './presets.ts';
import { createSession, isSameViewer, type Session } from './session.ts';
import { en } from './texts/en.ts';
import { isRightToLeft, knownLocale, type Say, sayWith, textsOf } from './texts/index.ts';
import { applyTokens, type Tokens, tokensOf, type Wishes, wishesOf } from './theme.ts';
import {
  type AccountConfig,
  type Dashboard,
  type FilterValue,
  Problem,
  type Query,
  type Result,
  type Viewer,
  type Widget,
} from './types.ts';

/** How long the page waits for a session of its host before it says so. */
const PATIENCE_MS = 4000;
const REFRESH_SECONDS_MIN = 10;
const REFRESH_SECONDS_MAX = 24 * 60 * 60;

type Phase = 'starting' | 'waiting' | 'ready' | 'failed' | 'ended';

export class PageState {
  phase: Phase = 'starting';
  problem: Problem | undefined;
  dashboard: Dashboard | undefined;
  viewer: Viewer | undefined;
  filters = new Map<string, FilterValue>();
  grains = new Map<string, string>();
  timezone: string | undefined;
  locale = 'en';
  say: Say = sayWith(en);
  formats: Formats = createFormats('en');
  tokens!: Tokens;
  /** Counts refreshes; rows are asked for again when it changes. */
  round = 0;
  /** When what is shown was asked for. It stays, so that the queries of a page do not change by themselves. */
  askedAt = new Date();
  /** Counts viewers. Nothing that one of them sees stays on the page for the next one. */
  viewers = 0;
  readonly address: Address;
  readonly host: Host;
  readonly #api: Api;
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  #config: AccountConfig = {};
  #scheme: ChosenScheme = 'auto';
  #hostTheme: Wishes = {};
  #wantedLocale = this.locale;
  #asked: { locale?: string | undefined; timezone?: string | undefined } = {};
  #begunAt = performance.now();
  #isReady = false;
  #pending: Set<string> | undefined;
  readonly #answers: Answers;
  #refreshing: ReturnType<typeof setInterval> | undefined;
  #opened = 0;

  constructor() {
    this.address = readAddress();
    const { theme, locale, timezone } = this.address;
    if (isScheme(theme)) this.#scheme = theme;
    warnOf('theme', theme, isScheme(theme));
    warnOf('locale', locale, knownLocale(locale));
    warnOf('timezone', timezone, knownZone(timezone));
    this.#api = createApi(() => this.#session.end('revoked'));
    this.host = connectHost({
      session: ({ sessionId }) => this.#take(sessionId),
      renew: ({ sessionId }) => this.#take(sessionId),
      refresh: () => this.refresh(),
      navigate: ({ path }) => void this.navigate(String(path)),
      'set-filter': ({ filterUrlParameter }) => this.#setFilters(filterUrlParameter),
      'set-locale': ({ locale }) => {
        this.#asked.locale = knownLocale(locale);
        warnOf('locale', locale, this.#asked.locale);
        void this.#settle();
      },
      'set-timezone': ({ timezone }) => {
        this.#asked.timezone = knownZone(timezone);
        warnOf('timezone', timezone, this.#asked.timezone);
        void this.#settle();
      },
      'set-color-scheme': ({ scheme }) => {
        if (isScheme(scheme)) this.#scheme = scheme;
        warnOf('scheme', scheme, isScheme(scheme));
        this.#paint();
      },
      'set-theme': (theme) => {
        this.#hostTheme = wishesOf(theme);
        this.#paint();
      },
    });
    this.#answers = createAnswers(this.#api, () => ({
      deploymentId: this.dashboard!.deploymentId,
      viewers: this.viewers,
      isFresh: this.round > 0,
    }));
    this.#session = createSession(this.#api, this.host, () => this.#blank());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#paint());
    this.#paint();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed() {
    for (const listener of this.#listeners) listener();
  }

  start() {
    void this.#settle();
    const { session } = this.address;
    this.address.session = null;
    if (session) return void this.#take(session);
    void this.#startWithout();
  }

  /** Without a session: for a person who is signed in, but never in a frame of another site. */
  async #startWithout() {
    try {
      const viewer = isAmongOwnPages() ? await this.#session.beginPrivate() : undefined;
      if (viewer) {
        this.viewer = viewer;
        return await this.open(this.address.publicId);
      }
    } catch (error) {
      return this.#fail(error, 'session');
    }
    if (this.viewer) return;
    this.host.send('session-needed', {});
    setTimeout(
      () => {
        if (this.phase === 'starting') this.#show('waiting');
      },
      this.host.origin === null ? 0 : PATIENCE_MS,
    );
  }

  #show(phase: Phase, problem?: Problem) {
    this.phase = phase;
    this.problem = problem;
    this.changed();
  }

  async #take(sessionId: unknown) {
    if (typeof sessionId !== 'string') return;
    let viewer: Viewer | undefined;
    try {
      viewer = await this.#session.begin(sessionId);
    } catch (error) {
      return this.#fail(error, 'session');
    }
    if (!viewer) return;
    const before = this.viewer;
    const isSame = before && isSameViewer(before, viewer);
    this.viewer = viewer;
    // Nothing that one viewer saw or chose is kept for another.
    if (before && !isSame) this.#forget();
    if (isSame && this.phase === 'ready') return;
    await this.open(this.address.publicId);
  }

  #forget() {
    this.#clear();
    this.viewers++;
    this.filters.clear();
    this.grains.clear();
    this.#isReady = false;
    this.#show('starting');
  }

  #blank() {
    this.#clear();
    this.#show('ended');
  }

  #clear() {
    this.#opened++;
    this.dashboard = undefined;
    this.#pending = undefined;
    this.#answers.forget();
    clearInterval(this.#refreshing);
  }

  #fail(error: unknown, context: string) {
    if (this.phase === 'ended' && context !== 'session') return;
    const problem =
      error instanceof Problem ? error : new Problem(0, 'error', String((error as Error)?.message));
    // A page that works goes on working if it is given a session that does not.
    const fatal = !(context === 'session' && this.#api.hasToken);
    // After the end, the page goes on saying so, and the host learns why the next session was refused.
    if (fatal && this.phase !== 'ended') this.#show('failed', problem);
    this.host.send('error', { message: problem.message, code: problem.code, context, fatal });
    if (fatal && problem.code === 'invalid_session') this.host.send('session-needed', {});
  }

  /** Of several that are opened at a time, the last one is shown; and none if the session has ended meanwhile. */
  async open(publicId: string) {
    const turn = ++this.#opened;
    try {
      await this.#open(publicId, () => turn === this.#opened);
    } catch (error) {
      if (turn === this.#opened) this.#fail(error, 'dashboard');
    }
  }

  async #open(publicId: string, isWanted: () => boolean) {
    this.#begunAt = performance.now();
    const [dashboard, config] = await Promise.all([this.#api.dashboard(publicId), this.#api.accountConfig()]);
    if (!isWanted()) return;
    this.dashboard = dashboard;
    this.#config = config;
    this.#answers.clear();
    this.#presets();
    await this.#settle();
    if (!isWanted()) return;
    this.#paint();
    document.title = this.title;
    this.#pending = new Set(this.#drawn());
    const widgets = this.#pending.size;
    const { embedTenantName, settings } = this.viewer!;
    if (!this.#isReady) {
      this.#isReady = true;
      this.host.send('ready', {
        embedTenant: embedTenantName,
        deploymentId: dashboard.deploymentId,
        mode: embedTenantName === null ? 'private' : 'signed',
        surface: 'dashboard',
        publicId,
        settings,
      });
    }
    this.host.send('view', { surface: 'dashboard', path: location.pathname, publicId, title: this.title });
    this.#show('ready');
    if (widgets === 0) this.#loaded(0);
    this.#refreshEvery(Number(dashboard.config.settings?.refreshSeconds));
  }

  #refreshEvery(asked: number) {
    clearInterval(this.#refreshing);
    if (!(asked > 0)) return;
    const seconds = Math.min(Math.max(asked, REFRESH_SECONDS_MIN), REFRESH_SECONDS_MAX);
    this.#refreshing = setInterval(() => {
      if (!document.hidden && this.#answers.loading === 0) this.refresh();
    }, seconds * 1000);
  }

  get isRightToLeft(): boolean {
    return isRightToLeft(this.locale);
  }

  get title(): string {
    return this.dashboard?.title || this.dashboard?.config.title || this.say('dashboard');
  }

  get widgets(): Widget[] {
    return this.dashboard?.config.widgets ?? [];
  }

  filterWidgets() {
    return this.widgets.filter(({ type, config }) => type === 'FILTER' && typeof config?.member === 'string');
  }

  #presets() {
    this.askedAt = new Date();
    this.filters = presetFilters(this.filterWidgets(), this.address.filters, this.filters);
    this.grains = presetGrains(this.widgets, this.grains);
    this.address.filters.clear();
  }

  #setFilters(text: unknown) {
    const given = String(text ?? '').replace(/^\?/, '');
    const known = new Set(this.filterWidgets().map(({ config }) => config!.member));
    for (const [member, filter] of filtersIn(new URLSearchParams(given))) {
      if (known.has(member)) this.setFilter(member, filter.value === null ? undefined : filter);
    }
  }

  setFilter(member: string, filter: FilterValue | undefined) {
    this.askedAt = new Date();
    this.filters = new Map(this.filters);
    if (filter) this.filters.set(member, filter);
    else this.filters.delete(member);
    this.changed();
  }

  setGrain(member: string, grain: string) {
    this.askedAt = new Date();
    this.grains = new Map(this.grains).set(member, grain);
    this.changed();
  }

  refresh() {
    if (this.phase !== 'ready') return;
    this.#session.confirm().then(
      (isConfirmed) => {
        if (!isConfirmed || this.phase !== 'ready') return;
        this.#answers.clear();
        this.round++;
        this.askedAt = new Date();
        this.changed();
      },
      (error) => this.#fail(error, 'session'),
    );
  }

  /** Shows another dashboard in place of this one. */
  async navigate(path: string) {
    const publicId = publicIdIn(path);
    if (!publicId || !this.viewer || this.phase === 'ended') return;
    const previousPath = location.pathname;
    history.replaceState(null, '', path.split(/[?#]/, 1)[0]!);
    this.address.publicId = publicId;
    this.address.filters = filtersIn(new URLSearchParams(path.split('?')[1]?.split('#')[0] ?? ''));
    this.host.send('navigate', { path: location.pathname, previousPath });
    this.#show('starting');
    await this.open(publicId);
  }

  retry() {
    this.#show('starting');
    void this.open(this.address.publicId);
  }

  /** What must be drawn before the dashboard counts as loaded. */
  #drawn(): string[] {
    if (this.dashboard?.config.kind === 'APP') return ['app'];
    return chartsInSight(this.widgets).map(({ id }) => id);
  }

  /** A widget has drawn its data, or has said why it can not. */
  rendered(widgetId: string) {
    if (!this.#pending?.delete(widgetId) || this.#pending.size > 0) return;
    this.#pending = undefined;
    this.#loaded(this.#drawn().length);
  }

  /** The rules of today refuse a widget that was published earlier. */
  refused(widgetId: string, message: string) {
    this.host.send('error', { message, code: 'widget_refused', context: widgetId, fatal: false });
  }

  #loaded(widgetCount: number) {
    const loadDurationMs = Math.round(performance.now() - this.#begunAt);
    this.host.send('dashboard-loaded', { publicId: this.dashboard?.publicId, widgetCount, loadDurationMs });
  }

  load(queries: Query[]): Promise<Result[]> {
    return this.#answers.load(queries);
  }

  meta(): Promise<MetaCube[]> {
    return this.#answers.meta();
  }

  get mayExport(): boolean {
    return this.address.allowExport && this.dashboard?.restrictDataDownload !== true;
  }

  /** Locale and time zone, by the order of the protocol. */
  async #settle() {
    const { settings } = this.dashboard?.config ?? {};
    const { embedding, timezoneSettings } = this.#config;
    this.timezone = firstKnown(knownZone, [
      this.#asked.timezone,
      this.address.timezone,
      settings?.timezone,
      embedding?.timezone,
      timezoneSettings?.timezone,
    ]);
    const locales = [this.#asked.locale, this.address.locale, settings?.locale, embedding?.locale];
    const locale = firstKnown(knownLocale, [...locales, navigator.language]) ?? 'en';
    this.#wantedLocale = locale;
    // If the texts can not be had, the language stays as it is.
    const texts = locale === this.locale ? undefined : await textsOf(locale).catch(() => undefined);
    if (texts && locale === this.#wantedLocale) {
      this.locale = locale;
      this.say = sayWith(texts);
      this.formats = createFormats(locale, this.say);
      document.documentElement.lang = locale;
      document.documentElement.dir = this.isRightToLeft ? 'rtl' : 'ltr';
    }
    this.changed();
  }

  #paint() {
    const isDark =
      this.#scheme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : this.#scheme === 'dark';
    const scheme = isDark ? 'dark' : 'light';
    const account = this.#config.appTheme?.[scheme];
    this.tokens = tokensOf(scheme, [
      wishesOf({ primaryColor: account?.accentColor, backgroundColor: account?.backgroundColor }),
      wishesOf(this.viewer?.embedTheme),
      wishesOf(this.dashboard?.config.theme),
      this.#hostTheme,
    ]);
    applyTokens(this.tokens);
    this.changed();
  }
}
