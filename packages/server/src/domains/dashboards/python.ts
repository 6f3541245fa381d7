/** Runs the Python of reports in a sandbox. Never outside of one: where there is none, nothing runs. */
import { existsSync, realpathSync } from 'node:fs';
import type { ErrorCode } from '@oriel/contract';
import { createAdmission } from '../../platform/admission/admission.ts';
import { ApiError } from '../../platform/errors.ts';
import { parseJson } from '../../platform/http/json-body.ts';
import type { WholeBytes } from '../../platform/http/streams.ts';
import type { Logger } from '../../platform/log.ts';
import { BUBBLEWRAP } from '../../platform/processes/fence.ts';
import { type ProcessUser, userWithoutRights } from '../../platform/processes/process-user.ts';
import { type Outcome, runSandboxed } from '../../platform/processes/sandbox.ts';
import { SYSTEM_CALL_FILTER } from '../../platform/processes/system-call-filter.ts';
import { HARNESS } from './python-harness.ts';

const PYTHON = '/usr/bin/python3';
const LIMITS = {
  timeMs: 20_000,
  cpuSeconds: 10,
  textBytesMax: 64 * 1024,
  resultBytesMax: 2 * 1024 * 1024,
};
/** Each takes a core and up to 512 MB, so few run at once, and one for each user or embed tenant. */
const PLACES = { places: 2, sharerPlaces: 1, waitingMax: 100, sharerWaitingMax: 2, waitMs: 30_000 };
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
   * Rejects with a 501 if there is no sandbox, and with a 503 if too many wait. `rows` returns JSON in lines, as SQL
   * queries are answered. It is called before the wait for a place, so that a slow query does not occupy one.
   */
  run(source: string, rows: () => Promise<Rows>, who: PythonCaller): Promise<PythonResult>;
}

type Rows = Uint8Array | WholeBytes;

export interface PythonCaller {
  sharer: string;
  signal: AbortSignal;
  /** Whether a 501 says what is wrong with the server. */
  mayLearnWhy: boolean;
}

export function createPython({
  log,
  bubblewrap = BUBBLEWRAP,
  timeMs = LIMITS.timeMs,
  cpuSeconds = LIMITS.cpuSeconds,
  findUser = userWithoutRights,
}: {
  log?: Logger;
  bubblewrap?: string;
  timeMs?: number;
  cpuSeconds?: number;
  findUser?: () => ProcessUser | undefined;
} = {}): Python {
  const places = createAdmission(PLACES);
  let looking: Promise<string | undefined> | undefined;
  let known: { problem: string | undefined; until: number } | undefined;

  const start = (user: ProcessUser, source: string, rows: Rows, signal: AbortSignal) =>
    runSandboxed({
      fence: { bubblewrap, readable: [{ from: realpathSync(PYTHON), to: PYTHON }] },
      user,
      command: PYTHON,
      args: ['-I', '-c', HARNESS],
      input: inputOf(source, rows),
      ...LIMITS,
      timeMs,
      cpuSeconds,
      signal,
    });

  async function look(): Promise<string | undefined> {
    if (!existsSync(PYTHON)) return `The server has no ${PYTHON}.`;
    if (!existsSync(bubblewrap)) return 'The server has no bubblewrap.';
    if (!SYSTEM_CALL_FILTER) return 'It needs a processor of the type x64.';
    const user = findUser();
    if (!user) return 'The server runs as root, and there is no user `nobody` for the sandbox.';
    const { code, result, stderr } = await start(user, '', EMPTY, new AbortController().signal);
    if (code === 0 && result.startsWith('0\n')) return undefined;
    const why = stderr.trim().slice(0, 200) || `exit code ${code}`;
    return `bubblewrap cannot make a sandbox on this server: ${why}`;
  }

  async function lookAndKeep() {
    const found = await look();
    known = {
      problem: found,
      until: found === undefined ? Number.POSITIVE_INFINITY : Date.now() + LOOK_AGAIN_MS,
    };
    if (found !== undefined) log?.warn({ reason: found }, 'Python reports do not run');
    return found;
  }

  /** Single-flight: concurrent callers share one check, because each check starts a process. */
  async function problem() {
    if (known && known.until >= Date.now()) return known.problem;
    looking ??= lookAndKeep().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    problem,
    async run(source, rows, { sharer, signal, mayLearnWhy }) {
      const why = await problem();
      if (why !== undefined) throw unavailable(mayLearnWhy ? why : undefined);
      const given = await rows();
      try {
        return await places.take({ sharer, signal }, async () => {
          const user = findUser();
          if (!user) throw unavailable();
          const outcome = await start(user, source, given, signal);
          signal.throwIfAborted();
          return resultOf(outcome);
        });
      } finally {
        if (!(given instanceof Uint8Array)) given.release();
      }
    },
  };
}

const unavailable = (why?: string) =>
  new ApiError('python_unavailable', why ? { message: `Python reports do not run here. ${why}` } : {});

const EMPTY = Buffer.from('{"schema":[]}\n{"data":[]}\n{"rowsCapped":false}\n');

async function* inputOf(source: string, rows: Rows): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(`${JSON.stringify(source)}\n`);
  if (rows instanceof Uint8Array) yield rows;
  else yield* rows;
}

const ENDED: Record<NonNullable<Outcome['ended']>, string> = {
  'too late': 'The program took too much time.',
  'too large': 'The program returned more than 2 MB.',
  left: 'The program was ended.',
};

/** The first line of the result was written before the program of the report began, so the program cannot change it. */
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
  } catch (error) {
    const refused = error instanceof ApiError ? REFUSED[error.code] : undefined;
    return refused === undefined ? undefined : { error: `The output cannot be returned: ${refused}.` };
  }
}

/** What valid JSON may still not hold. */
const REFUSED: Partial<Record<ErrorCode, string>> = {
  integer_too_large: `it holds a number beyond ±${Number.MAX_SAFE_INTEGER}; make it a text`,
  number_too_precise: 'it holds a number with more digits than can be kept; round it, or make it a text',
  json_too_deep: 'it is nested too deeply',
  json_too_many_values: 'it holds more than 200,000 values',
  duplicate_key: 'an object has a key twice',
  invalid_text: 'a text in it has NUL (U+0000) or half of a character; take it out',
};
