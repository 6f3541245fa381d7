/** How much memory a process holds, with its children: a fence puts the engine two processes below the one that was started. */
import { readFile } from 'node:fs/promises';

const DEPTH_MAX = 4;

/** Returns null where the system does not tell. */
export async function memoryOf(pid: number, depth = 0): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    if (depth === DEPTH_MAX) return own;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const below = await Promise.all(
      children
        .split(' ')
        .filter(Boolean)
        .map((child) => memoryOf(Number(child), depth + 1)),
    );
    return below.reduce<number>((sum, one) => sum + (one ?? 0), own);
  } catch {
    return null;
  }
}
