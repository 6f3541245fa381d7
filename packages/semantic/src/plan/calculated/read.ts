/** From JSON to calculated fields: form, types and limits. */
import type { MeasureFormat } from '../../model.ts';
import { didYouMean } from '../../problems.ts';
import type { NamedMember } from '../named-member.ts';
import { QUERY_LIMITS } from '../query.ts';
import {
  isGiven,
  isObject,
  list,
  MEMBER,
  namedMember,
  type ReadContext,
  refuse,
  refuseUnknown,
} from '../reading.ts';
import { ExpressionError, parseExpression, type Range, type Tree } from './expressions.ts';
import {
  AGGREGATES,
  type Aggregate,
  type Calculated,
  KINDS,
  ROWS_OF_AVERAGE,
  type WindowFieldKind,
} from './fields.ts';

const NAME = /^[A-Za-z_]\w{0,62}$/;
const TITLE_MAX = 200;
const FORMATS = ['number', 'percent', 'currency'];
const COMMON = ['name', 'title', 'format', 'kind'];
const PLACED = ['of', 'along', 'within'];

const KEYS: Record<(typeof KINDS)[number], readonly string[]> = {
  aggregate: [...COMMON, 'of', 'function'],
  shareOfTotal: [...COMMON, 'of', 'within'],
  rank: [...COMMON, 'of', 'within', 'direction'],
  difference: [...COMMON, ...PLACED],
  percentDifference: [...COMMON, ...PLACED],
  runningTotal: [...COMMON, ...PLACED],
  movingAverage: [...COMMON, ...PLACED, 'rows'],
  expression: [...COMMON, 'expression'],
};

/** The place of a part of an expression, in the path of an issue. */
export const placeIn = (path: string, { from, to }: Range) => `${path}.expression[${from}..${to}]`;

export function readCalculated(json: unknown, reading: ReadContext): Calculated[] {
  if (Array.isArray(json) && json.length > QUERY_LIMITS.calculated) {
    refuse(reading, 'calculated', `A query has at most ${QUERY_LIMITS.calculated} calculated fields.`);
    return [];
  }
  const fields = list(json, 'calculated', reading, field).filter((item) => item !== undefined);
  const names = new Set<string>();
  for (const { name, path } of fields) {
    // Databases take names that differ by case for the same.
    const plain = name.toLowerCase();
    if (names.has(plain)) refuse(reading, `${path}.name`, 'Another calculated field has this name.');
    names.add(plain);
  }
  return fields;
}

function field(json: unknown, path: string, reading: ReadContext): Calculated | undefined {
  if (!isObject(json)) {
    refuse(reading, path, 'This must be an object with `name` and `kind`.');
    return undefined;
  }
  const kind = oneOf(json.kind, KINDS, `${path}.kind`, reading);
  if (kind === undefined) return undefined;
  refuseUnknown(json, KEYS[kind], path, reading);
  const common = commonOf(json, path, reading);
  if (kind === 'expression') {
    const made = expression(json.expression, path, reading);
    return made && { ...common, kind, ...made };
  }
  if (kind === 'aggregate') {
    const aggregate = oneOf(
      json.function,
      Object.keys(AGGREGATES) as Aggregate[],
      `${path}.function`,
      reading,
    );
    const of = namedMember(json.of, `${path}.of`, reading);
    return aggregate && { ...common, kind, of, aggregate };
  }
  return { ...common, ...overRows(json, kind, path, reading) };
}

function commonOf(json: Record<string, unknown>, path: string, reading: ReadContext) {
  const { name, title, format } = json;
  if (typeof name !== 'string' || !NAME.test(name)) {
    const message = 'This must be a name of up to 63 letters, digits and underscores, without a dot.';
    refuse(reading, `${path}.name`, message);
  }
  if (isGiven(title) && (typeof title !== 'string' || title.length > TITLE_MAX || title.includes('\0')))
    refuse(reading, `${path}.title`, `This must be a text of up to ${TITLE_MAX} characters.`);
  return {
    name: typeof name === 'string' ? name : '',
    path,
    title: typeof title === 'string' && title.trim() !== '' ? title : undefined,
    format: isGiven(format)
      ? (oneOf(format, FORMATS, `${path}.format`, reading) as MeasureFormat | undefined)
      : undefined,
  };
}

function overRows(json: Record<string, unknown>, kind: WindowFieldKind, path: string, reading: ReadContext) {
  const { along, within, rows, direction } = json;
  if (isGiven(rows) && !(Number.isInteger(rows) && Number(rows) >= 2 && Number(rows) <= ROWS_OF_AVERAGE.most))
    refuse(reading, `${path}.rows`, `This must be a whole number from 2 to ${ROWS_OF_AVERAGE.most}.`);
  if (Array.isArray(within) && within.length > QUERY_LIMITS.members)
    refuse(reading, `${path}.within`, `A query names at most ${QUERY_LIMITS.members} members.`);
  return {
    kind,
    of: valueName(json.of, `${path}.of`, reading),
    along: isGiven(along) ? dimensionName(along, `${path}.along`, reading) : undefined,
    within: isGiven(within) ? list(within, `${path}.within`, reading, dimensionName) : undefined,
    rows: isGiven(rows) ? Number(rows) : ROWS_OF_AVERAGE.usual,
    ascending:
      isGiven(direction) && oneOf(direction, ['asc', 'desc'], `${path}.direction`, reading) === 'asc',
  };
}

/** A measure, or a calculated field. */
function valueName(json: unknown, path: string, reading: ReadContext): NamedMember {
  if (typeof json === 'string' && (MEMBER.test(json) || NAME.test(json))) return { name: json, path };
  refuse(reading, path, 'This must be the name of a measure, or of a calculated field before this one.');
  return { name: '', path };
}

/** A column of the answer, such as `orders.created_at.month`. */
function dimensionName(json: unknown, path: string, reading: ReadContext): NamedMember {
  if (typeof json === 'string' && json.length <= 400) return { name: json, path };
  refuse(reading, path, 'This must be a dimension that the query asks for, such as `orders.status`.');
  return { name: '', path };
}

function expression(
  json: unknown,
  path: string,
  reading: ReadContext,
): { expression: string; tree: Tree } | undefined {
  if (typeof json !== 'string' || json.includes('\0')) {
    refuse(reading, `${path}.expression`, 'This must be a text, such as `orders.revenue / orders.count`.');
    return undefined;
  }
  try {
    return { expression: json, tree: parseExpression(json) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    refuse(reading, placeIn(path, error.at), error.message);
    return undefined;
  }
}

function oneOf<T extends string>(
  json: unknown,
  known: readonly T[],
  path: string,
  reading: ReadContext,
): T | undefined {
  const found = known.find((one) => one === json);
  if (found !== undefined) return found;
  const hint = typeof json === 'string' ? didYouMean(json.slice(0, 100), known) : undefined;
  const message = `This must be one of ${known.map((one) => `\`${one}\``).join(', ')}.`;
  refuse(reading, path, [message, hint].filter(Boolean).join(' '));
  return undefined;
}
