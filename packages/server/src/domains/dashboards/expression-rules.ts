/**
 * What the expressions of charts must satisfy. From an event, a drawn item, the view or a constructor, an expression can
 * reach the whole page around the chart, or the server that draws it. What runs is guarded too
 * (`packages/charts/src/vega/expressions.ts`); here the author is told.
 */
import { parseExpression, splitAccessPath } from 'vega';
import { OBJECT_NAMES, SpecError, walk } from './spec-rules.ts';

/** Where Vega-Lite and Vega have expressions. */
const SOURCE_KEYS = [
  ...['expr', 'calculate', 'filter', 'test', 'labelExpr', 'signal', 'and', 'or', 'not'],
  // Parameters become signals with all that they have.
  ...['update', 'init'],
];
const COMPILED_KEYS = ['expr', 'signal', 'test', 'update', 'init', 'filter'];

/** What authors can call: functions of their arguments, of the rows and of the scales. */
const SOURCE_FUNCTIONS = new Set(
  [
    'if isNaN isFinite abs acos asin atan atan2 ceil cos exp floor hypot log max min pow random round sin sqrt tan clamp',
    'now utc datetime date day year month hours minutes seconds milliseconds time timezoneoffset quarter week isoweek',
    'utcdate utcday utcyear utcmonth utchours utcminutes utcseconds utcmilliseconds utcquarter utcweek utcisoweek',
    'dayofyear utcdayofyear timeOffset utcOffset timeSequence utcSequence timeFormat timeParse utcFormat utcParse',
    'timeUnitSpecifier monthFormat monthAbbrevFormat dayFormat dayAbbrevFormat format',
    'length join indexof lastindexof slice reverse sort extent clampRange inrange lerp peek pluck sequence span merge',
    'parseFloat parseInt upper lower substring split replace trim pad truncate btoa atob encodeURIComponent regexp test',
    'isArray isBoolean isDate isDefined isNumber isObject isRegExp isString isTuple isValid',
    'toBoolean toDate toNumber toString flush interpolateLinear',
    'rgb hsl lab hcl luminance contrast gradient scale invert domain range bandwidth bandspace data indata',
    'cumulativeNormal cumulativeLogNormal cumulativeUniform densityNormal densityLogNormal densityUniform',
    'quantileNormal quantileLogNormal quantileUniform sampleNormal sampleLogNormal sampleUniform',
    'geoArea geoBounds geoCentroid',
  ].flatMap((line) => line.split(' ')),
);

/** What no author needs. Vega-Lite uses some of it for selections. */
const PAGE_NAMES = ['event', 'item'];
const PAGE_FUNCTIONS = ['view', 'item', 'group', 'xy', 'x', 'y', 'encode', 'setdata'];
const SELECTION_FUNCTIONS = ['item', 'group', 'x', 'y'];
const EVENT_FIELDS = ['item', 'shiftKey', 'deltaY', 'deltaMode'];

const isShared = (name: unknown) => String(name) in {} || name === 'prototype';

interface Node {
  type: string;
  name?: string;
  computed?: boolean;
  object?: Node;
  property?: Node;
  callee?: Node;
  arguments?: Node[];
  /** Of a property: a node. Of a literal: its value. */
  value?: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;
const partsOf = (node: Node) => Object.values(node).flat().filter(isNode);

/** Returns what the expression uses of the page, or undefined if it uses nothing of it. */
function usedOfPage(node: Node, isCompiled: boolean): string | undefined {
  const first = (nodes: Node[]) => {
    for (const each of nodes) {
      const used = usedOfPage(each, isCompiled);
      if (used) return used;
    }
  };
  if (node.type === 'Identifier')
    return PAGE_NAMES.includes(node.name!) || isShared(node.name) ? node.name : undefined;
  if (node.type === 'MemberExpression') {
    const { object, property, computed } = node;
    const name = computed ? property!.value : property!.name;
    if (isShared(name)) return String(name);
    const isOfEvent = object!.type === 'Identifier' && object!.name === 'event' && !computed;
    if (isCompiled && isOfEvent && EVENT_FIELDS.includes(name as string)) return;
    return first(computed ? [object!, property!] : [object!]);
  }
  if (node.type === 'CallExpression') {
    const name = node.callee!.name?.replace(/^_/, '') ?? '';
    const isAllowed = isCompiled
      ? SELECTION_FUNCTIONS.includes(name) || !PAGE_FUNCTIONS.includes(name)
      : SOURCE_FUNCTIONS.has(name);
    return isAllowed ? first(node.arguments!) : `${name}()`;
  }
  return first(node.type === 'Property' ? [node.value as Node] : partsOf(node));
}

/** Whether the text is a path, such as `a.constructor`, to what all objects share. */
function isSharedPath(text: string): boolean {
  if (!OBJECT_NAMES.some((name) => text.includes(name))) return false;
  try {
    const steps = splitAccessPath(text);
    return (
      steps.includes('__proto__') || (steps.length > 1 && steps.some((step) => OBJECT_NAMES.includes(step)))
    );
  } catch {
    // A text that is no path.
    return false;
  }
}

function requireExpressions(spec: object, keys: string[], isCompiled: boolean) {
  walk(spec, (key, value, path) => {
    if (typeof value !== 'string') return;
    if (!keys.includes(key)) {
      if (isSharedPath(value)) throw new SpecError(path, 'cannot be used: all objects share it');
      return;
    }
    let tree: Node;
    try {
      tree = parseExpression(value) as Node;
    } catch (error) {
      throw new SpecError(path, `is not an expression: ${(error as Error).message}`);
    }
    const used = usedOfPage(tree, isCompiled);
    if (used) throw new SpecError(path, `cannot use \`${used}\`: a chart sees only its rows`);
  });
}

export const requireSourceExpressions = (spec: object) => requireExpressions(spec, SOURCE_KEYS, false);
export const requireCompiledExpressions = (spec: object) => requireExpressions(spec, COMPILED_KEYS, true);
