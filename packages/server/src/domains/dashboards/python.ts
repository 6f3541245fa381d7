/** Runs the Python of reports in a sandbox. Never outside of one: where there is none, nothing runs. */
import { existsSync, realpathSync } from 'node:fs';
import { ApiError } from '../../platform/errors.ts';
import { parseJson } from '../../platform/http/json-body.ts';
import { createPlaces } from '../../platform/places.ts';
import { CAN_FILTER, type Outcome, runSandboxed } from '../../platform/processes/sandbox.ts';
import { HARNESS } from './python-harness.ts';

const PYTHON = '/usr/bin/python3';
const LIMITS = {
  timeMs: 20_000,
  cpuSeconds: 10,
  textBytesMax: 64 * 1024,
  resultBytesMax: 2 * 1024 * 1024,
};
/** Each takes a core and up to 512 MB, so few run at once, and one for each user or embed tenant. */
const PLACES = { places: 2, sharerPlaces: 1, waitingMax: 20, sharerWaitingMax: 5, waitMs: 30_000 };
/** How long we believe that there is no sandbox. */
const LOOK_AGAIN_MS = 60_000;

export interface PythonResult {
  stdout: string;
  stderr: string;
  outputData: unknown;
  inputRowCount: number;
  executionError: string | null;
}

export interface Python {
  /** Why nothing can run here, or undefined. */
  problem(): Promise<string | undefined>;
  /**
   * Rejects with a 501 if there is no sandbox, and with a 503 if too many wait. `rows` is called when there is a place; what
   * it returns is JSON in lines, as SQL queries are answered.
   */
  run(
    source: string,
    rows: () => Promise<Iterable<Uint8Array> | AsyncIterable<Uint8Array>>,
    who: { sharer: string; signal: AbortSignal },
  ): Promise<PythonResult>;
}

export function createPython({
  bubblewrap = '/usr/bin/bwrap',
  timeMs = LIMITS.timeMs,
}: {
  bubblewrap?: string;
  timeMs?: number;
} = {}): Python {
  const places = createPlaces({ ...PLACES, busy: () => new ApiError('busy') });
  let known: { problem: string | undefined; until: number } | undefined;

  const start = (
    source: string,
    rows: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ) =>
    runSandboxed({
      bubblewrap,
      command: [PYTHON, '-I', '-c', HARNESS],
      readable: readable(),
      input: inputOf(source, rows),
      ...LIMITS,
      timeMs,
      signal,
    });

  async function look(): Promise<string | undefined> {
    if (!existsSync(PYTHON)) return `The server has no ${PYTHON}.`;
    if (!existsSync(bubblewrap)) return 'The server has no bubblewrap.';
    if (!CAN_FILTER) return 'It needs a processor of the type x64.';
    const { code, result, stderr } = await start('', [EMPTY], new AbortController().signal);
    if (code === 0 && result.startsWith('0\n')) return undefined;
    const why = stderr.trim().slice(0, 200) || `exit code ${code}`;
    return `bubblewrap can not make a sandbox on this server: ${why}`;
  }

  async function problem() {
    if (!known || known.until < Date.now()) {
      const found = await look();
      known = {
        problem: found,
        until: found === undefined ? Number.POSITIVE_INFINITY : Date.now() + LOOK_AGAIN_MS,
      };
    }
    return known.problem;
  }

  return {
    problem,
    run: (source, rows, { sharer, signal }) =>
      places.take({ key: 'python', sharer, signal }, async () => {
        const why = await problem();
        if (why !== undefined)
          throw new ApiError('python_unavailable', { message: `Python reports do not run here. ${why}` });
        const outcome = await start(source, await rows(), signal);
        signal.throwIfAborted();
        return resultOf(outcome);
      }),
  };
}

/** The interpreter and the libraries of the system. */
function readable() {
  const libraries = ['/usr/lib', '/usr/lib64'].filter((path) => existsSync(path));
  return [...libraries.map((path) => ({ from: path, to: path })), { from: realpathSync(PYTHON), to: PYTHON }];
}

const EMPTY = Buffer.from('{"schema":[]}\n{"data":[]}\n');

async function* inputOf(source: string, rows: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  yield Buffer.from(`${JSON.stringify(source)}\n`);
  yield* rows;
}

const ENDED: Record<NonNullable<Outcome['ended']>, string> = {
  'too late': 'The program took too much time.',
  'too large': 'The program returned more than 2 MB.',
  left: 'The program was ended.',
};

/** The first line of the result was written before the program of the report began, so the program can not change it. */
function resultOf({ stdout, stderr, result, code, ended }: Outcome): PythonResult {
  const [count = '', text = ''] = result.split('\n', 2);
  const said = ended ? { error: ENDED[ended] } : answerIn(text);
  return {
    stdout,
    stderr,
    inputRowCount: /^\d{1,9}$/.test(count) ? Number(count) : 0,
    outputData: said?.output ?? null,
    executionError: said
      ? (said.error ?? null)
      : `The program ended before its end (${code === null ? 'by a signal' : `exit code ${code}`}).`,
  };
}

function answerIn(text: string): { output?: unknown; error?: string } | undefined {
  try {
    const { output, error } = parseJson(text) as Record<string, unknown>;
    return error === undefined ? { output } : { error: String(error).slice(0, 10_000) };
  } catch {
    return undefined;
  }
}
