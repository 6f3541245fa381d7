/** The whole question in the address, so that a link or a reload brings it back. */
import { fromCalculated } from './calculated.ts';
import {
  comparison,
  emptyQuestion,
  type FilterNode,
  fromQuery,
  group,
  isGroup,
  othersOf,
  type Question,
} from './question.ts';

/** Old links stay good: a new form gets a new number, and this file reads both. */
const VERSION = '1';

/** Names of members without the name of the view that all of them share. */
type ShortName = string;

interface PackedQuestion {
  s?: string;
  m?: ShortName[];
  d?: ShortName[];
  t?: [ShortName, granularity: string][];
  g?: ShortName[];
  f?: PackedFilter[];
  o?: [ShortName, isDescending: 0 | 1][];
  l?: number;
  z?: string;
  c?: [amount: number, unit: string];
  v?: unknown;
  /** Vega-Lite by hand. */
  y?: unknown;
  /** Calculated fields, as queries write them. */
  k?: unknown[];
  /** Other parts, as queries write them. */
  x?: unknown;
}
type PackedFilter =
  | [ShortName, operator: string, ...values: string[]]
  | { a: PackedFilter[] }
  | { o: PackedFilter[] };

/** Short enough for the address bar of every browser and for most chats. */
export const ADDRESS_MAX = 16_000;

function pack(question: Question): PackedQuestion {
  const { source, measures, dimensions, times, segments, filters, order, limit, timezone } = question;
  const short = (member: string): ShortName =>
    source && member.startsWith(`${source}.`) ? member.slice(source.length) : member;
  const packFilter = (node: FilterNode): PackedFilter =>
    isGroup(node)
      ? node.join === 'and'
        ? { a: node.filters.map(packFilter) }
        : { o: node.filters.map(packFilter) }
      : [short(node.member), node.operator, ...node.values];
  return {
    ...(source ? { s: source } : {}),
    ...(measures.length ? { m: measures.map(short) } : {}),
    ...(dimensions.length ? { d: dimensions.map(short) } : {}),
    ...(times.length
      ? { t: times.map(({ dimension, granularity }) => [short(dimension), granularity]) }
      : {}),
    ...(segments.length ? { g: segments.map(short) } : {}),
    ...(filters.length ? { f: filters.map(packFilter) } : {}),
    ...(order.length
      ? { o: order.map(([key, direction]) => [short(key), direction === 'desc' ? 1 : 0]) }
      : {}),
    ...(limit === undefined ? {} : { l: limit }),
    ...(timezone ? { z: timezone } : {}),
    ...(question.compare ? { c: [question.compare.amount, question.compare.unit] } : {}),
    ...(question.visualization ? { v: question.visualization } : {}),
    ...(question.vegaLite ? { y: question.vegaLite } : {}),
    ...(question.calculated.length ? { k: question.calculated } : {}),
    ...(Object.keys(question.others).length ? { x: question.others } : {}),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const UNITS = ['day', 'week', 'month', 'quarter', 'year'] as const;

/** Nothing of it is trusted: a link may come from anybody. Whatever has another form is left out. */
function unpack(packed: PackedQuestion): Question {
  const source = isText(packed.s) ? packed.s : undefined;
  const long = (name: unknown): string[] =>
    isText(name) ? [name.startsWith('.') && source ? `${source}${name}` : name] : [];
  const members = (list: unknown) => listOf(list).flatMap(long);
  const filterOf = (filter: unknown, depth = 0): FilterNode[] => {
    if (depth > 10) return [];
    if (Array.isArray(filter)) {
      const [name, operator, ...values] = filter;
      const [member] = long(name);
      return member && isText(operator) ? [comparison(member, operator, values.filter(isText))] : [];
    }
    const { a, o } = (filter ?? {}) as { a?: unknown; o?: unknown };
    const inner = listOf(a ?? o).flatMap((each) => filterOf(each, depth + 1));
    return inner.length ? [group(a ? 'and' : 'or', inner)] : [];
  };
  const [amount, unit] = listOf(packed.c);
  const knownUnit = UNITS.find((each) => each === unit);
  const visualization = packed.v as Question['visualization'];
  return {
    ...emptyQuestion(source),
    measures: members(packed.m),
    dimensions: members(packed.d),
    times: listOf(packed.t).flatMap((time) => {
      const [name, granularity] = listOf(time);
      const [dimension] = long(name);
      return dimension && isText(granularity) ? [{ dimension, granularity }] : [];
    }),
    segments: members(packed.g),
    calculated: fromCalculated(packed.k),
    filters: listOf(packed.f).flatMap((filter) => filterOf(filter)),
    order: listOf(packed.o).flatMap((pair): Question['order'] => {
      const [name, isDescending] = listOf(pair);
      const [key] = long(name);
      return key ? [[key, isDescending === 1 ? 'desc' : 'asc']] : [];
    }),
    limit: Number.isInteger(packed.l) ? packed.l : undefined,
    timezone: isText(packed.z) ? packed.z : undefined,
    compare:
      Number.isInteger(amount) && knownUnit ? { amount: amount as number, unit: knownUnit } : undefined,
    visualization: isText(visualization?.type) ? visualization : undefined,
    vegaLite: isObject(packed.y) ? packed.y : undefined,
    others: isObject(packed.x) ? othersOf(packed.x) : {},
  };
}

export function toText(question: Question): string {
  const bytes = new TextEncoder().encode(JSON.stringify(pack(question)));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `${VERSION}${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** The value of `q` in the address. Undefined if it would be too long. */
export const toAddress = (question: Question): string | undefined => {
  const text = toText(question);
  return text.length > ADDRESS_MAX ? undefined : text;
};

/** Undefined for a text that is no question. A plain JSON query is read, too: hosts may make such links by hand. */
export function fromAddress(text: string): Question | undefined {
  try {
    if (text.startsWith('{')) return fromQuery(JSON.parse(text));
    if (!text.startsWith(VERSION)) return undefined;
    const binary = atob(text.slice(VERSION.length).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const packed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof packed === 'object' && packed !== null ? unpack(packed as PackedQuestion) : undefined;
  } catch {
    return undefined;
  }
}
