/** How much work the plans of a request may be, because nothing else runs while they are made. */
import { queryError } from './errors.ts';

/** All queries of a request draw from the same one. */
export interface Budget {
  left: number;
}

/** A piece, such as a filter of one cube's measures or a period of a rolling window, takes about 20 microseconds. */
const PIECES_MAX = 10_000;

export const createBudget = (): Budget => ({ left: PIECES_MAX });

/** Call it before the work is done. */
export function spend(budget: Budget, pieces: number) {
  budget.left -= pieces;
  if (budget.left >= 0) return;
  const message =
    'The queries of this request are too large together. Ask for fewer queries, compared date ranges, members, filters or cubes with measures; or, with a rolling window, for shorter date ranges or a coarser granularity.';
  throw queryError('unsupported_query', message);
}
