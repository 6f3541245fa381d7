/** What every engine can do, whatever runs behind it. */

/** One statement. It must be a single SELECT; everything else is refused. */
export interface Query {
  sql: string;
  /** Texts for `$1`, `$2`, …. The statement says the type of each, as in `$1::bigint`, so that no digit is lost. */
  parameters?: readonly (string | null)[];
  /** The keys of the values in a row. By default the names of the columns, which PostgreSQL cuts at 63 bytes. */
  keys?: readonly string[];
  /** Each row is an object with these keys, or an array in the order of the columns. */
  rowForm?: 'objects' | 'arrays';
  /** Put at the end of each row: always the same text, or the value of another key again. */
  more?: readonly MoreValue[];
}

export type MoreValue =
  | { readonly key: string; readonly text: string }
  | { readonly key: string; readonly sameAs: string };

/** The user that connects to a data source, in place of the source's own user. */
export interface Credential {
  user: string;
  password: string;
}

export interface QueryLimits {
  /** Further rows are left out, and the summary says so. */
  maxRows: number;
  /** The limit for the JSON text. A larger answer is an error. */
  maxBytes: number;
  /** The time limit, from the start of the query until its last byte was read. */
  timeoutMs: number;
  /** Ends the query. */
  signal?: AbortSignal;
  /** The user and password of one caller. The query gets a connection of its own with them, which is not shared. */
  credential?: Credential;
  /** The sharer of the query. Sharers of the same source get its places in turn. */
  sharer?: string;
  /** Whether the query was preempted before (see `PreemptedError`). */
  isRequeued?: boolean;
  /** Gets a promise that resolves when the engine has ended the query, which may be long after the caller has left. */
  onAsked?: (ended: Promise<void>) => void;
}

export const DEFAULT_LIMITS: QueryLimits = {
  maxRows: 50_000,
  maxBytes: 64 * 1024 * 1024,
  timeoutMs: 60_000,
};

/** The time limit of lists of tables and tests of a connection. */
export const CALL_TIMEOUT_MS = 30_000;

/**
 * How values of the column stand in the JSON text:
 * - `number`: a text with all digits, such as `"12.5"`, because a JavaScript number would round some of them
 * - `time`: UTC without a zone, such as `"2024-01-31T00:00:00.000"`; also for dates
 * - `boolean`: `true` or `false`
 * - `string`, and `other` for all other types: a text
 */
export type ColumnType = 'number' | 'time' | 'boolean' | 'string' | 'other';

export interface Column {
  name: string;
  type: ColumnType;
  /** The name that the engine gives the type, such as `DECIMAL(18,2)`. */
  nativeType: string;
}

export interface Summary {
  rowCount: number;
  /** There are more rows than `maxRows`. */
  isCapped: boolean;
  bytes: number;
}

export interface Answer {
  columns: Column[];
  /**
   * The text of one JSON array, in pieces. The engine pauses if nobody reads them. If the query fails half-way, the
   * iteration throws. Ending the iteration early ends the query.
   */
  rows: AsyncIterable<Buffer>;
  /** Resolves when all rows were sent, and rejects if the iteration throws. */
  summary: Promise<Summary>;
}

export interface Table {
  schema: string;
  name: string;
  columns: TableColumn[];
  primaryKey: string[];
  foreignKeys: ForeignKey[];
}

export interface TableColumn extends Column {
  isNullable: boolean;
}

export interface ForeignKey {
  columns: string[];
  toSchema: string;
  toTable: string;
  toColumns: string[];
}

export interface Reach {
  isReachable: boolean;
  /** One line for people. */
  message: string;
}

export type CallLimits = Partial<Pick<QueryLimits, 'timeoutMs' | 'signal' | 'sharer' | 'credential'>>;

export interface Engine {
  /** How many queries run at once. Others wait. */
  readonly places: number;
  /** Resolves when the first rows are there or the query has none. Rejects with an `EngineError`. */
  query(query: Query, limits?: Partial<QueryLimits>): Promise<Answer>;
  /** Throws an `EngineError`. */
  listTables(limits?: CallLimits): Promise<Table[]>;
  /** Throws an `EngineError` only if a given credential is refused. */
  test(limits?: CallLimits): Promise<Reach>;
}

export type EngineErrorCode =
  /** The statement is wrong: its syntax, or a name in it. */
  | 'query_invalid'
  /** The statement is not a single SELECT, or does what no query may do. */
  | 'query_refused'
  /** A parameter or a stored value does not have the type that the statement needs. */
  | 'value_invalid'
  /** The query took too long. */
  | 'timed_out'
  /** The query needs more memory than it may have. */
  | 'query_too_large'
  /** The answer has more bytes than it may have. */
  | 'result_too_large'
  /** The data source cannot be reached, or was lost during the query. */
  | 'source_unavailable'
  /** The data source does not accept the user or the password. */
  | 'credential_refused'
  /** Too many queries of all, or of this sharer, wait for this source. */
  | 'busy'
  | 'too_many_at_once'
  /** The data source failed for another reason. */
  | 'query_failed';

export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The query was preempted: its sharer has used much time, and another one had no place. It may be put back once. */
export class PreemptedError extends EngineError {
  constructor() {
    super(
      'busy',
      'The query was ended so that others get their turn: it runs long, and the data source is busy. Try again later.',
    );
  }
}
