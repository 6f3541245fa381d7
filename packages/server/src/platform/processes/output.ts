/**
 * Handles the output of a child: its lines go to the log, within limits, and the last ones are kept to explain why it
 * ended.
 */
import type { Readable } from 'node:stream';
import type { Logger } from '../log.ts';

const LINE_MAX = 8 * 1024;
const LINES_PER_SECOND = 500;
const KEPT_MAX = 4000;

export interface Output {
  /** The end of its standard error output. */
  readonly last: string;
}

/** Always reads, so that the child is never blocked, but forwards no more lines than the log can take. */
export function followOutput(
  streams: { stdout: Readable | null; stderr: Readable | null },
  name: string,
  log: Logger | undefined,
): Output {
  let last = '';
  const forward = log ? limited(log.child({ process: name })) : () => {};
  splitLines(streams.stdout, (line) => forward('info', line));
  splitLines(streams.stderr, (line) => forward('warn', line));
  streams.stderr?.on('data', (text: string) => {
    last = (last + text).slice(-KEPT_MAX);
  });
  return {
    get last() {
      return last;
    },
  };
}

function splitLines(stream: Readable | null, onLine: (line: string) => void) {
  if (!stream) return;
  let begun = '';
  let isCut = false;
  const add = (part: string) => {
    if (!isCut) begun += part;
    if (begun.length <= LINE_MAX) return;
    begun = `${begun.slice(0, LINE_MAX)}…`;
    isCut = true;
  };
  const end = () => {
    if (begun) onLine(begun);
    begun = '';
    isCut = false;
  };
  stream.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\n');
    add(first);
    for (const part of rest) {
      end();
      add(part);
    }
  });
  stream.on('end', end).on('error', () => {});
}

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Reports once a second how many lines it left out. */
function limited(log: Logger) {
  let second = 0;
  let count = 0;
  let leftOut = 0;
  return (level: Level, line: string) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      if (leftOut) log.warn({ leftOut }, 'lines of a process were left out, because there were too many');
      [second, count, leftOut] = [now, 0, 0];
    }
    if (count++ < LINES_PER_SECOND) write(log, level, line);
    else leftOut++;
  };
}

const LEVELS: Record<number, Level> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

/** A line that a logger like ours wrote keeps its level and fields. */
function write(log: Logger, level: Level, line: string) {
  const { level: number, time: _, msg, ...fields } = parseEntry(line) ?? {};
  const own = LEVELS[number as number];
  if (own) log[own](fields, typeof msg === 'string' ? msg : '');
  else log[level](line);
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{"level":')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
