/** What is not saved yet, kept in this browser for its author. Nothing in a frame of another product. */
import { person } from './data/person-access.ts';
import { isEmbedded } from './place.ts';
import { IN_TAB } from './preferences.ts';

/** Drafts that are not saved yet, so that a reload, a closed lid or an expired session loses nothing. */
const DRAFTS = 'oriel-unsaved:';
/** The prefix of this person's drafts: another person at this browser does not get them. */
const OWN_DRAFTS = `${DRAFTS}${person}/`;
/** Drafts that were replaced by an earlier version: what is saved is something else, and wanted so. */
export const REPLACED = '/replaced';
const KEPT_MAX_MS = 14 * 86_400_000;
const KEPT_MAX = 5;

interface SavedDraft {
  at: number;
  value: unknown;
}

function readKept(key: string): SavedDraft | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as SavedDraft | null;
    return kept && Date.now() - kept.at <= KEPT_MAX_MS ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** `name` says what it is the draft of. */
export const unsavedDraft = (name: string): unknown =>
  isEmbedded ? undefined : readKept(OWN_DRAFTS + name)?.value;

/** Returns whether it is kept. Undefined forgets it. */
export function keepUnsaved(name: string, value: unknown): boolean {
  if (isEmbedded) return false;
  try {
    if (value === undefined) {
      localStorage.removeItem(OWN_DRAFTS + name);
      return true;
    }
    localStorage.setItem(OWN_DRAFTS + name, JSON.stringify({ at: Date.now(), value } satisfies SavedDraft));
    forgetOld();
    return true;
  } catch {
    return false;
  }
}

/** The functions that save the open drafts. Each resolves when its draft is saved, or cannot be. */
export const savers = new Set<() => Promise<void>>();

const keysIn = (storage: Storage, prefix: string) =>
  Object.keys(storage).filter((key) => key.startsWith(prefix));

function forgetOld() {
  const keys = keysIn(localStorage, DRAFTS);
  const byAge = keys.map((key) => ({ key, at: readKept(key)?.at ?? 0 })).sort((a, b) => b.at - a.at);
  for (const [i, { key, at }] of byAge.entries()) if (i >= KEPT_MAX || at === 0) localStorage.removeItem(key);
}

/** Whether the person would lose changes if this browser forgot what it keeps of them. */
export function hasUnsaved(): boolean {
  try {
    return keysIn(localStorage, OWN_DRAFTS).some((key) => !key.endsWith(REPLACED) && readKept(key));
  } catch {
    return false;
  }
}

/** Removes all content of the person, so that the next one at this browser cannot read it. */
export function forgetOwn() {
  try {
    for (const key of keysIn(localStorage, OWN_DRAFTS)) localStorage.removeItem(key);
    for (const key of keysIn(sessionStorage, IN_TAB)) sessionStorage.removeItem(key);
  } catch {
    // A browser that stores nothing has nothing to forget.
  }
}
