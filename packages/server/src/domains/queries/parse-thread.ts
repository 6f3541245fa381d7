/** A thread that parses SQL with PostgreSQL's own parser, one statement after the other; see `sql-parser.ts`. */
import { parentPort } from 'node:worker_threads';
import { hasSqlDetails, loadModule, parseSync } from 'libpg-query';
import type { ParseResult } from './sql-parser.ts';

await loadModule();

parentPort!.on('message', (text: string) => parentPort!.postMessage(parsed(text)));

/**
 * An error that is not the parser's own, such as of a text that is nested too deep, ends the thread: the parser's memory
 * may be broken.
 */
function parsed(text: string): ParseResult {
  try {
    return { tree: JSON.stringify(parseSync(text)) };
  } catch (error) {
    if (!hasSqlDetails(error)) throw error;
    return { problem: error.message, position: error.sqlDetails?.cursorPosition };
  }
}
