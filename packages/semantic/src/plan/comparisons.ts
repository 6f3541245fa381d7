/** Conditions that compare a member with values. */
import type { DimensionType, Operator } from '../model.ts';
import { OF_TEXT, OF_TIME } from '../operators.ts';
import { type Instant, readMoment, type Span, writeInstant } from '../times/moments.ts';
import { type Clock, readRange } from '../times/ranges.ts';
import { type Condition, call, inBrackets, joined, type Sql, sql, type Value, value } from './sql.ts';
import type { Scalar } from './viewer.ts';

export interface ComparedMember {
  readonly type: DimensionType;
  readonly sql: Sql;
}

export interface ComparisonContext {
  readonly clock: Clock;
  /** In a query, `notEquals` and `notContains` keep rows without a value. In a policy, no value matches nothing. */
  readonly keepsNulls: boolean;
}

/** Returns the condition; undefined if the operator or a value does not fit the type of the member. */
export function compare(
  compared: ComparedMember,
  operator: Operator,
  values: readonly (Scalar | null)[],
  { clock, keepsNulls }: ComparisonContext,
): Sql | undefined {
  const { type } = compared;
  const member = { type, sql: inBrackets(compared.sql) };
  if (operator === 'set') return sql`${member.sql} is not null`;
  if (operator === 'notSet') return sql`${member.sql} is null`;
  if (OF_TIME.test(operator))
    return type === 'time' ? compareTimes(member.sql, operator, values, clock) : undefined;
  const given = values.filter((item): item is Scalar => item !== null);
  if (OF_TEXT.test(operator)) {
    if (type !== 'string' || given.length < values.length) return undefined;
    return like(member.sql, operator, given.map(String), keepsNulls);
  }
  const operands = given.map((item) => operandOf(type, item, clock));
  if (!operands.every((operand) => operand !== undefined)) return undefined;
  const column = type === 'string' ? call('asText', member.sql) : member.sql;
  if (operator === 'equals' || operator === 'notEquals') {
    return equality(column, operator, operands, { hasNull: given.length < values.length, keepsNulls });
  }
  if (operands.length !== 1 || type === 'boolean') return undefined;
  const ordered = type === 'string' ? call('textOrder', member.sql) : column;
  return sql`${ordered} ${ORDERED[operator as keyof typeof ORDERED]} ${operands[0]!}`;
}

const ORDERED = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function equality(
  column: Sql,
  operator: 'equals' | 'notEquals',
  operands: readonly Value[],
  { hasNull, keepsNulls }: { hasNull: boolean; keepsNulls: boolean },
): Sql {
  if (operator === 'equals') {
    if (operands.length === 0) return sql`${column} is null`;
    const matches = anyEqual(column, operands);
    return hasNull ? sql`(${matches} or ${column} is null)` : matches;
  }
  if (operands.length === 0) return sql`${column} is not null`;
  const differs =
    operands.length === 1 ? sql`${column} <> ${operands[0]!}` : sql`not ${anyEqual(column, operands)}`;
  return keepsNulls && !hasNull ? sql`(${differs} or ${column} is null)` : differs;
}

/** In a list, ClickHouse takes decimals and times of exactly the column's type only. */
const LISTED = ['text', 'integer', 'boolean'];

function anyEqual(column: Sql, operands: readonly Value[]): Sql {
  if (operands.length > 1 && operands.every(({ type }) => LISTED.includes(type))) {
    const list = operands.map((operand): Sql => [operand]);
    return sql`${column} in (${joined(list, ', ')})`;
  }
  const equalities = operands.map((operand) => sql`${column} = ${operand}`);
  return equalities.length === 1 ? equalities[0]! : sql`(${joined(equalities, ' or ')})`;
}

function like(column: Sql, operator: Operator, texts: readonly string[], keepsNulls: boolean): Sql {
  const negated = operator.startsWith('not');
  const before = /contains|endsWith/i.test(operator) ? '%' : '';
  const after = /contains|startsWith/i.test(operator) ? '%' : '';
  const matches = texts.map((text) => {
    const pattern = `${before}${text.replace(/[\\%_]/g, '\\$&')}${after}`;
    return call('ilike', column, [value('text', pattern)]);
  });
  const any = matches.length === 1 ? matches[0]! : sql`(${joined(matches, ' or ')})`;
  if (!negated) return any;
  return keepsNulls ? sql`(not ${any} or ${column} is null)` : sql`not ${any}`;
}

function compareTimes(
  column: Sql,
  operator: Operator,
  values: readonly (Scalar | null)[],
  clock: Clock,
): Sql | undefined {
  const texts = values.filter((item): item is string => typeof item === 'string');
  const isRange = operator === 'inDateRange' || operator === 'notInDateRange';
  if (texts.length < values.length || (!isRange && texts.length > 1)) return undefined;
  const span = readRange(texts, clock);
  if (!span) return undefined;
  if (operator === 'inDateRange') return within(column, span);
  const from = instant(span.from);
  const to = instant(span.to);
  if (operator === 'notInDateRange') return sql`(${column} < ${from} or ${column} >= ${to})`;
  if (operator === 'beforeDate') return sql`${column} < ${from}`;
  if (operator === 'beforeOrOnDate') return sql`${column} < ${to}`;
  return operator === 'afterDate' ? sql`${column} >= ${to}` : sql`${column} >= ${from}`;
}

export function within(time: Sql, { from, to }: Span): Sql {
  const column = inBrackets(time);
  return sql`(${column} >= ${instant(from)} and ${column} < ${instant(to)})`;
}

export const instant = (at: Instant): Value => value('instant', writeInstant(at));

function operandOf(type: DimensionType, given: Scalar, clock: Clock): Value | undefined {
  const text = String(given);
  if (type === 'string') return value('text', text);
  if (type === 'number') return typeof given === 'boolean' ? undefined : numberValue(text);
  if (type === 'boolean') return text === 'true' || text === 'false' ? value('boolean', text) : undefined;
  const span = typeof given === 'string' ? readMoment(given, clock.zone) : undefined;
  return span && instant(span.from);
}

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+\.\d+$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][-+]?\d{1,4})?$/;
const INT64_MAX = 2n ** 63n - 1n;
/** Every database has a type for whole numbers of this many digits, but not for more. */
const DIGITS_MAX = 38;
/** With more decimals, a comparison with a large whole number would not fit into 38 digits. */
const DECIMALS_MAX = 18;

/** A number in the narrowest exact type that holds it, so that large ids stay apart from each other. */
export function numberValue(given: string): Value | undefined {
  const text = given.trim().replace(/^\+/, '');
  if (!NUMBER.test(text) || text.length > 400 || !Number.isFinite(Number(text))) return undefined;
  const digits = text.replace(/\D/g, '').length;
  if (INTEGER.test(text) && digits <= DIGITS_MAX) {
    const number = BigInt(text);
    return value(number >= -INT64_MAX && number <= INT64_MAX ? 'integer' : 'bigInteger', String(number));
  }
  if (DECIMAL.test(text) && digits <= DIGITS_MAX && text.length - text.indexOf('.') - 1 <= DECIMALS_MAX) {
    return value('decimal', text);
  }
  return value('double', text);
}

/** Whether a column is compared with a number of a type that not every number can be converted to. */
export const mayOverflow = (condition: Condition): boolean =>
  typeof condition !== 'boolean' &&
  condition.some((piece) => {
    if (typeof piece === 'string') return false;
    if (!('kind' in piece)) return mayOverflow(piece);
    if (piece.kind === 'call') return piece.args.some(mayOverflow);
    return piece.kind === 'value' && ['bigInteger', 'decimal', 'double'].includes(piece.type);
  });
