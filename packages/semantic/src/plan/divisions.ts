/** In measures that are computed from others, a division by zero is null, and a quotient of whole numbers has decimals. */
import { queryError } from './errors.ts';
import type { Dialect } from './render.ts';
import { call, type Piece, type Sql, sql } from './sql.ts';
import { tokensOf } from './tokens.ts';

const DEPTH_MAX = 200;

/** Strings are text of the model without comments; everything else is one operand. */
export function guardDivisions(parts: readonly (string | Sql)[], { lexing }: Pick<Dialect, 'lexing'>): Sql {
  const tokens = tokensOf(parts, lexing);
  if (!tokens.includes('/')) return tokens;
  let next = 0;

  const sequence = (depth: number): Piece[] => {
    requireDepth(depth);
    const made: Piece[] = [];
    while (next < tokens.length && tokens[next] !== ')') made.push(item(depth));
    return made;
  };
  const item = (depth: number): Piece => {
    const token = tokens[next++]!;
    if (token === '(') return ['(', sequence(depth + 1), ...closing()];
    if (token !== '/') return token;
    skipSpace();
    const hasOperand = next < tokens.length && tokens[next] !== ')';
    return hasOperand ? [' / ', call('divisor', operand(depth + 1))] : ' / ';
  };
  const closing = (): Piece[] => (tokens[next] === ')' ? [tokens[next++]!] : []);
  const skipSpace = () => {
    while (isSpace(tokens[next])) next++;
  };
  /** A value, a call, or what is in brackets, with its sign before it and a cast after it. */
  const operand = (depth: number): Sql => {
    requireDepth(depth);
    const sign = tokens[next] === '-' || tokens[next] === '+' ? [tokens[next++]!] : [];
    const made: Piece[] = [...sign, item(depth)];
    if (tokens[next] === '(') made.push(item(depth));
    while (isCast(tokens[next])) made.push(tokens[next++]!);
    return sql`${made}`;
  };

  const made = sequence(0);
  // A bracket too many is for the database to refuse.
  while (next < tokens.length) made.push(tokens[next++]!, sequence(0));
  return made;
}

function requireDepth(depth: number) {
  if (depth <= DEPTH_MAX) return;
  throw queryError('unsupported_query', `The SQL of a measure is nested more than ${DEPTH_MAX} deep.`);
}

const isSpace = (token: Piece | undefined) => typeof token === 'string' && /^\s+$/.test(token);
const isCast = (token: Piece | undefined) => typeof token === 'string' && token.startsWith('::');
