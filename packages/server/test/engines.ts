import { readdirSync, readFileSync } from 'node:fs';

/** For engines that only read files. */
export const NO_SERVERS = {
  allowPrivateRemotes: false,
  ownDatabase: () => Promise.reject(new Error('this test has no database')),
};

/** The processes of engines that this process has started. */
export const engineProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        // A copy of the program is elsewhere, under the same name.
        const isEngine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/engine.js\0');
        return parent === String(process.pid) && isEngine;
      } catch {
        return false;
      }
    })
    .map(Number);
