/** All that is stored in this browser: what a person chose, and what is not saved yet. Nothing in a frame of another product. */
import { isEmbedded } from './place.ts';

interface Preferences {
  scheme: 'auto' | 'light' | 'dark';
  language: string;
  deploymentId: number;
  /** Whether home shows folders as a tree. */
  isTree: boolean;
  /** Whether questions run by themselves when they change. */
  autoRun: boolean;
  /** Whether the model studio lays out files when it saves them. */
  formatOnSave: boolean;
  /** Which parts of the first steps were hidden, by deployment. */
  hiddenSteps: number[];
}

const KEY = 'oriel-preferences';

function read(): Partial<Preferences> {
  if (isEmbedded) return {};
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return stored && typeof stored === 'object' ? stored : {};
  } catch {
    return {};
  }
}

let current = read();

export const preference = <Name extends keyof Preferences>(name: Name): Preferences[Name] | undefined =>
  current[name];

export function prefer(chosen: Partial<Preferences>) {
  current = { ...current, ...chosen };
  if (isEmbedded) return;
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that stores nothing forgets it with this page.
  }
}

/** What is too long for an address: kept as long as this tab, so that a reload brings it back. */
const IN_TAB = 'oriel-in-tab:';

export function keepInTab(name: string, value: string): boolean {
  if (isEmbedded) return false;
  try {
    sessionStorage.setItem(`${IN_TAB}${name}`, value);
    return true;
  } catch {
    return false;
  }
}

export function keptInTab(name: string): string | undefined {
  if (isEmbedded) return undefined;
  try {
    return sessionStorage.getItem(`${IN_TAB}${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Drafts that are not saved yet, so that a reload, a closed lid or an expired session loses nothing. */
const DRAFTS = 'oriel-unsaved:';
const KEPT_MAX_MS = 14 * 86_400_000;
const KEPT_MAX = 5;

interface Kept {
  at: number;
  value: unknown;
}

function readKept(key: string): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
    return kept && Date.now() - kept.at <= KEPT_MAX_MS ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** `name` says whose draft of what it is: another person at this browser does not get it. */
export const unsaved = (name: string): unknown =>
  isEmbedded ? undefined : readKept(`${DRAFTS}${name}`)?.value;

/** Returns whether it is kept. Undefined forgets it. */
export function keepUnsaved(name: string, value: unknown): boolean {
  if (isEmbedded) return false;
  try {
    if (value === undefined) {
      localStorage.removeItem(`${DRAFTS}${name}`);
      return true;
    }
    localStorage.setItem(`${DRAFTS}${name}`, JSON.stringify({ at: Date.now(), value } satisfies Kept));
    forgetOld();
    return true;
  } catch {
    return false;
  }
}

function forgetOld() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS));
  const byAge = keys.map((key) => ({ key, at: readKept(key)?.at ?? 0 })).sort((a, b) => b.at - a.at);
  for (const [i, { key, at }] of byAge.entries()) if (i >= KEPT_MAX || at === 0) localStorage.removeItem(key);
}
