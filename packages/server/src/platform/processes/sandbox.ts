/**
 * Runs a program once in a sandbox that `bubblewrap` makes: without a network, with an empty file system of its own and a
 * few files of the host that it can only read, as a user without rights, and within limits.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { ApiError } from '../errors.ts';
import type { ProcessUser } from './process-user.ts';
import { toSpawn } from './program.ts';

/** The filter of system calls knows the numbers of this processor only. */
export const CAN_FILTER = process.arch === 'x64';

const TEMPORARY_BYTES = 16 * 1024 * 1024;
const NOBODY = '65534';

export interface SandboxedProgram {
  /** The path of the program. */
  bubblewrap: string;
  /** Not root. */
  user: ProcessUser;
  command: readonly string[];
  /** Paths of the host that the program can read, and where it finds them. */
  readable: readonly { from: string; to: string }[];
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  timeMs: number;
  cpuSeconds: number;
  /** Of standard output and standard error, each. The rest is left out. */
  textBytesMax: number;
  /** Of what it writes to file descriptor 3. A program that writes more is ended. */
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
    command: program.bubblewrap,
    args: [...argumentsOf(program), ...program.command],
    env: {},
    user: program.user,
    limits: { cpuSeconds: program.cpuSeconds },
  });
  const child = spawn(command, args, {
    ...options,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  // Awaited below. If the program can not be started, there are no streams to wait for.
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
  const [, stdout, stderr, result, filter] = child.stdio as unknown as [
    Writable,
    Readable,
    Readable,
    Readable,
    Writable,
  ];
  filter.on('error', () => {});
  filter.end(SYSTEM_CALLS);
  const leave = () => end('left');
  const timer = setTimeout(() => end('too late'), program.timeMs);
  program.signal.addEventListener('abort', leave, { once: true });
  try {
    const texts = Promise.all([
      textOf(stdout, program.textBytesMax),
      textOf(stderr, program.textBytesMax),
      textOf(result, program.resultBytesMax, () => end('too large')),
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

const argumentsOf = ({ readable }: SandboxedProgram): string[] => [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--uid', NOBODY, '--gid', NOBODY, '--clearenv', '--hostname', 'sandbox'],
  ...readable.flatMap(({ from, to }) => ['--ro-bind', from, to]),
  ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--proc', '/proc'],
  ...['--dev', '/dev', '--remount-ro', '/dev', '--seccomp', '4'],
  ...['--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp', '--chdir', '/tmp', '--remount-ro', '/', '--'],
];

/** A program that reads no further, or has ended, is no failure. */
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
async function textOf(stream: Readable, bytesMax: number, onMore?: () => void): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    if (bytes < bytesMax) kept.push(piece.subarray(0, bytesMax - bytes));
    bytes += piece.length;
    if (bytes > bytesMax) onMore?.();
  }
  return Buffer.concat(kept).toString('utf8');
}

/**
 * A program for the kernel (seccomp) that refuses the system calls by which a process gets memory that its limit does
 * not count, and a few that no report needs. Each instruction has a code, two jumps and a value.
 */
const SYSTEM_CALLS = systemCallFilter([
  29, // shmget
  319, // memfd_create
  447, // memfd_secret
  425, // io_uring_setup
  248, // add_key
  250, // keyctl
  298, // perf_event_open
  323, // userfaultfd
]);

function systemCallFilter(refused: readonly number[]): Buffer {
  const [LOAD, JUMP_IF_EQUAL, JUMP_IF_NOT_LESS, RETURN] = [0x20, 0x15, 0x35, 0x06];
  const [NUMBER_AT, ARCHITECTURE_AT] = [0, 4];
  const [X86_64, X32_NUMBERS] = [0xc000003e, 0x40000000];
  const [ALLOW, REFUSE] = [0x7fff0000, 0x00050001];
  const count = refused.length;
  const instructions: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [JUMP_IF_EQUAL, 0, count + 3, X86_64],
    [LOAD, 0, 0, NUMBER_AT],
    [JUMP_IF_NOT_LESS, count + 1, 0, X32_NUMBERS],
    ...refused.map((call, i): [number, number, number, number] => [JUMP_IF_EQUAL, count - i, 0, call]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, REFUSE],
  ];
  const bytes = Buffer.alloc(8 * instructions.length);
  instructions.forEach(([code, ifTrue, ifFalse, value], i) => {
    bytes.writeUInt16LE(code, 8 * i);
    bytes.writeUInt8(ifTrue, 8 * i + 2);
    bytes.writeUInt8(ifFalse, 8 * i + 3);
    bytes.writeUInt32LE(value, 8 * i + 4);
  });
  return bytes;
}
