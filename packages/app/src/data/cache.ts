/**
 * What the server said last, by key. A page shows what is known at once and asks again if that is old, so that going back
 * and forth never shows a skeleton twice. Keys begin with what they are about: `d/1/workspace/…`.
 */
import { batch, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isAbort, type Problem, problemOf } from './problem.ts';

type Load<T> = (signal: AbortSignal) => Promise<T>;

class Entry<T> {
  readonly value: Signal<T | undefined> = signal(undefined);
  readonly problem: Signal<Problem | undefined> = signal(undefined);
  readonly isLoading = signal(false);
  load: Load<T>;
  readers = 0;
  loadedAt = 0;
  #running: AbortController | undefined;

  constructor(load: Load<T>) {
    this.load = load;
  }

  async reload() {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    this.isLoading.value = true;
    try {
      const value = await this.load(running.signal);
      if (this.#running === running) this.#settle(() => this.set(value));
    } catch (error) {
      if (this.#running === running && !isAbort(error))
        this.#settle(() => {
          this.problem.value = problemOf(error);
        });
    }
  }

  set(value: T | undefined) {
    this.value.value = value;
    this.problem.value = undefined;
    this.loadedAt = Date.now();
  }

  #settle(change: () => void) {
    this.#running = undefined;
    batch(() => {
      change();
      this.isLoading.value = false;
    });
  }
}

const ENTRIES_MAX = 300;
const FRESH_MS = 5_000;
const entries = new Map<string, Entry<unknown>>();

function entryOf<T>(key: string, load: Load<T>): Entry<T> {
  const entry = (entries.get(key) as Entry<T> | undefined) ?? new Entry(load);
  entry.load = load;
  // The order of a map is that of insertion, so the entries that were used last are at its end.
  entries.delete(key);
  entries.set(key, entry as Entry<unknown>);
  for (const [other, { readers }] of entries) {
    if (entries.size <= ENTRIES_MAX) break;
    if (readers === 0 && other !== key) entries.delete(other);
  }
  return entry;
}

export interface LoadState<T> {
  /** Undefined until it is known. It stays while a newer one is loaded, and if that fails. */
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload(): void;
}

/** What `load` returns, by key. Without a key nothing is loaded. */
export function useData<T>(key: string | null, load: Load<T>): LoadState<T> {
  const entry = key === null ? undefined : entryOf(key, load);
  useEffect(() => {
    if (!entry) return;
    entry.readers++;
    if (Date.now() - entry.loadedAt > FRESH_MS && !entry.isLoading.peek()) void entry.reload();
    return () => {
      entry.readers--;
    };
  }, [key]);
  return {
    data: entry?.value.value,
    problem: entry?.problem.value,
    isLoading: entry?.isLoading.value ?? false,
    reload: () => void entry?.reload(),
  };
}

/** Prefetches a value before the page that shows it is loaded. */
export function askAhead<T>(key: string, load: Load<T>) {
  const entry = entryOf(key, load);
  if (Date.now() - entry.loadedAt > FRESH_MS && !entry.isLoading.peek()) void entry.reload();
}

/** Invalidates the entries with this prefix: those that a page shows are loaded again, the others are removed. */
export function invalidate(prefix: string) {
  for (const [key, entry] of entries) {
    if (!key.startsWith(prefix)) continue;
    if (entry.readers > 0) void entry.reload();
    else entries.delete(key);
  }
}

/** Shows a change before the server has confirmed it. `invalidate` brings back what the server knows. */
export function assume<T>(prefix: string, change: (value: T) => T) {
  batch(() => {
    for (const [key, entry] of entries)
      if (key.startsWith(prefix) && entry.value.peek() !== undefined)
        entry.value.value = change(entry.value.peek() as T);
  });
}
