/** One run of a child process, from its start to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Channel, ChildError, createChannel } from './channel.ts';
import { MESSAGE_BYTES_MAX } from './frames.ts';
import { followOutput } from './output.ts';
import { type Program, toSpawn } from './program.ts';

/** How long a child that has ended may take to hand over its last lines. */
const LAST_LINES_MS = 250;

export interface LaunchOptions {
  /** For the log and metrics, such as `the job worker` without its article. */
  name: string;
  program: Program;
  log: Logger;
  /**
   * The child speaks with us through `serveParent`, and is first told this, such as its settings. Better than the
   * environment for secrets: other processes can not read it. Without it there is no pipe.
   */
  start?: object;
  messageBytesMax?: number;
  /** By default what it prints goes to our log. */
  forwardsOutput?: boolean;
  /** By default whatever the child started and left behind is killed when it ends. */
  endsGroup?: boolean;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why we killed it, if we did. */
  reason: string | undefined;
  /** The end of what it printed to standard error, or why it could not be started. */
  output: string;
}

export interface Launched {
  pid: number | undefined;
  channel: Channel | undefined;
  ended: Promise<Exit>;
  isRunning(): boolean;
  /** To the child alone. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the child and whatever it started, at once. */
  kill(reason: string): void;
}

export function launch(options: LaunchOptions): Launched {
  const { name, program, log, start, messageBytesMax = MESSAGE_BYTES_MAX } = options;
  const { command, args, options: spawnOptions } = toSpawn(program);
  // In a process group of its own: a Ctrl-C in the terminal is for us, and we stop the child in order.
  const child = spawn(command, args, {
    ...spawnOptions,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(start ? (['pipe'] as const) : [])],
  });
  const output = followOutput(child, name, options.forwardsOutput === false ? undefined : log);
  let reason: string | undefined;

  const kill = (why: string) => {
    reason ??= why;
    signalGroup(child);
  };
  const channel = start
    ? createChannel(child.stdio[3] as Duplex, {
        messageBytesMax,
        onGarbage: (error) => kill(`it sent what is no message: ${error.message}`),
      })
    : undefined;

  // Asked for at once, because it may come together with the exit.
  const closed = closeOf(child);
  const ended = exitOf(child).then(async ({ code, signal, error }): Promise<Exit> => {
    channel?.close(new ChildError('gone', `the ${name} has ended`));
    if (options.endsGroup !== false) signalGroup(child);
    // For its last lines, but not for a process that it left behind and that holds its output open.
    if (!error) await Promise.race([closed, sleep(LAST_LINES_MS)]);
    return { code, signal, reason, output: error ? error.message : output.last };
  });
  if (start) channel?.send({ start });

  return {
    pid: child.pid,
    channel,
    ended,
    isRunning: () => isRunning(child),
    signal: (signal) => void child.kill(signal),
    kill,
  };
}

const isRunning = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

const exitOf = (child: ChildProcess) =>
  new Promise<{ code: number | null; signal: NodeJS.Signals | null; error?: Error }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });

const closeOf = (child: ChildProcess) => new Promise((resolve) => child.once('close', resolve));

function signalGroup(child: ChildProcess) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
