/** What is wrong with a model, and where. */
import type { Place } from './model.ts';

export type ProblemCode =
  | 'ambiguous_join'
  | 'bad_reference'
  | 'bad_value'
  | 'code_file'
  | 'duplicate_key'
  | 'duplicate_name'
  | 'invalid_yaml'
  | 'missing_key'
  | 'no_access_policy'
  | 'no_join_path'
  | 'no_primary_key'
  | 'not_used'
  | 'not_allowed_here'
  | 'older_word'
  | 'reference_cycle'
  | 'template'
  | 'too_deep'
  | 'too_large'
  | 'unknown_key'
  | 'unknown_name'
  | 'unsupported';

export interface Problem extends Place {
  readonly code: ProblemCode;
  readonly message: string;
  /** What to do about it. */
  readonly hint: string | undefined;
}

export interface Source {
  readonly file: string;
  readonly text: string;
}

/** A place as an offset. Lines are counted only if something is wrong there. */
export interface Spot {
  readonly source: Source;
  readonly offset: number;
}

export function placeOf({ source: { file, text }, offset }: Spot): Place {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) {
    line++;
    lineStart = end + 1;
  }
  return { file, line, column: Math.min(offset, text.length) - lineStart + 1 };
}

/** More would help nobody, and a model of many megabytes can have millions. */
export const PROBLEMS_MAX = 100;

export interface Problems {
  readonly list: readonly Problem[];
  /** What does no harm, but should be changed. */
  readonly notes: readonly Problem[];
  /** Problems after the first hundred are not kept. A hint that costs time is given as a function. */
  add(spot: Spot, code: ProblemCode, message: string, hint?: string | (() => string | undefined)): void;
  note(spot: Spot, code: ProblemCode, message: string, hint?: string): void;
}

export function createProblems(): Problems {
  const list: Problem[] = [];
  const notes: Problem[] = [];
  return {
    list,
    notes,
    note(spot, code, message, hint) {
      if (notes.length < PROBLEMS_MAX) notes.push({ ...placeOf(spot), code, message, hint });
    },
    add(spot, code, message, hint) {
      if (list.length >= PROBLEMS_MAX) return;
      list.push({ ...placeOf(spot), code, message, hint: typeof hint === 'function' ? hint() : hint });
    },
  };
}

/** A mistyped name costs a comparison with each name that there is, so their number is limited. */
const COMPARED_MAX = 2000;

/** Names the candidate that the text was probably meant to be. */
export function didYouMean(text: string, candidates: Iterable<string>): string | undefined {
  const meant = nearest(text, candidates);
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}

/** The candidate that the text was probably meant to be. */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(text.length / 3)));
  let compared = 0;
  for (const candidate of candidates) {
    if (compared++ >= COMPARED_MAX) break;
    if (Math.abs(candidate.length - text.length) > bestDistance) continue;
    const distance = distanceOf(text.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance || (distance === bestDistance && best === undefined)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters must be added, removed, replaced or swapped with their neighbour. */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, beforeLast[j - 2]! + 1);
      }
      row.push(distance);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}

/** For hints: `a`, `b` or `c`. */
export const listed = (words: readonly string[]) => {
  const quoted = words.map((word) => `\`${word}\``);
  return quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}` : (quoted[0] ?? '');
};
