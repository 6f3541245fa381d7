/**
 * Finds the mutants of a source and writes the source with all of them in it, each behind a switch: `__m(7) ? … : …`. So the
 * tests load a module once, and one mutant after the other is switched on. The syntax tree is the compiler's own.
 */
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isExpressionStatement,
  isIdentifier,
  isIfStatement,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { editsOfSql, type SqlEdit } from './sql-edits.ts';

export type Operator =
  | 'guard'
  | 'conjunct'
  | 'part of a guard'
  | 'part of a key'
  | 'argument of min'
  | 'tx'
  | 'await'
  | 'call'
  | SqlEdit['operator'];

export interface Mutant {
  id: number;
  file: string;
  line: number;
  /** The lines that it stands in. */
  lastLine: number;
  operator: Operator;
  /** The text that is dropped or changed. */
  text: string;
}

/** Stands for the n-th expression in the text of a template. */
const hole = (n: number) => String.fromCharCode(0xe000 + n);
const HOLES = /[\ue000-\uf8ff]/g;

export class InstrumentedFile {
  readonly mutants: Mutant[] = [];
  readonly text: string;
  readonly #source: SourceFile;
  readonly #file: string;
  readonly #nextId: () => number;
  #isInGuard = false;

  constructor(source: SourceFile, file: string, nextId: () => number) {
    this.#source = source;
    this.#file = file;
    this.#nextId = nextId;
    this.text = this.#render(source, 0);
  }

  #raw(node: Node): string {
    return this.#source.text.slice(startOf(this.#source, node), node.end);
  }

  /** The text of a node from `from` on, with the mutants in its children. */
  #plain(node: Node, from = startOf(this.#source, node), rendered = new Map<Node, string>()): string {
    const children: Node[] = [];
    node.forEachChild((child) => void children.push(child));
    children.sort((a, b) => a.pos - b.pos);
    let text = '';
    let at = from;
    for (const child of children) {
      const start = startOf(this.#source, child);
      if (start < at) continue;
      text += this.#source.text.slice(at, start) + (rendered.get(child) ?? this.#render(child));
      at = child.end;
    }
    return text + this.#source.text.slice(at, node.end);
  }

  #render(node: Node, from?: number): string {
    if (isType(node)) return this.#raw(node);
    if (isIfStatement(node) && isGuard(node)) return this.#guard(node);
    if (isBinaryExpression(node)) return this.#binary(node);
    if (isTaggedTemplateExpression(node) && isIdentifier(node.tag) && node.tag.text === 'sql')
      return this.#sql(node);
    if (isTemplateExpression(node)) return this.#template(node);
    if (isCallExpression(node)) return this.#call(node);
    if (
      isAwaitExpression(node) &&
      isExpressionStatement(node.parent) &&
      !isOrdered(this.#raw(node.expression))
    )
      return this.#await(node);
    if (isExpressionStatement(node) && isCheck(node.expression, this.#source.text))
      return `${this.#add('call', node.expression)} ? undefined : ${this.#plain(node)}`;
    if (isIdentifier(node) && node.text === 'tx' && isValue(node) && seesDb(node)) {
      return `(${this.#add('tx', node)} ? db : tx)`;
    }
    return this.#plain(node, from);
  }

  #add(operator: Operator, node: Node, text = this.#raw(node)): string {
    const id = this.#nextId();
    const lineAt = (position: number) => this.#source.text.slice(0, position).split('\n').length;
    const line = lineAt(startOf(this.#source, node));
    const shown = text.replaceAll(/\s+/g, ' ').trim();
    this.mutants.push({ id, file: this.#file, line, lastLine: lineAt(node.end), operator, text: shown });
    return `globalThis.__m?.(${id})`;
  }

  #guard(node: Node & { expression: Node }): string {
    const condition = node.expression;
    const isOn = this.#add('guard', condition);
    const before = this.#isInGuard;
    this.#isInGuard = true;
    const rendered = this.#render(condition);
    this.#isInGuard = before;
    return this.#plain(node, undefined, new Map([[condition, `${isOn} ? false : (${rendered})`]]));
  }

  #binary(node: Node & { left: Node; right: Node; operatorToken: Node }): string {
    const isAnd = node.operatorToken.kind === SyntaxKind.AmpersandAmpersandToken;
    const isOr = node.operatorToken.kind === SyntaxKind.BarBarToken && this.#isInGuard;
    if (!isAnd && !isOr) return this.#plain(node);
    const operand = (part: Node) => {
      const inner = isParenthesizedExpression(part) ? part.expression : part;
      // `a && b && c` is `(a && b) && c`, and its parts are those of the inner one.
      if (isBinaryExpression(inner) && inner.operatorToken.kind === node.operatorToken.kind)
        return `(${this.#render(inner)})`;
      const isOn = this.#add(isAnd ? 'conjunct' : 'part of a guard', part);
      return `(${isOn} ? ${isAnd} : (${this.#render(part)}))`;
    };
    return `(${operand(node.left)} ${isAnd ? '&&' : '||'} ${operand(node.right)})`;
  }

  #call(node: Node & { expression: Node; arguments: readonly Node[] }): string {
    const called = this.#raw(node.expression);
    const list = node.arguments;
    if (/^Math\.(min|max)$/.test(called) && list.length > 1 && !list.some(isSpread)) {
      const variants = list.map((argument) => {
        const others = list.filter((one) => one !== argument).map((one) => this.#raw(one));
        return `${this.#add('argument of min', argument)} ? ${called}(${others.join(', ')}) : `;
      });
      return `(${variants.join('')}${this.#plain(node)})`;
    }
    const [first] = list;
    if (
      called === 'JSON.stringify' &&
      first &&
      isArrayLiteralExpression(first) &&
      first.elements.length > 1
    ) {
      const elements = [...first.elements];
      const variants = elements.map((element) => {
        const others = elements.filter((one) => one !== element).map((one) => this.#raw(one));
        return `${this.#add('part of a key', element)} ? JSON.stringify([${others.join(', ')}]) : `;
      });
      return `(${variants.join('')}${this.#plain(node)})`;
    }
    return this.#plain(node);
  }

  #await(node: Node & { expression: Node }): string {
    const isOn = this.#add('await', node);
    return `(${isOn} ? globalThis.__drop(async () => (${this.#raw(node.expression)})) : ${this.#plain(node)})`;
  }

  #sql(node: Node & { template: Node }): string {
    const variants = this.#variants(node.template, true).map(
      ({ isOn, text }) => [isOn, `sql${text}`] as const,
    );
    const rendered = new Map([[node.template, this.#plain(node.template)]]);
    const original = this.#plain(node, undefined, rendered);
    if (!variants.length) return original;
    if (isInFunction(node))
      return `(${variants.map(([isOn, text]) => `${isOn} ? ${text} : `).join('')}${original})`;
    // A template outside of functions is made once, when the module loads, so the mutant is chosen when its value is
    // read.
    const later = variants.map(([isOn, text]) => `[() => ${isOn}, () => ${text}]`);
    return `globalThis.__lazy(() => ${original}, [${later.join(', ')}])`;
  }

  #template(node: Node): string {
    const { text, parts } = this.#partsOf(node);
    const isKey = parts.length > 1 && !/\s/.test(text) && isKeyPlace(node);
    const isSql = looksLikeSql(text);
    const variants = isSql ? this.#variants(node, false) : [];
    if (isKey) {
      for (let n = 0; n < parts.length; n++) {
        const isOn = this.#add('part of a key', node, parts[n]);
        variants.push({ isOn, text: `\`${fill(text.replace(hole(n), ''), parts)}\`` });
      }
    }
    const original = this.#plain(node);
    if (!variants.length) return original;
    return `(${variants.map(({ isOn, text }) => `${isOn} ? ${text} : `).join('')}${original})`;
  }

  /** Each is the template with one edit of its SQL. */
  #variants(template: Node, isStatement: boolean): { isOn: string; text: string }[] {
    const { text, parts } = this.#partsOf(template);
    if (!isStatement && !looksLikeSql(text)) return [];
    return editsOfSql(text).map(({ operator, start, end, replacement }) => {
      const dropped = fill(text.slice(start, end), parts);
      const isOn = this.#add(operator, template, dropped);
      return { isOn, text: `\`${fill(text.slice(0, start) + replacement + text.slice(end), parts)}\`` };
    });
  }

  /** The text between the backticks, with a sign for each expression in it. */
  #partsOf(template: Node): { text: string; parts: string[] } {
    const whole = this.#raw(template).slice(1, -1);
    if (!isTemplateExpression(template)) return { text: whole, parts: [] };
    const begin = startOf(this.#source, template) + 1;
    const parts: string[] = [];
    let text = '';
    let at = begin;
    template.templateSpans.forEach(({ expression }, n) => {
      const start = this.#source.text.lastIndexOf('${', startOf(this.#source, expression));
      const end = this.#source.text.indexOf('}', expression.end) + 1;
      text += this.#source.text.slice(at, start) + hole(n);
      parts.push(this.#source.text.slice(start, end));
      at = end;
    });
    return { text: text + this.#source.text.slice(at, template.end - 1), parts };
  }
}

const fill = (text: string, parts: string[]) =>
  text.replaceAll(HOLES, (sign) => parts[sign.charCodeAt(0) - 0xe000]!);

const looksLikeSql = (text: string) =>
  /\b(select|where|exists|coalesce|is (not )?null|is (not )?true)\b/.test(text) ||
  (/\band\b/.test(text) && /^(?:[\s()=<>,*+-]|[\ue000-\uf8ff]|and|or|not)+$/.test(text));

function startOf(source: SourceFile, node: Node): number {
  return node.kind === SyntaxKind.SourceFile ? 0 : node.getStart(source);
}

/** Whether an `if` is a guard: at most three statements, the last of which exits early. */
function isGuard(node: Node & { thenStatement: Node; elseStatement?: Node }): boolean {
  if (node.elseStatement) return false;
  const statements = isBlock(node.thenStatement) ? [...node.thenStatement.statements] : [node.thenStatement];
  const leaves = [SyntaxKind.ThrowStatement, SyntaxKind.ReturnStatement, SyntaxKind.ContinueStatement];
  return statements.length <= 3 && leaves.includes(statements.at(-1)?.kind ?? SyntaxKind.Unknown);
}

const isType = (node: Node) =>
  (node.kind >= SyntaxKind.FirstTypeNode && node.kind <= SyntaxKind.LastTypeNode) ||
  node.kind === SyntaxKind.InterfaceDeclaration ||
  node.kind === SyntaxKind.TypeAliasDeclaration ||
  node.kind === SyntaxKind.ImportDeclaration ||
  node.kind === SyntaxKind.ExportDeclaration;

/** A call whose only purpose is to throw, or to count what is limited. */
const isCheck = (node: Node, text: string) =>
  isCallExpression(node) &&
  /(^|\.)(require|check|refuse|spend|begin|count)\w*$/.test(
    text.slice(node.expression.pos, node.expression.end).trim().replaceAll('?.', '.'),
  );

/**
 * Whether a missing `await` changes nothing: a transaction sends its statements in order, also those that are not
 * awaited.
 */
const isOrdered = (call: string) =>
  /^[\w.]+\(\s*tx\b/.test(call) && !/^(\w+\.)?(require|check|refuse|lock)/.test(call);

const isSpread = (node: Node) => node.kind === SyntaxKind.SpreadElement;

const FUNCTIONS = [
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
];

function ancestorsOf(node: Node): Node[] {
  const found: Node[] = [];
  for (let at = node.parent; at; at = at.parent) found.push(at);
  return found;
}

const isInFunction = (node: Node) => ancestorsOf(node).some(({ kind }) => FUNCTIONS.includes(kind));

/** Whether the text is a key: an argument of a map, or named so. */
function isKeyPlace(node: Node): boolean {
  const { parent } = node;
  if (isCallExpression(parent) && isPropertyAccessExpression(parent.expression))
    return /^(get|set|has|delete|add)$/.test(parent.expression.name.text);
  const named = isArrowFunction(parent) ? parent.parent : parent;
  if ((isVariableDeclaration(named) || isPropertyAssignment(named)) && isIdentifier(named.name))
    return /key$/i.test(named.name.text);
  return false;
}

/** Whether the name is used as a value, and is neither declared nor the name of a property. */
function isValue(node: Node): boolean {
  const { parent } = node;
  return (
    (isCallExpression(parent) && parent.expression !== node) ||
    (isPropertyAccessExpression(parent) && parent.expression === node)
  );
}

/** Whether a parameter or variable `db` is in sight. */
function seesDb(node: Node): boolean {
  return ancestorsOf(node).some((scope) => {
    let isFound = false;
    const look = (one: Node, depth: number) => {
      if (isFound || depth > 4) return;
      one.forEachChild((child) => {
        if (FUNCTIONS.includes(child.kind) || isCallExpression(child)) return;
        const isName = isIdentifier(child) && child.text === 'db';
        if (
          isName &&
          [SyntaxKind.Parameter, SyntaxKind.BindingElement, SyntaxKind.VariableDeclaration].includes(one.kind)
        )
          isFound = true;
        look(child, depth + 1);
      });
    };
    if (FUNCTIONS.includes(scope.kind) || isBlock(scope)) look(scope, 0);
    return isFound;
  });
}
