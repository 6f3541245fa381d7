/** The clauses of a select that name columns of its result, or that say which of its rows to return. */
import type { Sql } from '../plan/sql.ts';
import { constantOf } from './constants.ts';
import { expressionSql } from './expressions.ts';
import { orderSql } from './orders.ts';
import { columnHere } from './scopes.ts';
import { type Fields, invalid, isObject, listOf, namesOf, nodeOf, only, unsupported } from './tree.ts';
import type { WriteContext } from './writing.ts';

/** `DISTINCT` without ON is a list with nothing in it. */
export function isDistinct(clause: unknown): boolean {
  if (clause === undefined) return false;
  if (listOf(clause).every((item) => isObject(item) && Object.keys(item).length === 0)) return true;
  throw unsupported('DISTINCT ON cannot be used.');
}

/** A number stands for the column at that place. */
function placeOf(node: unknown, columns: readonly string[]): number | undefined {
  const { kind, fields } = nodeOf(node);
  if (kind !== 'A_Const') return undefined;
  const number = constantOf(fields);
  if (typeof number === 'number' && number >= 1 && number <= columns.length) return number;
  throw invalid(`A column is named, or counted from 1 to ${columns.length}.`);
}

function bareName(node: unknown): string | undefined {
  const { kind, fields } = nodeOf(node);
  if (kind !== 'ColumnRef') return undefined;
  const [first, more] = listOf(only(fields, 'A column', ['fields']).fields);
  return more === undefined ? namesOf([first])[0] : undefined;
}

/** Expressions, or places of columns. Columns of tables go before names of the result, as in PostgreSQL. */
export const groupsOf = (
  { groupClause }: Fields,
  columns: readonly string[],
  writing: WriteContext,
): (Sql | number)[] =>
  listOf(groupClause).map((node) => {
    const place = placeOf(node, columns);
    if (place !== undefined) return place;
    const name = bareName(node);
    const index = name === undefined ? -1 : columns.indexOf(name);
    if (index >= 0 && !columnHere(writing.scope, name!)) return index + 1;
    return expressionSql(node, writing);
  });

/** Names of the result go before columns of tables, as in PostgreSQL. */
export function sortSql(fields: Fields, columns: readonly string[], writing: WriteContext): Sql {
  return orderSql(fields.sortClause, writing, (node) => {
    const name = bareName(node);
    const place = placeOf(node, columns) ?? (name === undefined ? 0 : columns.indexOf(name) + 1);
    if (place) return [String(place)];
    if (fields.op !== 'SETOP_NONE') throw invalid('UNION and the like are ordered by columns of the result.');
    return expressionSql(node, writing);
  });
}

export function pageSql({ limitCount, limitOffset, limitOption }: Fields): Sql {
  if (limitOption !== 'LIMIT_OPTION_DEFAULT' && limitOption !== 'LIMIT_OPTION_COUNT') {
    throw unsupported('WITH TIES cannot be used.');
  }
  const part = (word: string, node: unknown): Sql => {
    if (node === undefined) return [];
    const { kind, fields } = nodeOf(node);
    const number = kind === 'A_Const' ? constantOf(fields) : undefined;
    if (number === null) return [];
    if (typeof number === 'number' && number >= 0) return [` ${word} ${number}`];
    throw invalid(`${word.toUpperCase()} takes a whole number.`);
  };
  return [...part('limit', limitCount), ...part('offset', limitOffset)];
}
