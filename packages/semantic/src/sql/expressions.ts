/** The expressions of a statement, written again from what is known and allowed. */
import { call, joined, type Sql, sql } from '../plan/sql.ts';
import { callSql } from './calls.ts';
import { constantOf, constantSql, literal } from './constants.ts';
import { COMPARISONS, OPERATORS, TYPES } from './functions.ts';
import { lengthOf, lengthOfText } from './growth.ts';
import { expressionOf, isPlain } from './patterns.ts';
import { remainderSql } from './remainders.ts';
import { columnOf } from './scopes.ts';
import {
  invalid,
  isObject,
  listOf,
  type Node,
  namesOf,
  nodeOf,
  only,
  partOf,
  unsupported,
  wordOf,
} from './tree.ts';
import { argumentList, DEPTH_MAX, expressionList, now, type WriteContext } from './writing.ts';

type Write = (fields: Node['fields'], writing: WriteContext) => Sql;

export function expressionSql(node: unknown, outer: WriteContext): Sql {
  if (outer.depth >= DEPTH_MAX) throw unsupported(`The SQL is nested more than ${DEPTH_MAX} deep.`);
  const { kind, fields } = nodeOf(node);
  const write = Object.hasOwn(WRITERS, kind) ? WRITERS[kind]! : undefined;
  if (!write) throw unsupported(`The SQL has an expression that cannot be used here (${kind}).`);
  const lengths: number[] = [];
  const made = write(fields, { ...outer, depth: outer.depth + 1, lengths });
  const length = lengthOf(functionIn(kind, fields), lengths);
  if (kind !== 'ColumnRef') outer.growth.add(length);
  outer.lengths.push(length);
  return made;
}

function functionIn(kind: string, fields: Node['fields']): string | undefined {
  if (kind === 'A_Expr') return namesOf(fields.name)[0];
  return kind === 'FuncCall' ? namesOf(fields.funcname).at(-1) : undefined;
}

const WRITERS: Readonly<Record<string, Write>> = {
  A_Const(fields, { lengths }) {
    const constant = constantOf(fields);
    if (typeof constant === 'string') lengths.push(lengthOfText(constant));
    return constantSql(fields);
  },
  ColumnRef(fields, { scope, lengths }) {
    const column = columnOf(scope, namesOf(only(fields, 'A column', ['fields']).fields));
    lengths.push(column.length);
    return column.sql;
  },
  A_Expr: operationSql,
  BoolExpr(fields, writing) {
    const { boolop, args } = only(fields, 'A condition', ['boolop', 'args']);
    const parts = listOf(args).map((arg) => expressionSql(arg, writing));
    if (boolop === 'NOT_EXPR') return sql`(not ${joined(parts, ' ')})`;
    const word = wordOf(boolop, 'a condition', { AND_EXPR: ' and ', OR_EXPR: ' or ' });
    return sql`(${joined(parts, word)})`;
  },
  NullTest(fields, writing) {
    const { arg, nulltesttype } = only(fields, 'IS NULL', ['arg', 'nulltesttype']);
    const test = wordOf(nulltesttype, 'IS NULL', { IS_NULL: ' is null', IS_NOT_NULL: ' is not null' });
    return sql`(${expressionSql(arg, writing)}${test})`;
  },
  BooleanTest(fields, writing) {
    const { arg, booltesttype } = only(fields, 'IS TRUE', ['arg', 'booltesttype']);
    const test = wordOf(booltesttype, 'IS TRUE', {
      IS_TRUE: ' is true',
      IS_NOT_TRUE: ' is not true',
      IS_FALSE: ' is false',
      IS_NOT_FALSE: ' is not false',
    });
    return sql`(${expressionSql(arg, writing)}${test})`;
  },
  CaseExpr: caseSql,
  CoalesceExpr: (fields, writing) =>
    sql`coalesce(${argumentList(only(fields, 'COALESCE', ['args']).args, writing)})`,
  MinMaxExpr(fields, writing) {
    const { op, args } = only(fields, 'GREATEST', ['op', 'args']);
    const word = wordOf(op, 'GREATEST', { IS_GREATEST: 'greatest', IS_LEAST: 'least' });
    return sql`${word}(${argumentList(args, writing)})`;
  },
  TypeCast(fields, writing) {
    const { arg, typeName } = only(fields, 'CAST', ['arg', 'typeName']);
    return sql`cast(${expressionSql(arg, writing)} as ${typeSql(typeName)})`;
  },
  SQLValueFunction(fields, { nowMs }) {
    const { op } = only(fields, 'The current time', ['op', 'typmod']);
    const isDay = wordOf(op, 'the current time', {
      SVFOP_CURRENT_DATE: 'day',
      SVFOP_CURRENT_TIMESTAMP: '',
      SVFOP_LOCALTIMESTAMP: '',
    });
    return isDay ? sql`cast(${now(nowMs, 'day')} as date)` : now(nowMs, 'minute');
  },
  FuncCall: callSql,
  SubLink: subLinkSql,
};

function operationSql(fields: Node['fields'], writing: WriteContext): Sql {
  const { kind, name, lexpr, rexpr } = only(fields, 'An operator', [
    'kind',
    'name',
    'lexpr',
    'rexpr',
    'rexpr_list_start',
    'rexpr_list_end',
  ]);
  const [operator, more] = namesOf(name);
  if (operator === undefined || more !== undefined) throw unsupported('This operator cannot be used.');
  const left = () => expressionSql(lexpr, writing);
  const right = () => expressionSql(rexpr, writing);
  const list = () => partOf(rexpr, 'List', 'A list', ['items']).items;
  switch (kind) {
    case 'AEXPR_OP':
      if (lexpr === undefined && (operator === '-' || operator === '+')) return sql`(${operator} ${right()})`;
      if (lexpr === undefined || !OPERATORS.has(operator)) break;
      return operator === '%'
        ? remainderSql([lexpr, rexpr], sql`(${left()} % ${right()})`)
        : sql`(${left()} ${operator} ${right()})`;
    case 'AEXPR_DISTINCT':
      return sql`(${left()} is distinct from ${right()})`;
    case 'AEXPR_NOT_DISTINCT':
      return sql`(${left()} is not distinct from ${right()})`;
    case 'AEXPR_NULLIF':
      return sql`nullif(${left()}, ${right()})`;
    case 'AEXPR_IN':
      return sql`(${left()}${operator === '=' ? ' in ' : ' not in '}(${expressionList(list(), writing)}))`;
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN': {
      const [from, to] = listOf(list()).map((item) => expressionSql(item, writing));
      const word = kind === 'AEXPR_BETWEEN' ? ' between ' : ' not between ';
      return sql`(${left()}${word}${from!} and ${to!})`;
    }
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE': {
      const { pattern, mark } = patternOf(rexpr);
      const text = left();
      writing.lengths.push(lengthOfText(pattern));
      const matches = call(
        kind === 'AEXPR_LIKE' ? 'like' : 'ilikeText',
        text,
        [literal(pattern)],
        [literal(mark)],
        ...(isPlain(pattern, mark) ? [] : [[literal(expressionOf(pattern, mark))]]),
      );
      return operator.startsWith('!') ? sql`(not ${matches})` : matches;
    }
  }
  throw unsupported(`The operator \`${operator}\` cannot be used here.`);
}

/**
 * A text whose escapes are complete. PostgreSQL tries a pattern with values of all rows already while it plans, also of
 * rows that the viewer may not see. A pattern that ends too early fails only if a value fits the part before, which would
 * tell the value.
 */
function patternOf(node: unknown): { pattern: string; mark: string } {
  const { kind, fields } = nodeOf(node);
  const isEscaped = kind === 'FuncCall' && namesOf(fields.funcname).join('.') === 'pg_catalog.like_escape';
  const [given, givenMark] = isEscaped ? listOf(fields.args) : [node];
  const pattern = textIn(given);
  if (pattern === undefined) throw unsupported('The pattern of LIKE and ILIKE must be a plain text.');
  // Databases have different characters for it, unless the statement says it.
  const mark = isEscaped ? textIn(givenMark) : '\\';
  if (mark?.length !== 1) throw unsupported('ESCAPE needs a text of one character.');
  for (let i = pattern.indexOf(mark); i >= 0; i = pattern.indexOf(mark, i + 2)) {
    if (i === pattern.length - 1) {
      throw unsupported(`The pattern of LIKE and ILIKE cannot end with its escape character \`${mark}\`.`);
    }
  }
  return { pattern, mark };
}

function textIn(node: unknown): string | undefined {
  const { kind, fields } = nodeOf(node);
  const constant = kind === 'A_Const' ? constantOf(fields) : undefined;
  return typeof constant === 'string' ? constant : undefined;
}

function caseSql(fields: Node['fields'], writing: WriteContext): Sql {
  const { arg, args, defresult } = only(fields, 'CASE', ['arg', 'args', 'defresult']);
  const branches = listOf(args).map((branch) => {
    const { expr, result } = partOf(branch, 'CaseWhen', 'CASE', ['expr', 'result']);
    return sql` when ${expressionSql(expr, writing)} then ${expressionSql(result, writing)}`;
  });
  const subject = arg === undefined ? [] : sql` ${expressionSql(arg, writing)}`;
  const otherwise = defresult === undefined ? [] : sql` else ${expressionSql(defresult, writing)}`;
  return sql`(case${subject}${joined(branches, '')}${otherwise} end)`;
}

function typeSql(typeName: unknown): string {
  const { names, typmods } = only(typeName, 'A type', ['names', 'typmods', 'typemod']);
  const given = namesOf(names);
  const name = given.at(-1)!;
  const isPlain = given.length === 1 || (given.length === 2 && given[0] === 'pg_catalog');
  const type = isPlain ? TYPES.get(name) : undefined;
  if (type === undefined) throw unsupported(`The type \`${given.join('.')}\` cannot be used.`);
  const digits = listOf(typmods).map((node) => {
    const { kind, fields } = nodeOf(node);
    const digit = kind === 'A_Const' ? constantOf(fields) : undefined;
    if (typeof digit !== 'number') throw unsupported(`The type \`${name}\` cannot be written like this.`);
    return digit;
  });
  if (!digits.length || name === 'varchar') return type;
  const [precision, scale = 0] = digits as [number, number?];
  const isFit = name === 'numeric' && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision;
  if (!isFit) throw unsupported(`The type \`${name}\` cannot be written like this.`);
  return `decimal(${precision}, ${scale})`;
}

function subLinkSql(fields: Node['fields'], writing: WriteContext): Sql {
  const { subLinkType, testexpr, operName, subselect } = only(fields, 'A select in an expression', [
    'subLinkType',
    'testexpr',
    'operName',
    'subselect',
  ]);
  const { sql: inner, lengths } = writing.select(subselect, writing.scope);
  if (subLinkType === 'EXISTS_SUBLINK') return sql`exists (${inner})`;
  if (lengths.length !== 1) throw invalid('A SELECT in an expression has one column.');
  writing.lengths.push(lengths[0]!);
  if (subLinkType === 'EXPR_SUBLINK') return sql`(${inner})`;
  const tested = isObject(testexpr) ? expressionSql(testexpr, writing) : undefined;
  const [operator = undefined] = namesOf(operName);
  if (tested && subLinkType === 'ANY_SUBLINK' && operator === undefined)
    return sql`(${tested} in (${inner}))`;
  if (tested && operator !== undefined && COMPARISONS.has(operator)) {
    const word = wordOf(subLinkType, 'a select in an expression', { ANY_SUBLINK: 'any', ALL_SUBLINK: 'all' });
    return sql`(${tested} ${operator} ${word} (${inner}))`;
  }
  throw unsupported('This form of a select in an expression cannot be used.');
}
