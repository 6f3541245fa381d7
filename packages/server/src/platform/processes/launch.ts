/** One run of a child process, from its start to its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Channel, ChildError, createChannel } from './channel.ts';
import { sendFilter } from './fence.ts';
import { MESSAGE_BYTES_MAX } from './frames.ts';
import { followOutput } from './output.ts';
import { type Program, toSpawn } from './program.ts';

/** How long we wait for the last lines of a child that has ended. */
const LAST_LINES_MS = 250;

export interface LaunchOptions {
  /** The name in the log and metrics, without an article, for example `job worker`. */
  name: string;
  program: Program;
  log: Logger;
  /**
   * The first message to the child, such as its settings. The child must call `serveParent`. This is better for secrets
   * than the environment, because other processes cannot read it. Without it there is no pipe.
   */
  start?: object;
  messageBytesMax?: number;
  /** By default, the output of the child goes to our log. */
  forwardsOutput?: boolean;
  /** By default, all processes that the child started are killed when it ends. */
  endsGroup?: boolean;
  /**
   * Sent to the child if this process ends without stopping it, for example when a stop takes too long. A child with a
   * pipe does not need it, because it sees the end of the pipe.
   */
  signalAtExit?: NodeJS.Signals;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why we killed it, if we did. */
  reason: string | undefined;
  /** The end of its standard error output, or the reason why it could not be started. */
  output: string;
}

export interface LaunchedProcess {
  pid: number | undefined;
  channel: Channel | undefined;
  ended: Promise<Exit>;
  isRunning(): boolean;
  /** Sends the signal only to the child. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the child and all processes that it started, at once. */
  kill(reason: string): void;
}

export function launch(options: LaunchOptions): LaunchedProcess {
  const { name, program, log, start, messageBytesMax = MESSAGE_BYTES_MAX } = options;
  const { command, args, options: spawnOptions } = toSpawn(program);
  // The child has its own process group, so that a Ctrl-C in the terminal reaches only us, and we stop the child
  // properly.
  const child = spawn(command, args, {
    ...spawnOptions,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', start ? 'pipe' : 'ignore', program.fence ? 'pipe' : 'ignore'],
  });
  if (program.fence) sendFilter(child.stdio);
  const { signalAtExit } = options;
  const onOwnExit = () => void child.kill(signalAtExit);
  if (signalAtExit) process.once('exit', onOwnExit);
  const output = followOutput(child, name, options.forwardsOutput === false ? undefined : log);
  let reason: string | undefined;

  const kill = (why: string) => {
    reason ??= why;
    signalGroup(child);
  };
  const channel = start
    ? createChannel(child.stdio[3] as Duplex, {
        messageBytesMax,
        onGarbage: (error) => kill(`it sent data that is not a message: ${error.message}`),
      })
    : undefined;

  // Listens from the start, because this event may come together with the exit.
  const closed = closeOf(child);
  const ended = exitOf(child).then(async ({ code, signal, error }): Promise<Exit> => {
    process.off('exit', onOwnExit);
    channel?.close(new ChildError('gone', `the ${name} has ended`));
    if (options.endsGroup !== false) signalGroup(child);
    // Waits for its last lines, but not for a remaining process that keeps its output open.
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
