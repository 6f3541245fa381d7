/** What a person chose for this browser. Nothing is stored in a frame of another product. */
import { isEmbedded } from './place.ts';

interface Preferences {
  scheme: 'auto' | 'light' | 'dark';
  language: string;
  deploymentId: number;
  /** Whether home shows folders as a tree. */
  isTree: boolean;
  /** Whether questions run by themselves when they change. */
  autoRun: boolean;
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
