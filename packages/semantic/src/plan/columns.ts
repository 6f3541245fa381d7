/**
 * The columns that SQL of the model names. The caller hides what they show, so every word counts as the name of a
 * column unless its place in the syntax makes it something else.
 */
import type { Expression, Reference, TableReference } from '../model.ts';
import type { LexerPatterns } from '../sql-texts.ts';

export interface ColumnReference {
  /** The name in lower case; undefined for all columns of the row. */
  readonly name: string | undefined;
  /** The table before the name. Undefined for a name alone, which may be a column of any joined table. */
  readonly table: TableReference | undefined;
  /** How many tokens it consists of. */
  readonly length: number;
}

type Token = string | Reference;

export function columnsIn(expression: Expression, lexing: LexerPatterns): ColumnReference[] {
  const tokens = tokensIn(expression, lexing);
  const columns: ColumnReference[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (typeof token === 'string') {
      if (isName(token) && !isSyntax(tokens, i))
        columns.push({ name: plainName(token), table: undefined, length: 1 });
    } else if (token.kind === 'table') {
      const names: string[] = [];
      const start = i;
      for (; tokens[i + 1] === '.' && isName(tokens[i + 2]); i += 2)
        names.push(plainName(tokens[i + 2] as string));
      columns.push({ name: names.length ? names.join('.') : undefined, table: token, length: i - start + 1 });
    }
  }
  return columns;
}

/** Without comments. Texts and names in quotes are whole. */
export const tokensIn = (expression: Expression, lexing: LexerPatterns): Token[] =>
  expression.flatMap((part): Token[] =>
    typeof part === 'string'
      ? (part.match(patternOf(lexing)) ?? []).filter((token) => !lexing.comment.test(token))
      : [part],
  );

/** Databases take letters of every script, and most other characters beyond ASCII, for parts of names. */
const LETTER = String.raw`[A-Za-z_]|[^\x00-\x7f\s]`;
const WORD = String.raw`(?:${LETTER})(?:${LETTER}|[\d$])*`;
const patterns = new Map<LexerPatterns, RegExp>();

function patternOf(lexing: LexerPatterns): RegExp {
  const known = patterns.get(lexing);
  if (known) return known;
  const pattern = new RegExp(String.raw`${lexing.whole.source}|::|${WORD}|\d+(?:\.\d+)?|\S`, 'g');
  patterns.set(lexing, pattern);
  return pattern;
}

const NAME = new RegExp(String.raw`^(?:${WORD}|["\x60][\s\S]+)$`);
const isName = (token: Token | undefined): boolean => typeof token === 'string' && NAME.test(token);
const isText = (token: Token | undefined) => typeof token === 'string' && /^[eE]?'/.test(token);

/** Names that differ by case or quotes are taken for the same, which hides more, and not less. */
const plainName = (word: string) => word.replace(/^["`]|["`]$/g, '').toLowerCase();

/** Words that cannot be columns without quotes. */
const RESERVED = new Set(
  'and as case distinct else end false from ilike in is like not null or then true when'.split(' '),
);
const LITERALS = new Set(['null', 'true', 'false']);
/** Operators that are columns elsewhere. */
const INFIX = new Set(['between', 'div']);

/** Whether the word is a keyword, a type or a function there. */
function isSyntax(tokens: readonly Token[], i: number): boolean {
  const at = (index: number) => {
    const token = tokens[index];
    return typeof token === 'string' ? token.toLowerCase() : token;
  };
  const word = at(i) as string;
  const [before, after] = [at(i - 1), at(i + 1)];
  if (/^["`]/.test(word)) return false;
  // What follows `as` is a type, in a cast, or a new name.
  const isType = (index: number) => ['::', 'as'].includes(at(index - 1) as string);
  if (isType(i) || (word === 'precision' && before === 'double' && isType(i - 1))) return true;
  // A function, or a type before a text: `date '2024-01-01'`.
  if (after === '(' || isText(after)) return true;
  // ClickHouse takes reserved words for columns where nothing else can stand.
  if (RESERVED.has(word)) return LITERALS.has(word) || !(isOpen(before, ')') && isOpen(after, '('));
  if (INFIX.has(word)) return before === 'not' || !isOpen(before, ')');
  return after === 'from' && before === '(' && at(i - 2) === 'extract';
}

/** Whether the token is neither an operand nor the bracket that ends or begins one. */
const isOpen = (token: Token | undefined, bracket: string) =>
  token === undefined || (typeof token === 'string' && /^[^\w'"\x60$\]]$/.test(token) && token !== bracket);
