/** Messages between this page and the page that embeds it. */
const SOURCE = 'oriel-embed';

export type Action = (payload: Record<string, unknown>) => void;

export interface Host {
  /** Null if this page is not in a frame, or if its host does not say who it is. Then nothing is sent or taken. */
  readonly origin: string | null;
  send(type: string, payload: Record<string, unknown>): void;
}

/** The origin of the page that holds this frame. */
export function findOrigin(): string | null {
  if (window.parent === window) return null;
  const ancestors = location.ancestorOrigins;
  if (ancestors) return usable(ancestors[0]);
  return usable(document.referrer);
}

/**
 * Whether this page and all pages around it are pages of this server. No page can pretend to be one: the browser throws if
 * the address is that of another origin.
 */
export function isAmongOwnPages(): boolean {
  try {
    for (let page: Window = window; ; page = page.parent) {
      if (page.location.origin !== self.origin) return false;
      if (page === page.parent) return true;
    }
  } catch {
    return false;
  }
}

/** A frame without an origin says `null`, and everybody could pretend to be one. */
function usable(address: string | null | undefined): string | null {
  try {
    const { origin } = new URL(address ?? '');
    return origin === 'null' ? null : origin;
  } catch {
    return null;
  }
}

/** `surface` is on every message to the host, which may show several pages of ours. */
export function connectHost(surface: 'dashboard' | 'app', actions: Record<string, Action>): Host {
  const origin = findOrigin();
  window.addEventListener('message', (event) => {
    if (origin === null || event.origin !== origin || event.source !== window.parent) return;
    const { source, direction, type, payload } = (event.data ?? {}) as Record<string, unknown>;
    if (source !== SOURCE || direction !== 'action' || typeof type !== 'string') return;
    const name = type.replace(/^oriel:action:/, '');
    if (name === type || !Object.hasOwn(actions, name)) return;
    actions[name]!(payload && typeof payload === 'object' ? (payload as Record<string, unknown>) : {});
  });
  return {
    origin,
    send(type, payload) {
      if (origin === null) return;
      const message = {
        source: SOURCE,
        direction: 'event',
        type: `oriel:event:${type}`,
        payload,
        timestamp: Date.now(),
        surface,
      };
      window.parent.postMessage(message, origin);
    },
  };
}
