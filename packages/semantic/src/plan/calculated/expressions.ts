/**
 * The expressions of calculated fields: numbers, texts, names of members, operators and a few functions. They are read
 * into a tree, which is all that the planner knows of them: no text of an expression gets into a statement.
 */
import { didYouMean } from '../../problems.ts';

export type Tree = { readonly at: Range } & (
  | { readonly kind: 'number' | 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly isTrue: boolean }
  | { readonly kind: 'null' }
  /** `orders.count`, `orders.created_at.month`, or the name of another calculated field. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'unary'; readonly operator: '-' | 'not'; readonly of: Tree }
  | { readonly kind: 'isNull'; readonly isNegated: boolean; readonly of: Tree }
  | { readonly kind: 'binary'; readonly operator: Binary; readonly left: Tree; readonly right: Tree }
  | { readonly kind: 'call'; readonly call: FunctionName; readonly args: readonly Tree[] }
);

/** Characters of the expression, from the first one to the one after the last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export type Binary = '+' | '-' | '*' | '/' | '=' | '<>' | '<' | '<=' | '>' | '>=' | 'and' | 'or';

/** The least and the largest number of arguments. */
export const FUNCTIONS = {
  sum: [1, 1],
  avg: [1, 1],
  min: [1, 1],
  max: [1, 1],
  count_distinct: [1, 1],
  if: [2, 3],
  coalesce: [2, 10],
  nullif: [2, 2],
  abs: [1, 1],
  round: [1, 2],
  floor: [1, 1],
  ceil: [1, 1],
} as const satisfies Record<string, readonly [number, number]>;
export type FunctionName = keyof typeof FUNCTIONS;

/** Databases stop at about a thousand nested operators, and a row of operators is nested once for each. */
export const EXPRESSION_LIMITS = { characters: 2000, operands: 200, depth: 40 } as const;

/** What is wrong, and where. */
export class ExpressionError extends Error {
  readonly at: Range;

  constructor(message: string, at: Range) {
    super(message);
    this.at = at;
  }
}

interface Token extends Range {
  readonly kind: 'number' | 'text' | 'name' | 'symbol' | 'end';
  readonly text: string;
}

const TOKEN =
  /\s+|(\d+(?:\.\d+)?(?![\w.]))|'((?:[^']|'')*)'|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(<>|!=|<=|>=|[-+*/=<>(),])/y;
const KINDS = ['number', 'text', 'name', 'symbol'] as const;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  while (from < text.length) {
    TOKEN.lastIndex = from;
    const match = TOKEN.exec(text);
    if (!match) throw new ExpressionError(wrongAt(text, from), { from, to: from + 1 });
    const to = from + match[0].length;
    const index = match.slice(1).findIndex((part) => part !== undefined);
    if (index >= 0) tokens.push({ kind: KINDS[index]!, text: match[index + 1]!, from, to });
    from = to;
  }
  return [...tokens, { kind: 'end', text: '', from, to: from }];
}

function wrongAt(text: string, from: number): string {
  const character = text[from]!;
  if (character === "'") return 'This text has no closing quote.';
  if (character === '"') return "Texts stand in single quotes: 'paid'.";
  if (/\d/.test(character)) return 'This is not a number.';
  return `\`${character}\` cannot stand here.`;
}

/** How tightly operators bind. */
const BINDING: Record<Binary, number> = {
  or: 1,
  and: 2,
  '=': 4,
  '<>': 4,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
};
const NOT = 3;
const COMPARED = 4;
const MINUS = 7;

const WORDS = ['and', 'or', 'not', 'is', 'null', 'true', 'false'];

/** Throws an `ExpressionError`. */
export function parseExpression(text: string): Tree {
  if (text.length > EXPRESSION_LIMITS.characters) {
    const message = `An expression has at most ${EXPRESSION_LIMITS.characters} characters.`;
    throw new ExpressionError(message, { from: EXPRESSION_LIMITS.characters, to: text.length });
  }
  const tokens = tokensOf(text);
  let next = 0;
  let depth = 0;
  let operands = 0;
  const peek = () => tokens[next]!;
  const isWord = (word: string, token = peek()) => token.kind === 'name' && token.text.toLowerCase() === word;
  const isSymbol = (symbol: string) => peek().kind === 'symbol' && peek().text === symbol;
  const refuse = (message: string, at: Range = peek()): never => {
    throw new ExpressionError(message, { from: at.from, to: at.to });
  };
  const expect = (symbol: string) => {
    if (!isSymbol(symbol)) refuse(`A \`${symbol}\` is missing here.`);
    return tokens[next++]!;
  };
  const operatorAt = (): Binary | undefined => {
    const { kind, text: found } = peek();
    if (kind === 'symbol') return found === '!=' ? '<>' : found in BINDING ? (found as Binary) : undefined;
    return isWord('and') ? 'and' : isWord('or') ? 'or' : undefined;
  };

  const nested = <T>(read: () => T): T => {
    if (++depth > EXPRESSION_LIMITS.depth)
      refuse(`An expression is nested at most ${EXPRESSION_LIMITS.depth} deep.`);
    const made = read();
    depth--;
    return made;
  };
  const expression = (least: number): Tree =>
    nested(() => {
      let left = operand();
      for (;;) {
        if (isWord('is') && least <= COMPARED) {
          left = isNull(left);
          continue;
        }
        const operator = operatorAt();
        if (operator === undefined || BINDING[operator] < least) return left;
        next++;
        const right = expression(BINDING[operator] + 1);
        left = { kind: 'binary', operator, left, right, at: { from: left.at.from, to: right.at.to } };
      }
    });
  const isNull = (of: Tree): Tree => {
    next++;
    const isNegated = isWord('not');
    if (isNegated) next++;
    if (!isWord('null')) refuse('Only `is null` and `is not null` are known here.');
    return { kind: 'isNull', isNegated, of, at: { from: of.at.from, to: tokens[next++]!.to } };
  };
  const operand = (): Tree => {
    const token = peek();
    const at = { from: token.from, to: token.to };
    if (token.kind === 'end') return refuse('Something is missing at the end.');
    if (++operands > EXPRESSION_LIMITS.operands)
      return refuse(
        `An expression has at most ${EXPRESSION_LIMITS.operands} values, members and functions.`,
        at,
      );
    next++;
    if (token.kind === 'number') return { kind: 'number', text: token.text, at };
    if (token.kind === 'text') return { kind: 'text', text: token.text.replaceAll("''", "'"), at };
    if (token.kind === 'name') return named(token, at);
    if (token.text === '(') {
      const inner = expression(0);
      return { ...inner, at: { from: at.from, to: expect(')').to } };
    }
    if (token.text !== '-')
      return refuse('A number, a text, a member or a bracket is missing before this.', at);
    const of = expression(MINUS);
    return { kind: 'unary', operator: '-', of, at: { from: at.from, to: of.at.to } };
  };
  const named = (token: Token, at: Range): Tree => {
    const word = token.text.toLowerCase();
    if (word === 'not') {
      const of = expression(NOT);
      return { kind: 'unary', operator: 'not', of, at: { from: at.from, to: of.at.to } };
    }
    if (word === 'true' || word === 'false') return { kind: 'truth', isTrue: word === 'true', at };
    if (word === 'null') return { kind: 'null', at };
    if (WORDS.includes(word)) return refuse(`\`${token.text}\` cannot stand here.`, at);
    return isSymbol('(') ? call(token, at) : { kind: 'name', name: token.text, at };
  };
  const call = (token: Token, at: Range): Tree => {
    const name = token.text.toLowerCase();
    if (!Object.hasOwn(FUNCTIONS, name)) {
      const hint = didYouMean(name.slice(0, 100), Object.keys(FUNCTIONS));
      return refuse(['There is no such function.', hint].filter(Boolean).join(' '), at);
    }
    const known = name as FunctionName;
    const [least, most] = FUNCTIONS[known];
    next++;
    const args: Tree[] = [];
    if (!isSymbol(')')) {
      do args.push(expression(0));
      while (isSymbol(',') && ++next);
    }
    const to = expect(')').to;
    if (args.length < least || args.length > most) {
      const count = least === most ? `${least}` : `${least} to ${most}`;
      refuse(`\`${name}\` takes ${count} ${most === 1 ? 'value' : 'values'}.`, { from: at.from, to });
    }
    return { kind: 'call', call: known, args, at: { from: at.from, to } };
  };

  const made = expression(0);
  if (peek().kind !== 'end') refuse('An operator is missing before this.');
  return made;
}

/** The names in an expression. */
export function namesIn(tree: Tree): { readonly name: string; readonly at: Range }[] {
  switch (tree.kind) {
    case 'name':
      return [tree];
    case 'unary':
    case 'isNull':
      return namesIn(tree.of);
    case 'binary':
      return [...namesIn(tree.left), ...namesIn(tree.right)];
    case 'call':
      return tree.args.flatMap(namesIn);
    default:
      return [];
  }
}
