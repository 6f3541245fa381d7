/// <reference path="./modules.d.ts" />
/**
 * What expressions of charts can reach. The author of a chart is not its viewer. From a drawn item, an event or a
 * function, plain reading of members leads to the dataflow of Vega, from there to the page or the server, and to
 * constructors, which make code of texts. So an expression reads data, and of anything else only the few members that
 * the selections of Vega-Lite need.
 */
import { expressionInterpreter } from 'vega-interpreter';
import { Item } from 'vega-scenegraph';
import { LENGTH_CHECKS, STEP_OF_TIME_WORK } from './bounds.ts';
import { type Budget, CHARACTERS_OF_STEP, spendOn, spendOnText } from './budget.ts';
import { ChartRefusedError } from './chart-refused.ts';

const refuse = (what: string): never => {
  throw new ChartRefusedError(`The chart cannot use ${what}.`);
};

const OF_ITEMS = ['datum', 'mark', 'isVoronoi'];
/** Bins are a function, and axes begin and end where they do. */
const OF_BINS = ['start', 'stop', 'step'];
const OF_EVENTS = ['item', 'shiftKey', 'deltaY', 'deltaMode'];
/** Functions that hand out the view, or change what other charts could share. */
const CLOSED_FUNCTIONS = ['view', 'encode'];

/** Own properties of data can be read: they were in the rows, in the spec, or made by expressions. */
function isData(value: unknown): boolean {
  if (Object(value) !== value) return true;
  if (typeof value === 'function') return false;
  if (Array.isArray(value) || value instanceof Date || value instanceof RegExp) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || (prototype === null && value !== Object.prototype);
}

function openIn(object: unknown): string[] {
  if (typeof object === 'function') return OF_BINS;
  return object instanceof Item ? OF_ITEMS : OF_EVENTS;
}

function readMember(object: unknown, key: unknown): unknown {
  const name = String(key);
  // As in JavaScript, which expressions are a part of.
  if (object == null) throw new TypeError(`Nothing has no member "${name}".`);
  const isOpen = isData(object) ? Object.hasOwn(Object(object), name) : openIn(object).includes(name);
  const value = isOpen ? (object as Record<string, unknown>)[name] : undefined;
  return isData(value) || value instanceof Item ? value : undefined;
}

const PATTERN_MAX = 1000;
const SEARCHED_MAX = 10_000;
const TRIES_MAX = 1e9;
/** A repeated group with a choice or a repetition inside can take exponential time. */
const REPEATED_GROUP = /\)[*+{]/;
const CHOICE = /[*+{|?]/g;
/** What was found before is looked for again, of any length. */
const BACK_REFERENCE = /\\[1-9k]/g;
const REPETITION = /[*+]|\{\d*,/g;
const EXACT_COUNT = /\{(\d+)\}/g;

const countIn = (text: string, what: RegExp) => text.match(what)?.length ?? 0;

/** How often the pattern can try to match so long a text: each repetition can end anywhere, and each choice be another one. */
function triesOf(bare: string, length: number, repetitions: number, isMultiline: boolean) {
  const startsOnce = bare[0] === '^' && !bare.includes('|') && !isMultiline;
  let tries = length ** (repetitions + (startsOnce ? 0 : 1)) * 2 ** (bare.split('?').length - 1);
  for (const part of bare.split(/[()]/)) tries *= part.split('|').length;
  for (const [, count] of bare.matchAll(EXACT_COUNT)) tries *= Math.max(1, Number(count));
  return tries;
}

/** Returns how often the pattern can try to match the text. */
function requirePattern(pattern: unknown, text: unknown = ''): number {
  const source = String(pattern instanceof RegExp ? pattern.source : pattern);
  const { length } = String(text);
  const bare = source
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    // What follows says how a group or a repetition works.
    .replace(/([(*+?}])\?/g, '$1');
  const isSlow = REPEATED_GROUP.test(bare) && countIn(bare, CHOICE) > 1;
  const repetitions = countIn(bare, REPETITION) + countIn(source, BACK_REFERENCE);
  const tries = triesOf(bare, length, repetitions, pattern instanceof RegExp && pattern.multiline);
  if (source.length > PATTERN_MAX || length > SEARCHED_MAX || isSlow || tries > TRIES_MAX)
    refuse('so slow a pattern');
  return tries;
}

/** The tries that count as one step: most patterns need far fewer than they could. */
const TRIES_OF_STEP = 64;

const spendOnPattern = (pattern: unknown, text: unknown, budget: Budget) =>
  budget.spend(requirePattern(pattern, text) / TRIES_OF_STEP, 'steps');

const NESTED_MAX = 6;

function requireData(value: unknown, budget: Budget, depth = 0) {
  if (!isData(value) || depth > NESTED_MAX) refuse('this as data');
  spendOn(value, budget);
  if (Object(value) !== value) return;
  const parts = Object.values(value as object);
  budget.spend(parts.length, 'values');
  for (const part of parts) requireData(part, budget, depth + 1);
}

const FORMAT_WORK = 200;
/** Without a specifier, formats for all units are made each time. */
const ANY_TIME_WORK = 50_000;
const OF_SPECIFIER_WORK = 50;

function spendOnTimeFormat(specifier: unknown, budget: Budget) {
  const work = specifier == null ? ANY_TIME_WORK : FORMAT_WORK + textLength(specifier) * OF_SPECIFIER_WORK;
  budget.spend(work, 'steps');
}

type Functions = Record<string, (...given: unknown[]) => unknown>;
type Check = (this: Functions, ...given: unknown[]) => void;

/** The cost of a function that may look at every item of a picture. */
const PICTURE = 50_000;
/** The factor for texts that are put together character by character. */
const REPEATED = 16;

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : String(value).length);
const textLength = (value: unknown) => String(value).length;
/** References to the match, or to a part of it. All matches together are as long as the text. */
const OF_MATCH = /\$[\d<&]/g;
/** References to the text before or after a match. */
const AROUND_MATCH = /\$[`']/g;
/** A part of a match can be outside of it. */
const LOOK_AROUND = /\(\?<?[=!]/;
const always = (names: string[], check: Check) => Object.fromEntries(names.map((name) => [name, check]));

/** What is checked before functions of expressions run, and what they take beside what they are given and return. */
const checksOf = (budget: Budget): Record<string, Check> => ({
  merge: (...given) => requireData(given, budget),
  modify(_name, ...given) {
    requireData(given, budget);
    // The last two write to an object.
    if (given.length > 3) refuse('`modify` for this');
  },
  replace(text, pattern, by) {
    // Any other is not a pattern, but a text that is looked for.
    spendOnPattern(pattern instanceof RegExp ? pattern : '', text, budget);
    const matches = pattern instanceof RegExp && pattern.global ? textLength(text) + 1 : 1;
    const ofMatch = countIn(String(by), OF_MATCH);
    const looksAround = pattern instanceof RegExp && LOOK_AROUND.test(pattern.source);
    const whole = countIn(String(by), AROUND_MATCH) + (looksAround ? ofMatch : 0);
    spendOnText(matches * textLength(by) + (matches * whole + ofMatch) * textLength(text), budget);
  },
  test: (pattern, text) => spendOnPattern(pattern, text, budget),
  split: (text, separator) => spendOnPattern(separator instanceof RegExp ? separator : '', text, budget),
  join: (list, separator = ',') => spendOnText(lengthOf(list) * textLength(separator), budget),
  pad(text, length, filler, ...more) {
    LENGTH_CHECKS.pad!(text, length, filler, ...more);
    spendOnText((Number(length) || 0) * REPEATED * textLength(filler || ' '), budget);
  },
  /** Vega keeps the ends of a domain that are signals, such as times, as data of its own. */
  setdata(name, rows) {
    if (!(name as string).startsWith('_:vega:_')) refuse('`setdata`');
    requireData(rows, budget);
  },
  ...always(['indexof', 'lastindexof'], (text, part) => {
    if (typeof text === 'string') budget.spend((text.length * textLength(part)) / TRIES_OF_STEP, 'steps');
  }),
  ...always(['timeOffset', 'utcOffset'], (...given) => {
    LENGTH_CHECKS.timeOffset!(...given);
    budget.spend(Math.abs(Number(given[2] ?? 1)) * STEP_OF_TIME_WORK, 'steps');
  }),
  ...always(['timeFormat', 'utcFormat'], (_time, specifier) => spendOnTimeFormat(specifier, budget)),
  format(value, specifier) {
    LENGTH_CHECKS.format!(value, specifier);
    budget.spend(FORMAT_WORK, 'steps');
  },
  gradient(...given) {
    LENGTH_CHECKS.gradient!(...given);
    budget.spend((Number(given[3]) || 0) * REPEATED, 'values');
  },
  copy(name, group) {
    spendOn(this.domain!(name, group), budget);
  },
  extent(list) {
    if (!Array.isArray(list)) refuse('this as a list');
  },
  invert(name, _range, group) {
    spendOn(this.domain!(name, group), budget);
  },
  intersect: () => budget.spend(PICTURE, 'items'),
  intersectLasso: (_name, lasso) => budget.spend(PICTURE * lengthOf(lasso), 'items'),
  ...always(['geoArea', 'geoBounds', 'geoCentroid', 'geoShape'], (...given) =>
    spendOn(given.filter(isData), budget, true),
  ),
  ...always(['vlSelectionTest', 'vlSelectionIdTest'], function (name) {
    spendOn(this.data!(name), budget, true);
  }),
  /** Vega writes to the object that the name of a field leads to. */
  vlSelectionResolve(name) {
    const store = this.data!(name) as { fields?: { field: string }[] }[];
    spendOn(store, budget, true);
    for (const { fields = [] } of store)
      for (const { field } of fields) if (field in {}) refuse(`the field \`${field}\``);
  },
});

function regexp(pattern: unknown, flags?: unknown): RegExp {
  requirePattern(pattern);
  return new RegExp(pattern as string | RegExp, flags as string | undefined);
}

/** They replace those of Vega. */
const OWN: Functions = {
  readMember,
  regexp,
  test: (pattern, text) => regexp(pattern).test(String(text)),
  split: (text, separator, limit) =>
    String(text).split(separator as string | RegExp, limit as number | undefined),
  // Vega would read a path, such as `a.b.c`.
  pluck: (list, name) =>
    Array.isArray(list) ? list.map((each) => readMember(each, name)) : readMember(list, name),
};

/** Drawing a line of text takes about so many steps. */
const LINE_WORK = 400;
const CHARACTERS_OF_LINE = 20;

/** The functions of Vega, with what must hold before some of them run. */
function guarded(functions: Functions, budget: Budget): Functions {
  const counted = (value: unknown) => {
    spendOn(value, budget);
    return value;
  };
  const checked: Functions = Object.assign(Object.create(functions), OWN, {
    counted,
    /** Each line of a text is drawn by itself: those of a list, and those that a line break makes, wherever it is set. */
    countedLines(text: unknown) {
      const lines = Array.isArray(text) ? text.length : 1 + textLength(text) / CHARACTERS_OF_LINE;
      budget.spend(lines * LINE_WORK, 'lines');
      return text;
    },
    readCounted: (object: unknown, key: unknown) => counted(readMember(object, key)),
  });
  for (const [name, check] of Object.entries({ ...LENGTH_CHECKS, ...checksOf(budget) })) {
    const run = checked[name];
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

/** Functions whose cost does not depend on the size of their arguments. */
const FREE_FUNCTIONS =
  /^_?(if|data|length|item|group|xy|x|y|inScope|setdata|modify|is(Array|Boolean|Date|Defined|Number|Object|RegExp|String|Tuple|Valid))$/;
/** Operators that do not turn their operands into a text or a number; the others read all of a list. */
const LOGICAL = ['===', '!=='];
const PLAIN_NODES = ['Literal', 'BinaryExpression', 'UnaryExpression'];
const isFree = ({ callee }: Node) => FREE_FUNCTIONS.test((callee as Node).name!);

/** What is followed to its end, such as a list that becomes a text, is counted: what functions return is already. */
function counted(node: Node): unknown {
  if (PLAIN_NODES.includes(node.type)) return closed(node);
  if (node.type === 'MemberExpression') return reading('readCounted', node);
  return node.type === 'CallExpression' && !isFree(node) ? closed(node) : call('counted', closed(node));
}

function reading(read: string, { object, property, computed }: Node) {
  const member = property as Node;
  return call(
    read,
    closed(object as Node),
    computed ? counted(member) : { type: 'Literal', value: member.name },
  );
}

/** Returns the expression with every reading of a member as a call of `readMember`, and with what it takes counted. */
function closed(node: Node): unknown {
  const { type, name, regex, value } = node as Node & Record<'value', Node>;
  if (type === 'MemberExpression') return reading('readMember', node);
  if (type === 'Identifier' && (name! in {} || CLOSED_FUNCTIONS.includes(name!.replace(/^_/, ''))))
    refuse(`\`${name}\``);
  if (type === 'CallExpression') {
    const callee = node.callee as Node;
    const given = (node.arguments as Node[]).map(isFree(node) ? closed : counted);
    // A function of Vega, and as a name what all objects share.
    const called = {
      ...node,
      callee: callee.name === 'toString' ? callee : closed(callee),
      arguments: given,
    };
    return isFree(node) ? called : call('counted', called);
  }
  if (type === 'UnaryExpression' && node.operator !== '!')
    return { ...node, argument: counted(node.argument as Node) };
  if (type === 'BinaryExpression' && !LOGICAL.includes(node.operator as string))
    return { ...node, left: counted(node.left as Node), right: counted(node.right as Node) };
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

/** A path of a shape is a text of the spec that is followed for each row. */
const stepsOf = ({ value }: Node) => 1 + (typeof value === 'string' ? value.length / CHARACTERS_OF_STEP : 0);

const stepsIn = (part: unknown): number =>
  typeof part === 'object' && part !== null
    ? Object.values(part).reduce((sum, each) => sum + stepsIn(each), isNode(part) ? stepsOf(part) : 0)
    : 0;

const closedExpression = ({ ast, channels, ...rest }: Expression) => ({
  ...rest,
  ...(ast && { ast: closed(ast) }),
  ...(channels && {
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, { ast }]) => [
        name,
        { ast: (name === 'text' ? call('countedLines', counted(ast)) : counted(ast)) as Node },
      ]),
    ),
  }),
});

/** The kinds of expressions that run on an event, between two drawings. */
const OF_EVENTS_KINDS = ['event', 'handler'];

/**
 * Vega's interpreter for expressions that reach nothing but data. What they may not have throws `ChartRefusedError`, and so does what
 * is too much for the budget.
 */
export const closedInterpreter = (budget: Budget) =>
  Object.fromEntries(
    Object.entries(expressionInterpreter).map(([kind, interpret]) => [
      kind,
      (context: { functions: Functions }, expression: Expression) => {
        const shut = closedExpression(expression);
        const steps = stepsIn(shut);
        const run = interpret({ functions: guarded(context.functions, budget) }, shut);
        return (...given: unknown[]) => {
          if (OF_EVENTS_KINDS.includes(kind)) budget.renew();
          budget.spend(steps, 'steps');
          const value = run(...given);
          spendOn(value, budget);
          return value;
        };
      },
    ]),
  );
