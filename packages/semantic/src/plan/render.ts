/** Writes a plan as text, in the words of a dialect. */
import { type LexerPatterns, withoutComments } from '../sql-texts.ts';
import { type Budget, spendCharacters } from './budget.ts';
import { queryError } from './errors.ts';
import type { Call, Condition, Piece, Select, Source, Sql, Value } from './sql.ts';

export interface Dialect {
  readonly name: 'duckdb' | 'postgres' | 'clickhouse';
  quote(name: string): string;
  /** The parameter with this number, from 1. */
  parameter(value: Value, number: number): string;
  /** The text of a parameter, in the form that the database reads. */
  textOf(value: Value): string;
  /** What stands at the end of a statement. */
  readonly ending: string;
  /** A source with these rows, which are written already. */
  rows(rows: readonly (readonly string[])[], columns: readonly string[], alias: string): string;
  /**
   * Keeps the rows for which the condition is true, in a step of its own. For databases that would compute what is both in
   * WHERE and in a column once for all rows, whatever CASE stands around it.
   */
  keeping?(condition: string): string;
  readonly lexing: LexerPatterns;
  readonly calls: Readonly<Record<Call['call'], (...args: readonly string[]) => string>>;
}

/** A comment of the model must not swallow what the planner writes after it, such as the other side of a policy. */
export function plainText(text: string, { lexing }: Dialect): string {
  const plain = withoutComments(text, lexing);
  if (plain !== undefined) return plain;
  const message =
    'A quote or a comment in the SQL of the data model is not closed, as its data source reads it.';
  throw queryError('unsupported_query', message);
}

export interface Statement {
  readonly sql: string;
  /** Texts, in the order of their numbers. The statement itself says the type of each. */
  readonly parameters: readonly string[];
}

export const renderStatement = (select: Select, dialect: Dialect, budget: Budget): Statement =>
  render(dialect, budget, (writer) => writer.select(select, ''));

export interface SelectsByName {
  readonly tables: readonly { readonly name: string; readonly select: Select }[];
  /** Further common table expressions, which can name the tables. */
  readonly expressions: readonly Sql[];
}

/** A statement that reads the rows of selects by their names. */
export const renderWith = (
  { tables, expressions }: SelectsByName,
  body: Sql,
  dialect: Dialect,
  budget: Budget,
): Statement =>
  render(dialect, budget, (writer) => {
    const named = tables.map(({ name, select }) => `${name} as (\n${writer.select(select, '  ')}\n)`);
    return `with ${[...named, ...expressions.map(writer.sql)].join(',\n')}\n${writer.sql(body)}`;
  });

function render(
  dialect: Dialect,
  budget: Budget,
  write: (writer: ReturnType<typeof createWriter>) => string,
): Statement {
  const values: Value[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (value: Value) => {
    const key = `${value.type} ${value.text}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    values.push(value);
    numbers.set(key, values.length);
    return values.length;
  };
  const text = write(createWriter(dialect, budget, numberOf));
  return { sql: text + dialect.ending, parameters: values.map(dialect.textOf) };
}

/** The lines of a select beside its columns and joins. */
const LINES = 6;

function createWriter(dialect: Dialect, budget: Budget, numberOf: (value: Value) => number) {
  const counted = (text: string) => {
    spendCharacters(budget, text.length);
    return text;
  };
  const piece = (item: Piece): string => {
    if (typeof item === 'string') return counted(item);
    if (!('kind' in item)) return sql(item);
    if (item.kind === 'name') return counted(dialect.quote(item.name));
    if (item.kind === 'value') return counted(dialect.parameter(item, numberOf(item)));
    const args = item.args.map(sql);
    const text = dialect.calls[item.call](...args);
    // Some calls write an argument twice. If it has such calls itself, that is twice as much for each level.
    spendCharacters(
      budget,
      args.reduce((left, arg) => left - arg.length, text.length),
    );
    return text;
  };
  // Joining would copy the text once for each level.
  const sql = (pieces: Sql): string => pieces.reduce<string>((text, item) => text + piece(item), '');
  const condition = (item: Condition) => (typeof item === 'boolean' ? String(item) : sql(item));

  /** With its comments, which tell people where a statement comes from; they cannot follow a semicolon. */
  const queryOf = (text: string) => {
    const plain = plainText(text, dialect);
    return /;\s*$/.test(plain) ? plain.replace(/;\s*$/, '') : text;
  };

  const source = ({ alias, of }: Source, indent: string): string => {
    const quoted = dialect.quote(alias);
    if ('table' in of) return `${of.table} as ${quoted}`;
    if ('query' in of) return `(\n${queryOf(counted(of.query))}\n${indent}) as ${quoted}`;
    if ('select' in of) return `(\n${select(of.select, `${indent}  `)}\n${indent}) as ${quoted}`;
    const rows = of.rows.map((row) => row.map(piece));
    return dialect.rows(rows, of.columns.map(dialect.quote), quoted);
  };

  const select = (plan: Select, indent: string): string => {
    const lines: string[] = [];
    spendCharacters(budget, indent.length * (LINES + plan.columns.length + (plan.joins?.length ?? 0)));
    const columns = plan.columns.map(
      (column) => `${indent}  ${sql(column.sql)} as ${dialect.quote(column.name)}`,
    );
    lines.push(`${indent}select${plan.distinct ? ' distinct' : ''}\n${columns.join(',\n')}`);
    lines.push(`${indent}from ${source(plan.from, indent)}`);
    for (const join of plan.joins ?? []) {
      const on = join.on === undefined ? '' : ` on ${condition(join.on)}`;
      lines.push(`${indent}${join.type} join ${source(join.source, indent)}${on}`);
    }
    if (plan.barrier !== undefined) lines.push(`${indent}${dialect.keeping!(condition(plan.barrier))}`);
    const where = (plan.where ?? []).filter((part) => part !== true);
    if (where.length) lines.push(`${indent}where ${where.map(condition).join(`\n${indent}  and `)}`);
    if (plan.groupBy) {
      lines.push(`${indent}group by ${Array.from({ length: plan.groupBy }, (_, i) => i + 1).join(', ')}`);
    }
    if (plan.order?.length) {
      const order = plan.order.map(
        (part) => `${sql(part.sql)} ${part.descending ? 'desc' : 'asc'} nulls last`,
      );
      lines.push(`${indent}order by ${order.join(', ')}`);
    }
    if (plan.limit !== undefined) lines.push(`${indent}limit ${plan.limit}`);
    if (plan.offset) lines.push(`${indent}offset ${plan.offset}`);
    // It skips no row, but databases do not move conditions past an OFFSET.
    else if (plan.isClosed) lines.push(`${indent}offset 0`);
    return lines.join('\n');
  };
  return { select, sql };
}
