/** Values that stand in a statement: the only text of its author that becomes text of the SQL that runs. */
import type { Sql } from '../plan/sql.ts';
import { type Fields, isObject, only, requireText, unsupported } from './tree.ts';

/**
 * A backslash has two meanings, which a setting of PostgreSQL decides, but only one after an `E`. The author's values are
 * not parameters, because PostgreSQL finds the type of a text in the statement by what it is compared with.
 */
export const literal = (text: string): string => {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
};

/**
 * A text that PostgreSQL would take for a number where it needs one: `1.5 * '1e100000'`. What has an exponent may have
 * 147,455 digits there, unless it is a double.
 */
const EXPONENT = /^\s*[+-]?[\d._]+e[+-]?[\d_]+\s*$/i;

const DECIMAL = /^(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;

export function constantSql(fields: Fields): Sql {
  const constant = constantOf(fields);
  if (constant === null) return ['null'];
  if (typeof constant === 'object') {
    const { decimal } = constant;
    return [/e/i.test(decimal) ? `cast(${decimal} as float8)` : `(${decimal})`];
  }
  if (typeof constant === 'string') {
    return [EXPONENT.test(constant) ? `cast(${literal(constant)} as text)` : literal(constant)];
  }
  return [`(${String(constant)})`];
}

export type Constant = string | number | boolean | null | { readonly decimal: string };

export function constantOf(fields: Fields): Constant {
  const { isnull, ival, fval, boolval, sval } = only(fields, 'A value', [
    'isnull',
    'ival',
    'fval',
    'boolval',
    'sval',
  ]);
  if (isnull === true) return null;
  if (isObject(ival)) return wholeNumber(only(ival, 'A number', ['ival']).ival ?? 0);
  if (isObject(fval)) return { decimal: decimal(requireText(only(fval, 'A number', ['fval']).fval)) };
  if (isObject(boolval)) return only(boolval, 'A truth value', ['boolval']).boolval === true;
  if (isObject(sval)) return requireText(only(sval, 'A text', ['sval']).sval);
  throw unsupported('The SQL has a value that cannot be used here.');
}

function wholeNumber(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw unsupported('The SQL has a number that cannot be used here.');
}

/** The digits of the largest decimal that all databases compute with. */
const DIGITS_MAX = 38;

function decimal(text: string): string {
  // The sign of a decimal that stands alone is part of its text.
  const [, digits = ''] = DECIMAL.exec(text.replace(/^-/, '')) ?? [];
  if (!digits) throw unsupported('The SQL has a number that cannot be used here.');
  const isLong = digits.replace(/^0+|\./g, '').length > DIGITS_MAX;
  if (isLong || !isDouble(Math.abs(Number(text)), digits)) {
    throw unsupported(
      `The SQL has a number of more than ${DIGITS_MAX} digits, above 1e308, or below 1e-308: \`${text.slice(0, 60)}\`.`,
    );
  }
  return text;
}

const isDouble = (size: number, digits: string) =>
  Number.isFinite(size) && (size >= 1e-308 || !/[1-9]/.test(digits));
