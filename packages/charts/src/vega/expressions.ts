/// <reference path="./modules.d.ts" />
/**
 * What expressions of charts can reach. Whoever writes a chart is not who looks at it. From a drawn item, an event or a
 * function, plain reading of members leads to the dataflow of Vega, from there to the page or the server, and to
 * constructors, which make code of texts. So an expression reads data, and of anything else only the few members that
 * the selections of Vega-Lite need.
 */
import { expressionInterpreter } from 'vega-interpreter';
import { Item } from 'vega-scenegraph';
import { LENGTH_CHECKS } from './bounds.ts';
import { ChartRefused } from './chart-refused.ts';

const refuse = (what: string): never => {
  throw new ChartRefused(`The chart cannot use ${what}.`);
};

const OF_ITEMS = ['datum', 'mark', 'isVoronoi'];
const OF_EVENTS = ['item', 'shiftKey', 'deltaY', 'deltaMode'];
/** They hand out the view, or change what other charts could share. */
const CLOSED_FUNCTIONS = ['view', 'encode'];

/** Own properties of data can be read: they were in the rows, in the spec, or made by expressions. */
function isData(value: unknown): boolean {
  if (Object(value) !== value) return true;
  if (typeof value === 'function') return false;
  if (Array.isArray(value) || value instanceof Date || value instanceof RegExp) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || (prototype === null && value !== Object.prototype);
}

function readMember(object: unknown, key: unknown): unknown {
  const name = String(key);
  // As in JavaScript, which expressions are a part of.
  if (object == null) throw new TypeError(`Nothing has no member "${name}".`);
  const isOpen = isData(object)
    ? Object.hasOwn(Object(object), name)
    : (object instanceof Item ? OF_ITEMS : OF_EVENTS).includes(name);
  const value = isOpen ? (object as Record<string, unknown>)[name] : undefined;
  return isData(value) || value instanceof Item ? value : undefined;
}

const PATTERN_MAX = 1000;
const SEARCHED_MAX = 10_000;
const TRIES_MAX = 1e9;
/** A repeated group with a choice or a repetition inside can take exponential time. */
const REPEATED_GROUP = /\)[*+{]/;
const CHOICE = /[*+{|?]/g;
const REPETITION = /[*+]|\{\d*,/g;

const countIn = (text: string, what: RegExp) => text.match(what)?.length ?? 0;

/** How often the pattern can try to match so long a text: each repetition can end anywhere, and each choice be another one. */
const triesOf = (bare: string, length: number) =>
  bare
    .split(/[()]/)
    .reduce(
      (tries, part) => tries * part.split('|').length,
      length ** (countIn(bare, REPETITION) + (bare[0] === '^' ? 0 : 1)) * 2 ** (bare.split('?').length - 1),
    );

function requirePattern(pattern: unknown, text: unknown = '') {
  const source = String(pattern instanceof RegExp ? pattern.source : pattern);
  const { length } = String(text);
  const bare = source
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    // What follows says how a group or a repetition works.
    .replace(/([(*+?}])\?/g, '$1');
  const isSlow = REPEATED_GROUP.test(bare) && countIn(bare, CHOICE) > 1;
  if (source.length > PATTERN_MAX || length > SEARCHED_MAX || isSlow || triesOf(bare, length) > TRIES_MAX)
    refuse('so slow a pattern');
}

const NESTED_MAX = 6;

function requireData(value: unknown, depth = 0) {
  if (!isData(value) || depth > NESTED_MAX) refuse('this as data');
  if (Object(value) === value)
    for (const part of Object.values(value as object)) requireData(part, depth + 1);
}

type Functions = Record<string, (...given: unknown[]) => unknown>;
export type Check = (this: Functions, ...given: unknown[]) => void;

/** What is checked before functions of expressions run. */
const CHECKS: Record<string, Check> = {
  merge: (...given) => requireData(given),
  modify(_name, ...given) {
    requireData(given);
    // The last two write to an object.
    if (given.length > 3) refuse('`modify` for this');
  },
  replace(text, pattern) {
    // Any other is not a pattern, but a text that is looked for.
    requirePattern(pattern instanceof RegExp ? pattern : '', text);
  },
  /** Vega keeps the ends of a domain that are signals, such as times, as data of its own. */
  setdata(name, rows) {
    if (!(name as string).startsWith('_:vega:_')) refuse('`setdata`');
    requireData(rows);
  },
  /** Vega writes to the object that the name of a field leads to. */
  vlSelectionResolve(name) {
    for (const { fields = [] } of this.data!(name) as { fields?: { field: string }[] }[])
      for (const { field } of fields) if (field in {}) refuse(`the field \`${field}\``);
  },
};

function regexp(pattern: unknown, flags?: unknown): RegExp {
  requirePattern(pattern);
  return new RegExp(pattern as string | RegExp, flags as string | undefined);
}

/** They replace those of Vega. */
const OWN: Functions = {
  readMember,
  regexp,
  test(pattern, text) {
    requirePattern(pattern, text);
    return regexp(pattern).test(String(text));
  },
  split(text, separator, limit) {
    requirePattern(separator instanceof RegExp ? separator : '', text);
    return String(text).split(separator as string | RegExp, limit as number | undefined);
  },
  // Vega would read a path, such as `a.b.c`.
  pluck: (list, name) =>
    Array.isArray(list) ? list.map((each) => readMember(each, name)) : readMember(list, name),
};

/** The functions of Vega, with what must hold before some of them run. */
function guarded(functions: Functions): Functions {
  const checked: Functions = Object.assign(Object.create(functions), OWN);
  for (const [name, check] of Object.entries({ ...CHECKS, ...LENGTH_CHECKS })) {
    const run = functions[name];
    if (!run) continue;
    checked[name] = function (this: Functions, ...given) {
      check.apply(this, given);
      return run.apply(this, given);
    };
  }
  return checked;
}

interface Node {
  type: string;
  name?: string;
  computed?: boolean;
  regex?: { pattern: string };
  [part: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';
const call = (name: string, ...given: unknown[]) => ({
  type: 'CallExpression',
  callee: { type: 'Identifier', name },
  arguments: given,
});

/** Returns the expression with every reading of a member as a call of `readMember`. */
function closed(node: Node): unknown {
  const { type, name, computed, regex, object, property, value } = node as Node &
    Record<'object' | 'property' | 'value', Node>;
  if (type === 'MemberExpression')
    return call(
      'readMember',
      closed(object),
      computed ? closed(property) : { type: 'Literal', value: property.name },
    );
  if (type === 'Identifier' && (name! in {} || CLOSED_FUNCTIONS.includes(name!.replace(/^_/, ''))))
    refuse(`\`${name}\``);
  // A function of Vega, and as a name what all objects share.
  if (type === 'CallExpression' && (node.callee as Node).name === 'toString')
    return { ...node, arguments: (node.arguments as Node[]).map(closed) };
  if (type === 'Property') return { ...node, value: closed(value) };
  if (regex) requirePattern(regex.pattern);
  const within = (part: unknown) => (isNode(part) ? closed(part) : part);
  return Object.fromEntries(
    Object.entries(node).map(([key, part]) => [key, Array.isArray(part) ? part.map(within) : within(part)]),
  );
}

interface Expression {
  ast?: Node;
  /** Of a mark. */
  channels?: Record<string, { ast: Node }>;
}

const closedExpression = ({ ast, channels, ...rest }: Expression) => ({
  ...rest,
  ...(ast && { ast: closed(ast) }),
  ...(channels && {
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, channel]) => [name, { ast: closed(channel.ast) }]),
    ),
  }),
});

/** Vega's interpreter for expressions that reach nothing but data. What they may not have throws `ChartRefused`. */
export const closedInterpreter = Object.fromEntries(
  Object.entries(expressionInterpreter).map(([name, interpret]) => [
    name,
    (context: { functions: Functions }, expression: Expression) =>
      interpret({ functions: guarded(context.functions) }, closedExpression(expression)),
  ]),
);
