/** The life of the page: its session, the dashboard that it opens, and what its host hears of it. */
import {
  type AccountConfig,
  Appearance,
  Board,
  chartsInSight,
  downloadBlob,
  isScheme,
  knownLocale,
  lacksValue,
  Problem,
  themeOptionsOf,
} from '@oriel/charts';
import { connectHost, firstKnown, type Host, isAmongOwnPages, knownZone, warnOf } from '@oriel/charts/frame';
import { type Address, filtersIn, publicIdIn, readAddress } from './address.ts';
import { type Api, createApi } from './api.ts';
import { AutoRefresh } from './auto-refresh.ts';
import { type HostRequests, hostActions } from './host-actions.ts';
import { Progress } from './progress.ts';
import { createSession, isSameViewer, type Session } from './session.ts';
import { createLanguage, type PageLanguage } from './texts/index.ts';
import type { Viewer } from './types.ts';

/** How long the page waits for a session of its host before it says so. */
const PATIENCE_MS = 4000;

type Phase = 'starting' | 'waiting' | 'ready' | 'failed' | 'ended';

export class PageState {
  phase: Phase = 'starting';
  problem: Problem | undefined;
  viewer: Viewer | undefined;
  readonly board: Board;
  readonly language: PageLanguage = createLanguage();
  readonly #address: Address = readAddress();
  readonly #host: Host;
  readonly #api: Api;
  readonly #session: Session;
  readonly #appearance: Appearance;
  readonly #progress: Progress;
  readonly #autoRefresh: AutoRefresh;
  #config: AccountConfig = {};
  #requests: HostRequests = {};
  #isReady = false;
  /** Counts the dashboards that were opened: the last one is shown. */
  #opened = 0;

  constructor() {
    const { theme, locale, timezone } = this.#address;
    warnOf('theme', theme, isScheme(theme));
    warnOf('locale', locale, knownLocale(locale));
    warnOf('timezone', timezone, knownZone(timezone));
    this.#api = createApi(() => this.#session.end('revoked'));
    this.#host = connectHost('dashboard', hostActions(this));
    this.#session = createSession(this.#api, this.#host, () => this.#blank());
    this.#progress = new Progress((widgetCount, loadDurationMs) =>
      this.#host.send('dashboard-loaded', {
        publicId: this.board.dashboard?.publicId,
        widgetCount,
        loadDurationMs,
      }),
    );
    this.board = new Board({
      api: this.#api,
      published: (publicId) => this.#api.dashboard(publicId),
      language: this.language,
      tokens: () => this.#appearance.tokens,
      mayExport: () => this.#address.allowExport,
      rendered: (widgetId) => this.#progress.rendered(widgetId),
      tell: (event, payload) => this.#host.send(event, payload),
    });
    this.#autoRefresh = new AutoRefresh(() => {
      if (!this.board.isLoading) this.refresh();
    });
    this.#appearance = new Appearance(
      isScheme(theme) ? theme : 'auto',
      (scheme) => {
        const account = this.#config.appTheme?.[scheme];
        return [
          themeOptionsOf({ primaryColor: account?.accentColor, backgroundColor: account?.backgroundColor }),
          themeOptionsOf(this.viewer?.embedTheme),
          themeOptionsOf(this.board.dashboard?.config.theme),
          this.#requests.theme ?? {},
        ];
      },
      () => this.board.changed(),
    );
  }

  start() {
    void this.#settle();
    const { session } = this.#address;
    this.#address.session = null;
    if (session) return void this.take(session);
    void this.#startWithout();
  }

  /** Starts without a session, for a signed-in person, but never in a frame of another site. */
  async #startWithout() {
    try {
      const viewer = isAmongOwnPages() ? await this.#session.beginPrivate() : undefined;
      if (viewer) {
        this.viewer = viewer;
        return await this.#open();
      }
    } catch (error) {
      return this.#fail(error, 'session');
    }
    if (this.viewer) return;
    this.#host.send('session-needed', {});
    setTimeout(
      () => {
        if (this.phase === 'starting') this.#show('waiting');
      },
      this.#host.origin === null ? 0 : PATIENCE_MS,
    );
  }

  #show(phase: Phase, problem?: Problem) {
    this.phase = phase;
    this.problem = problem;
    this.board.changed();
  }

  async take(sessionId: unknown) {
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
    if (before && !isSame) this.#forgetViewer();
    if (isSame && this.phase === 'ready') return;
    await this.#open();
  }

  #forgetViewer() {
    this.#stop();
    this.board.forgetViewer();
    this.#isReady = false;
    this.#show('starting');
  }

  #blank() {
    this.#stop();
    this.board.clear();
    this.#show('ended');
  }

  /** What is being opened is not shown any more. */
  #stop() {
    this.#opened++;
    this.#progress.stop();
    this.#autoRefresh.stop();
  }

  #fail(error: unknown, context: string) {
    if (this.phase === 'ended' && context !== 'session') return;
    const problem =
      error instanceof Problem ? error : new Problem(0, 'error', String((error as Error)?.message));
    // A page that works goes on working if it is given a session that does not.
    const fatal = !(context === 'session' && this.#api.hasToken);
    // After the end, the page goes on saying so, and the host learns why the next session was refused.
    if (fatal && this.phase !== 'ended') this.#show('failed', problem);
    this.#host.send('error', { message: problem.message, code: problem.code, context, fatal });
    if (fatal && problem.code === 'invalid_session') this.#host.send('session-needed', {});
  }

  /**
   * Opens the dashboard. Of several that are being opened, only the last one is shown, and none if the session has
   * ended.
   */
  async #open() {
    const turn = ++this.#opened;
    try {
      await this.#load(this.#address.publicId, () => turn === this.#opened);
    } catch (error) {
      if (turn === this.#opened) this.#fail(error, 'dashboard');
    }
  }

  async #load(publicId: string, isWanted: () => boolean) {
    this.#progress.begin();
    const [dashboard, config] = await Promise.all([this.#api.dashboard(publicId), this.#api.accountConfig()]);
    if (!isWanted()) return;
    this.#config = config;
    this.board.show(dashboard, this.#address.filters);
    this.#address.filters.clear();
    await this.#settle();
    if (!isWanted()) return;
    this.#appearance.paint();
    document.title = this.board.title;
    this.#progress.expect(
      dashboard.config.kind === 'APP' ? ['app'] : chartsInSight(this.board.widgets).map(({ id }) => id),
    );
    this.#announce(publicId, dashboard.deploymentId);
    this.#show('ready');
    this.#progress.finishIfEmpty();
    this.#autoRefresh.every(Number(dashboard.config.settings?.refreshSeconds));
  }

  #announce(publicId: string, deploymentId: number) {
    const { embedTenantName, settings } = this.viewer!;
    if (!this.#isReady) {
      this.#isReady = true;
      this.#host.send('ready', {
        embedTenant: embedTenantName,
        deploymentId,
        mode: embedTenantName === null ? 'private' : 'signed',
        surface: 'dashboard',
        publicId,
        settings,
      });
    }
    const { title } = this.board;
    this.#host.send('view', { surface: 'dashboard', path: location.pathname, publicId, title });
  }

  setFilters(text: unknown) {
    const given = String(text ?? '').replace(/^\?/, '');
    const known = new Set(this.board.filterWidgets().map(({ config }) => config!.member));
    for (const [member, filter] of filtersIn(new URLSearchParams(given))) {
      if (known.has(member)) this.board.setFilter(member, filter.value === null ? undefined : filter);
    }
  }

  refresh() {
    if (this.phase !== 'ready') return;
    this.#session.confirm().then(
      (isConfirmed) => {
        if (isConfirmed && this.phase === 'ready') this.board.refresh();
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
    this.#address.publicId = publicId;
    this.#address.filters = filtersIn(new URLSearchParams(path.split('?')[1]?.split('#')[0] ?? ''));
    this.#host.send('navigate', { path: location.pathname, previousPath });
    this.#show('starting');
    await this.#open();
  }

  schedules() {
    return this.#api.schedules(this.board.dashboard!);
  }

  subscribe(id: number, isOn: boolean) {
    return this.#api.subscribe(this.board.dashboard!.deploymentId, id, isOn);
  }

  /** The whole dashboard as a file, with what the viewer has chosen. */
  async download(format: 'png' | 'pdf') {
    const { board } = this;
    // Send one choice for each member, which may have several controls. A choice without a value counts as none, as on
    // the page.
    const members = new Set(board.filterWidgets().map(({ config }) => config!.member as string));
    const chosen = [...members].map((member) => {
      const filter = board.filters.get(member);
      if (!filter || lacksValue(filter)) return { member, operator: 'equals', value: null };
      return { member, operator: filter.operator, value: filter.value ?? null };
    });
    const file = await this.#api.exported(board.dashboard!, {
      format,
      scheme: this.#appearance.tokens.scheme,
      locale: this.language.locale,
      ...(board.timezone ? { timezone: board.timezone } : {}),
      filters: JSON.stringify(chosen),
      timeGrains: JSON.stringify([...board.grains].map(([member, grain]) => ({ member, grain }))),
      crossFilters: JSON.stringify(
        [...board.crossFilters].flatMap(([widgetId, { narrowings }]) =>
          narrowings.map((narrowing) => ({ widgetId, ...narrowing })),
        ),
      ),
    });
    downloadBlob(`${board.title}.${format}`, file);
    this.#host.send('download', { format, target: 'dashboard', title: board.title });
  }

  retry() {
    this.#show('starting');
    void this.#open();
  }

  request(requests: HostRequests) {
    this.#requests = { ...this.#requests, ...requests };
    if (requests.scheme) this.#appearance.scheme = requests.scheme;
    if (requests.scheme || requests.theme) this.#appearance.paint();
    else void this.#settle();
  }

  /** Locale and time zone, by the order of the protocol. */
  async #settle() {
    const { settings } = this.board.dashboard?.config ?? {};
    const { embedding, timezoneSettings } = this.#config;
    this.board.timezone = firstKnown(knownZone, [
      this.#requests.timezone,
      this.#address.timezone,
      settings?.timezone,
      embedding?.timezone,
      timezoneSettings?.timezone,
    ]);
    const locales = [this.#requests.locale, this.#address.locale, settings?.locale, embedding?.locale];
    const locale = firstKnown(knownLocale, [...locales, navigator.language]) ?? 'en';
    if (await this.language.use(locale)) {
      document.documentElement.lang = locale;
      document.documentElement.dir = this.language.isRightToLeft ? 'rtl' : 'ltr';
    }
    this.board.changed();
  }
}
