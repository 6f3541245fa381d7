/** What a data source does inside of the engine's process. */
import type { Write } from '../../platform/processes/serve-parent.ts';
import {
  type Credential,
  EngineError,
  type Query,
  type QueryLimits,
  type Summary,
  type Table,
} from '../engine.ts';

/** What every request may have. */
export interface QueryRequest {
  credential?: Credential;
}

export interface Run extends QueryRequest {
  query: Query;
  maxRows: QueryLimits['maxRows'];
  maxBytes: QueryLimits['maxBytes'];
  timeoutMs: QueryLimits['timeoutMs'];
}

export interface Source {
  /** Sends the columns first, and then the rows. */
  run(run: Run, signal: AbortSignal, write: Write): Promise<Summary>;
  listTables(signal: AbortSignal): Promise<Table[]>;
  /** Returns one line that says what was reached. */
  test(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const QUERY_WORDS = ['select', 'with', 'values'];

/**
 * The first word decides what kind of statement it is. Engines that take several statements at once must also check that
 * there is only one.
 */
export function requireSelect(sql: string) {
  const word = firstWord(sql);
  if (!QUERY_WORDS.includes(word.toLowerCase())) {
    const found = word ? `begins with ${word.toUpperCase().slice(0, 40)}` : 'is empty';
    throw new EngineError('query_refused', `Only a SELECT can be run, but this statement ${found}.`);
  }
}

function firstWord(sql: string): string {
  let rest = sql;
  for (;;) {
    rest = rest.replace(/^[\s(]+/, '');
    if (rest.startsWith('--')) rest = rest.slice(rest.search(/\n|$/));
    else if (rest.startsWith('/*')) rest = afterComment(rest);
    else return /^\w*/.exec(rest)?.[0] ?? '';
  }
}

/** Comments can contain comments. */
function afterComment(text: string): string {
  const marks = /\/\*|\*\//g;
  let depth = 0;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return text.slice(marks.lastIndex);
  }
  return '';
}
