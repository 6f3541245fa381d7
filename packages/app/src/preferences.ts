/**
 * What a person chose, stored in this browser; `drafts.ts` has what is not saved yet, and nothing else stores anything. Nothing is stored in
 * a frame of another product.
 */
import { person } from './data/person-access.ts';
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

/** What is too long for an address: kept as long as this tab, so that a reload brings it back to the same person. */
export const IN_TAB = `oriel-in-tab:${person}/`;

export function keepInTab(name: string, value: string): boolean {
  if (isEmbedded) return false;
  try {
    sessionStorage.setItem(IN_TAB + name, value);
    return true;
  } catch {
    return false;
  }
}

export function keptInTab(name: string): string | undefined {
  if (isEmbedded) return undefined;
  try {
    return sessionStorage.getItem(IN_TAB + name) ?? undefined;
  } catch {
    return undefined;
  }
}
