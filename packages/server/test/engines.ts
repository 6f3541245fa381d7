import { readdirSync, readFileSync } from 'node:fs';

/** For engines that only read files. */
export const NO_SERVERS = {
  allowPrivateRemotes: false,
  ownDatabase: () => Promise.reject(new Error('this test has no database')),
};

/** The processes of engines that this process has started. Inside of a fence, they are below those of bubblewrap. */
export const engineProcesses = (): number[] =>
  processes()
    .filter(({ pid, command }) => isBelowUs(pid) && isEngine(command))
    .map(({ pid }) => pid);

/** A copy of the program is elsewhere, under the same name. */
const isEngine = ([program, ...args]: string[]) =>
  !/\/(bwrap|sh)$/.test(program!) && args.some((arg) => arg.endsWith('/engine.js'));

const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), command: fileText(`/proc/${pid}/cmdline`).split('\0') }));

function isBelowUs(pid: number): boolean {
  const [, parent = '0'] = /\) \S (\d+)/.exec(fileText(`/proc/${pid}/stat`)) ?? [];
  return parent === String(process.pid) || (parent !== '0' && isBelowUs(Number(parent)));
}

/** Empty if the process has ended. */
function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
