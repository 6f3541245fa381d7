/** Undo and redo: each change is a named patch with its inverse. */
import { applyPatches, enablePatches, type Patch, produceWithPatches } from 'immer';

enablePatches();

export const STEPS_MAX = 200;

interface Step {
  /** What was done, for people. */
  name: string;
  patches: Patch[];
  inverse: Patch[];
  /** Changes of one field that follow each other are one step: nobody wants to undo letters. */
  field: string | undefined;
}

export interface History<State> {
  readonly state: State;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
}

export const createHistory = <State>(state: State): History<State> => ({ state, done: [], undone: [] });

/** `change` returns the state after it. Nothing is remembered if nothing has changed. */
export function step<State extends object>(
  { state, done }: History<State>,
  name: string,
  change: (state: State) => State,
  field?: string,
): History<State> {
  const after = change(state);
  const [next, patches, inverse] = produceWithPatches(state, (draft: Record<string, unknown>) => {
    const [before, now] = [state, after] as Record<string, unknown>[];
    for (const key of new Set([...Object.keys(before!), ...Object.keys(now!)]))
      if (JSON.stringify(before![key]) !== JSON.stringify(now![key])) draft[key] = now![key];
  });
  if (!patches.length) return { state, done, undone: [] };
  const last = done.at(-1);
  const isSame = field !== undefined && last?.field === field;
  const one: Step = isSame
    ? { name, field, patches: [...last!.patches, ...patches], inverse: [...inverse, ...last!.inverse] }
    : { name, field, patches, inverse };
  return {
    state: next as State,
    done: [...(isSame ? done.slice(0, -1) : done), one].slice(-STEPS_MAX),
    undone: [],
  };
}

export function undo<State extends object>({ state, done, undone }: History<State>): History<State> {
  const last = done.at(-1);
  if (!last) return { state, done, undone };
  return { state: applyPatches(state, last.inverse), done: done.slice(0, -1), undone: [...undone, last] };
}

export function redo<State extends object>({ state, done, undone }: History<State>): History<State> {
  const next = undone.at(-1);
  if (!next) return { state, done, undone };
  return { state: applyPatches(state, next.patches), done: [...done, next], undone: undone.slice(0, -1) };
}
