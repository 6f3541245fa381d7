/** Memory and processor time of a server with its child processes and its database, as the kernel counts them. */
import { readdir, readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;

export interface Usage {
  /** Resident memory of each process, with shared pages divided among those that share them. */
  megabytes: number;
  cpuSeconds: number;
}

export const PARTS = ['server', 'jobs', 'engines', 'database'] as const;
export type Part = (typeof PARTS)[number];

export type Usages = Record<Part, Usage>;

interface Process {
  pid: number;
  parent: number;
  command: string;
  cpuSeconds: number;
}

/** The usage of this process and of all processes below it. Linux only. */
export async function usageOf(pid: number): Promise<Usages> {
  const all = await listProcesses();
  const tree = [pid];
  for (const parent of tree)
    tree.push(...all.filter((other) => other.parent === parent).map(({ pid }) => pid));
  const usage = noUsages();
  for (const process of all.filter((other) => tree.includes(other.pid))) {
    const part = usage[partOf(process, pid)];
    part.cpuSeconds += process.cpuSeconds;
    part.megabytes += await megabytesOf(process.pid);
  }
  return usage;
}

const noUsages = () =>
  Object.fromEntries(PARTS.map((part) => [part, { megabytes: 0, cpuSeconds: 0 }])) as Usages;

/** Adds up the usage of several servers. */
export function addUsages(list: Usages[]): Usages {
  const sum = noUsages();
  for (const usages of list) {
    for (const part of PARTS) {
      sum[part].megabytes += usages[part].megabytes;
      sum[part].cpuSeconds += usages[part].cpuSeconds;
    }
  }
  return sum;
}

function partOf({ pid, command }: Process, server: number): Part {
  if (pid === server) return 'server';
  if (command.includes('job-worker')) return 'jobs';
  return command.includes('postgres') ? 'database' : 'engines';
}

async function listProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = pids.map(async (pid): Promise<Process | undefined> => {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
      // The name of the program is in brackets and may hold spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
      return { pid: Number(pid), parent: Number(fields[1]), command, cpuSeconds };
    } catch {
      // It has ended in the meantime.
      return undefined;
    }
  });
  return (await Promise.all(read)).filter((process) => process !== undefined);
}

async function megabytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}
