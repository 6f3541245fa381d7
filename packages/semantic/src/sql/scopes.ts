/** What the names in a statement stand for. */
import { queryError } from '../plan/errors.ts';
import type { Sql } from '../plan/sql.ts';
import { didYouMean } from '../problems.ts';
import { invalid } from './tree.ts';

/** Something that rows come from: a table, another select or a common table expression. */
export interface Relation {
  /** As the statement names it. */
  readonly name: string;
  /** As the statement that runs names it. */
  readonly alias: string;
  /** The columns that `*` stands for. */
  readonly columns: readonly string[];
  /** The name of the column in the statement that runs; undefined if there is none. */
  use(column: string): string | undefined;
  /** How long its texts may be, see `growth.ts`. */
  lengthOf(column: string): number;
  readonly table?: {
    isMeasure(name: string): boolean;
    /** The names of the measures that the viewer can use. */
    measureNames(): readonly string[];
    measure(name: string): Sql | undefined;
    ownRows(hasFilter: boolean): Sql;
  };
}

export interface Scope {
  readonly relations: readonly Relation[];
  readonly parent: Scope | undefined;
}

/**
 * The error for a name that does not exist, in the same words as for a hidden one. `names` are those that the viewer
 * can use.
 */
export function unknown(what: string, name: string, names: Iterable<string>) {
  const message = `There is no ${what} \`${name}\` that this query can use.`;
  const hint = didYouMean(name.split('.').at(-1)!, names);
  return queryError('unknown_member', hint ? `${message} ${hint}` : message);
}

export const columnsOf = (relations: readonly Relation[]) => relations.flatMap(({ columns }) => columns);

export function findRelation(scope: Scope, name: string): Relation | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found = at.relations.find((relation) => relation.name === name);
    if (found) return found;
  }
  return undefined;
}

interface FoundColumn {
  readonly sql: Sql;
  readonly length: number;
}

const foundIn = (relation: Relation, column: string): FoundColumn => ({
  sql: [`${relation.alias}.${relation.use(column)}`],
  length: relation.lengthOf(column),
});

/** Undefined if no relation of this scope itself has the column. */
export function columnHere({ relations }: Scope, column: string): FoundColumn | undefined {
  const found = relations.filter((relation) => hasColumn(relation, column));
  if (found.length > 1) {
    throw invalid(`The column \`${column}\` is in several tables. Write the name of its table before it.`);
  }
  const [relation] = found;
  return relation && foundIn(relation, column);
}

const hasColumn = (relation: Relation, column: string) => relation.use(column) !== undefined;

export function columnOf(scope: Scope, names: readonly string[]): FoundColumn {
  const [first, second, ...more] = names;
  if (first === undefined || more.length) {
    throw invalid('A column is written as `status` or `orders.status`.');
  }
  if (second === undefined) {
    for (let at: Scope | undefined = scope; at; at = at.parent) {
      const found = columnHere(at, first);
      if (found) return found;
    }
    throw measureHint(scope.relations, first) ?? unknown('column', first, columnsOf(scope.relations));
  }
  const relation = findRelation(scope, first);
  if (relation && hasColumn(relation, second)) return foundIn(relation, second);
  const relations = relation ? [relation] : [];
  throw measureHint(relations, second) ?? unknown('column', `${first}.${second}`, columnsOf(relations));
}

function measureHint(relations: readonly Relation[], name: string) {
  return relations.some(({ table }) => table?.isMeasure(name))
    ? invalid(`\`${name}\` is a measure. Write \`measure(${name})\`.`)
    : undefined;
}

/** The condition by which an aggregate of the statement leaves out rows that are there for measures beside it. */
export function ownRowsSql({ relations: [relation] }: Scope, hasFilter: boolean): Sql {
  return relation?.table ? relation.table.ownRows(hasFilter) : [];
}

/** Measures are computed from the rows of one table, which nothing else may repeat or leave out. */
export function measureSql(scope: Scope, names: readonly string[]): Sql {
  const [relation, another] = scope.relations;
  const name = names.at(-1)!;
  if (!relation?.table || another) {
    throw invalid('`measure` needs a SELECT from one cube or view, without joins and other tables.');
  }
  const isHere = names.length === 1 || (names.length === 2 && names[0] === relation.name);
  const made = isHere ? relation.table.measure(name) : undefined;
  if (made) return made;
  throw unknown('measure', names.join('.'), relation.table.measureNames());
}
