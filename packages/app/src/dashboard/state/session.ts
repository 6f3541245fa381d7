/**
 * One draft that a person edits: its history, and its way to the server and back. All writes go through one queue with the
 * newest tag, a second after the last change. If another person was faster, both drafts are merged and saved again.
 */
import { type Signal, signal } from '@preact/signals';
import type { Draft } from 'immer';
import { isSame, setIn } from './changes.ts';
import { type Config, configOf, type Doc, docOf } from './doc.ts';
import { change, type History, historyOf, rebased, redo, turnedDown, undo } from './history.ts';
import { addMine, type Conflict, type MergedDraft, merge } from './merge.ts';

export interface StoredDraft {
  config: Config | null;
  etag: string | undefined;
}

/** The server, as far as a draft goes. */
export interface Store {
  load(): Promise<StoredDraft>;
  /** Returns the new tag, or `outdated` if the draft on the server is no longer that of `etag`. */
  save(config: Config, etag: string | undefined): Promise<string | undefined | 'outdated'>;
}

/** What was not saved when the page was left. */
export interface UnsavedDraft {
  /** What the server had. */
  base: Config;
  mine: Config;
}

/** Where unsaved changes wait if the page is left. */
export interface DraftStorage {
  kept: UnsavedDraft | undefined;
  /** Stores the changes; undefined removes them, when everything is saved. Returns whether changes are stored. */
  keep(kept: UnsavedDraft | undefined): boolean;
}

export type Status = 'saved' | 'unsaved' | 'saving' | 'offline' | 'failed' | 'conflict';

export type Choice = 'mine' | 'theirs' | 'both';

const PAUSE_MS = 1000;
const RETRY_MS = 5000;

/** Whether a retry can succeed: after the person has signed in again, or when the server is less busy. */
const isPassing = (error: unknown) => {
  const { status } = error as { status?: number };
  return status === 401 || status === 429 || (status !== undefined && status >= 500);
};

export class Session {
  readonly history: Signal<History>;
  readonly status: Signal<Status> = signal('saved');
  readonly conflicts: Signal<readonly Conflict[]> = signal([]);
  /** Why the last save failed, for people. */
  readonly problem: Signal<unknown> = signal(undefined);
  readonly #store: Store;
  readonly #onMerged: (merged: MergedDraft) => void;
  readonly #onSaved: () => void;
  readonly #keeper: DraftStorage | undefined;
  #isKept = false;
  /** What the server has, as far as we know. */
  #base: Doc;
  #etag: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | undefined;

  constructor(
    store: Store,
    stored: StoredDraft,
    on: { merged(merged: MergedDraft): void; saved(): void },
    keeper?: DraftStorage,
  ) {
    this.#store = store;
    this.#onMerged = on.merged;
    this.#onSaved = on.saved;
    this.#keeper = keeper;
    const kept = keeper?.kept;
    this.#base = docOf(kept ? kept.base : stored.config);
    this.#etag = kept ? undefined : stored.etag;
    this.history = signal(historyOf(kept ? docOf(kept.mine) : this.#base));
    // Merges the version of the server as if another person had saved it. In a microtask, so that the caller listens by
    // then.
    if (kept) queueMicrotask(() => this.#take(stored));
  }

  get doc(): Doc {
    return this.history.value.doc;
  }

  /** `name` is for people, in the list of what can be undone. */
  change(name: string, recipe: (draft: Draft<Doc>) => void, key?: string) {
    this.#set(change(this.history.peek(), name, recipe, key === undefined ? {} : { key }));
  }

  undo() {
    this.#set(undo(this.history.peek()));
  }

  redo() {
    this.#set(redo(this.history.peek()));
  }

  #set(next: History) {
    if (next === this.history.peek()) return;
    this.history.value = next;
    this.#keep();
    this.#schedule();
  }

  /** Stores unsaved changes in this browser, so that nothing is lost if the page ends now. */
  #keep() {
    const kept = this.#isSaved
      ? undefined
      : { base: configOf(this.#base), mine: configOf(this.history.peek().doc) };
    this.#isKept = this.#keeper?.keep(kept) ?? false;
  }

  get #isSaved() {
    return isSame(configOf(this.#base), configOf(this.history.peek().doc));
  }

  #schedule(ms = PAUSE_MS) {
    clearTimeout(this.#timer);
    if (this.conflicts.peek().length) return;
    if (this.#isSaved && !this.#saving) {
      this.status.value = 'saved';
      return;
    }
    if (this.status.peek() !== 'offline' && !this.#saving) this.status.value = 'unsaved';
    this.#timer = setTimeout(() => void this.save(), ms);
  }

  /** Saves now what is not saved yet, and returns when it is, or when it cannot be. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#saving;
    if (this.#isSaved || this.conflicts.peek().length) return;
    this.#saving = this.#save().finally(() => {
      this.#saving = undefined;
    });
    await this.#saving;
    if (this.status.peek() === 'saved' && !this.#isSaved) await this.save();
  }

  async #save() {
    const { doc } = this.history.peek();
    this.status.value = 'saving';
    try {
      const etag = await this.#store.save(configOf(doc), this.#etag);
      if (etag === 'outdated') return await this.#rebase();
      this.#base = doc;
      this.#etag = etag;
      this.problem.value = undefined;
      this.status.value = 'saved';
      this.#keep();
      this.#onSaved();
    } catch (error) {
      this.problem.value = error;
      // Without a reply nothing is known about the server: it is tried again, and what was typed stays.
      const isOffline = error instanceof TypeError;
      this.status.value = isOffline ? 'offline' : 'failed';
      if (isOffline || isPassing(error)) this.#schedule(RETRY_MS);
    }
  }

  /** Takes over what others have saved. Also without a change of our own: another tab may say that there is something new. */
  async refresh(): Promise<void> {
    await this.#saving;
    await this.#rebase();
  }

  async #rebase() {
    this.#take(await this.#store.load());
  }

  #take({ config, etag }: StoredDraft) {
    if (etag !== undefined && etag === this.#etag) return;
    const others = docOf(config);
    const merged = merge(this.#base, this.history.peek().doc, others);
    this.#base = others;
    this.#etag = etag;
    this.history.value = rebased(this.history.peek(), merged.doc);
    this.conflicts.value = merged.conflicts;
    // Until a person has decided, both sides stay.
    if (!merged.conflicts.length) this.#keep();
    if (merged.theirs.length) this.#onMerged(merged);
    if (merged.conflicts.length) {
      this.status.value = 'conflict';
      return;
    }
    this.status.value = 'saved';
    this.#schedule(0);
  }

  /**
   * Applies the decisions of the person. The side that was not chosen stays in the history, one undo away. Where only
   * one side fits into a widget, `both` makes a second widget.
   */
  resolve(names: Record<Choice, string>, choices: ReadonlyMap<Conflict, Choice>) {
    this.conflicts.value = [];
    const chosen = (choice: Choice) =>
      [...choices].flatMap(([one, other]) => (other === choice ? [one] : []));
    const [mine, theirs, both] = [chosen('mine'), chosen('theirs'), chosen('both')];
    const setAll = (list: readonly Conflict[]) => (draft: Draft<Doc>) => {
      for (const { path, mine: after } of list) setIn(draft, path, after);
    };
    if (theirs.length) this.#set(turnedDown(this.history.peek(), names.theirs, setAll(theirs)));
    if (mine.length) this.change(names.mine, setAll(mine));
    if (both.length)
      this.change(names.both, (draft) => {
        for (const conflict of both) addMine(draft, conflict);
      });
    this.#schedule(0);
  }

  get isUnsaved(): boolean {
    return !this.#isSaved;
  }

  /** Whether closing the page would lose something. */
  get isEndangered(): boolean {
    return this.isUnsaved && !this.#isKept;
  }

  stop() {
    clearTimeout(this.#timer);
  }
}
