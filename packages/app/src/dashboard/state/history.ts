/** Undo and redo: each step is a named change with its patches and their inverse. */
import { applyPatches, type Draft, enablePatches, type Patch, produceWithPatches } from 'immer';
import type { Doc } from './doc.ts';

enablePatches();

export const STEPS_MAX = 200;

export interface Step {
  /** For people: "Move Revenue". */
  name: string;
  patches: Patch[];
  inverse: Patch[];
  /** Steps with one key that follow one another within a moment are one: typing a title is not 20 steps. */
  key?: string | undefined;
  at: number;
}

export interface History {
  readonly doc: Doc;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
}

const JOINED_WITHIN_MS = 1500;

export const historyOf = (doc: Doc): History => ({ doc, done: [], undone: [] });

export function change(
  history: History,
  name: string,
  recipe: (draft: Draft<Doc>) => void,
  { key, now = Date.now() }: { key?: string; now?: number } = {},
): History {
  const [doc, patches, inverse] = produceWithPatches(history.doc, recipe);
  if (patches.length === 0) return history;
  const last = history.done.at(-1);
  const joins = key !== undefined && last?.key === key && now - last.at <= JOINED_WITHIN_MS;
  const step: Step = joins
    ? { ...last, patches: [...last.patches, ...patches], inverse: [...inverse, ...last.inverse], at: now }
    : { name, patches, inverse, key, at: now };
  const before = joins ? history.done.slice(0, -1) : history.done;
  return { doc, done: [...before, step].slice(-STEPS_MAX), undone: [] };
}

/** Adds a change to the history that was decided against: the draft stays as it is, and undo makes the change. */
export function turnedDown(
  history: History,
  name: string,
  recipe: (draft: Draft<Doc>) => void,
  now = Date.now(),
): History {
  const [, inverse, patches] = produceWithPatches(history.doc, recipe);
  if (inverse.length === 0) return history;
  const step: Step = { name, patches, inverse, at: now };
  return { ...history, done: [...history.done, step].slice(-STEPS_MAX), undone: [] };
}

/** A step that no longer fits, because others have removed what it is about, is left out. */
export function undo({ doc, done, undone }: History): History {
  const step = done.at(-1);
  if (!step) return { doc, done, undone };
  const before = applied(doc, step.inverse);
  if (!before) return undo({ doc, done: done.slice(0, -1), undone });
  return { doc: before, done: done.slice(0, -1), undone: [...undone, step] };
}

export function redo({ doc, done, undone }: History): History {
  const step = undone.at(-1);
  if (!step) return { doc, done, undone };
  const after = applied(doc, step.patches);
  if (!after) return redo({ doc, done, undone: undone.slice(0, -1) });
  return { doc: after, done: [...done, { ...step, key: undefined }], undone: undone.slice(0, -1) };
}

/** Steps stay: they name widgets by their ids, so they also fit what others have changed meanwhile. */
export const rebased = (history: History, doc: Doc): History => ({ ...history, doc });

function applied(doc: Doc, patches: Patch[]): Doc | undefined {
  try {
    return healed(applyPatches(doc, patches));
  } catch {
    return undefined;
  }
}

/** Repairs the order to name every widget once: a step may restore an order from before others added widgets. */
function healed(doc: Doc): Doc {
  const known = new Set(Object.keys(doc.widgets));
  const order = [...new Set(doc.order)].filter((id) => known.has(id));
  const missing = [...known].filter((id) => !order.includes(id));
  return order.length === doc.order.length && missing.length === 0
    ? doc
    : { ...doc, order: [...order, ...missing] };
}
