/** The selects of a statement, written again around the tables of the viewer. */
import { joined, type Sql, sql } from '../plan/sql.ts';
import { groupsOf, isDistinct, pageSql, sortSql } from './clauses.ts';
import { expressionSql } from './expressions.ts';
import type { Growth } from './growth.ts';
import { type Relation, type Scope, unknown } from './scopes.ts';
import type { Table } from './tables.ts';
import { type ResultColumn, targetsOf } from './targets.ts';
import {
  type Fields,
  invalid,
  listOf,
  nodeOf,
  only,
  partOf,
  requireText,
  unsupported,
  wordOf,
} from './tree.ts';
import { DEPTH_MAX, type WriteContext } from './writing.ts';

export const SQL_LIMITS = {
  /** Characters of the statement. */
  text: 20_000,
  /** Tables, selects and common table expressions that rows come from, each time that they are named. */
  relations: 50,
  /** Columns of a select. */
  columns: 500,
} as const;

export interface Statement {
  /** Opens the table once more. Undefined if there is no such table that the viewer can use. */
  open(name: string, alias: string): Table | undefined;
  /** Whether the viewer has a table of this name. */
  isTable(name: string): boolean;
  /** The tables of the viewer whose names are about as long as this one. */
  tablesLike(name: string): readonly string[];
  /** A name that nothing else has. */
  newName(): string;
  readonly nowMs: number;
  readonly growth: Growth;
}

/** A select that was written. Its columns are `c1`, `c2` and so on in the statement that runs. */
export interface WrittenSelect {
  readonly body: Sql;
  /** Its common table expressions. */
  readonly expressions: readonly Sql[];
  readonly columns: readonly ResultColumn[];
}

/** The common table expressions that a select can name. */
type Expressions = ReadonlyMap<
  string,
  { readonly source: string; readonly columns: readonly ResultColumn[] }
>;

interface Place {
  readonly parent: Scope | undefined;
  readonly expressions: Expressions;
  readonly depth: number;
}

interface FromItem {
  readonly sql: Sql;
  readonly relations: readonly Relation[];
  /** The table, if the item is one and nothing else. */
  readonly table?: Table;
}

export function createSelects(statement: Statement) {
  let relationCount = 0;

  const countRelation = () => {
    if (++relationCount > SQL_LIMITS.relations) {
      throw unsupported(`The SQL names more than ${SQL_LIMITS.relations} tables.`);
    }
  };

  /** Refuses the name of a table for anything else, so that a reader cannot mistake the one for the other. */
  const requireFree = (name: string) => {
    if (statement.isTable(name)) {
      throw invalid(`\`${name}\` is a cube or view. Give it another name here.`);
    }
  };

  function select(node: unknown, place: Place): WrittenSelect {
    if (place.depth >= DEPTH_MAX) throw unsupported(`The SQL is nested more than ${DEPTH_MAX} deep.`);
    const fields = only(node, 'A SELECT', [
      'distinctClause',
      'targetList',
      'fromClause',
      'whereClause',
      'groupClause',
      'havingClause',
      'sortClause',
      'limitOffset',
      'limitCount',
      'limitOption',
      'withClause',
      'op',
      'all',
      'larg',
      'rarg',
    ]);
    const { texts, expressions } = withSql(fields.withClause, place);
    const inner = { ...place, expressions, depth: place.depth + 1 };
    const { body, columns, writing } =
      fields.op === 'SETOP_NONE' ? plain(fields, inner) : combined(fields, inner);
    if (columns.length > SQL_LIMITS.columns) {
      throw unsupported(`A SELECT has at most ${SQL_LIMITS.columns} columns.`);
    }
    const order =
      fields.sortClause === undefined ? [] : sql` order by ${sortSql(fields, namesIn(columns), writing)}`;
    return { body: sql`${body}${order}${pageSql(fields)}`, expressions: texts, columns };
  }

  /** Each one sees those before it, and not itself. */
  function withSql(clause: unknown, place: Place): { texts: Sql[]; expressions: Expressions } {
    if (clause === undefined) return { texts: [], expressions: place.expressions };
    const expressions = new Map(place.expressions);
    const own = new Set<string>();
    const texts = listOf(only(clause, 'WITH', ['ctes']).ctes).map((item) => {
      const { ctename, ctequery } = partOf(item, 'CommonTableExpr', 'WITH', [
        'ctename',
        'ctequery',
        'ctematerialized',
      ]);
      const name = requireText(ctename);
      requireFree(name);
      if (own.has(name)) throw invalid(`WITH names \`${name}\` twice.`);
      own.add(name);
      const made = select(selectIn(ctequery), {
        ...place,
        expressions: new Map(expressions),
        depth: place.depth + 1,
      });
      const source = statement.newName();
      expressions.set(name, { source, columns: made.columns });
      return sql`${source} as (${textOfSelect(made)})`;
    });
    return { texts, expressions };
  }

  function plain(
    fields: Fields,
    place: Place,
  ): { body: Sql; columns: readonly ResultColumn[]; writing: WriteContext } {
    const items = listOf(fields.fromClause).map((item) => fromSql(item, place));
    const relations = items.flatMap((item) => item.relations);
    const names = relations.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) throw invalid(`FROM names \`${twice}\` twice. Give one of them an alias.`);
    const writing = writingIn({ relations, parent: place.parent }, place);

    const targets = listOf(fields.targetList).flatMap((target) => targetsOf(target, writing));
    if (!targets.length) throw invalid('A SELECT has at least one column.');
    const columns = targets.map(({ name, length }) => ({ name, length }));
    const listed = targets.map((target, i) => sql`${target.sql} as c${String(i + 1)}`);
    const distinct = isDistinct(fields.distinctClause) ? 'distinct ' : '';
    const where = fields.whereClause === undefined ? undefined : expressionSql(fields.whereClause, writing);
    const groups = groupsOf(fields, namesIn(columns), writing);
    const parts = [sql`select ${distinct}${joined(listed, ', ')}`];
    const [only, another] = items;
    const table = another ? undefined : only?.table;
    if (table) {
      const groupBy = groups.map((group) => (typeof group === 'number' ? targets[group - 1]!.sql : group));
      const clauses = table.clauses(where, groupBy);
      parts.push(sql`from ${clauses.from}${clauses.where}`);
    } else {
      const from = items.map((item) => item.sql);
      if (from.length) parts.push(sql`from ${joined(from, ', ')}`);
      if (where) parts.push(sql`where ${where}`);
    }
    if (groups.length) {
      const by = groups.map((group) => (typeof group === 'number' ? [String(group)] : group));
      parts.push(sql`group by ${joined(by, ', ')}`);
    }
    if (fields.havingClause !== undefined) {
      parts.push(sql`having ${expressionSql(fields.havingClause, writing)}`);
    }
    return { body: joined(parts, ' '), columns, writing };
  }

  /** UNION and the like. Only the columns of the result can be ordered by. */
  function combined(
    fields: Fields,
    place: Place,
  ): { body: Sql; columns: readonly ResultColumn[]; writing: WriteContext } {
    const word = wordOf(fields.op, 'UNION', {
      SETOP_UNION: 'union',
      SETOP_INTERSECT: 'intersect',
      SETOP_EXCEPT: 'except',
    });
    const [left, right] = [select(fields.larg, place), select(fields.rarg, place)];
    if (left.columns.length !== right.columns.length) {
      throw invalid(`Both sides of ${word.toUpperCase()} have the same number of columns.`);
    }
    const all = fields.all === true ? ' all' : '';
    const body = sql`(${textOfSelect(left)}) ${word}${all} (${textOfSelect(right)})`;
    return {
      body,
      columns: left.columns.map(({ name, length }, i) => ({
        name,
        length: Math.max(length, right.columns[i]!.length),
      })),
      writing: writingIn({ relations: [], parent: undefined }, place),
    };
  }

  const writingIn = (scope: Scope, place: Place): WriteContext => ({
    scope,
    nowMs: statement.nowMs,
    depth: place.depth,
    growth: statement.growth,
    lengths: [],
    expression: expressionSql,
    select(node, outer) {
      countRelation();
      const inner = select(selectIn(node), { ...place, parent: outer, depth: place.depth + 1 });
      return { sql: textOfSelect(inner), lengths: inner.columns.map(({ length }) => length) };
    },
  });

  function fromSql(node: unknown, place: Place): FromItem {
    const { kind, fields } = nodeOf(node);
    if (kind === 'JoinExpr') return joinSql(fields, place);
    countRelation();
    if (kind === 'RangeVar') return tableSql(fields, place);
    if (kind === 'RangeSubselect') {
      const { subquery, alias } = only(fields, 'A SELECT in FROM', ['subquery', 'alias']);
      const name = aliasOf(alias);
      if (name !== undefined) requireFree(name);
      const inner = select(selectIn(subquery), { ...place, depth: place.depth + 1 });
      const made = statement.newName();
      return {
        sql: sql`(${textOfSelect(inner)}) as ${made}`,
        relations: [relationOf(name ?? made, made, inner.columns)],
      };
    }
    if (kind === 'RangeFunction') throw unsupported('A function cannot be a table.');
    throw unsupported('FROM takes cubes, views, and SELECTs in brackets.');
  }

  function tableSql(fields: Fields, { expressions }: Place): FromItem {
    if (fields.schemaname !== undefined) {
      throw unsupported(
        'Tables have no schema here, and there is no `information_schema`: the tables are the cubes and views, which the operation `meta` lists.',
      );
    }
    const given = only(fields, 'The name of a table', ['relname', 'inh', 'relpersistence', 'alias']);
    if (given.inh !== true) throw unsupported('The name of a table cannot have ONLY before it.');
    const table = requireText(given.relname);
    const name = aliasOf(given.alias) ?? table;
    if (name !== table) requireFree(name);
    const alias = statement.newName();
    const expression = expressions.get(table);
    if (expression) {
      return {
        sql: sql`${expression.source} as ${alias}`,
        relations: [relationOf(name, alias, expression.columns)],
      };
    }
    const opened = statement.open(table, alias);
    if (!opened) {
      throw unknown('cube or view', table, [...expressions.keys(), ...statement.tablesLike(table)]);
    }
    const { columns, use, source } = opened;
    return {
      sql: sql`${source} as ${alias}`,
      relations: [{ name, alias, columns, use, lengthOf: () => 1, table: opened }],
      table: opened,
    };
  }

  function joinSql(fields: Fields, place: Place): FromItem {
    const { jointype, larg, rarg, quals } = only(fields, 'A join', ['jointype', 'larg', 'rarg', 'quals']);
    const word = wordOf(jointype, 'a join', {
      JOIN_INNER: 'join',
      JOIN_LEFT: 'left join',
      JOIN_RIGHT: 'right join',
      JOIN_FULL: 'full join',
    });
    if (place.depth >= DEPTH_MAX) throw unsupported(`The SQL is nested more than ${DEPTH_MAX} deep.`);
    const deeper = { ...place, depth: place.depth + 1 };
    const [left, right] = [fromSql(larg, deeper), fromSql(rarg, deeper)];
    const relations = [...left.relations, ...right.relations];
    if (quals === undefined) return { sql: sql`(${left.sql} cross join ${right.sql})`, relations };
    const on = expressionSql(quals, writingIn({ relations, parent: place.parent }, deeper));
    return { sql: sql`(${left.sql} ${word} ${right.sql} on ${on})`, relations };
  }

  return { select };
}

const textOfSelect = ({ body, expressions }: WrittenSelect): Sql =>
  expressions.length ? sql`with ${joined(expressions, ', ')} ${body}` : body;

const namesIn = (columns: readonly ResultColumn[]) => columns.map(({ name }) => name);

function relationOf(name: string, alias: string, given: readonly ResultColumn[]): Relation {
  const columns = namesIn(given);
  return {
    name,
    alias,
    columns,
    use(column) {
      const index = columns.indexOf(column);
      if (columns.lastIndexOf(column) !== index) {
        throw invalid(`\`${name}\` has several columns \`${column}\`. Give them aliases.`);
      }
      return index < 0 ? undefined : `c${index + 1}`;
    },
    lengthOf: (column) =>
      given.reduce((longest, one) => (one.name === column ? Math.max(longest, one.length) : longest), 0),
  };
}

export function selectIn(node: unknown): Fields {
  const { kind, fields } = nodeOf(node);
  if (kind !== 'SelectStmt') throw unsupported('Only a SELECT can be run.');
  return fields;
}

function aliasOf(alias: unknown): string | undefined {
  return alias === undefined ? undefined : requireText(only(alias, 'An alias', ['aliasname']).aliasname);
}
