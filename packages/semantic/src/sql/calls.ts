/** Calls of functions: plain ones, aggregates, windows, and those with words of their own. */
import { call, joined, type Sql, sql } from '../plan/sql.ts';
import { constantOf } from './constants.ts';
import { FUNCTIONS, ORDERED_SETS, TIME_PARTS, TIME_UNITS } from './functions.ts';
import { orderSql } from './orders.ts';
import { remainderSql } from './remainders.ts';
import { measureSql, ownRowsSql } from './scopes.ts';
import { type Fields, invalid, listOf, namesOf, nodeOf, only, unsupported } from './tree.ts';
import { expressionList, now, type WriteContext } from './writing.ts';

const CALL_FIELDS = [
  'funcname',
  'args',
  'agg_order',
  'agg_filter',
  'over',
  'agg_within_group',
  'agg_star',
  'agg_distinct',
  'funcformat',
] as const;

type Call = { readonly [key in (typeof CALL_FIELDS)[number]]?: unknown } & { readonly name: string };

export function callSql(fields: Fields, writing: WriteContext): Sql {
  const given = only(fields, 'A function', CALL_FIELDS);
  const names = namesOf(given.funcname);
  // The parser itself writes `pg_catalog` for functions with words of their own, such as `extract(year from x)`.
  const isOfParser = names[0] === 'pg_catalog' && given.funcformat === 'COERCE_SQL_SYNTAX';
  if (names.length > 1 && !isOfParser) throw refused(names.join('.'));
  const name = names.at(-1)!;
  const call = { ...given, name };
  if (Object.hasOwn(SPECIAL, name)) {
    requirePlain(call);
    return SPECIAL[name]!(listOf(call.args), writing);
  }
  if (ORDERED_SETS.has(name)) return orderedSetSql(call, writing);
  return knownSql(call, writing);
}

const refused = (name: string) => unsupported(`The function \`${name}\` cannot be used.`);

/** What belongs to aggregates and windows. */
const MORE = ['agg_order', 'agg_filter', 'over', 'agg_within_group', 'agg_star', 'agg_distinct'] as const;

function requirePlain(call: Call, except: readonly (typeof MORE)[number][] = []) {
  if (MORE.some((key) => call[key] !== undefined && !except.includes(key))) {
    throw unsupported(`The function \`${call.name}\` cannot be used like this.`);
  }
}

const SPECIAL: Readonly<Record<string, (args: readonly unknown[], writing: WriteContext) => Sql>> = {
  measure([arg, ...more], { scope }) {
    const { kind, fields } = arg === undefined ? { kind: '', fields: {} } : nodeOf(arg);
    if (kind !== 'ColumnRef' || more.length) throw invalid('`measure` takes the name of a measure.');
    return measureSql(scope, namesOf(only(fields, 'A measure', ['fields']).fields));
  },
  now(args, { nowMs }) {
    if (args.length) throw refused('now');
    return now(nowMs, 'minute');
  },
  round([number, digits, ...more], writing) {
    if (number === undefined || more.length)
      throw invalid('`round` takes a number and how many digits it keeps.');
    const rounded = writing.expression(number, writing);
    return digits === undefined ? sql`round(${rounded})` : call('round', rounded, [String(digitsIn(digits))]);
  },
  extract: timePart,
  date_part: timePart,
  date_trunc([unit, time, ...more], writing) {
    const word = wordIn(unit, TIME_UNITS, 'date_trunc');
    if (time === undefined || more.length) throw invalid('`date_trunc` takes a unit and a time.');
    return sql`date_trunc('${word}', ${writing.expression(time, writing)})`;
  },
};

function timePart([part, time, ...more]: readonly unknown[], writing: WriteContext): Sql {
  const word = wordIn(part, TIME_PARTS, 'extract');
  if (time === undefined || more.length) throw invalid('`extract` takes a part and a time.');
  return sql`extract(${word} from ${writing.expression(time, writing)})`;
}

const DIGITS_MAX = 38;

/** Returns the digits of `round`, which are limited: otherwise each row could have thousands of zeros. */
function digitsIn(node: unknown): number {
  const { kind, fields } = nodeOf(node);
  const digits = kind === 'A_Const' ? constantOf(fields) : undefined;
  if (typeof digits === 'number' && Math.abs(digits) <= DIGITS_MAX) return digits;
  throw unsupported(
    `\`round\` takes a whole number from -${DIGITS_MAX} to ${DIGITS_MAX} as its second argument.`,
  );
}

function wordIn(node: unknown, words: ReadonlySet<string>, name: string): string {
  const { kind, fields } = node === undefined ? { kind: '', fields: {} } : nodeOf(node);
  const text = kind === 'A_Const' ? constantOf(fields) : undefined;
  const word = typeof text === 'string' ? text.toLowerCase() : '';
  if (words.has(word)) return word;
  throw invalid(`\`${name}\` takes one of ${[...words].map((one) => `'${one}'`).join(', ')}.`);
}

function knownSql(given: Call, writing: WriteContext): Sql {
  const { name, args, agg_order, agg_filter, over, agg_star, agg_distinct, agg_within_group } = given;
  const known = FUNCTIONS.get(name);
  if (!known || agg_within_group !== undefined) throw refused(name);
  const isAggregate = known.use === 'aggregate';
  if (known.use === 'value' || known.use === 'window') requirePlain(given, ['over']);
  if (known.use === 'value' ? over !== undefined : known.use === 'window' && over === undefined) {
    throw invalid(`\`${name}\` is ${known.use === 'value' ? 'no function of windows' : 'used with OVER'}.`);
  }
  const count = listOf(args).length;
  const [least, most] = known.arguments;
  if (agg_star === true ? name !== 'count' : count < least || count > most) {
    throw invalid(`\`${name}\` has another number of arguments.`);
  }
  const inner =
    agg_star === true ? sql`*` : known.ofDoubles ? doubleList(args, writing) : expressionList(args, writing);
  const distinct = agg_distinct === true ? 'distinct ' : '';
  const order = agg_order === undefined ? [] : sql` order by ${orderSql(agg_order, writing)}`;
  const filter =
    isAggregate && over === undefined ? filterSql(agg_filter, writing) : filterIn(agg_filter, writing);
  const window = over === undefined ? [] : sql` over (${windowSql(over, writing)})`;
  const made = sql`${known.written ?? name}(${distinct}${inner}${order})${filter}${window}`;
  if (name === 'mod') return remainderSql(listOf(args), made);
  return name === 'string_agg' ? call('boundedText', made) : made;
}

const filterIn = (given: unknown, writing: WriteContext, before: Sql = []): Sql =>
  given === undefined ? [] : sql` filter (where ${before}${writing.expression(given, writing)})`;

/** The FILTER of an aggregate, which sees only the rows of the table itself, not those that are there for measures. */
function filterSql(given: unknown, writing: WriteContext): Sql {
  const own = ownRowsSql(writing.scope, given !== undefined);
  return given === undefined ? own : filterIn(given, writing, own);
}

const doubleList = (args: unknown, writing: WriteContext): Sql =>
  joined(
    listOf(args).map((arg) => sql`cast(${writing.expression(arg, writing)} as float8)`),
    ', ',
  );

function orderedSetSql(call: Call, writing: WriteContext): Sql {
  const { name, args, agg_order, agg_within_group, agg_filter } = call;
  requirePlain(call, ['agg_order', 'agg_within_group', 'agg_filter']);
  if (agg_within_group !== true || listOf(args).length !== 1 || listOf(agg_order).length !== 1) {
    throw invalid(`\`${name}\` is written as \`${name}(0.5) within group (order by amount)\`.`);
  }
  const filter = filterSql(agg_filter, writing);
  return sql`${name}(${expressionList(args, writing)}) within group (order by ${orderSql(agg_order, writing)})${filter}`;
}

function windowSql(over: unknown, writing: WriteContext): Sql {
  const { partitionClause, orderClause, frameOptions, startOffset, endOffset } = only(over, 'OVER', [
    'partitionClause',
    'orderClause',
    'frameOptions',
    'startOffset',
    'endOffset',
  ]);
  const parts: Sql[] = [];
  if (partitionClause !== undefined) {
    parts.push(sql`partition by ${expressionList(partitionClause, writing)}`);
  }
  if (orderClause !== undefined) parts.push(sql`order by ${orderSql(orderClause, writing)}`);
  const frame = frameSql(Number(frameOptions ?? 0), wholeOf(startOffset), wholeOf(endOffset));
  if (frame) parts.push([frame]);
  return joined(parts, ' ');
}

function wholeOf(node: unknown): number | undefined {
  if (node === undefined) return undefined;
  const { kind, fields } = nodeOf(node);
  const number = kind === 'A_Const' ? constantOf(fields) : undefined;
  if (typeof number === 'number' && number >= 0) return number;
  throw unsupported('The rows of a window are counted by whole numbers.');
}

/** The bits that PostgreSQL's parser has for the parts of a frame. */
const FRAME = { isGiven: 0x1, rows: 0x4, known: 0x7f37 } as const;
const STARTS: readonly [number, string][] = [
  [0x20, 'unbounded preceding'],
  [0x200, 'current row'],
  [0x800, 'preceding'],
  [0x2000, 'following'],
];
const ENDS: readonly [number, string][] = [
  [0x100, 'unbounded following'],
  [0x400, 'current row'],
  [0x1000, 'preceding'],
  [0x4000, 'following'],
];

function frameSql(bits: number, start: number | undefined, end: number | undefined): string | undefined {
  if (!(bits & FRAME.isGiven)) return undefined;
  if (bits & ~FRAME.known) throw unsupported('This part of a window cannot be used.');
  const unit = bits & FRAME.rows ? 'rows' : 'range';
  const bound = (words: readonly [number, string][], offset: number | undefined) => {
    const word = words.find(([bit]) => bits & bit)?.[1];
    if (!word) throw unsupported('This part of a window cannot be used.');
    return word === 'preceding' || word === 'following' ? `${offset ?? 0} ${word}` : word;
  };
  return `${unit} between ${bound(STARTS, start)} and ${bound(ENDS, end)}`;
}
