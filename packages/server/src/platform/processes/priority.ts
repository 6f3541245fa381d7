/** Lets other processes go first, where both want the processor. What this process starts from now on does the same. */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

export function yieldToOthers(niceness: number) {
  try {
    setPriority(niceness);
    // Linux has priorities of threads, and those that collect garbage run already.
    if (process.platform === 'linux')
      for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), niceness);
  } catch {
    // A system that does not allow it: then all are alike.
  }
}
