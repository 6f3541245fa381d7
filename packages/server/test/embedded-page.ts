/** A host page in a real browser that embeds a dashboard, and what the two pages say to each other. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { expect } from 'vitest';

const SCRIPT = `
window.events = [];
addEventListener('message', ({ origin, data, source }) => {
  const frames = [...document.querySelectorAll('iframe')];
  window.events.push({ origin, data, frame: frames.findIndex((frame) => frame.contentWindow === source) });
});
window.act = (type, payload, frame = 0) =>
  document.querySelectorAll('iframe')[frame].contentWindow.postMessage(
    { source: 'oriel-embed', direction: 'action', type: 'oriel:action:' + type, payload, timestamp: Date.now() }, '*');
`;

export interface HostSite {
  origin: string;
  /** How a browser gets at it by another name, which makes another origin. */
  otherOrigin: string;
  stop(): Promise<void>;
}

/** Shows `?frame=<address>` in frames, one for each. */
export async function startHost(): Promise<HostSite> {
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url!, 'http://host');
    if (pathname === '/host.js')
      return void response.setHeader('content-type', 'text/javascript').end(SCRIPT);
    const frames = searchParams.getAll('frame').map((address) => {
      const src = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      return `<iframe src="${src}" width="1180" height="900"></iframe>`;
    });
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><meta charset=utf-8><script src=/host.js></script>${frames.join('')}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${port}`,
    otherOrigin: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

export interface Message {
  origin: string;
  frame: number;
  data: {
    source: string;
    direction: string;
    type: string;
    surface?: string;
    payload: Record<string, unknown>;
  };
}

export interface Embedding {
  context: BrowserContext;
  page: Page;
  /** The embedded page. */
  frame(index?: number): Frame;
  events(type?: string, frame?: number): Promise<Message[]>;
  /** Waits for an event, and returns what it says. */
  heard(type: string, frame?: number): Promise<Record<string, unknown>>;
  act(type: string, payload?: object, frame?: number): Promise<void>;
  /** What the browser refused or reported, and the addresses that it asked for. */
  errors: string[];
  requests: string[];
  close(): Promise<void>;
}

/** Opens the host with these addresses in frames. */
export async function embed(
  browser: Browser,
  host: string,
  addresses: string[],
  options: BrowserContextOptions & { prepare?: (context: BrowserContext) => Promise<unknown> } = {},
): Promise<Embedding> {
  const { prepare, ...rest } = options;
  const context = await browser.newContext({
    viewport: { width: 1240, height: 960 },
    locale: 'en-US',
    ...rest,
  });
  const errors: string[] = [];
  const requests: string[] = [];
  await prepare?.(context);
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  const query = new URLSearchParams(addresses.map((address): [string, string] => ['frame', address]));
  await page.goto(`${host}/?${query}`);
  const events = async (type?: string, frame?: number) =>
    ((await page.evaluate('window.events')) as Message[]).filter(
      ({ data, frame: from }) =>
        (!type || data.type === `oriel:event:${type}`) && (frame === undefined || from === frame),
    );
  return {
    context,
    page,
    errors,
    requests,
    events,
    frame: (index = 0) => page.frames().filter((frame) => frame.parentFrame() === page.mainFrame())[index]!,
    async heard(type, frame) {
      await expect.poll(async () => (await events(type, frame)).length, { message: type }).toBeGreaterThan(0);
      return (await events(type, frame)).at(-1)!.data.payload;
    },
    act: async (type, payload = {}, frame = 0) =>
      void (await page.evaluate(
        ([name, given, at]) => (globalThis as never as { act(...all: unknown[]): void }).act(name, given, at),
        [type, payload, frame] as const,
      )),
    close: () => context.close(),
  };
}
