/** A server that npx runs in the foreground ends with it. Killed or ended by a signal, npx would leave it behind. */

const LOOK_EVERY_MS = 1000;

/**
 * Whether npx runs this server itself, in the foreground. The environment goes on to whatever a program of npx or npm
 * starts, and services of such a program may outlive it.
 */
export const isRunByNpx = (env: NodeJS.ProcessEnv) =>
  env.npm_lifecycle_event === 'npx' && /^"?oriel-server"?( [^&]*)?$/.test(env.npm_lifecycle_script ?? '');

/** An orphan gets another parent: the first process of the system, or one that collects orphans. */
export function onParentEnd(end: () => void) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, LOOK_EVERY_MS);
  timer.unref();
}
