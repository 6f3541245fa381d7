/** The words of SQL in a model. Texts and names in quotes stay whole, so that nothing in them is taken for an operator. */
import type { LexerPatterns } from '../sql-texts.ts';
import type { Piece, Sql } from './sql.ts';

const WORD = String.raw`::\s*[A-Za-z_]\w*(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|\s+|[\s\S]`;
const patterns = new Map<LexerPatterns, RegExp>();

function patternOf(lexing: LexerPatterns): RegExp {
  const known = patterns.get(lexing);
  if (known) return known;
  const pattern = new RegExp(`${lexing.whole.source}|${WORD}`, 'g');
  patterns.set(lexing, pattern);
  return pattern;
}

/** Strings are text of the model without comments; everything else is one operand. */
export const tokensOf = (parts: readonly Piece[], lexing: LexerPatterns): Piece[] =>
  parts.flatMap((part): Piece[] =>
    typeof part === 'string' ? (part.match(patternOf(lexing)) ?? []) : [part as Sql],
  );
