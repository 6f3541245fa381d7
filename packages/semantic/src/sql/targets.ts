/** The columns of a select: what stands between SELECT and FROM. */
import type { Sql } from '../plan/sql.ts';
import { expressionSql } from './expressions.ts';
import { columnsOf, findRelation } from './scopes.ts';
import {
  type Fields,
  invalid,
  isObject,
  listOf,
  namesOf,
  nodeOf,
  only,
  partOf,
  requireText,
} from './tree.ts';
import type { WriteContext } from './writing.ts';

export interface ResultColumn {
  /** As the statement names it. */
  readonly name: string;
  /** How long its texts may be, see `growth.ts`. */
  readonly length: number;
}

interface Target extends ResultColumn {
  readonly sql: Sql;
}

export function targetsOf(node: unknown, writing: WriteContext): Target[] {
  const { name, val } = partOf(node, 'ResTarget', 'A column of SELECT', ['name', 'val']);
  const { kind, fields } = nodeOf(val);
  if (kind === 'ColumnRef') {
    const parts = listOf(only(fields, 'A column', ['fields']).fields);
    if (isStar(parts.at(-1))) return starTargets(namesOf(parts.slice(0, -1)), writing);
  }
  const lengths: number[] = [];
  const made = expressionSql(val, { ...writing, lengths });
  return [
    { name: name === undefined ? nameOf(kind, fields) : requireText(name), sql: made, length: lengths[0]! },
  ];
}

export const isStar = (node: unknown) => isObject(node) && Object.hasOwn(node, 'A_Star');

function starTargets(names: readonly string[], { scope }: WriteContext): Target[] {
  const [owner, more] = names;
  const found = owner === undefined ? undefined : findRelation({ ...scope, parent: undefined }, owner);
  const relations = owner === undefined ? scope.relations : found ? [found] : [];
  if (more !== undefined || !columnsOf(relations).length) {
    throw invalid(`\`${[...names, '*'].join('.')}\` stands for no columns here.`);
  }
  return relations.flatMap((relation) =>
    relation.columns.map((name, i) => ({
      name,
      length: relation.lengthOf(name),
      // By its place, because columns of a select may have the same name.
      sql: [`${relation.alias}.${relation.table ? relation.use(name) : `c${i + 1}`}`],
    })),
  );
}

/** A name of the statement where there is one. Otherwise a word that says what it is. */
function nameOf(kind: string, fields: Fields): string {
  if (kind === 'ColumnRef') return namesOf(fields.fields).at(-1) ?? '';
  if (kind === 'FuncCall') {
    const name = namesOf(fields.funcname).at(-1) ?? '';
    const [arg] = name === 'measure' ? listOf(fields.args) : [];
    return arg === undefined ? name : nameIn(arg);
  }
  if (kind === 'TypeCast') return nameIn(fields.arg);
  if (kind === 'MinMaxExpr') return fields.op === 'IS_LEAST' ? 'least' : 'greatest';
  return { CaseExpr: 'case', CoalesceExpr: 'coalesce' }[kind] ?? 'column';
}

const nameIn = (node: unknown) => {
  const { kind, fields } = nodeOf(node);
  return nameOf(kind, fields);
};
