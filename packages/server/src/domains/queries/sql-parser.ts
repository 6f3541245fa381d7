/** Parses SQL in threads, so that a large or malicious statement delays nobody. */
import { QueryError, SQL_LIMITS } from '@oriel/semantic';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createThreads, ThreadLimitError, threadScript } from '../../platform/threads.ts';

/** What the thread answers. The tree is text, because that is read faster than many objects are copied. */
export type ParseResult = { tree: string } | { problem: string; position?: number | undefined };

export interface ParseCaller {
  /** The sharer of a queue: one of its statements is parsed at a time, so that a thread remains for others. */
  sharer: string;
  signal: AbortSignal;
}

export interface SqlParser {
  /** The tree of PostgreSQL's parser, as JSON. Throws a `QueryError` if there is none. */
  parse(text: string, by: ParseCaller): Promise<string>;
  stop(): Promise<void>;
}

/** A statement takes milliseconds; most of the time is for loading the parser. */
const LIMITS = { timeMs: 3000, memoryMb: 128 };
const PLACES = { places: 2, sharerPlaces: 1, waitingMax: 1000, sharerWaitingMax: 200, waitMs: 30_000 };
const TREE_CHARACTERS_MAX = 500_000;

export function createSqlParser({ script = threadScript('parse-thread'), limits = LIMITS } = {}): SqlParser {
  const threads = createThreads<string, ParseResult>(script, limits, { idleMax: PLACES.places });
  const admission = createAdmission(PLACES);

  const run = (text: string, signal: AbortSignal) =>
    threads.run(text, signal).catch((error: unknown): never => {
      if (signal.aborted) throw error;
      if (error instanceof ThreadLimitError || isBroken(error)) throw tooLarge();
      throw error;
    });

  return {
    async parse(text, { sharer, signal }) {
      if (text.length > SQL_LIMITS.text) {
        throw wrong('unsupported_query', `The SQL has more than ${SQL_LIMITS.text} characters.`);
      }
      if (text.trim() === '') throw wrong('invalid_query', 'The SQL is empty.');
      const parsed = await admission.take({ sharer, signal }, () => run(text, signal));
      if ('problem' in parsed) throw wrong('invalid_query', inWords(parsed));
      if (parsed.tree.length > TREE_CHARACTERS_MAX) throw tooLarge();
      return parsed.tree;
    },
    stop: threads.stop,
  };
}

/** Whether the error is of a text that is nested too deep for the memory of the parser. */
const isBroken = (error: unknown) =>
  error instanceof Error && (error.name === 'RangeError' || error.name === 'RuntimeError');

const inWords = ({ problem, position }: { problem: string; position?: number | undefined }) =>
  `The SQL cannot be read: ${problem}${position ? `, at character ${position + 1}` : ''}.`;

const wrong = (code: QueryError['code'], message: string) => new QueryError(code, [{ path: '', message }]);
const tooLarge = () => wrong('unsupported_query', 'The SQL is too large, or nested too deep.');
