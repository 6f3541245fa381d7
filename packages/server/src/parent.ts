/** Ends a server that npx runs in the foreground when npx ends: npx would leave it running after a signal. */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 1000;

/**
 * Whether npx runs this server itself, in the foreground. The name of the event is not enough: every program that npx
 * or npm starts inherits the environment, and services of such a program may outlive it.
 */
export const isRunByNpx = (env: NodeJS.ProcessEnv) =>
  env.npm_lifecycle_event === 'npx' &&
  /^["']?oriel-server["']?( [^&]*)?$/.test(env.npm_lifecycle_script ?? '');

/** An orphan gets another parent: the first process of the system, or one that collects orphans. */
export function onParentEnd(end: () => void) {
  const parents = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === parents) return;
    clearInterval(timer);
    end();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** The parent, and the parent of a shell: npx runs commands with `sh -c`, which outlives it where it waits for us. */
function ancestors(): string {
  const { ppid } = process;
  try {
    const isShell = readFileSync(`/proc/${ppid}/cmdline`, 'utf8').split('\0')[1] === '-c';
    // The name of the program, in brackets, may hold blanks; the state and the parent follow it.
    const after = readFileSync(`/proc/${ppid}/stat`, 'utf8').split(') ').at(-1)!;
    return isShell ? `${ppid} of ${after.split(' ')[1]}` : String(ppid);
  } catch {
    // Other systems have no such files. Their shells replace themselves by the command.
    return String(ppid);
  }
}
