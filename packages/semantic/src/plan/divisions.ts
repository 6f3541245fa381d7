/** In measures that are computed from others, a division by zero is null, and a quotient of whole numbers has decimals. */
import { call, type Piece, type Sql, sql } from './sql.ts';

/** Texts and comments stay whole, so that nothing in them is taken for a division. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|::\s*[A-Za-z_]\w*(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|\s+|[\s\S]/g;

/** Strings are text of the model; everything else is one operand. */
export function guardDivisions(parts: readonly (string | Sql)[]): Sql {
  const tokens = parts.flatMap((part): Piece[] =>
    typeof part === 'string' ? (part.match(TOKEN) ?? []) : [part],
  );
  if (!tokens.includes('/')) return tokens;
  let next = 0;

  const sequence = (): Piece[] => {
    const made: Piece[] = [];
    while (next < tokens.length && tokens[next] !== ')') made.push(...item());
    return made;
  };
  const item = (): Piece[] => {
    const token = tokens[next++]!;
    if (token === '(') return ['(', ...sequence(), ...closing()];
    if (token !== '/') return [token];
    const made: Piece[] = [' / '];
    skipSpace();
    if (next < tokens.length && tokens[next] !== ')') made.push(call('divisor', operand()));
    return made;
  };
  const closing = (): Piece[] => (tokens[next] === ')' ? [tokens[next++]!] : []);
  const skipSpace = () => {
    while (isSpace(tokens[next])) next++;
  };
  /** A value, a call, or what is in brackets, with its sign before it and a cast after it. */
  const operand = (): Sql => {
    const sign = tokens[next] === '-' || tokens[next] === '+' ? [tokens[next++]!] : [];
    const made: Piece[] = [...sign, ...item()];
    if (tokens[next] === '(') made.push(...item());
    while (isCast(tokens[next])) made.push(tokens[next++]!);
    return sql`${made}`;
  };

  const made = sequence();
  // A bracket too many is for the database to refuse.
  while (next < tokens.length) made.push(tokens[next++]!, ...sequence());
  return made;
}

const isSpace = (token: Piece | undefined) =>
  typeof token === 'string' && /^(\s+|--.*|\/\*[\s\S]*)$/.test(token);
const isCast = (token: Piece | undefined) =>
  typeof token === 'string' && token.startsWith('::') && token.length > 2;
