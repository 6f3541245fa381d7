/** The SQL of expressions, and the types of their values. */
import type { DimensionType } from '../../model.ts';
import { numberValue } from '../comparisons.ts';
import { call, joined, type Sql, sql, value } from '../sql.ts';
import { type Binary, ExpressionError, type FunctionName, type Range, type Tree } from './expressions.ts';

export interface WrittenExpression {
  /** Undefined for `null`, which is of every type. */
  readonly type: DimensionType | undefined;
  readonly sql: Sql;
}

/** What the names of an expression stand for. Both throw if they stand for nothing. */
export interface Names {
  value(name: string, at: Range): WrittenExpression;
  /** The aggregate of a dimension: `sum(orders.amount)`. */
  aggregate(name: AggregateName, dimension: string, at: Range): WrittenExpression;
}

export type AggregateName = 'sum' | 'avg' | 'min' | 'max' | 'count_distinct';
const AGGREGATES: readonly string[] = ['sum', 'avg', 'min', 'max', 'count_distinct'];
const isAggregate = (name: FunctionName): name is AggregateName => AGGREGATES.includes(name);

const DIGITS_MAX = 10;
const WORDS: Record<DimensionType, string> = {
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  time: 'a time',
};

/** Throws an `ExpressionError`. */
export function writeExpression(tree: Tree, names: Names): WrittenExpression {
  const made = write(tree, names);
  if (made.type === 'number' || made.type === 'string') return made;
  const message =
    made.type === 'boolean'
      ? "The result must be a number or a text. Choose one by `if(…, 'yes', 'no')`."
      : 'The result must be a number or a text.';
  throw new ExpressionError(message, tree.at);
}

function write(tree: Tree, names: Names): WrittenExpression {
  switch (tree.kind) {
    case 'number':
      return { type: 'number', sql: [numberOf(tree.text, tree.at)] };
    case 'text':
      return { type: 'string', sql: [value('text', tree.text)] };
    case 'truth':
      return { type: 'boolean', sql: [value('boolean', String(tree.isTrue))] };
    case 'null':
      return { type: undefined, sql: sql`null` };
    case 'name': {
      const found = names.value(tree.name, tree.at);
      // Columns of texts may be of other types in the database, such as UUIDs.
      return found.type === 'string' ? { ...found, sql: call('asText', found.sql) } : found;
    }
    case 'unary': {
      const isNot = tree.operator === 'not';
      const of = typed(tree.of, names, isNot ? 'boolean' : 'number');
      return isNot ? { type: 'boolean', sql: sql`(not ${of})` } : { type: 'number', sql: sql`(- ${of})` };
    }
    case 'isNull': {
      const of = write(tree.of, names).sql;
      return { type: 'boolean', sql: tree.isNegated ? sql`(${of} is not null)` : sql`(${of} is null)` };
    }
    case 'binary':
      return binary(tree.operator, tree.left, tree.right, names);
    case 'call':
      return isAggregate(tree.call)
        ? aggregate(tree.call, tree.args[0]!, names)
        : called(tree.call, tree.args, names);
  }
}

function numberOf(text: string, at: Range) {
  const made = numberValue(text);
  if (!made) throw new ExpressionError('This number is too large.', at);
  return made;
}

/** The SQL of a part that must be of a type. */
function typed(tree: Tree, names: Names, type: DimensionType): Sql {
  const made = write(tree, names);
  if (made.type === type || made.type === undefined) return made.sql;
  throw new ExpressionError(`This must be ${WORDS[type]}, and is ${WORDS[made.type]}.`, tree.at);
}

function binary(operator: Binary, left: Tree, right: Tree, names: Names): WrittenExpression {
  if (operator === 'and' || operator === 'or') {
    const [a, b] = [typed(left, names, 'boolean'), typed(right, names, 'boolean')];
    return { type: 'boolean', sql: sql`(${a} ${operator} ${b})` };
  }
  if ('+-*/'.includes(operator)) {
    const [a, b] = [typed(left, names, 'number'), typed(right, names, 'number')];
    // A division by zero is null, as in the measures of a model.
    return { type: 'number', sql: sql`(${a} ${operator} ${operator === '/' ? call('divisor', b) : b})` };
  }
  for (const side of [left, right])
    if (side.kind === 'null') throw new ExpressionError('Compare with `is null` or `is not null`.', side.at);
  const { type, sqls } = ofOneType([left, right], names);
  const isOrder = operator !== '=' && operator !== '<>';
  if (isOrder && type === 'boolean')
    throw new ExpressionError('True and false have no order.', { from: left.at.from, to: right.at.to });
  const [a, b] = isOrder && type === 'string' ? sqls.map((side) => call('textOrder', side)) : sqls;
  return { type: 'boolean', sql: sql`(${a!} ${operator} ${b!})` };
}

/** Values that stand for each other. Types of whole numbers and decimals are left to the database. */
function ofOneType(trees: readonly Tree[], names: Names) {
  const made = trees.map((tree) => write(tree, names));
  const type = made.find((one) => one.type !== undefined)?.type;
  made.forEach((one, i) => {
    if (one.type !== undefined && one.type !== type)
      throw new ExpressionError(`This must be ${WORDS[type!]}, and is ${WORDS[one.type]}.`, trees[i]!.at);
  });
  const sqls = made.map((one) => (type === 'number' ? call('sameNumber', one.sql) : one.sql));
  return { type, sqls };
}

function aggregate(name: AggregateName, of: Tree, names: Names): WrittenExpression {
  if (of.kind === 'name') return names.aggregate(name, of.name, of.at);
  throw new ExpressionError(`\`${name}\` takes a dimension.`, of.at);
}

function called(
  name: Exclude<FunctionName, AggregateName>,
  args: readonly Tree[],
  names: Names,
): WrittenExpression {
  switch (name) {
    case 'if': {
      const condition = typed(args[0]!, names, 'boolean');
      const { type, sqls } = ofOneType(args.slice(1), names);
      return { type, sql: sql`(case when ${condition} then ${sqls[0]!} else ${sqls[1] ?? sql`null`} end)` };
    }
    case 'coalesce': {
      const { type, sqls } = ofOneType(args, names);
      return { type, sql: sql`coalesce(${joined(sqls, ', ')})` };
    }
    case 'nullif': {
      const { type, sqls } = ofOneType(args, names);
      return { type, sql: sql`nullif(${sqls[0]!}, ${sqls[1]!})` };
    }
    case 'round': {
      const number = typed(args[0]!, names, 'number');
      return { type: 'number', sql: call('round', number, [String(digitsOf(args[1]))]) };
    }
    default: {
      const number = typed(args[0]!, names, 'number');
      return { type: 'number', sql: sql`${name}(${number})` };
    }
  }
}

function digitsOf(tree: Tree | undefined): number {
  if (!tree) return 0;
  const digits = tree.kind === 'number' ? Number(tree.text) : Number.NaN;
  if (Number.isInteger(digits) && digits <= DIGITS_MAX) return digits;
  throw new ExpressionError(`This must be a whole number from 0 to ${DIGITS_MAX}.`, tree.at);
}
