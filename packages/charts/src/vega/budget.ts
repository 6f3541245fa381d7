/**
 * What one drawing of a chart may take. Bounds of single lists and texts are not enough: a row can ask for the longest list, and a
 * chart has many rows. Work is counted, not timed, so that a slow machine refuses no chart that a fast one draws.
 */
import { ChartRefusedError } from './chart-refused.ts';

/**
 * The budget of a drawing, in steps of an expression or what takes about as long. Usual charts of 50,000 rows take
 * about an eighth of it. Tests of refusals lower it, because spending all of it takes seconds.
 */
export const LIMITS = { work: 200_000_000 };

/** What a chart can have too many of. */
export type BudgetUnit =
  | 'steps'
  | 'values'
  | 'characters'
  | 'rows'
  | 'groups'
  | 'columns'
  | 'items'
  | 'lines';

export interface Budget {
  /** Refuses the chart if it has asked for too much altogether. */
  spend(work: number, what: BudgetUnit): void;
  /** For the next drawing: a chart is drawn again when it is pointed at. It does nothing while a drawing runs. */
  renew(): void;
  /** A drawing runs until the returned function is called. It can begin another one, such as by `modify`. */
  begin(): () => void;
}

export function createDrawingBudget(): Budget {
  let left = LIMITS.work;
  let spent: Partial<Record<BudgetUnit, number>> = {};
  let running = 0;
  return {
    spend(work, what) {
      // A length that the chart gives may be less than nothing, which pays nothing back.
      const counted = Math.max(0, work);
      left -= counted;
      spent[what] = (spent[what] ?? 0) + counted;
      // `left >= 0` and not `left < 0`, because a NaN must be refused.
      if (left >= 0) return;
      const [[most] = [what]] = Object.entries(spent).sort(([, a], [, b]) => b - a);
      throw new ChartRefusedError(`The chart asks for too many ${most}.`);
    },
    renew() {
      if (running) return;
      left = LIMITS.work;
      spent = {};
    },
    begin() {
      running++;
      return () => {
        running--;
      };
    },
  };
}

/**
 * The steps that each value of a list takes when the list becomes a text. A text takes one step for every
 * `CHARACTERS_OF_STEP` characters.
 */
const STEPS_OF_VALUE = 4;
export const CHARACTERS_OF_STEP = 4;

export const spendOnText = (length: number, budget: Budget) =>
  budget.spend(length / CHARACTERS_OF_STEP, 'characters');

/**
 * Lists may hold a list several times, which holds another: what follows them to the end takes as long as this. Few functions
 * follow objects too.
 */
export function spendOn(value: unknown, budget: Budget, isWithin = false): void {
  if (typeof value === 'string') {
    spendOnText(value.length, budget);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && !isWithin) return;
  const parts = Array.isArray(value) ? value : Object.values(value);
  budget.spend(parts.length * STEPS_OF_VALUE, 'values');
  for (const part of parts) if (typeof part !== 'number') spendOn(part, budget, isWithin);
}
