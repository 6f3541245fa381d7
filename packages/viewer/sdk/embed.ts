/** `<oriel-dashboard>` shows a dashboard of Oriel in the page of a host. */
import { AttributesElement, type ColorScheme, PROPERTIES } from './attributes.ts';
import { parseDigits } from './digits.ts';
import { EVENTS, type EventDetails, type EventName } from './events.ts';

export type { ColorScheme } from './attributes.ts';
export type { CustomEventMap, EventDetails, EventName } from './events.ts';

/** `borderRadius` is in pixels. */
export interface EmbedTheme {
  primaryColor?: string | undefined;
  font?: string | undefined;
  borderRadius?: number | undefined;
  [more: string]: unknown;
}
export interface DashboardFilter {
  value: unknown;
  /** `equals` unless given. */
  operator?: string | undefined;
}
/** The filters, by member such as `orders.status`. Null clears a filter. */
export type DashboardFilters = Record<string, DashboardFilter | null>;
export type GetSession = () => Promise<string> | string;

const SOURCE = 'oriel-embed';
const TAG = 'oriel-dashboard';
/** How long the element waits before it asks for a session again, by the number of failures. */
const PAUSES_MS = [0, 1000, 2000, 5000, 10_000, 30_000];
/** A session that is followed by the request for another one so soon did not work. */
const TOO_SOON_MS = 60_000;
/** A page that is silent for so long is not there, or may not be shown. */
const ANSWER_MS = 15_000;

export class OrielDashboardElement extends AttributesElement {
  #frame: HTMLIFrameElement | undefined;
  /** The only origin that the element exchanges messages with. */
  #origin = '';
  /** The address and the dashboard that the frame was made for. */
  #place = '';
  #shownId: string | null = null;
  #connection = new AbortController();
  #isScheduled = false;
  /** Whether the page has sent a message, and so listens to ours. */
  #isListening = false;
  /** Whether the page shows a dashboard. */
  #isReady = false;
  #isWaiting = false;
  #isAsking = false;
  #failures = 0;
  #watches = 0;
  #handedAt = 0;
  #session: string | null = null;
  /** A session that was not handed over yet. */
  #inHand: string | undefined;
  #path: string | undefined;
  #colors: EmbedTheme | undefined;
  #filters: DashboardFilters = {};
  #getSession: GetSession | undefined;
  /** What the frame was made with, and what the page knows by now: JSON of payloads by action or filter. */
  #begunWith = new Map<string, string>();
  #known = new Map<string, string>();

  /** A session works once. The element hands each one over once. */
  get session(): string | null {
    return this.#session;
  }
  set session(value: string | null | undefined) {
    if ((value ?? null) === this.#session) return;
    this.#session = value ?? null;
    this.#inHand = value || undefined;
    this.#schedule();
  }
  get filters(): DashboardFilters {
    return this.#filters;
  }
  set filters(value: DashboardFilters | null | undefined) {
    const cleared = Object.keys(this.#filters).map((member) => [member, null]);
    this.#filters = { ...Object.fromEntries(cleared), ...value };
    this.#schedule();
  }
  /** Returns a fresh session for the same viewer. It is called whenever one is needed, one call at a time. */
  get getSession(): GetSession | undefined {
    return this.#getSession;
  }
  set getSession(value: GetSession | null | undefined) {
    this.#getSession = value ?? undefined;
    if (this.#isWaiting && !this.#inHand) void this.#ask();
  }

  setColorScheme(scheme: ColorScheme): void {
    this.theme = scheme;
  }
  setTheme(theme: EmbedTheme | null): void {
    this.#colors = theme ?? {};
    this.#schedule();
  }
  setLocale(locale: string): void {
    this.locale = locale;
  }
  setTimezone(timezone: string): void {
    this.timezone = timezone;
  }
  setFilter(member: string, filter: DashboardFilter | null): void {
    this.#filters = { ...this.#filters, [member]: filter };
    this.#schedule();
  }
  /** Shows another dashboard with the same session: `/embed/dashboard/<publicId>`. */
  navigate(path: string): void {
    this.#path = path;
    this.#tell();
  }
  refresh(): void {
    if (this.#isReady) this.#send('refresh');
  }
  /** Replaces the session, with what the viewer chose kept. Without a session, `getSession` is asked for one. */
  async renew(session?: string): Promise<void> {
    if (session) {
      this.#inHand = session;
      this.#handOver();
    } else if (this.#getSession) await this.#ask();
    else throw new Error('Pass a session, or set getSession.');
  }

  connectedCallback(): void {
    // Properties that were set before this class was known hide the accessors.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as Record<string, unknown>)[name];
      (this as Record<string, unknown>)[name] = value;
    }
    this.#connection = new AbortController();
    addEventListener('message', (event) => this.#hear(event), { signal: this.#connection.signal });
    this.#schedule();
  }

  disconnectedCallback(): void {
    this.#connection.abort();
    this.#removeFrame();
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return;
    if (name === 'session') this.session = value;
    if (name === 'filters') this.filters = this.#parse(value);
    this.#schedule();
  }

  /** Several changes in a row make one frame, because each frame needs a session of its own. */
  #schedule() {
    if (this.#isScheduled || !this.isConnected) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.isConnected) this.#update();
    });
  }

  #update() {
    const { publicId } = this;
    const place = JSON.stringify([this.baseUrl, this.deploymentId, this.allowExport]);
    const isSame = publicId === this.#shownId;
    if (!this.#frame || place !== this.#place || !(isSame || (publicId && this.#isReady))) {
      this.#place = place;
      this.#shownId = publicId;
      return this.#makeFrame();
    }
    if (!isSame) this.#path = this.#addressOf(publicId!).pathname;
    this.#shownId = publicId;
    this.#tell();
    this.#handOver();
  }

  #addressOf(publicId: string): URL {
    const url = new URL(this.baseUrl!, document.baseURI);
    if (!/^https?:$/.test(url.protocol)) throw new Error('it must begin with https:// or http://');
    const deployment = this.deploymentId ? `d/${encodeURIComponent(this.deploymentId)}/` : '';
    const path = url.pathname.replace(/\/+$/, '');
    return new URL(`${path}/embed/${deployment}dashboard/${encodeURIComponent(publicId)}`, url.origin);
  }

  #makeFrame() {
    this.#removeFrame();
    void this.#watch();
    const { baseUrl, publicId } = this;
    if (!baseUrl || !publicId) return;
    let url: URL;
    try {
      url = this.#addressOf(publicId);
    } catch (error) {
      return this.#fail('invalid_base_url', `The base-url cannot be used: ${messageOf(error)}`);
    }
    this.#origin = url.origin;
    for (const name of ['theme', 'locale', 'timezone'] as const) {
      if (this[name]) url.searchParams.set(name, this[name]);
    }
    if (this.allowExport) url.searchParams.set('allowExport', 'true');
    for (const [member, filter] of Object.entries(this.#filters)) {
      if (filter) url.searchParams.set(`f_${member}`, JSON.stringify(filter));
    }
    this.#begunWith = this.#requests();
    this.#begunWith.delete('set-theme');
    this.#known = new Map(this.#begunWith);
    this.#isWaiting = !this.#inHand;
    this.#failures = 0;
    if (this.#inHand) {
      url.hash = new URLSearchParams({ session: this.#inHand }).toString();
      this.#inHand = undefined;
      this.#handedAt = Date.now();
    } else void this.#ask();
    const frame = document.createElement('iframe');
    frame.src = url.href;
    frame.title = this.getAttribute('aria-label') ?? 'Dashboard';
    frame.allow = 'fullscreen; clipboard-write';
    // Tells the page who embeds it, in browsers that have no other way.
    frame.referrerPolicy = 'origin';
    this.#frame = frame;
    this.#root().append(frame);
  }

  /** Browsers do not say why a frame shows nothing, so this says where to look. */
  async #watch() {
    const watch = ++this.#watches;
    const { signal } = this.#connection;
    await this.#pause(ANSWER_MS);
    if (signal.aborted || watch !== this.#watches || this.#isListening) return;
    if (!this.baseUrl || !this.publicId) this.#fail('no_address', 'Set base-url and public-id.');
    else if (this.#frame)
      this.#fail(
        'no_answer',
        `No dashboard answers at ${this.baseUrl}. Is it the address of Oriel, is ${location.origin} in embedAllowedOrigins, and does frame-src of this page allow it?`,
      );
  }

  #root(): ShadowRoot {
    if (this.shadowRoot) return this.shadowRoot;
    const root = this.attachShadow({ mode: 'open' });
    // Every content security policy allows this; a style element may be refused.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      ':host{display:block;height:640px}:host([hidden]){display:none}iframe{display:block;width:100%;height:100%;border:0}',
    );
    root.adoptedStyleSheets = [sheet];
    return root;
  }

  #removeFrame() {
    this.#frame?.remove();
    this.#frame = undefined;
    this.#isListening = this.#isReady = this.#isWaiting = false;
  }

  #hear({ source, origin, data }: MessageEvent) {
    if (!source || source !== this.#frame?.contentWindow || origin !== this.#origin) return;
    if (data?.source !== SOURCE || data.direction !== 'event') return;
    const name = EVENTS.find((known) => data.type === `oriel:event:${known}`);
    if (!name) return;
    const detail = data.payload ?? {};
    this.#isListening = true;
    if (name === 'session-needed') return this.#need(detail);
    // Whatever another viewer was shown before is gone.
    if (name === 'ready' && this.#isReady) this.#known.clear();
    if (name === 'ready' || name === 'view') this.#isReady = true;
    if (name === 'view' && detail.title && !this.hasAttribute('aria-label'))
      this.#frame!.title = detail.title;
    this.#emit(name, detail);
    if (name === 'session-expired') {
      this.#isWaiting = true;
      // If somebody ended the session on purpose, the host decides what comes next.
      if (detail.reason === 'expired') void this.#ask();
    }
    this.#tell();
    this.#handOver();
  }

  /** Gets a session for a page that has none, or whose session ends soon. */
  #need(detail: EventDetails['session-needed']) {
    this.#isWaiting = true;
    if (!detail.expiresAt) {
      this.#isReady = false;
      this.#known = new Map(this.#begunWith);
    }
    this.#tell();
    if (this.#inHand) return this.#handOver();
    if (this.#isAsking) return;
    this.#failures = Date.now() - this.#handedAt < TOO_SOON_MS ? this.#failures + 1 : 0;
    if (this.#getSession) void this.#ask();
    else this.#emit('session-needed', detail);
  }

  async #ask() {
    if (this.#isAsking || !this.#getSession) return;
    this.#isAsking = true;
    while (this.isConnected && this.#getSession) {
      await this.#pause(PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)]!);
      if (!this.isConnected || this.#inHand) break;
      try {
        const session: unknown = await this.#getSession?.();
        if (typeof session !== 'string' || !/^[^\s{}"<]+$/.test(session))
          throw new Error('it must return the text of a sessionId');
        if (this.isConnected) this.#inHand = session;
        break;
      } catch (error) {
        this.#failures++;
        if (this.isConnected) this.#fail('get_session_failed', `getSession failed: ${messageOf(error)}`);
      }
    }
    this.#isAsking = false;
    this.#handOver();
  }

  /** Ends early if the element is removed. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#connection;
    if (ms === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #handOver() {
    if (!this.#inHand || !this.#isListening) return;
    this.#send(this.#isReady ? 'renew' : 'session', { sessionId: this.#inHand });
    this.#inHand = undefined;
    this.#isWaiting = false;
    this.#handedAt = Date.now();
  }

  /** What the host asks for, as payloads of actions. A filter has its member as its key. */
  #requests(): Map<string, string> {
    const { theme, locale, timezone } = this;
    const requests: [string, unknown][] = [
      ['set-color-scheme', { scheme: theme ?? 'auto' }],
      ['set-locale', { locale }],
      ['set-timezone', { timezone }],
      ['set-theme', this.#colors ?? {}],
    ];
    for (const [member, filter] of Object.entries(this.#filters)) {
      const parameter = new URLSearchParams({ [`f_${member}`]: JSON.stringify(filter ?? { value: null }) });
      requests.push([`f_${member}`, { filterUrlParameter: parameter.toString() }]);
    }
    return new Map(requests.map(([name, payload]) => [name, JSON.stringify(payload)]));
  }

  /** Tells the page what it does not know yet. Filters and another dashboard have to wait until it is ready. */
  #tell() {
    if (!this.#isListening) return;
    if (this.#isReady && this.#path) {
      this.#send('navigate', { path: this.#path });
      this.#path = undefined;
    }
    for (const [name, payload] of this.#requests()) {
      const isFilter = name.startsWith('f_');
      if (this.#known.get(name) === payload || (isFilter && !this.#isReady)) continue;
      this.#known.set(name, payload);
      this.#send(isFilter ? 'set-filter' : name, JSON.parse(payload));
    }
  }

  #send(action: string, payload: object = {}) {
    const type = `oriel:action:${action}`;
    const message = { source: SOURCE, direction: 'action', type, payload, timestamp: Date.now() };
    this.#frame?.contentWindow?.postMessage(message, this.#origin);
  }

  #emit<Name extends EventName>(name: Name, detail: EventDetails[Name]) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #parse(text: string | null): DashboardFilters {
    try {
      return parseDigits(text ?? '{}');
    } catch {
      this.#fail('invalid_filters', `The filters are not JSON: ${text}`);
      return {};
    }
  }

  /** What the developer of the host can mend is on the console too. */
  #fail(code: string, message: string) {
    console.warn(`<${TAG}>`, message);
    this.#emit('error', { message, code, context: 'embed', fatal: false });
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

if (globalThis.customElements && !customElements.get(TAG)) customElements.define(TAG, OrielDashboardElement);

declare global {
  interface HTMLElementTagNameMap {
    'oriel-dashboard': OrielDashboardElement;
  }
}
