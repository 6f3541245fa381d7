/** Who else has this draft open, and which widget: people see that they are not alone before they meet in one field. */
import { effect, type Signal, signal } from '@preact/signals';
import { api } from '../data/api.ts';
import { say } from './say.ts';
import type { WorkbookKey } from './server.ts';

export interface OtherEditor {
  tab: string;
  name: string;
  /** The widget whose settings they have open. */
  widgetId: string | null;
  /** One of the colours of the style sheet, the same for everybody. */
  color: number;
}

export interface Presence {
  others: Signal<readonly OtherEditor[]>;
  /** Returns the names of the people who have had one of these widgets open, and so may have changed it. */
  namesAt(widgetIds: ReadonlySet<string>): string[];
  stop(): void;
}

const COLORS = 6;
const RETRY_PAUSES_MS = [1000, 3000, 10_000, 30_000];
/** How long a widget must stay selected before the others are told: a person may pass through many. */
const STAYS_MS = 400;

export function createPresence(
  where: WorkbookKey,
  selected: Signal<readonly string[]>,
  canEdit: boolean,
): Presence {
  const tab = crypto.randomUUID();
  const others = signal<readonly OtherEditor[]>([]);
  const stopping = new AbortController();
  const wereAt = new Map<string, Set<string>>();
  let isHeard = false;
  let told: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function listen() {
    for (let attempt = 0; !stopping.signal.aborted; attempt++) {
      try {
        for await (const { data } of await api.watchDashboardDraft(
          { ...where, tab },
          { signal: stopping.signal },
        )) {
          attempt = 0;
          if (!isHeard) {
            isHeard = true;
            told = null;
            tell(selected.peek());
          }
          others.value = data.people
            .filter((one) => one.tab !== tab)
            .map(({ userId, displayName, ...one }) => ({
              ...one,
              name: displayName,
              color: userId % COLORS,
            }));
          for (const { name, widgetId } of others.peek()) {
            if (widgetId === null) continue;
            wereAt.set(widgetId, (wereAt.get(widgetId) ?? new Set()).add(name));
          }
        }
      } catch {
        // The connection was lost, or the person may not listen: the draft can be edited all the same.
      }
      isHeard = false;
      others.value = [];
      await new Promise((resolve) =>
        setTimeout(resolve, RETRY_PAUSES_MS[Math.min(attempt, RETRY_PAUSES_MS.length - 1)]),
      );
    }
  }

  function tell(ids: readonly string[]) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const widgetId = ids.length === 1 ? ids[0]! : null;
      if (!isHeard || widgetId === told) return;
      told = widgetId;
      api.updateDashboardPresence({ ...where, body: { tab, widgetId } }).catch(() => {
        told = null;
      });
    }, STAYS_MS);
  }

  // A person who may not edit is not shown who else is here.
  if (canEdit) void listen();
  const stopTelling = effect(() => tell(selected.value));
  return {
    others,
    namesAt: (ids) => [...new Set([...ids].flatMap((id) => [...(wereAt.get(id) ?? [])]))],
    stop() {
      stopTelling();
      clearTimeout(timer);
      stopping.abort();
    },
  };
}

const initialsOf = (name: string) =>
  name
    .split(/[\s.@_-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((part) => [...part][0]!.toLocaleUpperCase())
    .join('');

/** A person with two tabs is one person. */
export function Others({ presence }: { presence: Presence }) {
  const people = [...new Map(presence.others.value.map((one) => [one.name, one])).values()];
  const names = people.map(({ name }) => name);
  return (
    <div class="others">
      <p class="hidden" role="status">
        {names.length > 0 && say('alsoHere', { names: names.join(', ') })}
      </p>
      {people.slice(0, 4).map(({ name, tab, color }) => (
        <span
          key={tab}
          class={`other color-${color}`}
          title={say('alsoHere', { names: name })}
          aria-hidden="true"
        >
          {initialsOf(name)}
        </span>
      ))}
      {people.length > 4 && <span class="soft">+{people.length - 4}</span>}
    </div>
  );
}

/** Marks a widget that another person has open. */
export function OpenBy({ presence, widgetId }: { presence: Presence; widgetId: string }) {
  const people = presence.others.value.filter((one) => one.widgetId === widgetId);
  if (!people.length) return null;
  const names = [...new Set(people.map(({ name }) => name))].join(', ');
  return (
    <span class={`open-by color-${people[0]!.color}`} role="note">
      {say('hasOpen', { names })}
    </span>
  );
}
