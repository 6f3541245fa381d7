/** Describes a program to run, its user, its limits and the fence around it. */
import type { SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Fence, fenceArguments } from './fence.ts';
import type { ProcessUser } from './process-user.ts';

export interface Program {
  command: string;
  args: readonly string[];
  /** The whole environment of the program. Nothing of our own environment is passed on. */
  env: Record<string, string>;
  cwd?: string;
  /** By default, our own user. */
  user?: ProcessUser;
  limits?: Limits;
  /** By default, there is none. */
  fence?: Fence;
}

/** Set by a shell that then becomes the program, so they also apply to all processes that it starts. */
export interface Limits {
  openFiles?: number;
  /**
   * Limits the address space, not the memory in use. Do not set it for Node, which reserves far more than it uses; see
   * `nodeProgram`.
   */
  addressSpaceMb?: number;
  /**
   * Limits the memory that the program can write to, which does not include address space that is reserved. For Node,
   * `nodeProgram` adds what Node itself reserves in such memory.
   */
  dataMb?: number;
  /** Limits the CPU time. The program is killed after it. */
  cpuSeconds?: number;
}

/** Runs a script with our own Node, or a copy of it. */
export const nodeProgram = (
  script: string,
  { args = [], heapMb, limits, ...rest }: Partial<Program> & { heapMb?: number } = {},
): Program => ({
  env: {},
  command: process.execPath,
  ...rest,
  ...(limits && { limits: withCode(limits) }),
  args: [
    ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
    '--enable-source-maps',
    script,
    ...args,
  ],
});

const withCode = ({ dataMb, ...limits }: Limits): Limits =>
  dataMb === undefined ? limits : { ...limits, dataMb: dataMb + codeMb() };

/**
 * Node 24 makes all the memory for its machine code writable when it starts: about 512 MB, of which it uses little. Node 22
 * makes parts of it writable when it needs them. How much it is depends on the processor too, so we look at our own:
 * each thread has one piece, and a new process has one thread.
 */
function codeMb(): number {
  let largest = 0;
  for (const [, from, to] of ownMaps().matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm)) {
    largest = Math.max(largest, Number.parseInt(to!, 16) - Number.parseInt(from!, 16));
  }
  return Math.ceil(largest / (1024 * 1024));
}

function ownMaps(): string {
  try {
    return readFileSync('/proc/self/maps', 'latin1');
  } catch {
    // The file exists only on Linux, and only there the limit counts such memory.
    return '';
  }
}

/** Returns the arguments for `spawn`. A program with a fence also needs `sendFilter`, and the pipe for it. */
export function toSpawn(program: Program): { command: string; args: string[]; options: SpawnOptions } {
  const options = { ...program.user?.ids, cwd: program.cwd ?? '/', env: program.env };
  const [command, ...args] = [...fenceOf(program), program.command, ...program.args];
  const wrapper = limitsWrapper(program.limits);
  if (!wrapper) return { command: command!, args, options };
  return { command: '/bin/sh', args: ['-c', wrapper, command!, ...args], options };
}

const fenceOf = ({ fence }: Program) => (fence ? [fence.bubblewrap, ...fenceArguments(fence)] : []);

function limitsWrapper(limits: Limits = {}): string | undefined {
  const { openFiles, addressSpaceMb, dataMb, cpuSeconds } = limits;
  const steps = [
    openFiles !== undefined && `ulimit -n ${openFiles}`,
    addressSpaceMb !== undefined && `ulimit -v ${addressSpaceMb * 1024}`,
    dataMb !== undefined && `ulimit -d ${dataMb * 1024}`,
    cpuSeconds !== undefined && `ulimit -t ${cpuSeconds}`,
  ].filter((step) => step !== false);
  return steps.length ? [...steps, 'exec "$0" "$@"'].join(' && ') : undefined;
}
