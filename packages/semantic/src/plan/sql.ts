/**
 * The form between a query and the text of its SQL: pieces of text, names, values and calls, as plain data. The dialect
 * decides how names, values and calls are written. Values never become text of the statement: they are parameters.
 */
export type ValueType =
  | 'text'
  | 'integer'
  | 'bigInteger'
  | 'decimal'
  | 'double'
  | 'boolean'
  | 'instant'
  | 'local';

export interface Value {
  readonly kind: 'value';
  readonly type: ValueType;
  readonly text: string;
}

export interface Name {
  readonly kind: 'name';
  readonly name: string;
}

/** A function that dialects write differently. */
export interface Call {
  readonly kind: 'call';
  readonly call: CallName;
  readonly args: readonly Sql[];
}

export type CallName =
  | 'asText'
  | 'textOrder'
  | 'ilike'
  /**
   * Takes a text, a pattern, its escape character, and the pattern as a regular expression unless all wildcards are
   * `%`.
   */
  | 'like'
  | 'ilikeText'
  /** Fails if the text is very long. */
  | 'boundedText'
  /** Takes a number, and a whole number of digits. */
  | 'round'
  | 'local'
  | 'divisor'
  /** Numbers of different types that one expression chooses from, in a type that they have in common. */
  | 'sameNumber'
  | 'approxDistinct'
  | `truncate ${'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'}`
  | 'binSeconds'
  | 'binMonths'
  | 'addSeconds'
  /** A row for each whole number from 0 up to the given one, as a column. */
  | 'numbersBelow';

export type Piece = string | Value | Name | Call | Sql;
export type Sql = readonly Piece[];

export const value = (type: ValueType, text: string): Value => ({ kind: 'value', type, text });
export const name = (text: string): Name => ({ kind: 'name', name: text });
export const call = (what: CallName, ...args: readonly Sql[]): Sql => [{ kind: 'call', call: what, args }];
/** A time as a clock in UTC shows it. */
export const shownInUtc = (time: Sql): Sql => call('local', time, [value('text', 'UTC')]);
export const columnOf = (table: string, column: string): Sql => [name(table), '.', name(column)];

/** The texts between the pieces are the planner's own, or the model's. */
export const sql = (texts: TemplateStringsArray, ...pieces: readonly Piece[]): Sql =>
  texts.flatMap((text, i): Piece[] => {
    const piece = pieces[i];
    return [...(text === '' ? [] : [text]), ...(piece === undefined ? [] : [piece])];
  });

export const joined = (parts: readonly Sql[], separator: string): Sql =>
  parts.flatMap((part, i): Piece[] => (i === 0 ? [part] : [separator, part]));

/** What is more than one name or value needs brackets before an operator follows it: `a or b`, for example. */
export function inBrackets(part: Sql): Sql {
  const [first] = part;
  if (part.length === 1)
    return Array.isArray(first)
      ? inBrackets(first as Sql)
      : typeof first === 'string'
        ? sql`(${part})`
        : part;
  return tableOfColumn(part) === undefined ? sql`(${part})` : part;
}

/** The alias of the table, if this is a column and nothing else. */
export function tableOfColumn(part: Sql): string | undefined {
  const [first, column] = part;
  if (part.length === 1) return Array.isArray(first) ? tableOfColumn(first as Sql) : undefined;
  const table = Array.isArray(first) && first.length === 1 ? (first[0] as Piece) : first!;
  const isColumn =
    (part.length === 2 && typeof column === 'string' && /^\.\w+$/.test(column)) ||
    (part.length === 3 && column === '.');
  return isColumn && isName(table) ? table.name : undefined;
}

const isName = (piece: Piece): piece is Name => (piece as Partial<Name>).kind === 'name';

/** A condition is a piece of SQL, or already decided. */
export type Condition = Sql | boolean;

export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes(false)) return false;
  return combined(conditions, ' and ', true);
}

export function anyOf(conditions: readonly Condition[]): Condition {
  if (conditions.includes(true)) return true;
  return combined(conditions, ' or ', false);
}

function combined(conditions: readonly Condition[], separator: string, empty: boolean): Condition {
  const parts = conditions.filter((part): part is Sql => typeof part !== 'boolean');
  if (parts.length === 0) return empty;
  return parts.length === 1 ? parts[0]! : sql`(${joined(parts, separator)})`;
}

export interface Select {
  readonly distinct?: boolean;
  readonly columns: readonly Column[];
  readonly from: Source;
  readonly joins?: readonly JoinClause[];
  readonly where?: readonly Condition[];
  /** Computed before `where` and the columns, if the dialect needs it; see `keeping` of the dialect. */
  readonly barrier?: Condition;
  /** Rows are grouped by this many columns, the first ones. */
  readonly groupBy?: number;
  readonly order?: readonly { readonly sql: Sql; readonly descending: boolean }[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Conditions around it must not be computed for rows that its own conditions drop. */
  readonly isClosed?: boolean;
}

export interface Column {
  readonly name: string;
  readonly sql: Sql;
}

export interface Source {
  readonly alias: string;
  readonly of:
    | { readonly table: string }
    | { readonly query: string }
    | { readonly select: Select }
    | { readonly rows: readonly (readonly Value[])[]; readonly columns: readonly string[] };
}

export interface JoinClause {
  readonly type: 'left' | 'full' | 'cross';
  readonly source: Source;
  readonly on?: Condition;
}
