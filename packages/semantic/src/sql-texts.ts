/**
 * Quotes and comments in SQL of the model. What the planner writes after such a text must not become part of it, so
 * everything that the text opens must be closed in it.
 */
export interface LexerPatterns {
  /** Texts, names in quotes and comments, from their beginning to their end. */
  readonly whole: RegExp;
  readonly comment: RegExp;
  /** A quote or comment that begins, or ends, without its other end. */
  readonly open: RegExp;
}

/** A block comment without another one in it, because databases do not agree about where it ends. */
const BLOCK = String.raw`\/\*(?:(?!\/\*)[\s\S])*?\*\/`;
const DOLLAR = String.raw`(?<![\w$])\$([A-Za-z_]\w*)?\$`;
const DOLLAR_QUOTED = String.raw`${DOLLAR}[\s\S]*?\$\1\$`;

/** The quotes and comments of PostgreSQL and DuckDB. */
export const STANDARD: LexerPatterns = {
  whole: new RegExp(
    String.raw`${DOLLAR_QUOTED}|(?<!\w)[eE]'(?:[^'\\]|''|\\[\s\S])*'|(?<!(?<!\w)[eE])'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|${BLOCK}`,
    'g',
  ),
  comment: /^(--|\/\*)/,
  open: new RegExp(String.raw`['"]|\/\*|\*\/|${DOLLAR}`),
};

export const CLICKHOUSE: LexerPatterns = {
  whole: new RegExp(
    String.raw`${DOLLAR_QUOTED}|'(?:[^'\\]|''|\\[\s\S])*'|"(?:[^"\\]|""|\\[\s\S])*"|${'`(?:[^`\\\\]|``|\\\\[\\s\\S])*`'}|--[^\n]*|\/\/[^\n]*|#[ !][^\n]*|${BLOCK}`,
    'g',
  ),
  comment: /^(--|\/[*/]|#)/,
  open: new RegExp(String.raw`['"${'`'}]|\/\*|\*\/|${DOLLAR}`),
};

/** Exits early for most texts, which are columns: only these characters can begin a quote or comment. */
const SPECIAL = /['"`$#]|--|\/[*/]|\*\//;

/** Removes the comments; undefined if a quote or comment is not closed. */
export function withoutComments(text: string, { whole, comment, open }: LexerPatterns): string | undefined {
  if (!SPECIAL.test(text)) return text;
  if (open.test(text.replace(whole, ' '))) return undefined;
  return text.replace(whole, (match) => (comment.test(match) ? ' ' : match));
}

/** What is wrong with SQL: texts, and references between them. */
export function problemIn(parts: readonly (string | object)[]): string | undefined {
  const problems = [STANDARD, CLICKHOUSE].map((lexing) => problemOf(parts, lexing));
  // Only the data source decides which of the two applies, so one that reads the SQL without a problem is enough.
  return problems.every((problem) => problem !== undefined) ? problems[0] : undefined;
}

function problemOf(
  parts: readonly (string | object)[],
  { whole, comment, open }: LexerPatterns,
): string | undefined {
  let depth = 0;
  for (const [i, part] of parts.entries()) {
    if (typeof part !== 'string') continue;
    const rest = part.replace(whole, ' ');
    if (open.test(rest))
      return 'A quote or a comment is opened here and not closed before the next reference or the end.';
    const last = part.match(whole)?.at(-1);
    const isLine = last !== undefined && comment.test(last) && !last.startsWith('/*');
    if (isLine && part.endsWith(last) && i < parts.length - 1) return 'A reference stands in a comment here.';
    if (rest.replace(/;\s*$/, '').includes(';'))
      return 'A `;` ends a statement, and this is only a part of one.';
    for (const character of rest) {
      if (character === '(') depth++;
      if (character === ')' && --depth < 0) return 'A bracket is closed here that was not opened.';
    }
  }
  return depth > 0 ? 'A bracket is opened here and not closed.' : undefined;
}
