/**
 * How long the texts of a statement may become. A short statement can make very long texts, and a data source cannot be
 * interrupted while a function works on one of them. The length of each expression is counted in columns: a column of a
 * table counts as one, and a plain text by its characters. The decimals of PostgreSQL can be as long as a text, so they are
 * counted too: a number of the statement as one, and a product by what is multiplied.
 */
import { unsupported } from './tree.ts';

/** The characters of a plain text that count as one column. */
const CHARACTERS = 100;
/** The number of rows that `string_agg` is assumed to join. */
const ROWS = 50;
/** The limit for all expressions of a statement together: each counts with its length beyond one column. */
const TOTAL_MAX = 1000;
/** The length of a text, times the length of the text that is looked for in it and what each step takes anyway. */
const SEARCH_MAX = 64;
const SEARCH_STEP = 0.2;
/** The same for LIKE, which takes longer for each character, because it may try each wildcard at each of them. */
const PATTERN_MAX = 4;

export interface Growth {
  /** Counts an expression. */
  add(length: number): void;
}

export function createGrowth(): Growth {
  let left = TOTAL_MAX;
  return {
    add(length) {
      left -= Math.max(0, length - 1);
      if (left >= 0) return;
      throw unsupported(
        'The SQL may make texts that are too long, or numbers with too many digits: it joins, replaces or multiplies too often, or does it again with what was made in this way.',
      );
    },
  };
}

export const lengthOfText = (text: string): number => text.length / CHARACTERS;

/** `name` is a function or an operator, and `parts` are the lengths of its arguments and of what else is in it. */
export function lengthOf(name: string | undefined, parts: readonly number[]): number {
  const [first = 0, second = 0, third = 0] = parts;
  const longest = parts.length ? parts.reduce((a, b) => Math.max(a, b)) : 1;
  const together = parts.reduce((a, b) => a + b, 0);
  const asNumbers = parts.reduce((a, b) => a + Math.max(1, b), 0);
  switch (name) {
    case '||':
    case 'concat':
      return together;
    case 'concat_ws':
      return together + first * parts.length;
    // Both have at most as many digits as their parts together, before and after the point.
    case '*':
    case '/':
      return asNumbers;
    // Variances need the squares.
    case 'variance':
    case 'var_pop':
    case 'var_samp':
    case 'stddev':
    case 'stddev_pop':
    case 'stddev_samp':
      return 2 * first;
    case 'string_agg':
      return ROWS * (first + second);
    case 'replace':
      requireSearch(first, second);
      // Each character may be replaced.
      return Math.max(longest, first * third * CHARACTERS);
    case 'strpos':
    case 'position':
    case 'split_part':
      requireSearch(first, second);
      break;
    case '~~':
    case '!~~':
    case '~~*':
    case '!~~*':
      requireSearch(first, second, PATTERN_MAX);
  }
  return longest;
}

/** This takes time for each character of one text with each character of the other. */
function requireSearch(text: number, searched: number, max = SEARCH_MAX) {
  if (text * (searched + SEARCH_STEP) <= max) return;
  throw unsupported('The SQL looks for a long text in a long text, which may take too long.');
}
