/** Runs a program once, with a fence around it, as a user without rights, and within limits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { ApiError } from '../errors.ts';
import { type Fence, sendFilter } from './fence.ts';
import type { ProcessUser } from './process-user.ts';
import { toSpawn } from './program.ts';

export interface SandboxedProgram {
  fence: Fence;
  /** The user, who must not be root. */
  user: ProcessUser;
  command: string;
  args: readonly string[];
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  timeMs: number;
  cpuSeconds: number;
  /** The size limit of standard output and of standard error. The rest is left out. */
  textBytesMax: number;
  /** The size limit of file descriptor 3. A program that writes more to it is ended. */
  resultBytesMax: number;
  signal: AbortSignal;
}

export interface Outcome {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  result: string;
  /** Why we ended it, if we did. */
  ended: 'too late' | 'too large' | 'left' | undefined;
}

/** Rejects if the caller has left before the start, and with a 503 if no process can be started. */
export async function runSandboxed(program: SandboxedProgram): Promise<Outcome> {
  program.signal.throwIfAborted();
  const { command, args, options } = toSpawn({
    command: program.command,
    args: program.args,
    env: {},
    user: program.user,
    limits: { cpuSeconds: program.cpuSeconds },
    fence: program.fence,
  });
  const child = spawn(command, args, {
    ...options,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  // Awaited below. If the program cannot be started, there are no streams to wait for.
  closed.catch(() => {});
  if (!child.pid) {
    // Such as for lack of file descriptors.
    await closed.catch((cause) => {
      throw new ApiError('unavailable', { cause });
    });
  }
  let ended: Outcome['ended'];
  const end = (reason: NonNullable<Outcome['ended']>) => {
    ended ??= reason;
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  sendFilter(child.stdio);
  const [, stdout, stderr, result] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  const leave = () => end('left');
  const timer = setTimeout(() => end('too late'), program.timeMs);
  program.signal.addEventListener('abort', leave, { once: true });
  try {
    const texts = Promise.all([
      readText(stdout, program.textBytesMax),
      readText(stderr, program.textBytesMax),
      readText(result, program.resultBytesMax, () => end('too large')),
    ]);
    // Awaited below, unless the input fails first.
    texts.catch(() => {});
    await Promise.all([write(child.stdin!, program.input), closed]);
    const [out, errors, written] = await texts;
    return { code: child.exitCode, stdout: out, stderr: errors, result: written, ended };
  } finally {
    clearTimeout(timer);
    program.signal.removeEventListener('abort', leave);
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) end('left');
  }
}

/** Writes the input. Does not fail if the program reads no further, or has ended. */
async function write(stdin: Writable, input: SandboxedProgram['input']) {
  let isOpen = true;
  stdin.on('error', () => {
    isOpen = false;
  });
  stdin.on('close', () => {
    isOpen = false;
  });
  // Once for all pieces: each wait for it would leave a listener behind.
  const closed = once(stdin, 'close').catch(() => {});
  for await (const piece of input) {
    if (!isOpen) break;
    if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), closed]).catch(() => {});
  }
  stdin.end();
}

/** Reads to the end, so that the program does not wait, and keeps the first bytes. */
async function readText(stream: Readable, bytesMax: number, onMore?: () => void): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    if (bytes < bytesMax) kept.push(piece.subarray(0, bytesMax - bytes));
    bytes += piece.length;
    if (bytes > bytesMax) onMore?.();
  }
  return Buffer.concat(kept).toString('utf8');
}
