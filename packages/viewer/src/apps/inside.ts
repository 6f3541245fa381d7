/**
 * Runs in the frame of an application, before the application itself. It gets the files and a port from the page, offers
 * `oriel` to the application, and replaces this document by the application's. The frame has no origin and no network.
 */
import type { ApplicationSource } from '@oriel/charts';
import type {
  DashboardDescription,
  FromApplication,
  Settings,
  Start,
  ToApplication,
} from '@oriel/charts/apps';

const TYPES: Record<string, string> = {
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  svg: 'image/svg+xml',
};

class Oriel extends EventTarget {
  readonly dashboard: DashboardDescription;
  settings: Settings;
  readonly #port: MessagePort;
  readonly #asked = new Map<number, { resolve(answer: object): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(port: MessagePort, { dashboard, settings }: Start) {
    super();
    this.dashboard = dashboard;
    this.settings = settings;
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<ToApplication>) => this.#take(data);
  }

  #send(message: FromApplication) {
    this.#port.postMessage(JSON.stringify(message));
  }

  #take(message: ToApplication) {
    if (message.type === 'changed') {
      this.settings = message.settings;
      this.dispatchEvent(new Event('change'));
      return;
    }
    const waiting = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.type === 'rows') waiting?.resolve(message.answer);
    else waiting?.reject(Object.assign(new Error(message.message), { code: message.code }));
  }

  /** The rows of a chart of this dashboard. */
  load(chart: string) {
    return new Promise<object>((resolve, reject) => {
      const id = ++this.#lastId;
      this.#asked.set(id, { resolve, reject });
      this.#send({ type: 'load', id, chart: String(chart) });
    });
  }

  /** Sets a filter of this dashboard, or removes it. */
  setFilter(member: string, filter: Settings['filters'][string] | null = null) {
    this.#send({ type: 'filter', member: String(member), filter });
  }
}

function onMessage({ source, data, ports }: MessageEvent) {
  const [port] = ports;
  if (source !== parent || !port) return;
  removeEventListener('message', onMessage);
  const start = data as Start;
  removePeerConnections();
  Object.defineProperty(window, 'oriel', { value: new Oriel(port, start) });
  const text = documentOf(start.source);
  document.open();
  // After `open`, which removes what listens.
  addEventListener(
    'load',
    () => port.postMessage(JSON.stringify({ type: 'started' } satisfies FromApplication)),
    {
      once: true,
    },
  );
  document.write(text);
  document.close();
}
addEventListener('message', onMessage);

/**
 * No policy of browsers forbids WebRTC. This only makes it harder to use: an application that tries can find these names
 * again, such as in a frame of its own.
 */
function removePeerConnections() {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (/^(?:webkit)?RTC/.test(name)) delete (window as unknown as Record<string, unknown>)[name];
  }
}

/** The document of the application, with its files as addresses that need no network. */
function documentOf({ html, entry, files }: ApplicationSource): string {
  const named = new Map(Object.entries(files ?? {}).map(([name, text]) => [name, addressOf(name, text)]));
  const first = entry ?? 'index.html';
  const isScript = /\.m?js$/.test(first);
  const text = html ?? (isScript ? '<div id="root"></div>' : (files?.[first] ?? ''));
  const made = new DOMParser().parseFromString(text, 'text/html');
  for (const attribute of ['src', 'href']) {
    for (const element of made.querySelectorAll(`:is(script, img, link)[${attribute}]`)) {
      const address = named.get(element.getAttribute(attribute)!.replace(/^\.?\//, ''));
      if (address) element.setAttribute(attribute, address);
    }
  }
  const imports = Object.fromEntries(
    [...named].flatMap(([name, address]) => [
      [name, address],
      [`./${name}`, address],
    ]),
  );
  made.head.prepend(scriptOf(made, 'importmap', JSON.stringify({ imports }).replaceAll('<', '\\u003c')));
  if (html == null && isScript)
    made.body.append(scriptOf(made, 'module', `import ${JSON.stringify(first)}`.replaceAll('<', '\\u003c')));
  return `<!doctype html>${made.documentElement.outerHTML}`;
}

function scriptOf(made: Document, type: string, text: string) {
  const script = made.createElement('script');
  script.type = type;
  script.textContent = text;
  return script;
}

const addressOf = (name: string, text: string) =>
  `data:${TYPES[name.split('.').at(-1)!] ?? 'text/plain'};charset=utf-8,${encodeURIComponent(text)}`;
