/** How much work the plans of a request may be. */
import { queryError } from './errors.ts';

/** The work that a request may still cost. All of its queries draw from the same budget. */
export interface Budget {
  left: number;
  /** The characters of SQL that are left, counted when it is made from the model and again when it is written. */
  characters: number;
  /** How many members that refer to each other are being written now. */
  depth: number;
}

/** A piece, such as a filter of one cube's measures or a period of a rolling window, takes about 20 microseconds. */
const PIECES_MAX = 10_000;
const CHARACTERS_MAX = 4_000_000;
/** A reference takes time even if it writes little. */
const REFERENCE_CHARACTERS = 100;
/** More than the compiler lets members refer to each other, because conditions of joins may come between them. */
const DEPTH_MAX = 250;

/**
 * With lower limits, the budget may be too small for a request: a caller that finds it spent can plan the request again
 * elsewhere, with the full budget.
 */
export const createPlanBudget = ({ pieces = PIECES_MAX, characters = CHARACTERS_MAX } = {}): Budget => ({
  left: pieces,
  characters,
  depth: 0,
});

export const isSpent = ({ left, characters }: Budget) => left < 0 || characters < 0;

/** Call it before the work is done. */
export function spend(budget: Budget, pieces: number) {
  budget.left -= pieces;
  if (budget.left >= 0) return;
  const message =
    'The queries of this request are too large together. Ask for fewer queries, compared date ranges, members, filters or cubes with measures; or, with a rolling window, for shorter date ranges or a coarser granularity.';
  throw queryError('unsupported_query', message);
}

export function spendCharacters(budget: Budget, characters: number) {
  budget.characters -= characters;
  if (budget.characters >= 0) return;
  const message =
    'The SQL of this request would be too long. Ask for fewer queries, members or filters; or let the members of the model refer to fewer others, because each reference repeats the SQL of the member that it names.';
  throw queryError('unsupported_query', message);
}

/** Writes what a reference names, which may refer to others in turn. */
export function following<T>(budget: Budget, write: () => T): T {
  spendCharacters(budget, REFERENCE_CHARACTERS);
  if (budget.depth >= DEPTH_MAX) {
    const message = `Members and joins that refer to each other are more than ${DEPTH_MAX} deep here.`;
    throw queryError('unsupported_query', message);
  }
  budget.depth++;
  try {
    return write();
  } finally {
    budget.depth--;
  }
}
