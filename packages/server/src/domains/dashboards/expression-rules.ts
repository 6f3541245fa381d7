/**
 * What the expressions of charts must satisfy. From an event, a drawn item or the view, an expression can reach the
 * whole page around the chart.
 */
import { parseExpression } from 'vega';
import { SpecProblem, walk } from './spec-rules.ts';

/** Where Vega-Lite and Vega have expressions. */
const SOURCE_KEYS = ['expr', 'calculate', 'filter', 'test', 'labelExpr', 'signal', 'and', 'or', 'not'];
const COMPILED_KEYS = ['expr', 'signal', 'test', 'update', 'init', 'filter'];

/** What no author needs. Vega-Lite uses some of it for selections. */
const PAGE_NAMES = ['event', 'item'];
const PAGE_FUNCTIONS = ['view', 'item', 'group', 'xy', 'x', 'y'];
const SELECTION_FUNCTIONS = ['item', 'group', 'x', 'y'];
const EVENT_FIELDS = ['item', 'shiftKey', 'deltaY', 'deltaMode'];

interface Node {
  type: string;
  name?: string;
  computed?: boolean;
  object?: Node;
  property?: Node;
  callee?: Node;
  arguments?: Node[];
  value?: Node;
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
  if (node.type === 'Identifier') return PAGE_NAMES.includes(node.name!) ? node.name : undefined;
  if (node.type === 'MemberExpression') {
    const { object, property, computed } = node;
    const isOfEvent = object!.type === 'Identifier' && object!.name === 'event' && !computed;
    if (isCompiled && isOfEvent && EVENT_FIELDS.includes(property!.name!)) return;
    return first(computed ? [object!, property!] : [object!]);
  }
  if (node.type === 'CallExpression') {
    const name = node.callee!.name?.replace(/^_/, '') ?? '';
    const isAllowed = isCompiled && SELECTION_FUNCTIONS.includes(name);
    return PAGE_FUNCTIONS.includes(name) && !isAllowed ? `${name}()` : first(node.arguments!);
  }
  return first(node.type === 'Property' ? [node.value!] : partsOf(node));
}

function requireExpressions(spec: object, keys: string[], isCompiled: boolean) {
  walk(spec, (key, value, path) => {
    if (typeof value !== 'string' || !keys.includes(key)) return;
    let tree: Node;
    try {
      tree = parseExpression(value) as Node;
    } catch (error) {
      throw new SpecProblem(path, `is not an expression: ${(error as Error).message}`);
    }
    const used = usedOfPage(tree, isCompiled);
    if (used) throw new SpecProblem(path, `cannot use \`${used}\`: a chart sees nothing of the page`);
  });
}

export const requireSourceExpressions = (spec: object) => requireExpressions(spec, SOURCE_KEYS, false);
export const requireCompiledExpressions = (spec: object) => requireExpressions(spec, COMPILED_KEYS, true);
