/** The fields that a Vega-Lite specification reads of its rows, and those that it makes itself. */
import { parseExpression } from 'vega';
import { MISSING_MAX, type MissingField } from './chart-problems.ts';
import { walk } from './spec-rules.ts';

type Value = unknown;
const isObject = (value: Value): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');

/** Returns the fields that the spec reads, but that neither the rows nor its own transforms give. */
export function missingFields(spec: object, given: readonly string[]): MissingField[] {
  const made = madeBy(spec);
  if (!made) return [];
  const known = new Set([...given, ...made]);
  return fieldsIn(spec)
    .filter(([, field]) => !isKnown(field, known))
    .slice(0, MISSING_MAX)
    .map(([path, field]) => ({ path, field: field.slice(0, 100) }));
}

const MADE_MAX = 500;

/** Also what Vega-Lite makes of a field by itself, such as `sum_sales__revenue` or `sales__revenue_end`. */
function isKnown(field: string, known: ReadonlySet<string>): boolean {
  if (field.length > MADE_MAX) return known.has(field);
  const bare = field.replace(/_(start|end|range)$/, '');
  if (known.has(field) || known.has(bare) || field === '*') return true;
  const [operations = ''] = /^(?:[a-z0-9]+_(?!_))+/.exec(bare) ?? [];
  for (let at = operations.indexOf('_'); at >= 0; at = operations.indexOf('_', at + 1))
    if (known.has(bare.slice(at + 1))) return true;
  return false;
}

/** Fields of transforms that are texts or lists of them. */
const TRANSFORM_FIELDS = [
  ...[
    'density',
    'quantile',
    'regression',
    'loess',
    'on',
    'stack',
    'impute',
    'key',
    'extent',
    'flatten',
    'fold',
  ],
  'groupby',
];
const SHORT_FORMS = [
  'groupby',
  'fold',
  'flatten',
  'impute',
  'stack',
  'density',
  'quantile',
  'regression',
  'loess',
  'extent',
];

/** Names of fields with their places: encodings, sorting, selections, transforms and repeats. */
function fieldsIn(spec: object): [place: string, field: string][] {
  const found: [string, string][] = [];
  walk(spec, (key, value, path) => {
    const isOfSelection = key === 'fields' && path.includes('.select.');
    if ((key === 'field' || isOfSelection) && typeof value === 'string') found.push([path, baseOf(value)]);
    if (key === 'repeat') {
      const lists = isObject(value) ? Object.values(value) : [value];
      // `{"repeat": "row"}` names a list of a repeat further out.
      for (const list of lists)
        if (Array.isArray(list)) for (const each of textsIn(list)) found.push([path, baseOf(each)]);
    }
    if (key === 'transform' && isObject(value)) {
      const kind = SHORT_FORMS.find((name) => name in value);
      for (const name of kind ? TRANSFORM_FIELDS : []) {
        if (name === 'key' && kind !== 'impute') continue;
        for (const field of textsIn(value[name])) found.push([`${path}.${name}`, baseOf(field)]);
      }
      for (const name of ['calculate', 'filter'])
        if (typeof value[name] === 'string')
          for (const field of datumFields(value[name])) found.push([`${path}.${name}`, field]);
    }
  });
  return found;
}

/** `a\.b` is the field `a.b`; of `a.b` and `a[0]` the field is `a`. */
function baseOf(field: string): string {
  const [, base = field] = /^((?:\\.|[^.[\\])*)/.exec(field) ?? [];
  return base.replaceAll(/\\(.)/g, '$1');
}

interface Node {
  type: string;
  name?: string;
  value?: unknown;
  computed?: boolean;
  object?: Node;
  property?: Node;
}

/** The fields that an expression reads of its row. */
function datumFields(expression: string): string[] {
  const found: string[] = [];
  const visit = (node: Value) => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (!isObject(node)) return;
    const { type, object, property, computed } = node as unknown as Node;
    if (type === 'MemberExpression' && object?.name === 'datum') {
      const name = computed ? property?.value : property?.name;
      if (typeof name === 'string') found.push(name);
    }
    for (const each of Object.values(node)) if (typeof each === 'object') visit(each);
  };
  try {
    visit(parseExpression(expression));
  } catch {
    // The compiler says so.
  }
  return found;
}

/** The names of the fields that transforms make, unless the spec names them. */
const DEFAULTS: Record<string, string[]> = {
  fold: ['key', 'value'],
  density: ['value', 'density'],
  quantile: ['prob', 'value'],
};

/** The names that transforms give, wherever they are, or undefined if only the rows decide about them. */
function madeBy(spec: object): Set<string> | undefined {
  const made = new Set<string>(['__count']);
  let isOpen = false;
  walk(spec, (key, value) => {
    if (key === 'as')
      for (const name of textsIn(value)) made.add(name).add(`${name}_start`).add(`${name}_end`);
    if (key !== 'transform' || !isObject(value)) return;
    // The columns of a pivot are the values of a field, and those of a lookup come from a selection.
    if ('pivot' in value || 'lookup' in value) isOpen = true;
    for (const [name, defaults] of Object.entries(DEFAULTS))
      if (name in value) for (const each of defaults) made.add(each);
  });
  return isOpen ? undefined : made;
}
