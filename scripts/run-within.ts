/** Runs a program within a time limit. When the time is over, everything that the program started is ended too. */
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';

export interface RunResult {
  output: string;
  isTimedOut: boolean;
}

export async function runWithin(
  limitMs: number,
  command: string,
  args: string[],
  options: SpawnOptions = {},
): Promise<RunResult> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    endTree(child.pid!);
  }, limitMs);
  const onOwnExit = () => endTree(child.pid!);
  // This listener must run first, because later ones may remove the folders of the program.
  process.prependOnceListener('exit', onOwnExit);
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  clearTimeout(timer);
  process.off('exit', onOwnExit);
  return { output, isTimedOut };
}

/** Kills a process and its descendants. It follows parent ids, and so finds children in process groups of their own. */
function endTree(root: number) {
  const parents = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number]);
  const tree = [root];
  // The list grows while it is read.
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  for (const pid of tree) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}
