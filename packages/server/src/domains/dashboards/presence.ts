/**
 * Who has the draft of a dashboard open, and which widget. Each server knows the tabs that listen to it, in memory, and
 * tells the other servers by NOTIFY. Nothing is stored: a tab that stops listening is gone at once, and the tabs of a
 * server that fell silent are gone soon.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../platform/db/database.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import * as store from './store.ts';

/** A tab of a person, and the widget whose settings are open in it. */
export interface Tab {
  tab: string;
  userId: number;
  widgetId: string | null;
}

export interface Presence {
  /** Throws a 429 if too many listen. */
  requireRoom(workbookId: number, tab: Omit<Tab, 'widgetId'>): void;
  /** Yields all tabs at first, and whenever they have changed. */
  watch(workbookId: number, tab: Omit<Tab, 'widgetId'>, signal: AbortSignal): AsyncGenerator<Tab[]>;
  /** The stream of the tab may be at another server. */
  open(workbookId: number, tab: Tab): Promise<void>;
  stop(): void;
}

const LIMITS = { perWorkbook: 30, perUser: 10, inAll: 1000 };
/** Also how often other servers hear that a tab is still there. */
const BEAT_MS = 15_000;
const SILENT_MS = 3 * BEAT_MS;
/** Changes within this time are sent as one batch. */
const TOGETHER_MS = 100;
/** A notification of PostgreSQL has less than 8,000. */
const PAYLOAD_MAX_BYTES = 7800;

type Message =
  | { from: string; workbookId: number; tabs: Tab[]; isNew?: boolean }
  | { workbookId: number; open: Tab };

interface Draft {
  here: Map<string, Tab>;
  elsewhere: Map<string, { tabs: Tab[]; heardAt: number }>;
  wake: Set<() => void>;
  telling?: NodeJS.Timeout;
}

const keyOf = ({ userId, tab }: Omit<Tab, 'widgetId'>) => `${userId} ${tab}`;

export function createPresence({
  db,
  listener,
  log,
}: {
  db: Database;
  listener: Pick<Listener, 'on'>;
  log: Logger;
}): Presence {
  const from = randomUUID();
  /** Only drafts that somebody has open at this server. */
  const drafts = new Map<number, Draft>();
  const changed = (draft: Draft) => {
    for (const wake of draft.wake) wake();
  };

  const send = (message: Message) => store.notifyPresence(db, JSON.stringify(message));

  function tell(workbookId: number, isNew = false) {
    const draft = drafts.get(workbookId);
    if (!draft || (draft.telling && !isNew)) return;
    clearTimeout(draft.telling);
    draft.telling = setTimeout(() => {
      draft.telling = undefined;
      if (draft.here.size === 0) drafts.delete(workbookId);
      const tabs = [...draft.here.values()];
      const message = { from, workbookId, tabs, isNew };
      const fits = Buffer.byteLength(JSON.stringify(message)) <= PAYLOAD_MAX_BYTES;
      const told = fits ? message : { ...message, tabs: tabs.map((tab) => ({ ...tab, widgetId: null })) };
      send(told).catch((error) =>
        log.warn({ err: error }, 'other servers do not hear who edits a dashboard'),
      );
    }, TOGETHER_MS).unref();
  }

  function hear(message: Message) {
    const draft = drafts.get(message.workbookId);
    if (!draft) return;
    if ('open' in message) {
      const own = draft.here.get(keyOf(message.open));
      if (!own || own.widgetId === message.open.widgetId) return;
      own.widgetId = message.open.widgetId;
      changed(draft);
      return tell(message.workbookId);
    }
    if (message.from === from) return;
    if (message.tabs.length) draft.elsewhere.set(message.from, { tabs: message.tabs, heardAt: Date.now() });
    else draft.elsewhere.delete(message.from);
    changed(draft);
    // The other server does not know yet which tabs are here.
    if (message.isNew) tell(message.workbookId);
  }

  listener.on(store.PRESENCE_CHANNEL, (payload) => {
    // Without a payload, something may have been missed: the next beat tells it again.
    if (payload) hear(JSON.parse(payload));
  });

  const beat = setInterval(() => {
    for (const [workbookId, draft] of drafts) {
      for (const [server, { heardAt }] of draft.elsewhere) {
        if (Date.now() - heardAt <= SILENT_MS) continue;
        draft.elsewhere.delete(server);
        changed(draft);
      }
      tell(workbookId);
    }
  }, BEAT_MS).unref();

  function requireRoom(workbookId: number, { tab, userId }: Omit<Tab, 'widgetId'>) {
    const here = drafts.get(workbookId)?.here;
    // The same tab, which has lost its connection, takes its own place: its older stream ends.
    if (here?.has(keyOf({ tab, userId }))) return;
    const all = [...drafts.values()].flatMap((draft) => [...draft.here.values()]);
    const isFull =
      all.length >= LIMITS.inAll ||
      (here?.size ?? 0) >= LIMITS.perWorkbook ||
      all.filter((one) => one.userId === userId).length >= LIMITS.perUser;
    if (isFull) throw new ApiError('too_many_at_once', { retryAfterSeconds: 60 });
  }

  function enter(workbookId: number, given: Omit<Tab, 'widgetId'>) {
    requireRoom(workbookId, given);
    const draft = drafts.get(workbookId) ?? { here: new Map(), elsewhere: new Map(), wake: new Set() };
    const own: Tab = { ...given, widgetId: null };
    drafts.set(workbookId, draft);
    draft.here.set(keyOf(own), own);
    changed(draft);
    tell(workbookId, draft.here.size === 1);
    return { draft, own };
  }

  function leave(workbookId: number, draft: Draft, own: Tab) {
    // A newer stream of the same tab may have its place already.
    if (draft.here.get(keyOf(own)) === own) draft.here.delete(keyOf(own));
    changed(draft);
    tell(workbookId);
  }

  return {
    requireRoom,
    async *watch(workbookId, tab, signal) {
      const { draft, own } = enter(workbookId, tab);
      let wake = () => {};
      let isWoken = true;
      const onWake = () => {
        isWoken = true;
        wake();
      };
      draft.wake.add(onWake);
      signal.addEventListener('abort', onWake);
      try {
        while (!signal.aborted && draft.here.get(keyOf(own)) === own) {
          if (isWoken) {
            isWoken = false;
            yield [...draft.here.values(), ...[...draft.elsewhere.values()].flatMap(({ tabs }) => tabs)];
            continue;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        signal.removeEventListener('abort', onWake);
        draft.wake.delete(onWake);
        leave(workbookId, draft, own);
      }
    },
    open: (workbookId, tab) => send({ workbookId, open: tab }).then(() => {}),
    stop: () => clearInterval(beat),
  };
}

/** Yields the tabs with the names of their users, for as long as `requireEditor` lets the caller hear of others. */
export async function* describePeople(
  db: Database,
  watched: AsyncIterable<Tab[]>,
  requireEditor: () => Promise<unknown>,
) {
  for await (const tabs of watched) {
    await requireEditor();
    const rows = await store.listNames(db, [...new Set(tabs.map(({ userId }) => userId))]);
    const names = new Map(rows.map(({ id, name }) => [id, name]));
    const people = tabs.flatMap((tab) => {
      const displayName = names.get(tab.userId);
      return displayName === undefined ? [] : [{ ...tab, displayName }];
    });
    yield { event: 'people' as const, data: { people } };
  }
}
