/** Finds the PostgreSQL processes of a data dir from outside, as an operator would. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export function databaseProcesses(dataDir: string): number[] {
  return existsSync('/proc/self/cwd') ? fromProc(dataDir) : fromPs(dataDir);
}

/** The parent of all other processes of the database. */
export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8').split('\n', 1)[0]);
}

export function kill(pids: number[], signal: NodeJS.Signals = 'SIGKILL') {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Looks again until it finds nothing, because an `initdb` may start more processes meanwhile. */
export async function killDatabase(dataDir: string) {
  for (let pids = databaseProcesses(dataDir); pids.length; pids = databaseProcesses(dataDir)) {
    kill(pids);
    await sleep(10);
  }
}

/** PostgreSQL renames its processes, but the working directory of all of them is the data dir. */
function fromProc(dataDir: string): number[] {
  const isOurs = (pid: string) => {
    try {
      return (
        readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dataDir}/`) ||
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${dataDir}/`)
      );
    } catch {
      return false; // The process ended meanwhile.
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map(Number);
}

function fromPs(dataDir: string): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .map(([, pid, parent, command = '']) => ({ pid: Number(pid), parent: Number(parent), command }));
  const named = rows.filter(({ command }) => command.includes(`${dataDir}/`)).map(({ pid }) => pid);
  const children = rows.filter(({ parent }) => named.includes(parent)).map(({ pid }) => pid);
  return [...new Set([...named, ...children])];
}
